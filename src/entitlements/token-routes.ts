import { Hono } from 'hono'
import { type Device, findDevice } from '../consumers/devices'
import { changeable, findConsumer } from '../consumers/read'
import { refToRead } from '../consumers/ref'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { publicUrl, requirePublicOrigin } from '../http/origin'
import { route } from '../http/route'
import { body } from '../http/validate'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { issuerPath } from '../token-keys/fields'
import { findSigningKey } from '../token-keys/keys'
import { readFacts } from './answer'
import { boughtBy } from './bought'
import { EntitlementToken, EntitlementTokenBody } from './fields'
import { factsIn } from './holders'
import { factsOf } from './read'
import { resolver } from './resolve'
import { makeFirstKey, signToken } from './token'
import { earliest } from './window'

export const tokenRoutes = new Hono<HttpEnv>().post(
  '/:consumer/entitlements/token',
  route({
    id: 'createEntitlementToken',
    summary: 'Get what a consumer may do as a signed token',
    description:
      'A JWS (ES256) that others can verify without a call, with the public keys at `/p/{project}/jwks.json`. It says what is allowed, and ends before any of that can end by itself. A change that takes something away does not reach a token that was issued before: it is valid until it ends.',
    tag: 'Entitlements',
    policy: { actors: ['session', 'api_key'], scope: 'entitlements:read', project: true, reads: true },
    responses: { 201: { description: 'The token.', schema: EntitlementToken } },
    faults: [
      'not_found',
      'consumer_merged',
      'consumer_erased',
      'consumer_blocked',
      'device_revoked',
      'device_expired',
      'public_origin_missing',
      'encryption_key_unavailable',
    ],
  }),
  body(EntitlementTokenBody),
  async (c) => {
    requirePublicOrigin(c)
    const rt = c.get('rt')
    const { db } = rt
    const project = projectOf(c.get('actor'))
    const { ttl_s, features, device } = c.req.valid('json')
    const ref = refToRead(c.req.param('consumer'))
    const found = await readFacts(c, (extent) => ({
      ...factsOf(db, project, [ref], { keys: features ?? null, ...extent }),
      consumer: findConsumer(db, project, ref),
      devices: findDevice(db, project, ref, device ?? ''),
      keys: findSigningKey(db, project),
    }))
    const consumer = changeable(found.consumer)
    if (consumer.state === 'blocked') {
      throw new Fault('consumer_blocked', `The consumer ${consumer.id} is blocked. Unblock it first.`)
    }
    if (device !== undefined) requireActive(found.devices[0], rt.now)
    const { now, catalog, holders } = factsIn(found, 1)
    const [holder = { state: null, subscriptions: [], purchases: [], grants: [] }] = holders
    const keys = features ?? catalog.features.map(({ key }) => key)
    const entitlementOf = resolver(holder, catalog, now)
    const said = {
      issuer: publicUrl(c, issuerPath(project)),
      project,
      consumer: { id: consumer.id, external_id: consumer.external_ids[0] ?? null },
      device: device ?? null,
      features: keys.map((key) => [key, entitlementOf(key)] as const),
    }
    // A grant that starts later can deny or replace what is allowed now, and a purchase can replace it.
    const begun = boughtBy(holder.purchases, catalog.rules, now).map(({ from }) => from)
    const starts = [...holder.grants.map(({ starts_at }) => starts_at), ...begun].filter(
      (at) => at !== null && at > now,
    )
    const key = found.keys[0] ?? (await makeFirstKey(rt, project))
    const { token, expires_at } = await signToken(rt, key, said, { now, ttl_s, changes_at: earliest(starts) })
    return answer(c, { token, expires_at: iso(expires_at) }, 201)
  },
)

/** @throws {Fault} `not_found`, `device_revoked`, `device_expired` */
function requireActive(device: Device | undefined, now: number): void {
  if (!device) throw new Fault('not_found', 'The consumer has no such device. Send the id of the device (dev_…).')
  if (device.state === 'revoked') throw new Fault('device_revoked', `The device ${device.id} was revoked.`)
  if (device.expires_at === null || device.expires_at > now) return
  throw new Fault('device_expired', `The device ${device.id} has expired.`)
}
