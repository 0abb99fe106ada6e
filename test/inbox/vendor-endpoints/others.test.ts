import { beforeEach, describe, expect, it } from 'vitest'
import { vendorOf } from '../../../src/vendors'
import type { VendorEndpoints } from '../../../src/vendors/endpoints'
import { captureConsole, changeAccount, storedText } from '../../harness'
import type { Item } from '../../outside/account'
import { advance, LOST, stopClock, tamperedD1 } from '../pipeline'
import { type EndpointWorld, endpointWorld, named } from './world'

/*
 * Polar, Lemon Squeezy and Chargebee: the service stores no key of theirs. Two of them never show a signing secret, which the service chooses.
 */

beforeEach(() => {
  stopClock()
})

type Held = Item & { id: string }
let made = 0
function another(): number {
  made += 1
  return made
}

/** An endpoint as somebody made it by hand. */
const BY_HAND = {
  polar: (url: string, events: readonly string[], on = true): Held => ({
    id: crypto.randomUUID(),
    url,
    name: 'By hand',
    format: 'raw',
    events,
    enabled: on,
    organization_id: crypto.randomUUID(),
    secret: `whsec_${btoa(`by hand ${another()} 0123456789 0123456789`)}`,
    created_at: new Date().toISOString(),
  }),
  lemonsqueezy: (url: string, events: readonly string[]): Held => ({
    type: 'webhooks',
    id: String(5000 + another()),
    attributes: { store_id: 7, url, events, test_mode: false, created_at: new Date().toISOString() },
    hidden: { secret: `by hand ${another()}` },
  }),
  chargebee: (url: string, events: readonly string[], on = true): Held => ({
    id: `whv2_hand${another()}`,
    name: 'By hand',
    url,
    api_version: 'v2',
    disabled: !on,
    enabled_events: events,
    basic_auth_username: 'hand',
    basic_auth_password: `by hand ${another()}`,
  }),
}
type Vendor = keyof typeof BY_HAND
const NAMES = Object.keys(BY_HAND) as Vendor[]
const api = (vendor: Vendor) => vendorOf(vendor)?.endpoints as VendorEndpoints

const add = ({ writeKey }: EndpointWorld, ...some: Held[]) =>
  changeAccount(writeKey, { objects: Object.fromEntries(some.map((one) => [one.id, one])) })
const losesSecret = () =>
  tamperedD1(async ({ sql, run }) => {
    if (/^update "connections" set "version" = .*"secrets" = /.test(sql)) throw new Error(LOST)
    return run()
  })

async function requireOne(world: EndpointWorld): Promise<Held> {
  const [one, ...others] = (await world.endpoints()) as [Held]
  expect(others).toEqual([])
  expect(await world.deliverFrom(one)).toBe(200)
  return one
}

describe.each(NAMES)('a set-up at %s', (vendor) => {
  const { needed, useful } = api(vendor)
  const world = (settings = {}) => endpointWorld(settings, vendor)

  it('makes an endpoint from nothing, whose deliveries are accepted, and changes nothing when it is repeated', async () => {
    const at = await world()
    expect((await at.setUp({ dry_run: true })).body).toMatchObject({ did: 'created', endpoint: null })
    expect(await at.changes()).toEqual([])
    const { status, body } = await at.setUp()
    expect([status, body.did, body.findings]).toEqual([200, 'created', []])
    expect(body.endpoint).toMatchObject({ url: at.shop.ingest_url, status: 'enabled', events: [...needed, ...useful] })
    await requireOne(at)
    expect((await at.setUp()).body).toEqual({ ...body, did: 'unchanged' })
    expect((await at.setUp({ dry_run: true })).body).toEqual({ ...body, did: 'unchanged' })
    expect(await at.changes()).toHaveLength(1)
  })

  it('mends what is wrong with its endpoint, and says before what it would do', async () => {
    const at = await world()
    await at.setUp()
    const one = await requireOne(at)
    const wrong = JSON.parse(JSON.stringify(one).replaceAll('https://platform.test', 'https://old.example.com')) as Held
    const types = wrong.attributes ? (wrong.attributes as Item) : wrong
    types[vendor === 'chargebee' ? 'enabled_events' : 'events'] = [needed[0]]
    await add(at, wrong)
    const expected = ['url_differs', 'events_missing']
    const { body: dry } = await at.setUp({ dry_run: true })
    expect([dry.did, named(dry)]).toEqual(['updated', expected])
    expect((await at.setUp()).body).toMatchObject({
      did: 'updated',
      endpoint: { url: at.shop.ingest_url },
      findings: [],
    })
    expect((await requireOne(at)).id).toBe(one.id)
  })

  it('leaves the endpoints of others as they are, also one with the same address', async () => {
    const at = await world()
    const foreign = BY_HAND[vendor](at.shop.ingest_url, needed)
    const elsewhere = BY_HAND[vendor]('https://shop.example.com/hook', needed)
    await add(at, foreign, elsewhere)
    const { body } = await at.setUp()
    expect([body.did, named(body)]).toEqual(['created', ['endpoint_twice']])
    const all = await at.endpoints()
    expect(all).toHaveLength(3)
    expect(all).toEqual(expect.arrayContaining([foreign, elsewhere]))
  })

  it('that was killed between creating and storing is completed by the next one', async () => {
    const at = await world()
    await changeAccount(at.writeKey, {
      fail: { status: 500, method: vendor === 'chargebee' ? 'POST' : 'DELETE', after: vendor === 'chargebee' ? 1 : 0 },
    })
    expect((await at.setUp({}, { bindings: { DB: losesSecret() } })).status).toBe(503)
    await changeAccount(at.writeKey, { fail: { status: 500, path: '/nowhere' } })
    expect(await at.endpoints()).toHaveLength(1)
    expect((await at.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    await requireOne(at)
    expect((await at.setUp()).body.did).toBe('unchanged')
  })

  it('removes what it has made, if only the database fails', async () => {
    const at = await world()
    expect((await at.setUp({}, { bindings: { DB: losesSecret() } })).status).toBe(503)
    expect(await at.endpoints()).toEqual([])
  })

  it('reads more than one page of endpoints', async () => {
    const at = await world({ page_most: 2, endpoints_most: 9 })
    await add(at, ...[1, 2, 3, 4, 5].map((n) => BY_HAND[vendor](`https://shop.example.com/${n}`, needed)))
    await at.setUp()
    expect((await at.setUp()).body.did).toBe('unchanged')
    expect(await at.endpoints()).toHaveLength(6)
  })

  it.each<[string, object, number, string, RegExp]>([
    ['a key of another form', { key: 'nonsense' }, 422, 'api_key_invalid', /has at least 40|begins with/],
    ['a key that the vendor does not know', { key: 'new' }, 422, 'api_key_invalid', /does not know this key/],
    ['a failure', { fail: { status: 500 } }, 502, 'vendor_failed', /answered with 500/],
    ['an answer that is no list', { fail: { status: 200, body: '{}' } }, 502, 'vendor_failed', /unexpected response/],
  ])('is refused for %s', async (_, { key, ...settings }: { key?: string }, status, code, detail) => {
    const at = await world(settings)
    const { body } = await at.post(key === 'new' ? at.newKey() : (key ?? at.writeKey))
    expect([body.status, body.code]).toEqual([status, code])
    expect(body.detail).toMatch(detail)
    expect((await at.read()).secrets).toEqual([])
  })

  it('is the only check: the service stores no key, and says how to check with one', async () => {
    const at = await world()
    const { body } = await at.check()
    expect([body.status, body.code]).toEqual([409, 'vendor_endpoint_unsupported'])
    expect(body.detail).toContain('dry_run')
    const found = await at.setUp({ dry_run: true })
    expect(named(found.body)).toEqual(['endpoint_missing'])
    expect(await at.stored()).toMatchObject({ due_at: null, checked_at: Date.now() })
  })

  it('The key and the signing secret are found nowhere, even if the vendor says the key in each error', async () => {
    const logged = captureConsole()
    const at = await world()
    const body = JSON.stringify({ error: at.writeKey, api_error_code: at.writeKey, errors: [{ detail: at.writeKey }] })
    const answers: unknown[] = []
    for (const status of [200, 400, 401, 403, 404, 409, 422, 429, 500]) {
      await changeAccount(at.writeKey, { fail: { status, body } })
      answers.push(await at.setUp())
    }
    await changeAccount(at.writeKey, { fail: { status: 500, path: '/nowhere' } })
    answers.push(await at.post(`${at.writeKey} `), await at.setUp(), await at.setUp({ dry_run: true }), await at.read())
    const one = await requireOne(at)
    const secret = String(one.secret ?? (one.hidden as Item)?.secret ?? one.basic_auth_password)
    const places = { answers: JSON.stringify(answers), log: logged.join('\n'), storage: await storedText() }
    expect(places.answers).toContain('vendor_failed')
    for (const part of [at.writeKey, at.writeKey.slice(-24), secret])
      for (const [place, text] of Object.entries(places)) expect([place, text.includes(part)]).toEqual([place, false])
  })
})

describe('Polar', () => {
  it.each([
    ['may only read', { writes: false }],
    ['may not even read', { refused: ['webhooks'] }],
  ])('refuses a token that %s', async (_, settings) => {
    const { body } = await (await endpointWorld(settings, 'polar')).setUp()
    expect([body.code, body.detail]).toEqual(['api_key_lacks_permission', expect.stringContaining('webhooks:write')])
  })

  it('has an endpoint that was made by hand mended, by its secret', async () => {
    const at = await endpointWorld({}, 'polar')
    const byHand = BY_HAND.polar(at.shop.ingest_url, ['order.paid'], false)
    await add(at, byHand)
    await at.api(`/connections/${at.shop.id}/secrets`, { method: 'POST', json: { signing_secret: byHand.secret } })
    expect((await at.setUp()).body).toMatchObject({ did: 'updated', endpoint: { id: byHand.id }, findings: [] })
    await requireOne(at)
  })

  it.each([true, false])('is asked at the host of the mode: live %s', async (livemode) => {
    const at = await endpointWorld({}, 'polar')
    const json = { vendor: 'polar', name: 'Mode', livemode }
    const { body: connection } = await at.api('/connections', { method: 'POST', json })
    await at.api(`/connections/${connection.id}/endpoint`, { method: 'POST', json: { api_key: at.writeKey } })
    const hosts = new Set((await at.requests()).map(({ url }) => new URL(url).hostname))
    expect([...hosts]).toEqual([livemode ? 'api.polar.sh' : 'sandbox-api.polar.sh'])
  })

  it('needs no name of an account', async () => {
    const { body } = await (await endpointWorld({}, 'polar')).setUp({ account: 'acme' })
    expect([body.code, body.errors[0].pointer]).toEqual(['validation_failed', '/account'])
  })
})

describe('Lemon Squeezy', () => {
  it('has an endpoint that was made by hand mended, once its secret has verified a delivery', async () => {
    const at = await endpointWorld({}, 'lemonsqueezy')
    const byHand = BY_HAND.lemonsqueezy(at.shop.ingest_url, ['subscription_created'])
    await add(at, byHand)
    const json = { signing_secret: (byHand.hidden as Item).secret }
    await at.api(`/connections/${at.shop.id}/secrets`, { method: 'POST', json })
    advance(2000)
    expect(await at.deliverFrom(byHand)).toBe(200)
    expect((await at.setUp()).body).toMatchObject({ did: 'updated', endpoint: { id: byHand.id }, findings: [] })
    await requireOne(at)
  })

  it('asks for the store if the key can reach several, and takes only one of them', async () => {
    const at = await endpointWorld({ objects: [{ type: 'stores', id: '8' }] }, 'lemonsqueezy')
    const { body } = await at.setUp()
    expect([body.code, body.errors[0].pointer]).toEqual(['validation_failed', '/account'])
    expect(body.detail).toContain('7, 8')
    for (const account of ['acme', '8/../7', ''])
      expect((await at.setUp({ account })).body.errors[0].pointer).toBe('/account')
    expect((await at.setUp({ account: '9' })).body.code).toBe('vendor_failed')
    expect((await at.setUp({ account: '8' })).body.did).toBe('created')
    expect((await requireOne(at)).attributes).toMatchObject({ store_id: 8, test_mode: false })
    // The other store has none of it.
    expect((await at.setUp({ account: '7', dry_run: true })).body.did).toBe('created')
  })

  it('refuses a key of test mode for a live connection, and leaves webhooks of the other mode alone', async () => {
    const at = await endpointWorld({ test_mode: true }, 'lemonsqueezy')
    expect((await at.setUp()).body.code).toBe('api_key_other_mode')
    await changeAccount(at.writeKey, { test_mode: false })
    await at.setUp()
    const one = await requireOne(at)
    await add(at, { ...one, attributes: { ...(one.attributes as Item), test_mode: true } })
    expect((await at.setUp({ dry_run: true })).body).toMatchObject({ did: 'created', endpoint: null })
  })
})

describe('Chargebee', () => {
  it.each([
    ['without a site', undefined, 'validation_failed', /must be the site at Chargebee/],
    ['with a host in place of a site', 'acme.chargebee.com', 'validation_failed', /is not a site/],
    ['with a site that leads elsewhere', 'evil.example.com#', 'validation_failed', /is not a site/],
    ['with a site that is not there', 'acme2', 'validation_failed', /is not a site that Chargebee has/],
  ])('refuses a set-up %s', async (_, account, code, detail) => {
    const at = await endpointWorld({ site: 'acme' }, 'chargebee')
    const { body } = await at.setUp({ account })
    expect([body.code, body.errors[0].pointer]).toEqual([code, '/account'])
    expect(body.detail).toMatch(detail)
  })

  it('refuses a key of the test site for a live connection, and a key that may only read', async () => {
    const at = await endpointWorld({ writes: false }, 'chargebee')
    expect((await at.post(at.newKey().replace('live', 'test'))).body.code).toBe('api_key_other_mode')
    expect((await at.setUp()).body.code).toBe('api_key_lacks_permission')
  })

  it('has five endpoints at most', async () => {
    const many = [1, 2, 3, 4, 5].map((n) => BY_HAND.chargebee(`https://shop.example.com/${n}`, ['customer_created']))
    const at = await endpointWorld({ objects: many }, 'chargebee')
    expect((await at.setUp()).body).toMatchObject({ status: 409, code: 'vendor_endpoint_limit' })
    expect(await at.endpoints()).toEqual(many)
  })

  it('has an endpoint for all types, one of an old version replaced, and a disabled one enabled', async () => {
    const at = await endpointWorld({}, 'chargebee')
    expect((await at.setUp({ events: 'all' })).body).toMatchObject({ did: 'created', endpoint: { events: ['*'] } })
    const one = await requireOne(at)
    await add(at, { ...one, disabled: true })
    expect((await at.setUp()).body).toMatchObject({ did: 'updated', endpoint: { id: one.id, events: ['*'] } })
    await add(at, { ...one, api_version: 'v1' })
    expect(named((await at.setUp({ dry_run: true })).body)).toEqual(['api_version_old'])
    expect((await at.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    expect((await requireOne(at)).api_version).toBe('v2')
  })
})
