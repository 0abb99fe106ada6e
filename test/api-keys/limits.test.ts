import { beforeEach, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { newId } from '../../src/lib/ids'
import { DAY, MINUTE, SECOND } from '../../src/lib/time'
import { advance, inOneWindow, stopClock } from '../clock'
import { bound, call, countingD1, freshAddress, freshKey, STORE, withLimits } from '../harness'

const PROJECTS = '/platform/v1/projects'

beforeEach(withLimits)

it('limits requests by credential: 3,000 a minute', async () => {
  const { allowed, refused, elsewhere } = await inOneWindow(async () => {
    const [asked, other] = [await freshKey(), await freshKey()]
    const ask = ({ project, secret }: typeof asked, bindings = {}) =>
      call(PROJECTS, { token: secret, project, bindings })
    const key = await keyOfLimit((LIMIT_CREDENTIAL) => ask(asked, { LIMIT_CREDENTIAL }))
    await Promise.all(Array.from({ length: 2_999 }, () => bound.LIMIT_CREDENTIAL.limit({ key })))
    return { allowed: await ask(asked), refused: await ask(asked), elsewhere: await ask(other) }
  })
  expect(allowed.status).toBe(200)
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(refused.headers.get('Retry-After')).toBe('10')
  expect(elsewhere.status).toBe(200)
})

it('blocks an address after 20 failed authentications a minute, before the database is asked, for ten seconds', async () => {
  const { project, secret } = await freshKey()
  const neighbour = await freshKey()
  stopClock()
  const { address, codes } = await inOneWindow(async () => {
    const address = { 'CF-Connecting-IP': freshAddress() }
    // A key that authenticates from this address before the failures.
    await call(PROJECTS, { token: neighbour.secret, project: neighbour.project, headers: address })
    const codes: string[] = []
    for (let i = 0; i < 22; i++) {
      const { secret: unknown } = await newSecret(0)
      codes.push((await call(PROJECTS, { token: unknown, project, headers: address })).body.code)
    }
    return { address, codes }
  })
  expect(codes).toEqual([...Array(21).fill('unknown_key'), 'rate_limited'])
  const { DB, count } = countingD1()
  const blocked = await call(PROJECTS, { token: secret, project, headers: address, bindings: { DB } })
  expect([blocked.status, count.statements]).toEqual([429, 0])
  expect((await call(PROJECTS, { token: secret, project })).status).toBe(200)

  // The key that authenticated works on from the same address until it is revoked; then it is as any other.
  const asked = { token: neighbour.secret, project: neighbour.project, headers: address }
  expect((await call(PROJECTS, asked)).status).toBe(200)
  const { id } = neighbour.key
  expect((await call(`/platform/v1/api-keys/${id}`, { method: 'DELETE', ...asked })).status).toBe(204)
  expect((await call(PROJECTS, asked)).body.code).toBe('key_revoked')
  expect((await call(PROJECTS, asked)).body.code).toBe('rate_limited')

  const fresh = await freshKey()
  const late = { token: fresh.secret, project: fresh.project, headers: address }
  advance(10 * SECOND - 1)
  expect((await call(PROJECTS, late)).body.code).toBe('rate_limited')
  advance(1)
  expect((await call(PROJECTS, late)).status).toBe(200)
})

it('refuses an address after more than ten failed sign-ins in a minute', async () => {
  const statuses = await inOneWindow(async () => {
    const headers = { 'CF-Connecting-IP': freshAddress() }
    const json = { challenge: 'x', code: 'y' }
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) {
      statuses.push((await call('/auth/sessions', { method: 'POST', json, headers })).status)
    }
    return statuses
  })
  expect(statuses).toEqual([...Array(11).fill(401), 429])
})

it('limits how many keys a project mints in a day, so that its revoked keys stay few', async () => {
  const { project, owner, key } = await freshKey()
  const other = await freshKey()
  const revoked = (mintedAt: number) =>
    STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 900)
       INSERT INTO api_keys (id, project_id, name, key_prefix, hash, scopes, created_by, created_at, revoked_at)
       SELECT substr(?1, 1, length(?1) - 6) || printf('%06d', v), project_id, name, key_prefix, ?1 || v, scopes, created_by, 1, 2
       FROM api_keys, n WHERE id = ?2`,
    )
      .bind(newId('key', mintedAt), key.id)
      .run()
  const mintIn = (of: { project: string; owner: { token: string } }) =>
    call('/platform/v1/api-keys', { method: 'POST', token: of.owner.token, project: of.project, json: { name: 'one' } })
  await revoked(Date.now() - DAY - MINUTE)
  expect((await mintIn({ project, owner })).status).toBe(201)
  await revoked(Date.now() - DAY + MINUTE)
  const refused = await mintIn({ project, owner })
  expect([refused.status, refused.body.code, refused.headers.get('Retry-After')]).toEqual([429, 'rate_limited', '3600'])
  expect(refused.headers.get('RateLimit-Policy')).toBe('"api_keys_minted";q=1000;w=86400')
  expect((await mintIn(other)).status).toBe(201)
})

/** What a request is counted under: the key with which it asks this limiter. */
async function keyOfLimit(request: (limiter: RateLimit) => Promise<unknown>): Promise<string> {
  const keys: string[] = []
  await request({
    limit: async ({ key }) => {
      keys.push(key)
      return { success: true }
    },
  })
  expect(keys).toHaveLength(1)
  return keys[0] as string
}
