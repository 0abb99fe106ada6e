import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/lib/crypto'
import { HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, freshKey, mint, STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as, newApi, setLimit } from './devices'
import { insertDevice, insertDevices } from './rows'

let made: Awaited<ReturnType<typeof newApi>>
let api: ReturnType<typeof as>
let project: string
beforeAll(async () => {
  made = await newApi()
  api = made.api
  project = made.project
})
beforeEach(() => {
  stopClock()
})

const TOKEN = /^svc_dv_[0-9a-f]{64}$/

describe('registering a device', () => {
  it('gives it a token, of which only the hash is stored', async () => {
    const fields = { platform: 'android', name: 'Phone', model: 'P9', os_version: '17', app_version: '2.4.0' }
    const { status, body, headers } = await api.register('ext:u', 'first', fields)
    expect([status, headers.get('Cache-Control')]).toEqual([201, 'no-store'])
    expect(body).toEqual({
      device: {
        id: expect.stringMatching(/^dev_/),
        installation_id: 'first',
        ...fields,
        scopes: [],
        metadata: {},
        token_prefix: `${body.token.slice(0, 11)}…${body.token.slice(-4)}`,
        expires_at: null,
        pending: null,
        previous: null,
        state: 'active',
        last_seen_at: iso(Date.now()),
        created_at: iso(Date.now()),
        revoked_at: null,
      },
      token: expect.stringMatching(TOKEN),
    })
    const stored = await rows('SELECT * FROM devices WHERE id = ?', body.device.id)
    expect(stored).toMatchObject([{ token_hash: await sha256Hex(body.token) }])
    expect(JSON.stringify(stored)).not.toContain(body.token.slice(7))
  })

  it('again changes what differs, keeps the token, and keeps what is left out', async () => {
    const first = await api.register('ext:u', 'again', { name: 'Phone', model: 'P9', app_version: '1' })
    advance(MINUTE)
    const second = await api.register('ext:u', 'again', { platform: 'web', name: null, app_version: '2' })
    expect([second.status, second.body.token]).toEqual([200, null])
    expect(second.body.device).toEqual({
      ...first.body.device,
      platform: 'web',
      name: null,
      app_version: '2',
      last_seen_at: iso(Date.now()),
    })
    expect((await api.verify(first.body.token)).body.valid).toBe(true)
    advance(MINUTE)
    const same = await api.register('ext:u', 'again', { platform: 'web', name: null })
    expect([same.status, same.body.device]).toEqual([200, second.body.device])
    advance(HOUR)
    const later = await api.register('ext:u', 'again', { platform: 'web' })
    expect(later.body.device).toEqual({ ...second.body.device, last_seen_at: iso(Date.now()) })
  })

  it.each(['refuse', 'replace_oldest'])('of an erased consumer says so (%s)', async (when_full) => {
    const own = await newApi()
    await call(`/platform/v1/consumers/${own.consumer}`, { method: 'DELETE', project: own.project, token: own.secret })
    expect(told(await own.api.register(own.consumer, 'new', { when_full }))).toEqual([409, 'consumer_erased'])
  })

  it('with new_token ends the token before', async () => {
    const first = await api.register('ext:u', 'renewed', { new_token: true })
    const second = await api.register('ext:u', 'renewed', { new_token: true })
    expect([first.status, second.status]).toEqual([201, 200])
    expect(second.body.token).toMatch(TOKEN)
    const { token_prefix } = second.body.device
    expect(token_prefix).not.toBe(first.body.device.token_prefix)
    expect(second.body.device).toEqual({ ...first.body.device, token_prefix })
    const reasons = [await api.verify(first.body.token), await api.verify(second.body.token)].map(
      ({ body }) => body.reason,
    )
    expect(reasons).toEqual(['unknown', null])
  })

  it('is for each consumer: two can have one installation', async () => {
    await api.consumer('other')
    const [one, two] = [await api.register('ext:u', 'shared'), await api.register('ext:other', 'shared')]
    expect([one.status, two.status]).toEqual([201, 201])
    expect(one.body.device.id).not.toBe(two.body.device.id)
  })

  it.each<[what: string, consumer: string, installation: string, fields: object, status: number, code: string]>([
    ['an unknown consumer', 'ext:nobody', 'i', {}, 404, 'not_found'],
    ['a consumer with a bad name', 'nobody', 'i', {}, 404, 'not_found'],
    ['a bad external id', 'ext:a%20b', 'i', {}, 422, 'validation_failed'],
    ['a bad installation id', 'ext:u', 'a%20b', {}, 422, 'validation_failed'],
    ['an installation id that is too long', 'ext:u', 'x'.repeat(129), {}, 422, 'validation_failed'],
    ['an unknown platform', 'ext:u', 'i', { platform: 'fridge' }, 422, 'validation_failed'],
    ['no platform', 'ext:u', 'i', { platform: undefined }, 422, 'validation_failed'],
    ['a name that is too long', 'ext:u', 'i', { name: 'x'.repeat(101) }, 422, 'validation_failed'],
    ['an unknown choice', 'ext:u', 'i', { when_full: 'replace' }, 422, 'validation_failed'],
    ['an unknown field', 'ext:u', 'i', { token: 'mine' }, 422, 'validation_failed'],
  ])('refuses %s', async (_, consumer, installation, fields, status, code) => {
    expect(told(await api.register(consumer, installation, fields))).toEqual([status, code])
  })

  it('takes the longest installation id, and writes no audit entry', async () => {
    const id = '+'.repeat(128)
    const { status, body } = await api.register('ext:u', id)
    expect([status, body.device.installation_id]).toEqual([201, id])
    expect(await logged(project, body.device.id)).toEqual([])
  })
})

describe('a blocked, merged or erased consumer', () => {
  it('gets no device, and its devices are not valid while it is blocked', async () => {
    const { api, consumer } = await newApi()
    const { body } = await api.register('ext:u', 'one')
    await api.block('ext:u')
    for (const installation of ['one', 'two']) {
      expect(told(await api.register('ext:u', installation, { name: 'New' }))).toEqual([409, 'consumer_blocked'])
    }
    const blocked = (await api.verify(body.token)).body
    expect(blocked).toMatchObject({
      valid: false,
      reason: 'consumer_blocked',
      device: body.device,
      consumer: { id: consumer, state: 'blocked' },
    })
    expect((await api.revoke('ext:u', 'dev_none')).status).toBe(404)
    await api.block('ext:u', 'unblock')
    expect((await api.verify(body.token)).body.valid).toBe(true)
  })

  it('gets no device once it is erased, whether or not there is room', async () => {
    const { api, project, owner } = await newApi(1)
    const { body } = await api.register('ext:u', 'one')
    const { body: erasure } = await as(project, owner.token).erase('ext:u')
    for (const fields of [{}, { when_full: 'replace_oldest' }]) {
      expect(told(await api.register(erasure.consumer_id, 'one', fields))).toEqual([409, 'consumer_erased'])
    }
    expect((await api.list(erasure.consumer_id)).body.data).toEqual([])
    expect((await api.verify(body.token)).body.reason).toBe('unknown')
  })

  it('names the survivor once it is merged', async () => {
    const { api, consumer } = await newApi()
    const into = (await api.consumer('into')).body.id
    await api.merge('ext:u', 'ext:into')
    const answers = [await api.register(consumer, 'i'), await api.list(consumer), await api.revoke(consumer, 'dev_x')]
    for (const answer of answers) {
      expect(told(answer)).toEqual([409, 'consumer_merged'])
      expect(answer.body.detail).toContain(into)
    }
  })
})

describe('revoking a device', () => {
  it('is final, audited once, and holds at once', async () => {
    const { project, api, consumer } = await newApi()
    const { body } = await api.register('ext:u', 'one')
    const { id } = body.device
    for (let n = 0; n < 2; n++) expect((await api.revoke('ext:u', id)).status).toBe(204)
    const verified = (await api.verify(body.token)).body
    expect(verified).toMatchObject({ valid: false, reason: 'revoked', device: { id, state: 'revoked' } })
    expect(verified.device.revoked_at).toBe(iso(Date.now()))
    for (const fields of [{}, { new_token: true }, { when_full: 'replace_oldest' }]) {
      expect(told(await api.register('ext:u', 'one', fields))).toEqual([409, 'device_revoked'])
    }
    expect(await logged(project, id)).toEqual([['device.revoked', { consumer }]])
  })

  it('does not reach the devices of another consumer or project', async () => {
    const { api: other } = await newApi()
    const { body } = await other.register('ext:u', 'theirs')
    const { body: mine } = await api.register('ext:u', 'mine')
    await api.consumer('third')
    for (const answer of [
      await api.revoke('ext:u', body.device.id),
      await api.revoke('ext:third', mine.device.id),
      await api.revoke('ext:nobody', mine.device.id),
      await api.revoke('ext:u', 'mine'),
    ]) {
      expect(told(answer)).toEqual([404, 'not_found'])
    }
    expect((await other.verify(body.token)).body.valid).toBe(true)
    expect((await api.verify(mine.token)).body.valid).toBe(true)
  })

  it('keeps the newest 1,000 revoked devices of a consumer', async () => {
    const { project, api, consumer } = await newApi()
    await insertDevices(project, consumer, 'revoked', 1001)
    const { body } = await api.register('ext:u', 'one')
    expect((await api.revoke('ext:u', body.device.id)).status).toBe(204)
    const kept = await rows<{ id: string }>('SELECT id FROM devices WHERE project_id = ? ORDER BY id', project)
    expect([kept.length, kept.at(-1)?.id]).toEqual([1000, body.device.id])
    // Also if the one that is revoked was registered first.
    await insertDevice(project, consumer, { id: 'dev_00000000000000000000000000' })
    expect((await api.revoke('ext:u', 'dev_00000000000000000000000000')).status).toBe(204)
  })
})

describe('the list', () => {
  it('has the devices of a consumer, newest first, by state if asked, page by page', async () => {
    const { api } = await newApi()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      advance(1)
      ids.unshift((await api.register('ext:u', `i-${n}`)).body.device.id)
    }
    const [, second = '', , fourth = ''] = ids
    for (const id of [second, fourth]) await api.revoke('ext:u', id)
    const walk = async (query: string) => {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await api.list('ext:u', `?limit=2${query}${cursor}`)
        found.push(...body.data.map(({ id }: { id: string }) => id))
        if (!body.has_more) return found
        cursor = `&cursor=${body.next_cursor}`
      }
    }
    expect(await walk('')).toEqual(ids)
    expect(await walk('&state=revoked')).toEqual([second, fourth])
    expect(await walk('&state=active')).toEqual(ids.filter((id) => id !== second && id !== fourth))
    expect((await api.list('ext:u')).text).not.toContain('hash')
    for (const name of ['ext:nobody', 'ext:a b', 'csm_none']) {
      expect(told(await api.list(encodeURIComponent(name)))).toEqual([404, 'not_found'])
    }
  })
})

describe('verifying a token', () => {
  it('says whose device it is, without personal data', async () => {
    const { project, owner, api, consumer } = await newApi()
    const { body } = await api.register('ext:u', 'one')
    const { secret } = await mint(owner.token, project, { scopes: ['entitlements:read'] })
    const reader = as(project, secret)
    const { status, body: verified } = await reader.verify(body.token)
    expect([status, verified]).toEqual([
      200,
      {
        valid: true,
        features: null,
        reason: null,
        missing_scopes: [],
        device: body.device,
        consumer: { id: consumer, external_id: 'u', external_ids: ['u'], state: 'active' },
      },
    ])
    expect(told(await reader.get('ext:u'))).toEqual([403, 'insufficient_scope'])
    expect(told(await reader.list('ext:u'))).toEqual([403, 'insufficient_scope'])
  })

  it('knows no token of another project, and none that is malformed', async () => {
    const { body } = await api.register('ext:u', 'verified')
    const { project: other, secret } = await freshKey()
    const nobody = { device: null, consumer: null, features: null }
    const unknown = { valid: false, reason: 'unknown', missing_scopes: [], ...nobody }
    expect((await as(other, secret).verify(body.token)).body).toEqual(unknown)
    const hash = await sha256Hex(body.token)
    for (const token of [
      '',
      'x',
      body.token.toUpperCase(),
      `${body.token}0`,
      ` ${body.token}`,
      hash,
      `svc_dv_${hash}`,
    ]) {
      const { status, body: verified } = await api.verify(token)
      expect([status, verified]).toEqual([200, unknown])
    }
    expect(told(await api.verify('x'.repeat(1001)))).toEqual([422, 'validation_failed'])
  })

  it('is refused with a dead key, whatever the token', async () => {
    const { project, owner, api, secret } = await newApi()
    const { body } = await api.register('ext:u', 'one')
    const keys = await call('/platform/v1/api-keys', { project, token: owner.token })
    await call(`/platform/v1/api-keys/${keys.body.data[0].id}`, { method: 'DELETE', project, token: secret })
    for (const token of [body.token, 'malformed']) expect(told(await api.verify(token))).toEqual([401, 'key_revoked'])
  })

  it('records when the device was seen, at most hourly, and only if it is valid', async () => {
    const { project, api } = await newApi()
    const { body } = await api.register('ext:u', 'one')
    const start = Date.now()
    const seen = async () => {
      await api.verify(body.token)
      return (await rows<{ last_seen_at: number }>('SELECT last_seen_at FROM devices WHERE project_id = ?', project))[0]
        ?.last_seen_at
    }
    advance(HOUR - 1)
    expect(await seen()).toBe(start)
    advance(1)
    expect(await seen()).toBe(start + HOUR)
    advance(HOUR)
    await api.revoke('ext:u', body.device.id)
    expect(await seen()).toBe(start + HOUR)
  })
})

describe('the limit of active devices', () => {
  it('is 100 by default, and is shown with the consumer', async () => {
    const { project, owner, api, consumer } = await newApi()
    await insertDevices(project, consumer, 'revoked', 200)
    await insertDevices(project, consumer, 'active', 99)
    expect((await api.register('ext:u', 'last')).status).toBe(201)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 100, limit: 100 })
    const refused = await api.register('ext:u', 'more')
    expect(told(refused)).toEqual([409, 'device_limit_reached'])
    expect(refused.body.detail).toContain('devices: the setting `max_devices` of the project allows 100.')
    // A device that is there can be changed.
    expect((await api.register('ext:u', 'last', { name: 'New', new_token: true })).status).toBe(200)
    expect((await setLimit(project, owner.token, 101)).body.settings.max_devices).toBe(101)
    expect((await api.register('ext:u', 'more')).status).toBe(201)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 101, limit: 101 })
    const all = await api.list('ext:u', '?state=active&limit=1')
    await api.revoke('ext:u', all.body.data[0].id)
    expect((await api.get('ext:u')).body.devices.active).toBe(100)
  })

  it.each([0, 1001, 1.5, '5', null])('cannot be %j', async (max) => {
    const { project, owner } = made
    expect(told(await setLimit(project, owner.token, max as number))).toEqual([422, 'validation_failed'])
  })

  it('that shrinks revokes nothing, and nothing is registered until there is room', async () => {
    const { project, owner, api, consumer } = await newApi()
    await insertDevices(project, consumer, 'active', 5)
    await setLimit(project, owner.token, 2)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 5, limit: 2 })
    expect(told(await api.register('ext:u', 'new'))).toEqual([409, 'device_limit_reached'])
    // Replacing makes as much room as one more needs.
    const { status, body } = await api.register('ext:u', 'new', { when_full: 'replace_oldest' })
    expect(status).toBe(201)
    expect((await api.get('ext:u')).body.devices).toEqual({ active: 2, limit: 2 })
    const left = await api.list('ext:u', '?state=active')
    expect(left.body.data.map(({ installation_id }) => installation_id)).toEqual(['new', 'active-5'])
    const log = await rows<{ details: string }>(
      "SELECT details FROM audit_log WHERE project_id = ? AND action = 'device.revoked'",
      project,
    )
    expect(log).toEqual(Array(4).fill({ details: JSON.stringify({ consumer, replaced_by: body.device.id }) }))
  })

  it('does not replace more than 20 devices in one call', async () => {
    const { project, owner, api, consumer } = await newApi()
    await insertDevices(project, consumer, 'active', 25)
    await setLimit(project, owner.token, 5)
    const register = () => api.register('ext:u', 'new', { when_full: 'replace_oldest' })
    expect(told(await register())).toEqual([409, 'device_limit_reached'])
    expect((await api.get('ext:u')).body.devices.active).toBe(25)
    await api.revoke('ext:u', (await api.list('ext:u')).body.data[0].id)
    expect((await register()).status).toBe(201)
    expect((await api.get('ext:u')).body.devices.active).toBe(5)
  })

  it('replaces the device that was seen least recently, and none for one that is there', async () => {
    const { project, api, consumer } = await newApi(2)
    const one = await api.register('ext:u', 'one')
    advance(HOUR)
    await api.register('ext:u', 'two')
    advance(HOUR)
    await api.verify(one.body.token)
    const replace = { when_full: 'replace_oldest' }
    expect((await api.register('ext:u', 'one', { ...replace, name: 'New' })).status).toBe(200)
    expect((await api.get(consumer)).body.devices.active).toBe(2)
    expect((await api.register('ext:u', 'three', replace)).status).toBe(201)
    const states = await rows(
      'SELECT installation_id, state FROM devices WHERE project_id = ? ORDER BY created_at',
      project,
    )
    expect(states).toEqual([
      { installation_id: 'one', state: 'active' },
      { installation_id: 'two', state: 'revoked' },
      { installation_id: 'three', state: 'active' },
    ])
    await api.block('ext:u')
    expect(told(await api.register('ext:u', 'four', replace))).toEqual([409, 'consumer_blocked'])
    await api.block('ext:u', 'unblock')
    expect((await api.get(consumer)).body.devices.active).toBe(2)
  })
})

it('refuses a row whose state and time of revocation disagree', async () => {
  await insertDevice(project, made.consumer, { id: 'dev_check' })
  await expect(STORE.prepare("UPDATE devices SET state = 'revoked' WHERE id = 'dev_check'").run()).rejects.toThrow(
    'CHECK',
  )
})
