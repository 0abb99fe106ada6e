import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { type TokenWorld, tokenWorld } from '../entitlements/tokens'
import { bound, call, lossyQueue, STORE, unconfirm } from '../harness'
import { captureLog, cron, keepHouse, rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { end, restore } from '../projects/ending'

let world: TokenWorld
beforeEach(async () => {
  stopClock(Math.floor(Date.now() / SECOND) * SECOND)
  world = await tokenWorld()
})

const states = async () =>
  (
    await rows<{ kid: string; state: string }>(
      'SELECT kid, state FROM entitlement_keys WHERE project_id = ? ORDER BY state, kid',
      world.project,
    )
  ).map(({ kid, state }) => [state, kid])
const kidOf = (token: string) =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[0] ?? '', { alphabet: 'base64url' }))).kid

describe('the public keys of a project', () => {
  it('are there from the first plan on, for anybody, to be cached for five minutes', async () => {
    const { status, headers, body } = await world.jwks({ headers: { Origin: 'https://app.example.com' } })
    expect(status).toBe(200)
    expect(headers.get('Cache-Control')).toBe('public, max-age=300')
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
    const [current] = await states()
    const coordinate = expect.stringMatching(/^[\w-]{43}$/)
    expect(body.keys).toEqual([
      { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: current?.[1], x: coordinate, y: coordinate },
    ])
    const preflight = await call(`/p/${world.project}/jwks.json`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([204, '*'])
  })

  it('have as id the thumbprint of RFC 7638', async () => {
    const { calculateJwkThumbprint } = await import('jose')
    const [key] = (await world.jwks()).body.keys
    expect(await calculateJwkThumbprint(key ?? {})).toBe(key?.kid)
  })

  it('are not there for a project that does not exist or is deleted, and that is not cached', async () => {
    const missing = async (project: string) => {
      const answer = await call(`/p/${project}/jwks.json`)
      expect([...told(answer), answer.headers.get('Cache-Control')]).toEqual([404, 'not_found', 'no-store'])
    }
    await missing('prj_01kc5q8h2d4f6g9j3k5m7n8p0q')
    await missing('prj_01kc5q8h2d4f6g9j3k5m7n8p0qzz') // of a store that is not bound
    await missing('nonsense')
    await end(world)
    await missing(world.project)
    await restore(world)
    expect((await world.jwks()).status).toBe(200)
  })
})

describe('a rotation by hand', () => {
  it('signs with a new key at once, and keeps the old one published for two hours', async () => {
    const before = (await world.issue({ ttl_s: 3600 })).body.token
    const cached = (await world.jwks()).body
    const { status, body } = await world.rotate()
    expect(status).toBe(200)
    expect(body.data.map(({ state }) => state)).toEqual(['current', 'retired'])
    const after = (await world.issue({ ttl_s: 3600 })).body.token
    expect([kidOf(after), kidOf(before)]).toEqual(body.data.map(({ kid }) => kid))
    for (const token of [before, after]) await world.verify(token)
    // A verifier that knows only the old keys is told which one it lacks, and fetches them again.
    await expect(world.verify(after, {}, cached)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
    advance(2 * HOUR - MINUTE)
    await keepHouse()
    expect(await world.kids()).toHaveLength(2)
    advance(HOUR)
    await keepHouse()
    expect(await world.kids()).toEqual([kidOf(after)])
    expect(await logged(world.project, kidOf(after))).toEqual([['entitlement_key.rotated', { compromised: false }]])
  })

  it('removes the private part of the old key', async () => {
    await world.rotate()
    const sql = "SELECT key, box FROM entitlement_keys WHERE project_id = ? AND state = 'retired'"
    expect(await rows(sql, world.project)).toEqual([{ key: null, box: null }])
  })

  it('of compromised keys ends all of them at once, also those that were rotated before', async () => {
    const tokens = [(await world.issue()).body.token]
    await world.rotate()
    tokens.push((await world.issue()).body.token)
    const { body } = await world.rotate({ compromised: true })
    expect(body.data).toMatchObject([{ state: 'current' }])
    expect(await world.kids()).toEqual(body.data.map(({ kid }) => kid))
    for (const token of tokens) await expect(world.verify(token)).rejects.toThrow(/no applicable key/)
    await world.verify((await world.issue()).body.token)
  })

  it('many at once leave one key that signs, and ten retired ones: more in two hours are refused', async () => {
    const { token } = (await world.issue({ ttl_s: 3600 })).body
    advance(MINUTE)
    const answers = await Promise.all(
      Array.from({ length: 15 }, async () => {
        advance(1)
        return world.rotate()
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), ...Array(5).fill(429)])
    await world.verify(token) // of the first key
    const count = (state: string) => states().then((all) => all.filter(([one]) => one === state).length)
    expect([await count('current'), await count('next'), await count('retired')]).toEqual([1, 0, 10])
    await world.verify((await world.issue()).body.token)
    const again = await world.rotate()
    expect(told(again)).toEqual([429, 'rate_limited'])
    // Until the tokens of the first of them have ended, two hours after its rotation.
    const wait = Number(again.headers.get('Retry-After'))
    expect(wait).toBe(2 * 60 * 60)
    const entries = "SELECT count(*) AS n FROM audit_log WHERE project_id = ? AND action = 'entitlement_key.rotated'"
    expect(await rows(entries, world.project)).toEqual([{ n: 10 }])
    advance(wait * 1000)
    expect((await world.rotate()).status).toBe(200)
    expect(told(await world.rotate({ compromised: true }))).toEqual([403, 'confirmation_required'])
    await unconfirm(world.owner.user, 0)
    expect((await world.rotate({ compromised: true })).status).toBe(200)
    expect(await count('retired')).toBe(0)
  })

  it('of which ten were made is possible again two hours later', async () => {
    for (let n = 0; n < 10; n++) {
      advance(1)
      await world.rotate()
    }
    advance(2 * HOUR)
    expect((await world.rotate()).body.data.map(({ state }) => state)).toEqual(['current', 'retired'])
  })

  it('of a project without a key makes its first one', async () => {
    await STORE.prepare('DELETE FROM entitlement_keys WHERE project_id = ?').bind(world.project).run()
    expect((await world.rotate()).body.data).toMatchObject([{ state: 'current' }])
  })
})

describe('the rotation by the cron', () => {
  it('publishes the next key at day 80, signs with it from day 90 on, and then forgets the old one', async () => {
    const [[, first] = []] = await states()
    advance(80 * DAY - MINUTE)
    await keepHouse()
    expect(await states()).toEqual([['current', first]])
    advance(MINUTE)
    await keepHouse()
    const [, [, next] = []] = await states()
    expect(await states()).toEqual([
      ['current', first],
      ['next', next],
    ])
    expect(await world.kids()).toEqual([first, next])
    expect(kidOf((await world.issue()).body.token)).toBe(first)
    advance(10 * DAY - MINUTE)
    await keepHouse()
    expect((await states())[0]).toEqual(['current', first])
    const cached = (await world.jwks()).body
    advance(MINUTE)
    const old = (await world.issue()).body.token
    await keepHouse()
    expect(await states()).toEqual([
      ['current', next],
      ['retired', first],
    ])
    const { token } = (await world.issue()).body
    expect(kidOf(token)).toBe(next)
    // A verifier that fetched the keys ten days ago knows the new one already.
    for (const one of [old, token]) await world.verify(one, {}, cached)
    advance(2 * HOUR)
    await keepHouse()
    expect(await states()).toEqual([['current', next]])
  })

  it('signs with no key that was not published for a day, however late the cron is', async () => {
    const [[, first] = []] = await states()
    advance(200 * DAY)
    await keepHouse()
    advance(DAY - MINUTE)
    await keepHouse()
    expect((await states())[0]).toEqual(['current', first])
    advance(MINUTE)
    await keepHouse()
    expect((await states()).map(([state]) => state)).toEqual(['current', 'retired'])
  })

  it('goes through many projects in steps', async () => {
    await STORE.prepare(
      `INSERT INTO entitlement_keys (project_id, kid, state, public, key, box, created_at, state_at)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 120)
        SELECT 'prj_many_' || v, 'kid_' || v, 'current', '{}', 1, 'x', 0, 0 FROM n`,
    ).run()
    await keepHouse()
    const count = "SELECT count(*) AS n FROM entitlement_keys WHERE project_id LIKE 'prj_many_%' AND state = 'next'"
    expect(await rows(count)).toEqual([{ n: 120 }])
    await rows("DELETE FROM entitlement_keys WHERE project_id LIKE 'prj_many_%'")
  })

  it('is used by a rotation by hand', async () => {
    const sql = 'UPDATE entitlement_keys SET state_at = state_at - ? WHERE project_id = ?'
    await rows(sql, 81 * DAY, world.project)
    await keepHouse()
    const next = (await states()).find(([state]) => state === 'next')
    expect((await world.rotate()).body.data[0]).toMatchObject({ kid: next?.[1], state: 'current' })
  })
})

describe('the encryption of private keys', () => {
  const both = () => ({ ENCRYPTION_KEY_1: bound.ENCRYPTION_KEY_1 as string, ENCRYPTION_KEY_2: btoa('2'.repeat(32)) })
  const left = async (bindings: object) => (await world.api('/webhooks/health', { bindings })).body.secrets_to_reseal

  it('moves to a newer encryption key, and health counts until then', async () => {
    const secrets = (await left(both())) as number
    expect(secrets).toBeGreaterThan((await left({})) as number)
    for (let run = 0; run < 5; run++) await cron({ ...both(), EVENTS: lossyQueue().EVENTS })
    expect(await rows('SELECT key FROM entitlement_keys WHERE project_id = ?', world.project)).toEqual([{ key: 2 }])
    expect(await left(both())).toBe(0)
    await world.verify((await world.issue({}, 'ext:ada', { bindings: both() })).body.token)
  })

  it('says which setting is wrong if no key opens one, and a rotation helps', async () => {
    const log = captureLog()
    await rows('UPDATE entitlement_keys SET key = 7 WHERE project_id = ?', world.project)
    expect(told(await world.issue())).toEqual([503, 'encryption_key_unavailable'])
    await rows("DELETE FROM state WHERE name = 'sealed_under'")
    await cron({ EVENTS: lossyQueue().EVENTS })
    const [id] = await world.kids()
    expect(log.of('secret_not_resealed')).toContainEqual(
      expect.objectContaining({ column: 'entitlement_keys.box', id }),
    )
    await world.rotate()
    await world.verify((await world.issue()).body.token)
  })
})
