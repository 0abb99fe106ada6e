import { beforeAll, beforeEach, expect, it } from 'vitest'
import { HOUR, iso } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { freshProject } from '../harness'
import { entriesOf, keysOf, shown } from './world'

/* What the audit log keeps of a key: each entry whole, and one for each change that had an effect. */

let project: string
let owner: Awaited<ReturnType<typeof freshProject>>['owner']
let keys: ReturnType<typeof keysOf>
beforeAll(async () => {
  const made = await freshProject()
  project = made.project
  owner = made.owner
  keys = keysOf(project, owner.token)
})
beforeEach(() => {
  stopClock()
})

const headers = { 'X-Request-Id': 'their-own-id' }
/** An entry of a call with {@link headers}. */
const entry = (action: string, details: object | null, actor: string) => ({
  action: `api_key.${action}`,
  actor_type: actor.startsWith('usr_') ? 'user' : 'api_key',
  actor_id: actor,
  request_id: expect.stringMatching(/^req_/),
  client_request_id: headers['X-Request-Id'],
  object_type: 'api_key',
  details,
})

it('of a rotation at first use: who began it, with what, and the request that completed it', async () => {
  const { key, secret } = await keys.make()
  const begun = await keys.rotate(key.id, { when: 'first_use', grace_s: 60 }, secret, { headers })
  advance(1)
  const used = await keys.send('GET', '/self', begun.body.secret, undefined, { headers })
  expect(used.status).toBe(200)
  advance(1)
  const third = (await keys.rotate(key.id, { when: 'first_use' }, owner.token, { headers })).body.secret
  advance(1)
  for (const which of ['pending', 'previous'] as const) {
    for (let n = 0; n < 2; n++) await keys.end(key.id, which, { headers })
    advance(1)
  }
  const { key_prefix } = begun.body.key.pending
  const [, ...entries] = await entriesOf(key.id)
  expect(entries).toEqual([
    entry('rotation_pending', { key_prefix, begun_by: key.id, when: 'first_use', grace_s: 60 }, key.id),
    entry('rotation_completed', { key_prefix, begun_by: key.id, grace_s: 60 }, key.id),
    entry('rotation_pending', { key_prefix: shown(third), begun_by: owner.user, when: 'first_use' }, owner.user),
    entry('pending_secret_ended', { key_prefix: shown(third) }, owner.user),
    entry('previous_secret_ended', { key_prefix: shown(secret) }, owner.user),
  ])
  expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(5)
})

it('of rotations now: the new prefix, and the grace period if there is one; the second time like the first', async () => {
  const { key } = await keys.make()
  const prefixes: string[] = []
  for (const json of [{ grace_s: 1 }, { when: 'now' }, { grace_s: 0 }]) {
    prefixes.push((await keys.rotate(key.id, json, owner.token, { headers })).body.key.key_prefix)
    advance(1)
  }
  const [, ...entries] = await entriesOf(key.id)
  expect(entries).toEqual(
    prefixes.map((key_prefix, n) => entry('rotated', { key_prefix, ...(n === 0 && { grace_s: 1 }) }, owner.user)),
  )
})

it('of a mint: what was minted; limits only if there are any', async () => {
  const bounds = { allowed_networks: ['192.0.2.7'], rate_limit: { per_minute: 5 } }
  const json = { name: 'Fenced', scopes: ['billing:read'] }
  for (const [fields, said] of [
    [bounds, { allowed_networks: ['192.0.2.7/32'], rate_limit: 5 }],
    [{ allowed_networks: null, rate_limit: null }, {}],
  ] as const) {
    const { body } = await keys.send('POST', '', owner.token, { ...json, ...fields }, { headers })
    expect(await entriesOf(body.key.id)).toEqual([entry('minted', { ...json, ...said }, owner.user)])
  }
})

it('of changes: what was sent, each only if it differs, and none for what stays or is refused', async () => {
  const { key } = await keys.make()
  const end = iso(Date.now() + HOUR)
  const steps = [
    [{ rate_limit: { per_minute: 9 } }, { rate_limit: 9, before: { rate_limit: null } }],
    [{ rate_limit: { per_minute: 9 } }, null],
    [
      { allowed_networks: ['192.0.2.0/24', '::1'] },
      { allowed_networks: ['192.0.2.0/24', '::1/128'], before: { allowed_networks: null } },
    ],
    [{ allowed_networks: ['192.0.2.0/24', '::1/128'], rate_limit: { per_minute: 9 } }, null],
    [{ expires_at: end }, { expires_at: end, before: { expires_at: key.expires_at } }],
    [{ expires_at: end }, null],
    [{ name: 'Refused', expires_at: iso(Date.now() + 2 * HOUR), rate_limit: null }, null],
    [
      { name: 'Named', rate_limit: null },
      { name: 'Named', rate_limit: null, before: { name: key.name, rate_limit: 9 } },
    ],
    [{ allowed_networks: null }, { allowed_networks: null, before: { allowed_networks: ['192.0.2.0/24', '::1/128'] } }],
    [{ name: 'Named', rate_limit: null, allowed_networks: null }, null],
  ] as const
  for (const [json, details] of steps) {
    const before = await entriesOf(key.id)
    advance(1)
    await keys.patch(key.id, json, owner.token, { headers })
    const added = (await entriesOf(key.id)).slice(before.length)
    expect([json, added]).toEqual([json, details === null ? [] : [entry('updated', details, owner.user)]])
  }
  expect(await keys.read(key.id)).toMatchObject({
    name: 'Named',
    rate_limit: null,
    allowed_networks: null,
    expires_at: end,
  })
})

it('of a revocation: one, and one for each key that went with it', async () => {
  const holder = await keys.make()
  const handed = await keys.make()
  await keys.rotate(handed.key.id, {}, holder.secret)
  advance(1)
  const path = `/${holder.key.id}?issued=true`
  for (let n = 0; n < 2; n++) await keys.send('DELETE', path, owner.token, undefined, { headers })
  expect((await entriesOf(holder.key.id)).slice(1)).toEqual([entry('revoked', null, owner.user)])
  expect((await entriesOf(handed.key.id)).slice(2)).toEqual([
    entry('revoked', { revoked_with: holder.key.id }, owner.user),
  ])
})
