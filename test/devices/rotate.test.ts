import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { mint, STORE, tamperedD1 } from '../harness'
import { rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { as, newApi } from './devices'

/* Rotations of a device's token: now, or when the new one is verified for the first time. */

let now: number
beforeEach(() => {
  now = stopClock()
})

/** A project with a key of its consumer `ext:u`, and what can be done with it. */
async function newKey(fields: object = {}) {
  const world = await newApi()
  const { api, project, owner } = world
  const { device, token } = (await api.register('ext:u', 'k', { platform: 'server', ...fields })).body
  const reader = as(project, (await mint(owner.token, project, { scopes: ['entitlements:read'] })).secret)
  /** What a token is: null if it is valid, or why it is not. */
  const says = async (one: string) => (await reader.verify(one)).body.reason as string | null
  const all = (...tokens: string[]) => Promise.all(tokens.map(says))
  const rotate = (json?: object, options = {}) => api.rotate('ext:u', device.id, json, options)
  const begin = async (grace_s = 0) => (await rotate({ when: 'first_use', grace_s })).body.token as string
  const shown = async () => (await api.one('ext:u', device.id)).body
  /** What happened to it since, in the order of the feed. */
  const happened = async () => {
    const sql = `SELECT a.action, a.details FROM changes c
      JOIN audit_log a ON a.project_id = c.project_id AND a.id = c.items ->> '$[0].cause'
      WHERE c.project_id = ? AND a.object_id = ? ORDER BY c.seq`
    return (await rows<{ action: string; details: string }>(sql, project, device.id)).slice(1)
  }
  const actions = async () => (await happened()).map(({ action }) => action)
  return { ...world, reader, device, token: token as string, says, all, rotate, begin, shown, happened, actions }
}
const prefix = (token: string) => `${token.slice(0, 11)}…${token.slice(-4)}`

describe('a rotation now', () => {
  it('ends the old token at once, and shows the new one once', async () => {
    const { token, device, rotate, all, shown, happened, consumer } = await newKey()
    const { status, body, headers } = await rotate()
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      device: { ...device, token_prefix: prefix(body.token) },
      token: expect.stringMatching(/^svc_dv_[0-9a-f]{64}$/),
    })
    expect(await all(token, body.token)).toEqual(['unknown', null])
    expect(await shown()).toEqual(body.device)
    const details = JSON.stringify({ consumer, token_prefix: prefix(body.token) })
    expect(await happened()).toEqual([{ action: 'device.rotated', details }])
  })

  it('with a grace period keeps the old one valid for that long, and says when it was used', async () => {
    const { token, rotate, says, shown, happened } = await newKey()
    const fresh = (await rotate({ grace_s: 7_200 })).body
    expect(JSON.parse((await happened())[0]?.details ?? '')).toMatchObject({ grace_s: 7_200 })
    const previous = { token_prefix: prefix(token), valid_until: iso(now + 2 * HOUR), last_used_at: null }
    expect(fresh.device.previous).toEqual(previous)
    advance(MINUTE)
    expect([await says(token), await says(token), await says(fresh.token)]).toEqual([null, null, null])
    expect(await shown()).toMatchObject({ previous: { ...previous, last_used_at: iso(now + MINUTE) } })
    advance(2 * HOUR - MINUTE - 1)
    expect(await says(token)).toBe(null)
    expect((await shown()).previous.last_used_at).toBe(iso(now + 2 * HOUR - 1))
    advance(1)
    expect([await says(token), await says(fresh.token), (await shown()).previous]).toEqual(['unknown', null, null])
  })

  it('ends the one before the previous one, and a token that waits', async () => {
    const { token, rotate, begin, all } = await newKey()
    const second = (await rotate({ grace_s: 60 })).body.token
    const waiting = await begin(60)
    const third = (await rotate({ grace_s: 60 })).body.token
    expect(await all(token, second, waiting, third)).toEqual(['unknown', null, 'unknown', null])
    const fourth = (await rotate({})).body.token
    expect(await all(second, third, fourth)).toEqual(['unknown', 'unknown', null])
  })
})

describe('a rotation with first_use', () => {
  it('leaves the old token, until the new one is verified by a key that may only verify', async () => {
    const { token, device, rotate, says, all, shown, consumer, happened } = await newKey()
    const { body } = await rotate({ when: 'first_use' })
    const pending = { token_prefix: prefix(body.token), created_at: iso(now), expires_at: iso(now + 7 * DAY) }
    expect(body.device).toEqual({ ...device, pending })
    expect(await all(token, token)).toEqual([null, null])
    expect(await shown()).toEqual({ ...device, pending })
    expect([await says(body.token), await says(token)]).toEqual([null, 'unknown'])
    expect(await shown()).toEqual({ ...device, token_prefix: prefix(body.token) })
    const entries = await happened()
    expect(entries.map(({ action }) => action)).toEqual(['device.rotation_pending', 'device.rotation_completed'])
    const details = { consumer, token_prefix: prefix(body.token), begun_by: expect.stringMatching(/^key_/) }
    expect(entries.map((entry) => JSON.parse(entry.details))).toEqual([{ ...details, when: 'first_use' }, details])
  })

  it('answers the first use with all that a verification answers', async () => {
    const { reader, begin, token } = await newKey({ scopes: ['a'] })
    const fresh = await begin(60)
    const ask = async (one: string) => (await reader.verify(one, {}, { features: ['sso'], require: ['a'] })).body
    const first = await ask(fresh)
    expect(first).toMatchObject({ valid: true, features: { sso: { allowed: false } }, consumer: { external_id: 'u' } })
    expect(first.device).toMatchObject({ token_prefix: prefix(fresh), pending: null })
    expect(first.device.previous).toMatchObject({ token_prefix: prefix(token) })
    for (const one of [fresh, token]) expect(await ask(one)).toMatchObject({ valid: true, features: first.features })
  })

  it('counts the grace period from the first use, also of one that lacks a scope', async () => {
    const { reader, token, begin, says, happened } = await newKey()
    const fresh = await begin(60)
    advance(DAY)
    expect((await reader.verify(fresh, {}, { require: ['a'] })).body.reason).toBe('missing_scope')
    advance(60 * SECOND - 1)
    expect(await says(token)).toBe(null)
    advance(1)
    expect([await says(token), await says(fresh)]).toEqual(['unknown', null])
    expect((await happened()).map(({ details }) => JSON.parse(details).grace_s)).toEqual([60, 60])
  })

  it('harms nobody if its answer is lost, twice', async () => {
    const { token, begin, all, says } = await newKey()
    const lost = [await begin(), await begin()]
    const fresh = await begin()
    expect([...(await all(...lost)), await says(token)]).toEqual(['unknown', 'unknown', null])
    expect([await says(fresh), await says(token)]).toEqual([null, 'unknown'])
  })

  it('ends by itself after 7 days, and the old token stays', async () => {
    const { token, begin, all, says, shown } = await newKey()
    const late = await begin()
    advance(7 * DAY)
    expect([...(await all(late, token)), (await shown()).pending]).toEqual(['unknown', null, null])
    const last = await begin()
    advance(7 * DAY - 1)
    expect([await says(last), await says(token)]).toEqual([null, 'unknown'])
  })

  it('admits all of many first uses at once, beside the old token, and one of them completes it', async () => {
    const { token, begin, all, actions } = await newKey()
    const fresh = await begin(60)
    const many = Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? fresh : token))
    expect(new Set(await all(...many))).toEqual(new Set([null]))
    expect(await actions()).toEqual(['device.rotation_pending', 'device.rotation_completed'])
  })

  it('is not completed where the database does not write: the token is valid, and the next use tries again', async () => {
    const { reader, token, begin, says, shown } = await newKey()
    const fresh = await begin()
    const DB = tamperedD1(({ sql, run }) => {
      if (/update "devices"/i.test(sql)) throw new Error('D1_ERROR: no')
      return run()
    })
    expect((await reader.verify(fresh, { bindings: { DB } })).body.valid).toBe(true)
    expect([(await shown()).pending?.token_prefix, await says(token)]).toEqual([prefix(fresh), null])
    expect([await says(fresh), await says(token)]).toEqual([null, 'unknown'])
  })
})

describe('of many calls at once', () => {
  it.each(['now', 'first_use'])(
    'of 12 rotations %s, each that succeeds was decided: one token counts',
    async (when) => {
      const { token, rotate, all, shown, actions } = await newKey()
      const answers = await Promise.all(Array.from({ length: 12 }, () => rotate({ when })))
      const good = answers.filter(({ status }) => status === 200)
      expect(good.length).toBeGreaterThan(0)
      const refused = answers.filter(({ status }) => status !== 200)
      expect(new Set(refused.map(({ body }) => body.code))).toEqual(
        new Set(refused.length > 0 ? ['rotation_conflict'] : []),
      )
      expect(await actions()).toHaveLength(good.length)
      const tokens = good.map(({ body }) => body.token as string)
      const device = await shown()
      const last = tokens.filter((one) => [device.token_prefix, device.pending?.token_prefix].includes(prefix(one)))
      expect(last).toHaveLength(1)
      const others = tokens.filter((one) => one !== last[0])
      expect(new Set(await all(...others))).toEqual(new Set(others.length > 0 ? ['unknown'] : []))
      expect(await all(token)).toEqual([when === 'now' ? 'unknown' : null])
      expect(await all(...last)).toEqual([null])
    },
  )

  it('a rotation that was overtaken says so, and changes nothing', async () => {
    const { rotate, all, device, api, actions } = await newKey()
    let between: (() => Promise<unknown>) | null = () => api.rotate('ext:u', device.id)
    const DB = tamperedD1(async ({ sql, run }) => {
      const work = /update "devices"/i.test(sql) ? between : null
      if (work) between = null
      await work?.()
      return run()
    })
    const overtaken = await rotate({}, { bindings: { DB } })
    expect(told(overtaken)).toEqual([409, 'rotation_conflict'])
    expect(overtaken.body.detail).toContain('device')
    expect(await actions()).toEqual(['device.rotated'])
    expect(await all(device.token_prefix)).toEqual(['unknown'])
  })

  it('a first use and a revocation: none of the tokens is valid after the revocation', async () => {
    const { api, token, device, begin, all } = await newKey()
    const fresh = await begin(3600)
    await Promise.all([all(fresh, token, fresh), api.revoke('ext:u', device.id), all(fresh, token)])
    expect(new Set(await all(fresh, token))).toEqual(new Set(['revoked']))
  })
})

describe('the end of a device', () => {
  it('revoking ends all three tokens, and each says so', async () => {
    const { api, token, device, rotate, begin, all, shown } = await newKey()
    const second = (await rotate({ grace_s: 3600 })).body.token
    const third = await begin(3600)
    await api.revoke('ext:u', device.id)
    expect(await all(token, second, third)).toEqual(['revoked', 'revoked', 'revoked'])
    expect(await shown()).toMatchObject({ state: 'revoked', pending: null, previous: null })
    expect(told(await rotate())).toEqual([409, 'device_revoked'])
    expect(told(await rotate({ when: 'first_use' }))).toEqual([409, 'device_revoked'])
  })

  it('a new token by registration ends all others', async () => {
    const { api, token, rotate, begin, all } = await newKey()
    const second = (await rotate({ grace_s: 3600 })).body.token
    const third = await begin(3600)
    const { body } = await api.register('ext:u', 'k', { platform: 'server', new_token: true })
    expect(await all(token, second, third, body.token)).toEqual(['unknown', 'unknown', 'unknown', null])
    expect(body.device).toMatchObject({ pending: null, previous: null })
  })

  it('tokens of a blocked consumer do not become current, and are not rotated', async () => {
    const { api, token, device, rotate, begin, all, says } = await newKey()
    const fresh = await begin()
    await api.block('ext:u')
    expect(await all(token, fresh)).toEqual(['consumer_blocked', 'consumer_blocked'])
    expect(told(await rotate())).toEqual([409, 'consumer_blocked'])
    expect((await api.update('ext:u', device.id, { name: 'x' })).status).toBe(200)
    await api.block('ext:u', 'unblock')
    expect([await says(token), await says(fresh), await says(token)]).toEqual([null, null, 'unknown'])
  })

  it('merging keeps all tokens, and they then belong to the survivor', async () => {
    const { api, token, reader, begin } = await newKey()
    await api.consumer('into')
    const fresh = await begin(60)
    await api.merge('ext:u', 'ext:into')
    const { body } = await reader.verify(fresh)
    expect(body).toMatchObject({ valid: true, consumer: { external_ids: ['into', 'u'] } })
    expect((await reader.verify(token)).body.valid).toBe(true)
  })

  it('tokens that wait and that were replaced are not valid in another project', async () => {
    const { token, rotate, begin } = await newKey()
    await rotate({ grace_s: 60 })
    const waiting = await begin()
    const other = await newApi()
    for (const one of [token, waiting]) expect((await other.api.verify(one)).body.reason).toBe('unknown')
  })
})

it('a repeated rotation with one Idempotency-Key gets another token, as long as none was used', async () => {
  const { rotate, says, token, begin } = await newKey()
  const again = () => rotate({ when: 'first_use', grace_s: 60 }, { headers: { 'Idempotency-Key': 'once' } })
  const first = await again()
  const second = await again()
  expect([first.status, second.status, second.headers.get('Idempotency-Replayed')]).toEqual([200, 200, 'true'])
  expect(await says(first.body.token)).toBe('unknown')
  expect([await says(second.body.token), await says(token)]).toEqual([null, null])
  const third = await again()
  expect(told(third)).toEqual([409, 'secret_not_replayable'])
  expect(third.body.detail).toContain('dev_')
  await begin()
  expect(told(await again())).toEqual([409, 'secret_not_replayable'])
})

it('stores hashes and prefixes alone', async () => {
  const { project, device, rotate, begin, token } = await newKey()
  const tokens = [token, (await rotate({ grace_s: 60 })).body.token, await begin()]
  const stored = JSON.stringify(await rows('SELECT * FROM devices WHERE project_id = ?', project))
  for (const one of tokens) expect(stored).not.toContain(one.slice(12, -4))
  const log = await STORE.prepare('SELECT group_concat(details) AS d FROM audit_log WHERE object_id = ?')
    .bind(device.id)
    .first<string>('d')
  for (const one of tokens) expect(log).not.toContain(one.slice(12, -4))
})

it.each([
  { when: 'later' },
  { grace_s: -1 },
  { grace_s: 86_401 },
  { grace_s: 1.5 },
  { grace_s: '60' },
  { token: 'mine' },
])('refuses %o', async (json) => {
  const { rotate, device, shown } = await newKey()
  expect(told(await rotate(json))).toEqual([422, 'validation_failed'])
  expect(await shown()).toEqual(device)
})
