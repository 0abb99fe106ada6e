import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isSecret, newSecret, storeOfSecret } from '../../src/api-keys/secret'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, inOneWindow, stopClock } from '../clock'
import { call, fillTable, freshProject, mint, STORE, withLimits } from '../harness'
import { keysOf, lastingProject } from './world'

/* Exactly at a limit, and one below and above it. */

let project: string
let owner: string
let keys: ReturnType<typeof keysOf>
beforeAll(async () => {
  const made = await lastingProject()
  project = made.project
  owner = made.owner.token
  keys = keysOf(project, owner)
})
let now: number
beforeEach(() => {
  now = stopClock()
})

describe('the moment at which a key expires', () => {
  it('is the first one at which none of its secrets works, and at which it cannot be rotated', async () => {
    const { key, secret } = await keys.make({ scopes: ['billing:read'], expires_at: iso(now + HOUR) })
    const second = (await keys.rotate(key.id, { grace_s: 86_400 })).body.secret
    const third = (await keys.rotate(key.id, { when: 'first_use', grace_s: 86_400 })).body.secret
    advance(HOUR - 1)
    for (const one of [secret, second]) expect(await keys.says(one)).toBe(200)
    advance(1)
    for (const one of [secret, second, third]) expect(await keys.says(one)).toBe('key_expired')
    for (const json of [{}, { when: 'first_use' }]) {
      const { status, body } = await keys.rotate(key.id, json)
      expect([status, body.code]).toEqual([409, 'key_expired'])
    }
    expect((await keys.read(key.id)).pending).not.toBe(null)
  })

  it('a millisecond before it, the secret that waits becomes the current one, and the key can be rotated', async () => {
    const { key } = await keys.make({ scopes: ['billing:read'], expires_at: iso(now + HOUR) })
    const fresh = (await keys.rotate(key.id, { when: 'first_use' })).body.secret
    advance(HOUR - 1)
    expect(await keys.says(fresh)).toBe(200)
    expect((await keys.rotate(key.id)).status).toBe(200)
  })

  it.each([
    [0, 422],
    [1, 201],
    [3650 * DAY, 201],
    [3650 * DAY + 1, 422],
  ])('may be %i ms after the mint: %i', async (ms, status) => {
    const json = { name: 'one', scopes: ['billing:read'], expires_at: iso(now + ms) }
    const answer = await keys.send('POST', '', owner, json)
    expect(answer.status).toBe(status)
    if (status === 201) return expect(answer.body.key.expires_at).toBe(json.expires_at)
    expect(answer.body.errors).toEqual([
      {
        pointer: '/expires_at',
        code: 'out_of_range',
        message: 'must be in the future and at most ten years from now',
      },
    ])
  })

  it('can be moved to an earlier one, a millisecond from now at least, and stays if it is the same', async () => {
    const { key } = await keys.make({ scopes: ['billing:read'], expires_at: iso(now + HOUR) })
    for (const [ms, status] of [
      [HOUR + 1, 422],
      [HOUR, 200],
      [HOUR - 1, 200],
      [0, 422],
      [1, 200],
    ] as const) {
      expect([ms, (await keys.patch(key.id, { expires_at: iso(now + ms) })).status]).toEqual([ms, status])
    }
    expect((await keys.read(key.id)).expires_at).toBe(iso(now + 1))
    // A key that never expires can get an end.
    const { key: lasting } = await keys.make()
    expect((await keys.patch(lasting.id, { expires_at: iso(now + 5000 * DAY) })).body.expires_at).toBe(
      iso(now + 5000 * DAY),
    )
  })
})

describe('secrets besides the current one', () => {
  it('say why they do not work: never used within 7 days, or replaced', async () => {
    const { key, secret } = await keys.make({ scopes: ['billing:read'] })
    const late = (await keys.rotate(key.id, { when: 'first_use' })).body.secret
    advance(7 * DAY)
    const detail = async (token: string) => (await call('/platform/v1/api-keys/self', { token, project })).body.detail
    expect(await detail(late)).toBe(
      'This secret was not used within 7 days of the rotation that returned it, so it never became current. Use the current secret, or rotate the API key again.',
    )
    await keys.rotate(key.id)
    expect(await detail(secret)).toBe('Use the secret that the rotation returned.')
  })

  it('count for whom they were handed to until the moment at which they end', async () => {
    const { key: holder, secret } = await keys.make()
    const heldBy = async (id: string) =>
      (await keys.send('GET', `?secret_issued_to=${id}`, owner)).body.data.map(({ id }: { id: string }) => id)
    const { key } = await keys.make()
    await keys.rotate(key.id, {}, secret)
    await keys.rotate(key.id, { grace_s: 60 })
    advance(MINUTE - 1)
    expect(await heldBy(holder.id)).toEqual([key.id])
    advance(1)
    expect(await heldBy(holder.id)).toEqual([])
    await keys.rotate(key.id, { when: 'first_use' }, secret)
    advance(7 * DAY - 1)
    expect(await heldBy(holder.id)).toEqual([key.id])
    advance(1)
    expect(await heldBy(holder.id)).toEqual([])
  })

  it('take a grace period of a second and of a day', async () => {
    const { key } = await keys.make()
    for (const grace_s of [1, 86_400]) {
      const { body } = await keys.rotate(key.id, { grace_s })
      expect(body.key.previous.valid_until).toBe(iso(now + grace_s * 1000))
    }
    expect((await keys.rotate(key.id, { grace_s: 0 })).body.key.previous).toBe(null)
  })
})

describe('limits of the fields', () => {
  it('a name has 1 to 100 characters, whatever their bytes', async () => {
    const { key } = await keys.make()
    for (const [name, status] of [
      ['🔑'.repeat(100), 200],
      ['🔑'.repeat(101), 422],
      ['x', 200],
      ['', 422],
    ] as const) {
      expect((await keys.patch(key.id, { name })).status).toBe(status)
    }
    const minted = (name: string) => keys.send('POST', '', owner, { name, scopes: ['billing:read'] })
    expect([(await minted('x'.repeat(100))).status, (await minted('x'.repeat(101))).status]).toEqual([201, 422])
  })

  it('a rate limit goes from 1 to 3,000, and nothing sets none', async () => {
    const { key } = await keys.make()
    for (const [rate_limit, status] of [
      [{ per_minute: 1 }, 200],
      [{ per_minute: 3_000 }, 200],
      [{ per_minute: 3_001 }, 422],
      [null, 200],
    ] as const) {
      expect((await keys.patch(key.id, { rate_limit })).status).toBe(status)
    }
    expect((await keys.read(key.id)).rate_limit).toBe(null)
  })

  it('a block of addresses is written with at most 64 characters', async () => {
    const codeOf = async (text: string) =>
      (await keys.send('POST', '', owner, { name: 'one', allowed_networks: [text] })).body.errors?.[0].code
    expect([await codeOf('0'.repeat(64)), await codeOf('0'.repeat(65))]).toEqual(['malformed', 'out_of_range'])
    const longest = '0000:0000:0000:0000:0000:0000:255.255.255.255/128'
    expect((await keys.make({ allowed_networks: [longest] })).key.allowed_networks).toEqual(['::ffff:ffff/128'])
  })

  it.each(['0.0.0.0/0', '192.0.2.7/32', '::/0', '2001:db8::7/128'])(
    'a key is let in from %s, and from nowhere else of another family or beside it',
    async (network) => {
      const { secret } = await keys.make({ allowed_networks: [network] })
      const from = (address: string) => keys.says(secret, { headers: { 'CF-Connecting-IP': address } })
      const tried = ['192.0.2.7', '192.0.2.6', '255.255.255.255', '2001:db8::7', '2001:db8::6', 'ffff::']
      const inside = tried.filter((one) =>
        network.endsWith('/0')
          ? one.includes(':') === network.includes(':')
          : one === network.slice(0, network.indexOf('/')),
      )
      for (const one of tried) {
        expect([one, await from(one)]).toEqual([one, inside.includes(one) ? 200 : 'network_not_allowed'])
      }
    },
  )

  it('scopes are kept once each', async () => {
    const { key } = await keys.make({ scopes: ['billing:read', 'consumers:read', 'billing:read'] })
    expect(key.scopes).toEqual(['billing:read', 'consumers:read'])
  })
})

it.each([
  [20, 'LIMIT_AUTH_FAILURE', 20],
  [21, 'LIMIT_UNKNOWN_CONNECTION', 120],
  [121, 'LIMIT_CALLER_WRITES', 600],
  [601, 'LIMIT_CREDENTIAL', 3_000],
])('a limit of %i is counted in the lowest binding that has room for it: %s', async (per_minute, counts, units) => {
  const { secret } = await keys.make({ rate_limit: { per_minute } })
  const counted: string[] = []
  const limit = async ({ key }: RateLimitOptions) => {
    if (key.startsWith('own:')) counted.push(key)
    return { success: true }
  }
  // All others would refuse the key, if it were counted there.
  const limiter = (name: string) => ({
    limit: async (asked: RateLimitOptions) =>
      name === counts ? limit(asked) : { success: !asked.key.startsWith('own:') },
  })
  const names = ['LIMIT_AUTH_FAILURE', 'LIMIT_UNKNOWN_CONNECTION', 'LIMIT_CALLER_WRITES', 'LIMIT_CREDENTIAL']
  const bindings: object = Object.fromEntries(names.map((name) => [name, limiter(name)]))
  const answers: unknown[] = []
  for (let n = 0; n < per_minute; n++) answers.push(await keys.says(secret, { bindings }))
  expect(new Set(answers)).toEqual(new Set([200]))
  // In a minute it is counted up to what the binding allows.
  expect(counted).toHaveLength(units)
  expect(new Set(counted).size).toBe(1)
})

it('a limit that is used up is looked up again after five seconds, and not before', async () => {
  withLimits()
  const statuses = await inOneWindow(async () => {
    stopClock()
    const { key, secret } = await keys.make({ rate_limit: { per_minute: 1 } })
    const all = [await keys.says(secret), await keys.says(secret)]
    await keys.patch(key.id, { rate_limit: { per_minute: 2 } })
    advance(5_000 - 1)
    all.push(await keys.says(secret))
    advance(1)
    all.push(await keys.says(secret))
    return all
  })
  expect(statuses).toEqual([200, 'rate_limited', 'rate_limited', 200])
})

describe('how many keys a project has', () => {
  it('are 100 live ones: one more once one was revoked, and the project beside it has its own', async () => {
    const { project, owner } = await freshProject()
    const other = await freshProject()
    const { key } = await mint(owner.token, project)
    await fillTable('api_keys', project, 99)
    const mintIn = async (of: { project: string; owner: { token: string } }) => {
      const { status, body } = await keysOf(of.project, of.owner.token).send('POST', '', of.owner.token, {
        name: 'one',
      })
      return status === 201 ? 201 : [status, body.code]
    }
    expect([await mintIn({ project, owner }), await mintIn({ project, owner })]).toEqual([
      201,
      [409, 'key_limit_reached'],
    ])
    expect(await mintIn(other)).toBe(201)
    await keysOf(project, owner.token).revoke(key.id)
    expect([await mintIn({ project, owner }), await mintIn({ project, owner })]).toEqual([
      201,
      [409, 'key_limit_reached'],
    ])
  })

  it('allows 899 revoked keys minted within a day, and refuses the next mint', async () => {
    const { project, owner } = await freshProject()
    const { key } = await mint(owner.token, project)
    const id = newId('key', now)
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 899)
       INSERT INTO api_keys (id, project_id, name, key_prefix, hash, scopes, created_by, created_at, revoked_at)
       SELECT substr(?1, 1, length(?1) - 6) || printf('%06d', v), project_id, name, key_prefix, ?1 || v, scopes, created_by, 1, 2
       FROM api_keys, n WHERE id = ?2`,
    )
      .bind(id, key.id)
      .run()
    const own = keysOf(project, owner.token)
    const minted = await own.send('POST', '', owner.token, { name: 'one' })
    expect(minted.status).toBe(201)
    await own.revoke(minted.body.key.id)
    const late = await own.send('POST', '', owner.token, { name: 'one' })
    expect([late.status, late.body.code]).toEqual([429, 'rate_limited'])
    expect(late.body.detail).toContain('can mint 1,000 API keys in a day')
  })
})

it('a key that rotates another one may have the same limit as that', async () => {
  const caller = await keys.make({ rate_limit: { per_minute: 9 } })
  const same = await keys.make({ rate_limit: { per_minute: 9 } })
  expect((await keys.rotate(same.key.id, {}, caller.secret)).status).toBe(200)
})

it('an API key lowers its limit without saying its networks, and takes away networks without saying its limit', async () => {
  const headers = { 'CF-Connecting-IP': '192.0.2.1' }
  const { key, secret } = await keys.make({ allowed_networks: ['192.0.2.0/24'], rate_limit: { per_minute: 9 } })
  const patch = (json: object) => keys.patch(key.id, json, secret, { headers })
  expect((await patch({ rate_limit: { per_minute: 8 } })).body.rate_limit).toEqual({ per_minute: 8 })
  expect((await patch({ allowed_networks: ['192.0.2.0/25'] })).body.allowed_networks).toEqual(['192.0.2.0/25'])
  expect((await patch({ name: 'Both stay' })).body).toMatchObject({
    name: 'Both stay',
    rate_limit: { per_minute: 8 },
    allowed_networks: ['192.0.2.0/25'],
  })
  // Where the address is not known, it says so.
  const unknown = await keys.make()
  const refused = await keys.patch(unknown.key.id, { allowed_networks: ['192.0.2.0/24'] }, unknown.secret, {
    headers: { 'CF-Connecting-IP': '' },
  })
  expect([refused.status, refused.body.code]).toEqual([409, 'would_lock_out'])
  expect(refused.body.detail).toContain('You are calling from an unknown address')
})

it('a secret names its store, with three digits whatever the number', async () => {
  for (const store of [0, 1, 15, 16, 255, 256, 4095]) {
    const { secret } = await newSecret(store)
    expect([storeOfSecret(secret), isSecret(secret)]).toEqual([store, true])
    expect(secret.slice(-11, -8)).toBe(store.toString(16).padStart(3, '0'))
  }
})
