import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR } from '../../../src/lib/time'
import { stripe } from '../../../src/vendors/stripe'
import { changeAccount, countingD1, newStripeAccount, newStripeKey } from '../../harness'
import type { Item } from '../../outside/account'
import { advance, cron, memoryQueue, rows, stopClock } from '../pipeline'
import { setKey } from '../refresh/world'
import { type EndpointWorld, endpointAt, endpointWorld, named } from './world'

beforeEach(() => {
  stopClock()
})

const add = ({ writeKey }: EndpointWorld, ...some: Item[]) =>
  changeAccount(writeKey, { objects: Object.fromEntries(some.map((one) => [one.id, one])) })

const REASONS: [string, (url: string) => Item[], string[], RegExp][] = [
  ['nothing', (url) => [endpointAt(url)], [], /^$/],
  ['no endpoint', () => [], ['endpoint_missing'], /has no webhook endpoint with the ingest URL.*no events arrive/],
  ['only another one', () => [endpointAt('https://x.example.com/hook')], ['endpoint_missing'], /no events arrive/],
  ['a disabled one', (url) => [endpointAt(url, { status: 'disabled' })], ['endpoint_disabled'], /is disabled/],
  ['two', (url) => [endpointAt(url), endpointAt(url)], ['endpoint_twice'], /^2 webhook endpoints at Stripe/],
  ['two, one of them disabled', (url) => [endpointAt(url), endpointAt(url, { status: 'disabled' })], [], /^$/],
  [
    'the same path at another host',
    (url) => [endpointAt(url.replace('platform.test', 'old.example.com'))],
    ['url_differs'],
    /does not send to the ingest URL/,
  ],
  ['an old version', (url) => [endpointAt(url, { api_version: '2018-11-08' })], ['api_version_old'], /2018-11-08/],
  ['the version of the account', (url) => [endpointAt(url, { api_version: null })], [], /^$/],
  [
    'a type that is missing',
    (url) => [endpointAt(url, { enabled_events: ALL_BUT(['customer.deleted']) })],
    ['events_missing'],
    /^Stripe does not send customer\.deleted, so the billing state lacks the changes/,
  ],
  [
    'two types that are missing',
    (url) => [endpointAt(url, { enabled_events: ALL_BUT(['customer.deleted', 'invoice.paid']) })],
    ['events_missing'],
    /customer\.deleted and invoice\.paid, so/,
  ],
  [
    'almost all missing',
    (url) => [endpointAt(url, { enabled_events: ['invoice.paid'] })],
    ['events_missing'],
    /customer\.subscription\.updated and 14 more event types, so/,
  ],
  [
    'types that two endpoints share',
    (url) => [
      endpointAt(url, { enabled_events: ALL_BUT(['invoice.paid']) }),
      endpointAt(url, { enabled_events: ['invoice.paid'] }),
    ],
    ['endpoint_twice'],
    /^2 /,
  ],
  [
    'thin events only',
    (url) => [
      {
        id: 'ed_1',
        object: 'v2.core.event_destination',
        event_payload: 'thin',
        status: 'enabled',
        webhook_endpoint: { url },
      },
    ],
    ['thin_only'],
    /only thin events/,
  ],
]

function ALL_BUT(left: string[]): string[] {
  return (stripe.endpoints?.needed ?? []).filter((type) => !left.includes(type))
}

describe('a check', () => {
  it.each(REASONS)('finds %s', async (_, items, findings, says) => {
    const world = await endpointWorld()
    await world.readable()
    await add(world, ...items(world.shop.ingest_url))
    const { status, body } = await world.check()
    expect([status, named(body)]).toEqual([200, findings])
    const said = body.findings.map(({ consequence }: { consequence: string }) => consequence).join(' ')
    expect(said).toMatch(says)
    expect(body.checked_at).toBe(new Date().toISOString())
    expect((await world.stored())?.result.findings).toHaveLength(findings.length)
    const { body: health } = await world.api('/webhooks/health')
    const ours = health.reasons.filter((one: string) => one.startsWith('the connection Shop: '))
    expect(ours).toHaveLength(findings.length)
    for (const reason of ours)
      expect(reason.slice('the connection Shop: '.length)).toMatch(new RegExp(says.source, 'i'))
  })

  it('says nothing about thin events to a key that may not list their destinations', async () => {
    const world = await endpointWorld()
    await world.readable({ refused: ['event_destinations'] })
    expect(named((await world.check()).body)).toEqual(['endpoint_missing'])
  })

  it('needs a key that the vendor knows, and that may read endpoints', async () => {
    const world = await endpointWorld()
    expect((await world.check()).body).toMatchObject({ status: 409, code: 'api_key_missing' })
    const key = await world.readable({ refused: ['webhook_endpoints'] })
    const { body } = await world.check()
    expect(body).toMatchObject({ status: 422, code: 'api_key_lacks_permission' })
    expect(body.detail).toContain('Webhook Endpoints: Read')
    expect(await world.stored()).toMatchObject({ error: 'permission_missing', result: null })
    await changeAccount(key, { fail: { status: 500 } })
    expect((await world.check()).body).toMatchObject({ status: 502, code: 'vendor_failed' })
    await changeAccount(key, { fail: { status: 401 } })
    expect((await world.check()).body).toMatchObject({ status: 409, code: 'api_key_missing' })
    expect((await world.check()).body.detail).toContain('has refused')
    expect(await world.stored()).toMatchObject({ due_at: null })
    const { body: health } = await world.api('/webhooks/health')
    expect(health.reasons.join()).toContain('no longer accepts the API key')
  })

  it('after a set-up is kept without a key, but not repeated, and health does not rely on it', async () => {
    const world = await endpointWorld()
    await add(world, endpointAt(world.shop.ingest_url))
    expect(named((await world.setUp()).body)).toEqual(['endpoint_twice'])
    expect(await world.stored()).toMatchObject({ due_at: null, checked_at: Date.now() })
    expect((await world.api('/webhooks/health')).body.reasons.join()).not.toContain('webhook endpoint')
    await world.readable()
    await world.check()
    expect(await world.stored()).toMatchObject({ due_at: Date.now() + DAY })
    expect((await world.api('/webhooks/health')).body.reasons.join()).toContain('2 webhook endpoints')
  })
})

describe('the cron', () => {
  /** The cron, then the consumer. */
  async function minute(fetches = memoryQueue('platform-api-fetches'), more = {}) {
    await cron({ FETCHES: fetches.EVENTS, ...more })
    await fetches.pump({ FETCHES: fetches.EVENTS, ...more })
    return fetches
  }

  it('checks an endpoint once its connection has a key, then every day, and after an hour if Stripe fails', async () => {
    const world = await endpointWorld()
    const key = await world.readable()
    await minute()
    expect(await world.stored()).toMatchObject({ checked_at: Date.now(), due_at: Date.now() + DAY, error: null })
    expect((await world.stored())?.result.findings).toEqual([{ finding: 'endpoint_missing' }])
    await add(world, endpointAt(world.shop.ingest_url))
    const checked = Date.now()
    advance(DAY - 1000)
    await minute()
    expect(await world.stored()).toMatchObject({ checked_at: checked })
    advance(1000)
    await changeAccount(key, { fail: { status: 503, times: 1 } })
    await minute()
    // What was known stays.
    const failed = { checked_at: checked, due_at: Date.now() + HOUR, error: 'vendor_failed' }
    expect(await world.stored()).toMatchObject(failed)
    advance(HOUR)
    await minute()
    expect(await world.stored()).toMatchObject({ checked_at: Date.now(), error: null })
    expect((await world.stored())?.result.findings).toEqual([])
  })

  it('stops when the key is refused or removed, and goes on with a new one', async () => {
    const world = await endpointWorld()
    const key = await world.readable()
    await changeAccount(key, { fail: { status: 401 } })
    await minute()
    expect(await world.stored()).toMatchObject({ due_at: null })
    expect(await rows('SELECT state FROM vendor_keys WHERE project_id = ?', world.project)).toEqual([
      { state: 'refused' },
    ])
    await world.readable()
    expect(await world.stored()).toMatchObject({ due_at: Date.now() })
    await world.api(`/connections/${world.shop.id}/api-key`, { method: 'DELETE' })
    expect(await world.stored()).toMatchObject({ due_at: null })
    await world.readable()
    await world.api(`/connections/${world.shop.id}`, { method: 'DELETE' })
    expect(await world.stored()).toBeUndefined()
  })

  it('asks nothing about a disabled connection, nor without a public address', async () => {
    const world = await endpointWorld()
    await world.readable()
    await world.api(`/connections/${world.shop.id}`, { method: 'PATCH', json: { status: 'disabled' } })
    await minute()
    expect(await world.stored()).toMatchObject({ checked_at: null, due_at: Date.now() + DAY })
    await world.api(`/connections/${world.shop.id}`, { method: 'PATCH', json: { status: 'active' } })
    advance(DAY)
    await minute(undefined, { PUBLIC_ORIGIN: '' })
    expect(await world.stored()).toMatchObject({ checked_at: null, due_at: Date.now() + DAY })
  })

  it('checks the endpoints of 50 connections in three minutes, at a bounded number of rows', async () => {
    const world = await endpointWorld()
    await world.readable()
    const apiKey = newStripeKey()
    await newStripeAccount({ same_as: world.writeKey }, apiKey)
    for (let n = 2; n < 50; n++) {
      const json = { vendor: 'stripe', name: `Shop ${n}`, livemode: true }
      const { body } = await world.api('/connections', { method: 'POST', json })
      await setKey(world, body.id, apiKey)
    }
    const checks = () =>
      rows<{ n: number }>(
        'SELECT count(*) AS n FROM vendor_endpoints WHERE project_id = ? AND checked_at > 0',
        world.project,
      )
    const fetches = memoryQueue('platform-api-fetches')
    // What else the cron sends for a connection with a key is not what is weighed here.
    const onlyChecks = {
      send: async () => {},
      sendBatch: (messages: MessageSendRequest<{ what: string }>[]) =>
        fetches.EVENTS.sendBatch(messages.filter(({ body }) => body.what === 'endpoint')),
    } as unknown as Queue<unknown>
    const done: number[] = []
    const costs: object[] = []
    for (let run = 0; run < 3; run++) {
      advance(60_000)
      const { DB, count } = countingD1()
      await cron({ FETCHES: onlyChecks })
      await fetches.pump({ FETCHES: fetches.EVENTS, DB })
      done.push((await checks())[0]?.n ?? 0)
      costs.push(count)
    }
    expect(done).toEqual([20, 40, 49])
    // For each check, two trips: five rows read, and the row of the check written with its place in the index.
    const cost = (n: number) => ({ trips: 2 * n, statements: 3 * n, rows_read: 5 * n, rows_written: 2 * n })
    expect(costs).toEqual([20, 20, 9].map(cost))
  })
})
