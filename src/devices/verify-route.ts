import { type Context, Hono } from 'hono'
import { readFacts } from '../entitlements/answer'
import { presentAsked } from '../entitlements/explain'
import { factsIn } from '../entitlements/holders'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { body } from '../http/validate'
import { sha256Hex } from '../lib/crypto'
import { presentDevice, VerificationShown, VerifyBody } from './fields'
import { useFirst } from './first-use'
import { isToken } from './token'
import { byToken, type DeviceTokens, factsByToken, type InvalidReason, reasonOf, recordSeen, tokenRole } from './verify'

const UNKNOWN = {
  valid: false,
  reason: 'unknown',
  missing_scopes: [] as string[],
  device: null,
  consumer: null,
  features: null,
} as const

export const verifyRoutes = new Hono<HttpEnv>().post(
  '/verify',
  route({
    id: 'verifyDevice',
    summary: 'Verify the token of a device',
    description:
      'For your server: whether the token that your app or your customer has sent is valid, and whose it is. A token that is not valid gets a 200 too, with the `reason`. Finds only devices of the project. With `require`, the device must have those scopes. With `features`, the response also has what a check says of them, if the token is valid. The first verification of a token that a rotation returned makes it the current one.',
    tag: 'Devices',
    policy: { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true },
    responses: { 200: { description: 'Whether the token is valid.', schema: VerificationShown } },
  }),
  body(VerifyBody),
  async (c) => {
    const { token, features, require = [] } = c.req.valid('json')
    if (!isToken(token)) return answer(c, UNKNOWN, 200)
    const found = await readToken(c, await sha256Hex(token), features)
    if (!found) return answer(c, UNKNOWN, 200)
    const { device, consumer, facts } = found
    const { now } = c.get('rt')
    const missing = found.reason === null ? require.filter((scope) => !device.scopes?.includes(scope)) : []
    const reason = missing.length > 0 ? 'missing_scope' : found.reason
    const { id, external_ids, state } = consumer
    const verified = {
      valid: reason === null,
      reason,
      missing_scopes: missing,
      device: presentDevice(device, now),
      consumer: { id, external_id: external_ids[0] ?? null, external_ids, state },
      // Nothing is allowed to a device that is not valid, whatever its consumer has.
      features: reason === null && features && facts ? checkedIn(facts, features) : null,
    }
    return answer(c, verified, 200)
  },
)

type Features = readonly string[] | undefined
type Rows = Awaited<ReturnType<typeof readRows>>
type Found = {
  device: DeviceTokens
  consumer: Rows['consumers'][number]
  reason: InvalidReason | null
  facts: Parameters<typeof factsIn>[0] | null
}

/**
 * The device that has a token, and whether that is valid. Null: none has it any more. Only after no current token was found, others
 * are looked for, and only for one that is valid the features are read again: an unknown token costs no more than that.
 */
async function readToken(c: Context<HttpEnv>, hash: string, features: Features): Promise<Found | null> {
  const current = await readRows(c, { hash, any: false }, features)
  if (current.devices[0]) return judged(c, current, hash, features)
  return judged(c, await readRows(c, { hash, any: true }, undefined), hash, features)
}

async function judged(c: Context<HttpEnv>, rows: Rows, hash: string, features: Features): Promise<Found | null> {
  const rt = c.get('rt')
  const project_id = projectOf(c.get('actor'))
  const [device] = rows.devices
  const [consumer] = rows.consumers
  const role = device ? tokenRole(device, hash, rt.now) : null
  if (!device || !consumer || role === null) return null
  const before = reasonOf(device, consumer, rt.now)
  if (before !== null) return { device, consumer, reason: before, facts: null }
  if (role !== 'pending') recordSeen(rt, project_id, device, role)
  const used = role === 'pending' ? await useFirst(rt, { project_id, device }, changeOf(c)) : device
  if (!used) return null
  const reason = reasonOf(used, consumer, rt.now)
  const asks = reason === null && features !== undefined && rows.who === null
  const known = asks ? await readRows(c, { hash: used.token_hash, any: false }, features) : rows
  return { device: used, consumer, reason, facts: known.who === null ? null : known }
}

async function readRows(c: Context<HttpEnv>, token: Parameters<typeof byToken>[2], features: Features) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const statements = byToken(db, project, token)
  if (!features) return { ...(await read(c, statements)), who: null }
  return readFacts(c, (extent) => ({
    ...statements,
    ...factsByToken(db, project, token, { keys: features, ...extent }),
  }))
}

/** What the consumer whose facts were read may do with features. */
function checkedIn(found: Parameters<typeof factsIn>[0], features: readonly string[]) {
  const { now, catalog, holders } = factsIn(found, 1)
  const [holder] = holders
  return holder ? presentAsked(features, holder, catalog, now) : null
}
