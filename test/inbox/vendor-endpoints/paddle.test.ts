import { beforeEach, describe, expect, it } from 'vitest'
import { paddle } from '../../../src/vendors/paddle'
import { captureConsole, changeAccount, newPaddleAccount, newPaddleKey, storedText } from '../../harness'
import type { Item } from '../../outside/account'
import { LOST, stopClock, tamperedD1 } from '../pipeline'
import { type EndpointWorld, endpointWorld, named, settingAt } from './world'

/*
 * What is different at Paddle: settings show their secrets, our mark is a part of the description, and only active ones count for the limit.
 */

beforeEach(() => {
  stopClock()
})

const paddleWorld = (settings: Parameters<typeof endpointWorld>[0] = {}) => endpointWorld(settings, 'paddle')
const add = ({ writeKey }: EndpointWorld, ...some: Item[]) =>
  changeAccount(writeKey, { objects: Object.fromEntries(some.map((one) => [one.id, one])) })
const losesSecret = () =>
  tamperedD1(async ({ sql, run }) => {
    if (/^update "connections" set "version" = .*"secrets" = /.test(sql)) throw new Error(LOST)
    return run()
  })

async function requireOne(world: EndpointWorld): Promise<Item> {
  const [one, ...others] = (await world.endpoints()) as [Item]
  expect(others).toEqual([])
  expect(await world.deliverFrom(one)).toBe(200)
  return one
}

describe('a set-up at Paddle', () => {
  it('makes a setting from nothing, whose deliveries are accepted, and changes nothing when it is repeated', async () => {
    const world = await paddleWorld()
    const { status, body } = await world.setUp()
    expect([status, body.did, body.findings]).toEqual([200, 'created', []])
    const made = await requireOne(world)
    expect(body.endpoint).toEqual({
      id: made.id,
      url: world.shop.ingest_url,
      status: 'enabled',
      api_version: '1',
      events: [...(paddle.endpoints?.needed ?? []), ...(paddle.endpoints?.useful ?? [])],
    })
    expect(made).toMatchObject({ type: 'url', traffic_source: 'all' })
    expect((await world.setUp()).body).toEqual({ ...body, did: 'unchanged' })
    expect(await world.changes()).toEqual(['POST /notification-settings'])
    await add(world, {
      ...made,
      active: false,
      subscribed_events: [{ name: 'customer.created' }, { name: 'payout.paid' }],
    })
    expect((await world.setUp()).body).toMatchObject({ did: 'updated', endpoint: { id: made.id }, findings: [] })
    const mended = await requireOne(world)
    expect((mended.subscribed_events as Item[]).map(({ name }) => name)).toContain('payout.paid')
  })

  it('mends one that was made by hand, by its secret, and leaves those of others', async () => {
    const world = await paddleWorld()
    const byHand = settingAt(world.shop.ingest_url, { active: false })
    const foreign = settingAt(world.shop.ingest_url)
    const elsewhere = settingAt('https://shop.example.com/hook')
    const mail = settingAt('team@shop.example.com', { type: 'email' })
    await add(world, byHand, foreign, elsewhere, mail)
    const json = { signing_secret: byHand.endpoint_secret_key }
    await world.api(`/connections/${world.shop.id}/secrets`, { method: 'POST', json })
    const { body } = await world.setUp()
    expect([body.did, body.endpoint.id, named(body)]).toEqual(['updated', byHand.id, ['endpoint_twice']])
    const all = await world.endpoints()
    expect(all).toHaveLength(4)
    expect(all).toEqual(expect.arrayContaining([foreign, elsewhere, mail]))
  })

  it('is refused where ten are active, and not where some of them are not', async () => {
    const many = Array.from({ length: 10 }, (_, n) => settingAt(`https://shop.example.com/${n}`))
    const world = await paddleWorld({ objects: many })
    expect((await world.setUp()).body).toMatchObject({ status: 409, code: 'vendor_endpoint_limit' })
    expect(await world.endpoints()).toEqual(many)
    await add(world, { ...many[0], active: false })
    expect((await world.setUp()).body.did).toBe('created')
    const [own] = (await world.endpoints()).filter(({ destination }) => destination === world.shop.ingest_url) as [Item]
    await add(world, { ...own, active: false }, { ...many[0], active: true })
    expect((await world.setUp()).body).toMatchObject({ status: 409, code: 'vendor_endpoint_limit' })
  })

  it.each<[string, string | (() => Promise<string>), number, string, RegExp]>([
    ['a key of another form', 'nonsense', 422, 'api_key_invalid', /pdl_live_apikey_/],
    ['a key without permissions', 'a'.repeat(50), 422, 'api_key_too_powerful', /only the permissions it needs/],
    ['a key of the sandbox', newPaddleKey('sdbx'), 422, 'api_key_other_mode', /test key/],
    ['a key that Paddle does not know', newPaddleKey(), 422, 'api_key_invalid', /does not know/],
    [
      'a key that may only read',
      () => newPaddleAccount({}),
      422,
      'api_key_lacks_permission',
      /notification_setting\.write/,
    ],
    ['a failure', () => newPaddleAccount({ fail: { status: 500 } }), 502, 'vendor_failed', /answered with 500/],
  ])('is refused for %s', async (_, key, status, code, detail) => {
    const world = await paddleWorld()
    const { body } = await world.post(typeof key === 'string' ? key : await key())
    expect([body.status, body.code]).toEqual([status, code])
    expect(body.detail).toMatch(detail)
  })

  it('cannot choose all types, because Paddle has no word for them', async () => {
    const { body } = await (await paddleWorld()).setUp({ events: 'all' })
    expect([body.code, body.errors[0].pointer]).toEqual(['validation_failed', '/events'])
  })

  it('that was killed between creating and storing is completed by the next one', async () => {
    const world = await paddleWorld()
    await changeAccount(world.writeKey, { fail: { status: 500, method: 'DELETE' } })
    expect((await world.setUp({}, { bindings: { DB: losesSecret() } })).status).toBe(503)
    await changeAccount(world.writeKey, { fail: { status: 500, path: '/nowhere' } })
    expect(await world.endpoints()).toHaveLength(1)
    expect((await world.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    await requireOne(world)
    expect((await world.setUp()).body.did).toBe('unchanged')
  })
})

it.each<[string, (url: string) => Item[], string[]]>([
  ['nothing', (url) => [settingAt(url)], []],
  ['no setting', () => [], ['endpoint_missing']],
  ['one that is not active', (url) => [settingAt(url, { active: false })], ['endpoint_disabled']],
  ['one for simulations alone', (url) => [settingAt(url, { traffic_source: 'simulation' })], ['endpoint_disabled']],
  ['two', (url) => [settingAt(url), settingAt(url)], ['endpoint_twice']],
  ['another address', (url) => [settingAt(url.replace('platform.test', 'old.example.com'))], ['url_differs']],
  [
    'missing types',
    (url) => [settingAt(url, { subscribed_events: [{ name: 'customer.created' }] })],
    ['events_missing'],
  ],
])('a check at Paddle finds %s', async (_, items, findings) => {
  const world = await paddleWorld()
  await world.readable()
  await add(world, ...items(world.shop.ingest_url))
  expect(named((await world.check()).body)).toEqual(findings)
})

it('The keys, and the secrets that Paddle shows, are found nowhere', async () => {
  const logged = captureConsole()
  const world = await paddleWorld()
  const { writeKey } = world
  const body = JSON.stringify({ error: { type: writeKey, code: writeKey, detail: writeKey } })
  const answers: unknown[] = []
  for (const status of [200, 400, 403, 409, 429, 500]) {
    await changeAccount(writeKey, { fail: { status, body } })
    answers.push(await world.setUp())
  }
  await changeAccount(writeKey, { fail: { status: 500, path: '/nowhere' } })
  answers.push(await world.setUp(), await world.setUp())
  await world.readable()
  answers.push(await world.check(), await world.read())
  const [made] = (await world.endpoints()) as [Item]
  const secret = String(made.endpoint_secret_key)
  const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
  expect(places.log).toContain('vendor_call')
  for (const part of [writeKey, writeKey.slice(-24), secret, secret.slice(12)])
    for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
})
