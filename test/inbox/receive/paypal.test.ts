import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import { advance, stopClock } from '../../clock'
import { call, KV_OUT, type RequestOptions } from '../../harness'
import {
  addressOf,
  answerAt,
  newSigner,
  paypalHeaders,
  publish,
  type Signer,
  sharedSigner,
  timesAsked,
} from '../../vendors/paypal-signed'
import { newWorld } from '../pipeline'

/* Deliveries of PayPal at the address of a connection, and what strangers who know that address can cause. */

const WEBHOOK = '9XL90610J3647323C'
const UNAVAILABLE = [503, 'vendor_key_unavailable', '60']
let signer: Signer

beforeEach(async () => {
  stopClock()
  signer = await sharedSigner()
})

let count = 0
/** The id of a certificate that no other test uses. */
const newId = () => `CERT-360caa42-fca2a594-${crypto.randomUUID().slice(0, 8)}-${++count}`
const named = (address: string) => `vendor_key:${address}`
const inKv = () => env.KV.list({ prefix: 'vendor_key:' }).then(({ keys }) => keys.map(({ name }) => name))

type Sent = { address: string; by?: Signer; webhook?: string; at?: number; bindings?: RequestOptions['bindings'] }

/** Connections of one project to PayPal, and what delivers to the first. @returns the status, the code of an error, and Retry-After */
async function connected(...webhooks: string[]) {
  const world = await newWorld()
  const ids: string[] = []
  for (const signing_secret of webhooks.length > 0 ? webhooks : [WEBHOOK]) {
    const json = { vendor: 'paypal', name: 'PayPal', livemode: false, signing_secret }
    ids.push((await world.api('/connections', { method: 'POST', json })).body.id)
  }
  const [id = ''] = ids
  let events = 0
  const post = async ({ address, by = signer, webhook = WEBHOOK, at, bindings }: Sent, to = id) => {
    events += 1
    const resource = { id: 'I-1', status: 'ACTIVE', plan_id: 'P-1', subscriber: { payer_id: 'C-1' } }
    const event = { id: `WH-${events}`, event_type: 'BILLING.SUBSCRIPTION.ACTIVATED', resource_type: 'subscription' }
    const body = JSON.stringify({ ...event, create_time: '2026-01-01T00:00:00.000Z', resource })
    const headers = await paypalHeaders({ body, webhook, signer: by, address, ...(at !== undefined && { at }) })
    return call(`/ingest/${to}`, {
      method: 'POST',
      body,
      headers: { ...headers, 'Content-Type': 'application/json', 'User-Agent': 'PayPal/AUHD-214.0' },
      bindings: { EVENTS: world.queue.EVENTS, ...bindings },
    })
  }
  const deliver = async (sent: Sent, to?: string) => {
    const { status, body, headers } = await post(sent, to)
    return status === 200 ? 200 : [status, body.code, headers.get('Retry-After')]
  }
  return { ...world, ids, post, deliver }
}

describe('a delivery', () => {
  it.each([
    ['api.sandbox.paypal.com', false],
    ['api.paypal.com', true],
  ])('with a key of %s is recorded, decoded and searchable, and becomes no billing state', async (host, livemode) => {
    const world = await connected()
    const address = await publish(signer, newId(), host)
    const { status, body } = await world.post({ address })
    expect(status).toBe(200)
    await world.queue.pump()
    expect(await world.event(body.event_ids[0])).toMatchObject({
      vendor_event_id: 'WH-1',
      event_type: 'BILLING.SUBSCRIPTION.ACTIVATED',
      occurred_at: '2026-01-01T00:00:00.000Z',
      status: 'ignored',
      decoded_summary: {
        livemode,
        object: { type: 'subscription', id: 'I-1', status: 'ACTIVE' },
        customer: 'C-1',
        subscription: 'I-1',
      },
    })
    expect(await world.api('/webhooks/search?ref=I-1')).toMatchObject({ body: { data: [{ vendor_event_id: 'WH-1' }] } })
    for (const kind of ['subscriptions', 'customers', 'purchases'])
      expect([kind, (await world.api(`/${kind}`)).body.data]).toEqual([kind, []])
  })

  it('is refused with the causes that other vendors have, and the limits of PayPal', async () => {
    const world = await connected(WEBHOOK)
    const id = newId()
    const address = await publish(signer, id)
    const late = await world.post({ address, at: Date.now() - 3 * DAY - SECOND })
    expect([late.status, late.body.code, late.body.detail]).toEqual([
      401,
      'signature_timestamp',
      "The signature's timestamp is 259201 s behind our clock. The limit is 259200 s.",
    ])
    const early = await world.post({ address, at: Date.now() + 6 * MINUTE })
    expect(early.body.detail).toContain('The limit is 300 s.')
    const over = await newSigner({ until: new Date(Date.now() - DAY) })
    const ended = await world.post({ address: await publish(over, newId()), by: over })
    expect([ended.body.code, ended.body.detail]).toEqual([
      'signature_timestamp',
      "The vendor's certificate is not valid now, or was not valid when the delivery was signed.",
    ])
    expect(await world.deliver({ address, webhook: '1JE4291016473214C' })).toEqual([401, 'signature_mismatch', null])
    for (const elsewhere of [addressOf(id, 'evil.dev'), `${address}/..`, address.replace('https', 'http')])
      expect(await world.deliver({ address: elsewhere })).toEqual([401, 'signature_malformed', null])
    expect(await timesAsked(address)).toBe(1)
  })

  it('that another connection of the project should have is told so, without a fetch', async () => {
    const world = await connected(WEBHOOK, '1JE4291016473214C')
    const address = await publish(signer, newId())
    expect(await world.deliver({ address, webhook: '1JE4291016473214C' })).toEqual([401, 'signature_mismatch', null])
    const look = async () => (await world.api(`/connections/${world.ids[0]}/diagnoses`)).body.data
    await expect.poll(look, { timeout: 10_000 }).toMatchObject([
      {
        verdict: 'other_connection',
        connection_id: world.ids[1],
        headers: expect.arrayContaining(['paypal-transmission-sig']),
      },
    ])
    expect(await timesAsked(address)).toBe(1)
  })
})

describe('the key of deliveries', () => {
  it('is fetched once for many at once, and for all that follow, on all connections', async () => {
    const [one, two] = [await connected(), await connected()]
    const address = await publish(signer, newId())
    const all = await Promise.all(Array.from({ length: 10 }, () => one.deliver({ address })))
    expect(all).toEqual(Array.from({ length: 10 }, () => 200))
    for (const world of [one, two, one]) expect(await world.deliver({ address })).toBe(200)
    expect(await timesAsked(address)).toBe(1)
    expect(await inKv()).toContain(named(address))
  })

  it('is read from KV where another isolate has fetched it', async () => {
    const world = await connected()
    const address = addressOf(newId())
    await env.KV.put(named(address), signer.pem, { metadata: { at: Date.now() - 11 * HOUR } })
    for (let i = 0; i < 3; i++) expect(await world.deliver({ address })).toBe(200)
    expect(await timesAsked(address)).toBe(0)
  })

  it('is fetched once more after a day, when KV has forgotten it too', async () => {
    const world = await connected()
    const address = await publish(signer, newId())
    expect(await world.deliver({ address })).toBe(200)
    await env.KV.delete(named(address))
    advance(11 * HOUR)
    expect([await world.deliver({ address }), await timesAsked(address)]).toEqual([200, 1])
    advance(13 * HOUR)
    expect([await world.deliver({ address }), await timesAsked(address)]).toEqual([200, 2])
    expect(await inKv()).toContain(named(address))
  })

  it('is renewed while it is used, without anybody waiting, and stays in use if that fails', async () => {
    const world = await connected()
    const id = newId()
    const address = await publish(signer, id)
    expect(await world.deliver({ address })).toBe(200)
    advance(13 * HOUR)
    expect(await world.deliver({ address })).toBe(200)
    await expect.poll(() => timesAsked(address)).toBe(2)
    advance(13 * HOUR)
    await answerAt(id, { status: 500 })
    expect(await world.deliver({ address })).toBe(200)
    await expect.poll(() => timesAsked(address)).toBe(3)
    // Not with each delivery, and for no longer than a day.
    for (let i = 0; i < 5; i++) expect(await world.deliver({ address })).toBe(200)
    expect(await timesAsked(address)).toBe(3)
    advance(11 * HOUR)
    await env.KV.delete(named(address))
    expect(await world.deliver({ address })).toEqual(UNAVAILABLE)
  })

  it('works without KV', async () => {
    const world = await connected()
    const address = await publish(signer, newId())
    for (let i = 0; i < 3; i++) expect(await world.deliver({ address, bindings: { KV: KV_OUT } })).toBe(200)
    expect(await timesAsked(address)).toBe(1)
  })
})

describe('a key that is not to be had', () => {
  const html = { headers: { 'Content-Type': 'text/html' } }
  it.each<[string, object]>([
    ['an answer without an end', { trouble: 'silent' }],
    ['a body that comes slowly', { trouble: 'slow' }],
    ['a body without an end', { trouble: 'endless' }],
    ['an error', { status: 500 }],
    ['no such certificate', { status: 404 }],
    ['a redirect', { status: 302, headers: { Location: 'https://www.paypal.com/' } }],
    ['a page', { body: '<html></html>', ...html }],
    ['nothing', {}],
    ['a certificate of another host', { other: 'www.paypal.com' }],
    ['a certificate after 16 KB', { before: ' '.repeat(16 * 1024) }],
  ])('because PayPal answers with %s: 503, and the delivery is accepted later', async (_, { ...answer }) => {
    const world = await connected()
    const id = newId()
    const { other, before, ...rest } = answer as { other?: string; before?: string }
    const pem = other ? (await newSigner({ name: other })).pem : signer.pem
    const address = await answerAt(id, other || before !== undefined ? { body: (before ?? '') + pem } : rest)
    const again = () => world.deliver({ address })
    expect([await again(), await again()]).toEqual([UNAVAILABLE, UNAVAILABLE])
    expect(await timesAsked(address)).toBe(1)
    expect(await inKv()).not.toContain(named(address))
    await publish(signer, id)
    advance(MINUTE)
    expect(await again()).toBe(200)
  })

  it('is asked for once a minute, by whichever connection', async () => {
    const [one, two] = [await connected(), await connected()]
    const address = addressOf(newId())
    expect(await one.deliver({ address })).toEqual(UNAVAILABLE)
    expect(await two.deliver({ address })).toEqual(UNAVAILABLE)
    expect(await timesAsked(address)).toBe(1)
  })
})

describe('a flood of invented certificates', () => {
  it('causes one fetch a minute for each connection, writes nothing, and stops no delivery with a known key', async () => {
    const [one, two] = [await connected(), await connected()]
    const flood = `CERT-F${crypto.randomUUID().slice(0, 8)}`
    const known = await publish(signer, newId())
    expect(await one.deliver({ address: known })).toBe(200)
    const before = await inKv()
    const invented = () => addressOf(`${flood}-${++count}`)
    const asked = () => timesAsked(addressOf(flood))
    const many = () => Promise.all(Array.from({ length: 30 }, () => one.deliver({ address: invented() })))
    for (const answer of await many()) expect(answer).toEqual(UNAVAILABLE)
    expect(await asked()).toBe(1)
    expect(await one.deliver({ address: known })).toBe(200)
    // A key that is new to all waits its turn on this connection. Another one is not held up, and fetches it for both.
    const fresh = await publish(signer, newId())
    expect(await one.deliver({ address: fresh })).toEqual(UNAVAILABLE)
    expect(await two.deliver({ address: fresh })).toBe(200)
    expect(await one.deliver({ address: fresh })).toBe(200)
    advance(MINUTE)
    for (const answer of await many()) expect(answer).toEqual(UNAVAILABLE)
    expect(await asked()).toBe(2)
    expect((await inKv()).toSorted()).toEqual([...before, named(fresh)].toSorted())
  })

  it('leaves a connection whose key was fetched its turn', async () => {
    const world = await connected()
    for (let i = 0; i < 3; i++) expect(await world.deliver({ address: await publish(signer, newId()) })).toBe(200)
  })

  it('fetches nothing for a connection without a secret', async () => {
    const world = await newWorld()
    const json = { vendor: 'paypal', name: 'PayPal', livemode: false }
    const { id } = (await world.api('/connections', { method: 'POST', json })).body
    const { deliver } = await connected()
    const address = await publish(signer, newId())
    expect(await deliver({ address }, id)).toEqual([401, 'signature_mismatch', null])
    expect(await timesAsked(address)).toBe(0)
  })
})
