import { beforeEach, describe, expect, it } from 'vitest'
import { insertGrants } from '../entitlements/rows'
import { call, countingD1, type RequestOptions, STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { newApi } from './devices'

/* What a consumer is entitled to, and its devices: asked with the verification of a token, and as the limit of devices. */

let made: Awaited<ReturnType<typeof newApi>>
beforeEach(async () => {
  made = await newApi()
  await put('devices', 'quantity')
  await put('sso', 'boolean')
})

const ask = (method: string, path: string, json?: object, more: RequestOptions = {}) =>
  call(`/platform/v1${path}`, { method, project: made.project, token: made.secret, json, ...more })
const put = (key: string, type: string) => ask('PUT', `/billing/features/${key}`, { name: key, type })
const grant = async (value: unknown, feature = 'devices') =>
  (await ask('POST', '/billing/grants', { consumer: 'ext:u', feature, value })).body.id
const settings = (change: object) => ask('PATCH', `/projects/${made.project}`, { settings: change })
const verify = (token: string, features: string[], more: RequestOptions = {}) =>
  ask('POST', '/devices/verify', { token, features }, more)

describe('verifying with features', () => {
  it('answers what a check answers, in the trip of the key', async () => {
    const { token } = (await made.api.register('ext:u', 'one')).body
    await grant(3)
    const features = ['devices', 'sso', 'nope']
    const { body } = await verify(token, features)
    const checked = await ask('POST', '/billing/entitlements/check', { consumers: ['ext:u'], features })
    expect(body).toMatchObject({ valid: true, reason: null, consumer: { external_id: 'u' } })
    expect(body.features).toEqual(checked.body.data[0].features)
    expect(body.features).toMatchObject({ devices: { allowed: true, value: 3 }, nope: { reason: 'unknown_feature' } })
    const { DB, count } = countingD1()
    await verify(token, features, { bindings: { DB } })
    expect(count).toMatchObject({ trips: 1, rows_written: 0 })
    expect(count.rows_read).toBeLessThan(60)
  })

  it('answers about no consumer whose device is not valid', async () => {
    await grant(true, 'sso')
    const { device, token } = (await made.api.register('ext:u', 'one')).body
    const asked = async () => (await verify(token, ['sso'])).body
    expect((await asked()).features).toMatchObject({ sso: { allowed: true } })
    await made.api.block('ext:u')
    expect(await asked()).toMatchObject({ reason: 'consumer_blocked', features: null })
    await made.api.block('ext:u', 'unblock')
    await made.api.revoke('ext:u', device.id)
    expect(await asked()).toMatchObject({ reason: 'revoked', features: null })
    expect((await verify('nonsense', ['sso'])).body.features).toBeNull()
  })

  it('takes 20 features, and no more', async () => {
    const { token } = (await made.api.register('ext:u', 'one')).body
    const names = (n: number) => Array.from({ length: n }, (_, i) => `n${i}`)
    expect((await verify(token, names(20))).status).toBe(200)
    expect((await verify(token, names(21))).status).toBe(422)
  })
})

describe('the setting devices_feature', () => {
  it('names a quantity feature of the project, which then cannot be deleted', async () => {
    expect((await ask('GET', `/projects/${made.project}`)).body.settings.devices_feature).toBeNull()
    for (const wrong of ['nope', 'sso']) {
      const refused = await settings({ devices_feature: wrong, max_devices: 7 })
      expect(told(refused)).toEqual([422, 'validation_failed'])
      expect(refused.body.errors).toMatchObject([{ pointer: '/settings/devices_feature', code: 'not_one_of' }])
    }
    expect((await settings({ devices_feature: 'devices' })).body.settings).toMatchObject({
      devices_feature: 'devices',
      max_devices: 100,
    })
    expect(told(await ask('DELETE', '/billing/features/devices'))).toEqual([409, 'feature_in_use'])
    expect((await settings({ devices_feature: null })).body.settings.devices_feature).toBeNull()
    expect((await ask('DELETE', '/billing/features/devices')).status).toBe(204)
  })

  it.each([
    ['what the plan gives, also more than max_devices', 2, 1, 2],
    ['nothing without a grant', null, 100, 0],
    ['at most 1,000', 5000, 1, 1000],
    ['at most 1,000 of unlimited', 'unlimited', 1, 1000],
  ])('decides how many devices there can be: %s', async (_, value, max_devices, limit) => {
    await settings({ devices_feature: 'devices', max_devices })
    if (value !== null) await grant(value)
    expect((await made.api.get('ext:u')).body.devices).toEqual({ active: 0, limit })
    const answers = []
    for (const installation of ['a', 'b', 'c']) answers.push(told(await made.api.register('ext:u', installation)))
    const expected = (n: number) => (n < limit ? [201, null] : [409, 'device_limit_reached'])
    expect(answers).toEqual([0, 1, 2].map(expected))
  })

  it('counts at the time of each registration, and changes nothing for devices that are there', async () => {
    await settings({ devices_feature: 'devices' })
    const id = await grant(2)
    for (const installation of ['a', 'b']) await made.api.register('ext:u', installation)
    await ask('DELETE', `/billing/grants/${id}`)
    expect((await made.api.get('ext:u')).body.devices).toEqual({ active: 2, limit: 0 })
    expect((await made.api.register('ext:u', 'a', { name: 'New' })).status).toBe(200)
    for (const when_full of ['refuse', 'replace_oldest']) {
      const refused = await made.api.register('ext:u', 'c', { when_full })
      expect(told(refused)).toEqual([409, 'device_limit_reached'])
      expect(refused.body.detail).toBe(
        "The consumer has reached its limit of active devices: the consumer's feature `devices` allows none.",
      )
    }
    expect((await made.api.get('ext:u')).body.devices.active).toBe(2)
    await grant(1)
    expect((await made.api.register('ext:u', 'c', { when_full: 'replace_oldest' })).status).toBe(201)
    expect((await made.api.get('ext:u')).body.devices).toEqual({ active: 1, limit: 1 })
  })

  it('leaves the limit to max_devices where there is too much to look at', async () => {
    await settings({ devices_feature: 'devices', max_devices: 1 })
    await STORE.prepare(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5001)
        SELECT ?1, ?2, 'grt_0' || printf('%09d', v), 'devices', 'allow', '5', 'usr' FROM n`,
    )
      .bind(made.project, made.consumer)
      .run()
    expect(told(await ask('GET', '/consumers/ext:u/entitlements'))).toEqual([413, 'payload_too_large'])
    expect((await made.api.get('ext:u')).body.devices).toEqual({ active: 0, limit: 1 })
    const answers = []
    for (const installation of ['a', 'b']) answers.push(told(await made.api.register('ext:u', installation)))
    expect(answers).toEqual([
      [201, null],
      [409, 'device_limit_reached'],
    ])
  })

  it('holds for 20 registrations at once', async () => {
    await settings({ devices_feature: 'devices' })
    await grant(5)
    const register = (n: number) => made.api.register('ext:u', `i-${n}`)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => register(n)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    const sql = "SELECT count(*) AS n FROM devices WHERE project_id = ? AND state = 'active'"
    expect(await rows(sql, made.project)).toEqual([{ n: 5 }])
  })

  it('costs a new device two trips more, and one that is there none', async () => {
    await settings({ devices_feature: 'devices' })
    await insertGrants(made.project, made.consumer)
    await grant(5)
    await made.api.get('ext:u') // from here on, the isolate knows the key
    const cost = async (installation: string) => {
      const { DB, count } = countingD1()
      const answer = await made.api.register('ext:u', installation, {}, { bindings: { DB } })
      expect(answer.status, answer.text).toBeLessThan(300)
      return [count.trips, count.rows_written]
    }
    const KEY = 1
    expect(await cost('new')).toEqual([KEY + 3, 5])
    expect(await cost('new')).toEqual([KEY + 1, 0])
  })
})
