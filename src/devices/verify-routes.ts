import { Hono } from 'hono'
import { presentAsked } from '../entitlements/explain'
import { factsIn } from '../entitlements/store'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { body } from '../http/validate'
import { sha256Hex } from '../lib/crypto'
import { present, Verification, VerifyBody } from './fields'
import { isToken } from './token'
import { reasonOf, recordSeen } from './verify'
import { byToken, factsByToken } from './verify-store'

const UNKNOWN = { valid: false, reason: 'unknown', device: null, consumer: null, features: null } as const

export const verifyRoutes = new Hono<HttpEnv>().post(
  '/verify',
  route({
    id: 'verifyDevice',
    summary: 'Verify the token of a device',
    description:
      'For your server: whether the token that your app has sent is valid, and whose it is. A token that is not valid gets a 200 too, with the `reason`. Finds only devices of the project. With `features`, the response also has what a check says of them, if the token is valid.',
    tag: 'Devices',
    policy: { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true },
    responses: { 200: { description: 'Whether the token is valid.', schema: Verification } },
  }),
  body(VerifyBody),
  async (c) => {
    const { token, features } = c.req.valid('json')
    if (!isToken(token)) return answer(c, UNKNOWN, 200)
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const hash = await sha256Hex(token)
    const statements = byToken(rt.db, project, hash)
    const found = features
      ? await read(c, { ...statements, ...factsByToken(rt.db, project, hash, features) })
      : { ...(await read(c, statements)), who: null }
    const [device] = found.devices
    const [consumer] = found.consumers
    if (!device || !consumer) return answer(c, UNKNOWN, 200)
    const reason = reasonOf(device, consumer)
    if (reason === null) recordSeen(rt, project, device, hash)
    const { id, external_ids, state } = consumer
    const whose = { id, external_id: external_ids[0] ?? null, external_ids, state }
    // Nothing is allowed to a device that is not valid, whatever its consumer has.
    const checked = reason === null && features && found.who !== null ? checkedIn(found, features) : null
    const verified = { valid: reason === null, reason, device: present(device), consumer: whose, features: checked }
    return answer(c, verified, 200)
  },
)

/** What the consumer whose facts were read may do with features. */
function checkedIn(found: Parameters<typeof factsIn>[0], features: readonly string[]) {
  const { now, catalog, holders } = factsIn(found, 1)
  const [holder] = holders
  return holder ? presentAsked(features, holder, catalog, now) : null
}
