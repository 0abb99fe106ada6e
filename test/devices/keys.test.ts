import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, iso, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, mint, STORE, withLimits } from '../harness'
import { rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as, newApi } from './devices'

/* Scopes, metadata and expiry of devices, and what is kept of the keys of consumers: devices of the platform `server`. */

let made: Awaited<ReturnType<typeof newApi>>
let api: ReturnType<typeof as>
beforeAll(async () => {
  made = await newApi()
  api = made.api
})
let now: number
beforeEach(() => {
  now = stopClock()
})

const key = (installation: string, fields: object = {}) =>
  api.register('ext:u', installation, { platform: 'server', ...fields })
const verify = async (token: string, more: object = {}) => (await api.verify(token, {}, more)).body

describe('scopes and metadata', () => {
  it('are shown by every call, sorted, and replaced as a whole', async () => {
    const sent = { scopes: ['b:write', 'a.read', 'b:write'], metadata: { z: '1', a: 'é' } }
    const { body } = await key('shown', sent)
    const shown = { scopes: ['a.read', 'b:write'], metadata: { a: 'é', z: '1' } }
    expect(body.device).toMatchObject(shown)
    expect((await api.one('ext:u', body.device.id)).body).toEqual(body.device)
    expect((await api.list('ext:u')).body.data).toContainEqual(body.device)
    expect((await verify(body.token)).device).toEqual(body.device)
    const changed = await api.update('ext:u', body.device.id, { scopes: ['c'], metadata: {} })
    expect([changed.status, changed.body]).toEqual([200, { ...body.device, scopes: ['c'], metadata: {} }])
    expect((await key('shown', { scopes: [] })).body.device).toMatchObject({ scopes: [], metadata: {} })
  })

  it('can be asked for, and the missing ones are named in the order in which they were asked for', async () => {
    const { token } = (await key('asked', { scopes: ['a', 'c'] })).body
    expect(await verify(token, { require: ['a', 'c', 'a'] })).toMatchObject({ valid: true, missing_scopes: [] })
    const refused = await verify(token, { require: ['d', 'a', 'b'], features: ['sso'] })
    expect(refused).toMatchObject({ valid: false, reason: 'missing_scope', missing_scopes: ['d', 'b'], features: null })
    expect(refused).toMatchObject({ device: { scopes: ['a', 'c'] }, consumer: { external_id: 'u' } })
    expect(await verify(token, { require: [] })).toMatchObject({ valid: true })
    const phone = (await api.register('ext:u', 'phone')).body.token
    expect(await verify(phone, { require: ['A'] })).toMatchObject({ reason: 'missing_scope', missing_scopes: ['A'] })
    expect(await verify(`svc_dv_${'0'.repeat(64)}`, { require: ['a'] })).toMatchObject({
      reason: 'unknown',
      missing_scopes: [],
    })
  })

  it('a scope is no pattern: it stands for itself alone', async () => {
    const { token } = (await key('plain', { scopes: ['reports', 'a.c'] })).body
    for (const scope of ['reports:read', 'Reports', 'abc', 'report', 'reports/']) {
      expect([scope, (await verify(token, { require: [scope] })).reason]).toEqual([scope, 'missing_scope'])
    }
  })

  it.each<[what: string, fields: object]>([
    ['an empty scope', { scopes: [''] }],
    ['a scope with a space', { scopes: ['a b'] }],
    ['a wildcard', { scopes: ['*'] }],
    ['a scope with a letter that looks like another', { scopes: ['аdmin'] }],
    ['a scope with a zero-width space', { scopes: ['a\u200bb'] }],
    ['a scope with a line break at its end', { scopes: ['a\n'] }],
    ['half a character', { scopes: ['\ud800'] }],
    ['a long scope', { scopes: ['x'.repeat(51)] }],
    ['21 scopes', { scopes: Array.from({ length: 21 }, (_, n) => `s${n}`) }],
    ['null as scopes', { scopes: null }],
    ['a number as metadata', { metadata: { a: 1 } }],
    ['nested metadata', { metadata: { a: { b: 'c' } } }],
    ['a list as metadata', { metadata: ['a'] }],
    ['an empty name in metadata', { metadata: { '': 'a' } }],
    ['metadata that is too long', { metadata: { a: 'x'.repeat(1_017) } }],
    ['metadata that is too long in UTF-8', { metadata: { a: 'é'.repeat(509) } }],
    ['many entries of metadata', { metadata: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [n, ''])) }],
    ['an expiry that is no time', { expires_at: 'tomorrow' }],
    ['an expiry now', { expires_at: 'NOW' }],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }],
    ['an expiry in eleven years', { expires_at: '2037-12-31T00:00:00Z' }],
  ])('%s is refused', async (_, fields) => {
    const json = { ...fields, ...('expires_at' in fields && fields.expires_at === 'NOW' && { expires_at: iso(now) }) }
    expect(told(await key('refused', json))).toEqual([422, 'validation_failed'])
    const { id } = (await key('fine')).body.device
    expect(told(await api.update('ext:u', id, json))).toEqual([422, 'validation_failed'])
  })

  it('takes the largest, also with names of objects’ own', async () => {
    const scopes = Array.from({ length: 20 }, (_, n) => String(n).padStart(2, '0') + 'x'.repeat(48))
    const metadata = { ...JSON.parse('{"__proto__":"p","constructor":"c"}'), a: '\u0000\ud800"\\' }
    const left = 1_024 - JSON.stringify({ ...metadata, b: '' }).length - '"__proto__":"p",'.length
    const { status, body } = await key('largest', { scopes, metadata: { ...metadata, b: 'x'.repeat(left) } })
    expect([status, body.device?.scopes], JSON.stringify(body).slice(0, 200)).toEqual([201, scopes])
    expect(body.device.metadata).toMatchObject({ a: '\u0000\ud800"\\', b: 'x'.repeat(left) })
    expect((await verify(body.token, { require: scopes })).valid).toBe(true)
  })

  it.each([
    [{ require: Array.from({ length: 1_000 }, (_, n) => `s${n}`) }],
    [{ require: ['a', 'а'] }],
    [{ require: 'a' }],
    [{ require: [''] }],
  ])('a verification does not take %s', async (more) => {
    const { token } = (await key('verified')).body
    expect(told(await api.verify(token ?? '', {}, more))).toEqual([422, 'validation_failed'])
  })

  it('a change needs something to change, of a device that is there', async () => {
    const { device } = (await key('changed')).body
    expect(told(await api.update('ext:u', device.id, {}))).toEqual([422, 'validation_failed'])
    expect(told(await api.update('ext:u', device.id, { platform: 'ios' }))).toEqual([422, 'validation_failed'])
    const other = await newApi()
    for (const answer of [
      await other.api.update('ext:u', device.id, { name: 'x' }),
      await other.api.one('ext:u', device.id),
      await other.api.rotate('ext:u', device.id),
      await api.update('ext:u', 'changed', { name: 'x' }),
      await api.one('ext:nobody', device.id),
    ]) {
      expect(told(answer)).toEqual([404, 'not_found'])
    }
    await api.revoke('ext:u', device.id)
    expect(told(await api.update('ext:u', device.id, { name: 'x' }))).toEqual([409, 'device_revoked'])
    expect((await api.one('ext:u', device.id)).body.state).toBe('revoked')
  })
})

describe('an expiry', () => {
  it('ends the token at that moment, and can be moved', async () => {
    const { token, device } = (await key('ends', { expires_at: iso(now + MINUTE) })).body
    expect(device.expires_at).toBe(iso(now + MINUTE))
    advance(MINUTE - 1)
    expect((await verify(token)).valid).toBe(true)
    advance(1)
    const expired = await verify(token, { require: ['a'], features: ['sso'] })
    expect(expired).toMatchObject({ valid: false, reason: 'expired', missing_scopes: [], features: null })
    expect(expired.device).toMatchObject({ id: device.id, state: 'active' })
    expect(told(await api.rotate('ext:u', device.id))).toEqual([409, 'device_expired'])
    const later = await api.update('ext:u', device.id, { expires_at: '2030-01-01T01:00:00+01:00' })
    expect([later.body.expires_at, (await verify(token)).valid]).toEqual(['2030-01-01T00:00:00.000Z', true])
    expect((await api.update('ext:u', device.id, { expires_at: null })).body.expires_at).toBe(null)
  })

  it('ends a token that waits for its first use too, and the one before', async () => {
    const { token, device } = (await key('all-end', { expires_at: iso(now + DAY) })).body
    const second = (await api.rotate('ext:u', device.id, { grace_s: 86_400 })).body.token
    const third = (await api.rotate('ext:u', device.id, { when: 'first_use' })).body.token
    advance(DAY - 1)
    expect([await verify(token), await verify(second)].map(({ valid }) => valid)).toEqual([true, true])
    advance(1)
    expect([(await verify(second)).reason, (await verify(third)).reason]).toEqual(['expired', 'expired'])
    expect((await api.one('ext:u', device.id)).body.token_prefix).toBe(`${second.slice(0, 11)}…${second.slice(-4)}`)
  })

  it('does not let an entitlement token name the device', async () => {
    const { device } = (await key('claimed', { expires_at: iso(now + SECOND) })).body
    const ask = () =>
      call(`/platform/v1/consumers/ext:u/entitlements/token`, {
        method: 'POST',
        project: made.project,
        token: made.secret,
        json: { device: device.id },
      })
    expect((await ask()).status).toBe(201)
    advance(SECOND)
    expect(told(await ask())).toEqual([409, 'device_expired'])
  })
})

describe('the limit of active devices', () => {
  it('does not count an expired one: it is revoked for a new one, the others stay', async () => {
    const { api, project, consumer } = await newApi(3)
    const soon = { platform: 'server', expires_at: iso(now + MINUTE) }
    const first = (await api.register('ext:u', 'a', soon)).body
    advance(1)
    await api.register('ext:u', 'b', soon)
    await api.register('ext:u', 'c')
    expect(told(await api.register('ext:u', 'd'))).toEqual([409, 'device_limit_reached'])
    advance(MINUTE)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 1, limit: 3 })
    expect((await api.register('ext:u', 'd')).status).toBe(201)
    const states = await rows(
      'SELECT installation_id AS i, state FROM devices WHERE consumer_id = ? ORDER BY 1',
      consumer,
    )
    expect(states.map(({ state }) => state)).toEqual(['revoked', 'active', 'active', 'active'])
    expect(await logged(project, first.device.id)).toMatchObject([
      ['device.registered', {}],
      ['device.revoked', { consumer, replaced_by: expect.stringMatching(/^dev_/) }],
    ])
    // An expired one goes before one that was not seen for longer.
    expect((await api.register('ext:u', 'e', { when_full: 'replace_oldest' })).status).toBe(201)
    expect((await api.list('ext:u', '?state=active')).body.data.map((one: Row) => one.installation_id)).toEqual(
      expect.arrayContaining(['c', 'd', 'e']),
    )
    expect(told(await api.register('ext:u', 'f'))).toEqual([409, 'device_limit_reached'])
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 3, limit: 3 })
  })

  it('revokes no expired device where that would not make room, and none for a device that is there', async () => {
    const { api, project, owner } = await newApi(3)
    for (const name of ['a', 'b', 'c']) {
      await api.register('ext:u', name, { expires_at: name === 'a' ? iso(now + SECOND) : null })
    }
    advance(SECOND)
    expect((await api.register('ext:u', 'b', { name: 'B' })).status).toBe(200)
    await call(`/platform/v1/projects/${project}`, {
      method: 'PATCH',
      token: owner.token,
      json: { settings: { max_devices: 2 } },
    })
    expect(told(await api.register('ext:u', 'd'))).toEqual([409, 'device_limit_reached'])
    expect((await api.list('ext:u', '?state=revoked')).body.data).toEqual([])
  })

  it('holds when expired ones are registered again at once', async () => {
    const { api } = await newApi(3)
    for (const name of ['a', 'b', 'c']) await api.register('ext:u', name, { expires_at: iso(now + SECOND) })
    advance(SECOND)
    const many = await Promise.all(Array.from({ length: 12 }, (_, n) => api.register('ext:u', `n${n}`)))
    expect(many.filter(({ status }) => status === 201)).toHaveLength(3)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 3, limit: 3 })
  })
})
type Row = { installation_id: string }

describe('the audit log', () => {
  it('has what happens to a key, without texts and metadata, and nothing of a phone', async () => {
    const { project, api, consumer } = await newApi()
    const personal = { name: 'Ada’s server', metadata: { mail: 'ada@example.com' } }
    const server = { platform: 'server', scopes: ['a'], ...personal }
    const { device, token } = (await api.register('ext:u', 'k', server)).body
    const register = async (fields: object) => {
      advance(1)
      return (await api.register('ext:u', 'k', fields)).body
    }
    const update = async (fields: object) => {
      advance(1)
      await api.update('ext:u', device.id, fields)
    }
    await register(server)
    advance(DAY)
    await register(server) // seen, no more
    await register({ ...server, scopes: ['b'], name: 'x' })
    await register({ platform: 'ios', scopes: ['c'] })
    await register({ platform: 'ios', scopes: ['d'] })
    await update({ metadata: {}, expires_at: iso(now + 2 * DAY) })
    await update({ metadata: {} })
    await update({ expires_at: null })
    await register({ platform: 'server' })
    const renewed = await register({ platform: 'server', new_token: true })
    const entries = await logged(project, device.id)
    expect(entries).toEqual([
      ['device.registered', { consumer, token_prefix: `${token.slice(0, 11)}…${token.slice(-4)}`, scopes: ['a'] }],
      ['device.updated', { consumer, fields: ['name', 'scopes'], scopes: ['b'] }],
      ['device.updated', { consumer, fields: ['platform', 'scopes'], scopes: ['c'] }],
      ['device.updated', { consumer, fields: ['metadata', 'expires_at'], expires_at: iso(now + 2 * DAY) }],
      ['device.updated', { consumer, fields: ['expires_at'], expires_at: 'never' }],
      ['device.updated', { consumer, fields: ['platform'] }],
      ['device.rotated', { consumer, fields: [], token_prefix: renewed.device.token_prefix }],
    ])
    expect(JSON.stringify(entries)).not.toMatch(/Ada|example/)
    const { results } = await STORE.prepare(
      "SELECT items -> '$[0]' AS item FROM changes WHERE project_id = ? AND items ->> '$[0].object' = 'device' ORDER BY seq",
    )
      .bind(project)
      .all<{ item: string }>()
    expect(results.map(({ item }) => JSON.parse(item))[1]).toMatchObject({
      type: 'device.updated',
      id: device.id,
      consumer_id: consumer,
      fields: ['name', 'scopes'],
    })
  })
})

it('erasing the consumer deletes scopes and metadata with the device', async () => {
  const { project, owner, api } = await newApi()
  await api.register('ext:u', 'k', { platform: 'server', scopes: ['secret-scope'], metadata: { a: 'gone-value' } })
  await as(project, owner.token).erase('ext:u')
  expect(await rows('SELECT * FROM devices WHERE project_id = ?', project)).toEqual([])
})

describe('tokens that are not ours', () => {
  beforeEach(withLimits)

  it('cost the address of the caller nothing: its own key vouches for it', async () => {
    const { project, owner } = made
    const { secret } = await mint(owner.token, project, { scopes: ['entitlements:read'] })
    const headers = { 'CF-Connecting-IP': '203.0.113.77' }
    const server = as(project, secret, { headers })
    for (let n = 0; n < 40; n++) {
      const token = n % 2 === 0 ? `svc_dv_${String(n).padStart(64, '0')}` : `made up ${n}`
      expect((await server.verify(token)).body).toMatchObject({ valid: false, reason: 'unknown' })
    }
    // A key that this isolate has not seen before is admitted from there: the address is not blocked.
    const other = await mint(owner.token, project, { scopes: ['entitlements:read'] })
    expect((await as(project, other.secret, { headers }).verify('x')).status).toBe(200)
  })

  it('guesses of API keys at the front door still count', async () => {
    const { project, owner } = made
    const headers = { 'CF-Connecting-IP': '203.0.113.78' }
    const statuses: number[] = []
    for (let n = 0; n < 30; n++) {
      const token = `svc_cs_${String(n).padStart(64, '0')}`
      statuses.push((await as(project, token, { headers }).verify('x')).status)
    }
    expect(statuses[0]).toBe(401)
    expect(statuses.at(-1)).toBe(429)
    const { secret } = await mint(owner.token, project)
    expect((await as(project, secret, { headers }).verify('x')).status).toBe(429)
  })
})
