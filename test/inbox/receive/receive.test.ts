import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_DELIVERY_BYTES, MAX_DELIVERY_EVENTS } from '../../../src/inbox/receive/limits'
import { sha256Hex, utf8 } from '../../../src/lib/crypto'
import { SECOND } from '../../../src/lib/time'
import { call, countingD1, deliverBytes, stripeEvent } from '../../harness'
import {
  advance,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  tamperedD1,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const event = stripeEvent()
/** Stripe's event, padded to so many bytes. */
const ofSize = (size: number) => {
  const empty = JSON.stringify({ ...event, pad: '' }).length
  return utf8(JSON.stringify({ ...event, pad: 'x'.repeat(size - empty) }))
}
/** A body without end, in chunks of 64 KiB; it counts what is asked of it. */
function endless() {
  const count = { pulled: 0, cancelled: false }
  const body = new ReadableStream(
    {
      pull: (controller) => {
        count.pulled += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
      cancel: () => {
        count.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, count }
}

describe('the size of a delivery', () => {
  it('may be exactly 1 MiB', async () => {
    const world = await newWorld()
    const body = ofSize(MAX_DELIVERY_BYTES)
    expect(body.byteLength).toBe(1_048_576)
    const { EVENTS } = world.queue
    const { status, body: receipt } = await deliverBytes(world.connection.id, body, { bindings: { EVENTS } })
    expect(status).toBe(200)
    await settle(world)
    const recorded = await world.event(receipt.event_ids[0])
    expect(recorded.status).toBe('processed')
    expect(recorded.raw_payload_b64 === body.toBase64()).toBe(true)
    await expectConsistent(world.project)
  })

  it('may not be a byte more', async () => {
    const world = await newWorld()
    const answer = await deliverBytes(world.connection.id, ofSize(MAX_DELIVERY_BYTES + 1))
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(await stored(world.project)).toEqual([])
  })

  it('may have 1,000 events, and not one more', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    const ids = Array.from({ length: MAX_DELIVERY_EVENTS + 1 }, (_, n) => `EV${n}`)
    const refused = await sendGocardless(world, connection, ids)
    expect(refused).toMatchObject({ status: 413, body: { code: 'too_many_events' } })
    expect(await stored(world.project)).toEqual([])
    expect((await sendGocardless(world, connection, ids.slice(1))).status).toBe(200)
    expect(await stored(world.project)).toHaveLength(MAX_DELIVERY_EVENTS)
  })

  it('is not read past the bound', async () => {
    const world = await newWorld()
    const { body, count } = endless()
    const answer = await call(`/ingest/${world.connection.id}`, { method: 'POST', body })
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(count.pulled).toBeGreaterThan(MAX_DELIVERY_BYTES)
    expect(count.pulled).toBeLessThanOrEqual(MAX_DELIVERY_BYTES + 2 * 65_536)
    expect(count.cancelled).toBe(true)
  })

  it.each([
    ['more than it may be', { 'Content-Length': String(MAX_DELIVERY_BYTES + 1) }, 413, 'payload_too_large'],
    ['gzip', { 'Content-Encoding': 'gzip' }, 415, 'unsupported_encoding'],
    ['br, in capitals', { 'Content-Encoding': ' BR ' }, 415, 'unsupported_encoding'],
    ['several encodings', { 'Content-Encoding': 'identity, gzip' }, 415, 'unsupported_encoding'],
  ])('declared as %s is refused with nothing read, of body or database', async (_, headers, status, code) => {
    const world = await newWorld()
    const { body, count } = endless()
    const d1 = countingD1()
    const answer = await call(`/ingest/${world.connection.id}`, {
      method: 'POST',
      body,
      headers,
      bindings: { DB: d1.DB },
    })
    expect(answer).toMatchObject({ status, body: { code } })
    expect(count.pulled).toBe(0)
    expect(d1.count.trips).toBe(0)
  })

  it('is not asked of a caller past its limit', async () => {
    const world = await newWorld()
    const { body, count } = endless()
    const d1 = countingD1()
    const LIMIT_INGEST = { limit: async () => ({ success: false }) } as RateLimit
    const bindings = { DB: d1.DB, LIMIT_INGEST }
    const answer = await call(`/ingest/${world.connection.id}`, { method: 'POST', body, bindings })
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect([count.pulled, d1.count.trips]).toEqual([0, 0])
  })

  it('counts towards the limit of its connection and address alone: a vendor sends for all from a few', async () => {
    const [one, two] = [await newWorld(), await newWorld()]
    const asked = new Set<string>()
    /** Each key once. */
    const LIMIT_INGEST = {
      limit: async ({ key }) => ({ success: !asked.has(key) && Boolean(asked.add(key)) }),
    } as RateLimit
    const send = async ({ send, queue }: typeof one, address: string) => {
      const headers = { 'CF-Connecting-IP': address }
      return (await send(stripeEvent(), { headers, bindings: { LIMIT_INGEST, EVENTS: queue.EVENTS } })).status
    }
    const [here, there] = ['2001:db8:aa::1', '2001:db8:bb::1']
    expect([await send(one, here), await send(one, here)]).toEqual([200, 429])
    expect([await send(two, here), await send(one, there)]).toEqual([200, 200])
    for (const world of [one, two]) await settle(world)
  })

  it('is taken as it is with Content-Encoding: identity', async () => {
    const world = await newWorld()
    expect((await world.send(event, { headers: { 'Content-Encoding': 'identity' } })).status).toBe(200)
    await settle(world)
    await expectConsistent(world.project)
  })
})

describe('a signed body that cannot be read', () => {
  it.each([
    ['is empty', new Uint8Array(0)],
    ['is no JSON', utf8('<xml>é</xml>')],
    ['is JSON of another kind', utf8('[1, 2, 3]')],
    ['is an event without an id', utf8('{"object":"event","type":"x","data":{"object":{}}}')],
    ['is no UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
    ['holds a NUL', utf8(`{"object":"event"}\0`)],
    ['ends inside a character', utf8('{"é').slice(0, -1)],
    ['is nested deep', utf8('['.repeat(100_000))],
  ])('and %s is recorded as unknown, as it came, and fails', async (_, bytes) => {
    const world = await newWorld()
    const send = () =>
      deliverBytes(world.connection.id, bytes as Uint8Array<ArrayBuffer>, { bindings: { EVENTS: world.queue.EVENTS } })
    const { status, body } = await send()
    expect([status, body.duplicate]).toEqual([200, false])
    expect((await send()).body).toEqual({ event_ids: body.event_ids, duplicate: true })
    await settle(world)
    const recorded = await world.event(body.event_ids[0])
    expect(recorded).toMatchObject({
      event_type: 'unknown',
      vendor_event_id: await sha256Hex(bytes as Uint8Array<ArrayBuffer>),
      status: 'failed',
      processing_attempts: 1,
      deliveries: 2,
      decoded_summary: null,
      raw_payload_b64: bytes.toBase64(),
    })
    expect(recorded.last_error).toEqual(expect.any(String))
    await expectConsistent(world.project)
  })

  it.each([
    ['without its object', { object: 'event', data: {} }, 'the payload has no data.object'],
    ['that is no event', { object: 'v9.core.event' }, 'the payload is not a Stripe event: its object is not "event"'],
  ])('but for its envelope, %s, fails under its own type and id, and is found by them', async (_, rest, last_error) => {
    const world = await newWorld()
    const envelope = { id: 'evt_hollow', type: 'customer.subscription.updated', created: 1_767_225_600 }
    const send = (more: object) => world.send({ ...envelope, ...rest, ...more })
    const { body } = await send({})
    expect((await send({})).body).toEqual({ event_ids: body.event_ids, duplicate: true })
    await settle(world)
    const recorded = {
      id: body.event_ids[0],
      vendor_event_id: 'evt_hollow',
      event_type: 'customer.subscription.updated',
      occurred_at: '2026-01-01T00:00:00Z',
      status: 'failed',
      last_error,
      last_error_code: 'payload_invalid',
      decoded_summary: null,
    }
    for (const search of ['event_type=customer.subscription.*', 'vendor_event_id=evt_hollow']) {
      expect((await world.api(`/webhooks/search?${search}`)).body.data).toEqual([expect.objectContaining(recorded)])
    }
    await expectConsistent(world.project)
  })
})

describe('what a delivery costs', () => {
  it('is one round trip to D1 when the connection is known', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    for (const sent of [event, event, stripeEvent('charge.refunded')]) {
      const { DB, count } = countingD1()
      expect((await world.send(sent, { bindings: { DB } })).status).toBe(200)
      expect(count).toMatchObject({ trips: 1, statements: 3 })
    }
    await settle(world)
    await expectConsistent(world.project)
  })

  it('notes the last use of a secret once a minute', async () => {
    const world = await newWorld()
    const lastUsed = async () => (await world.api(`/connections/${world.connection.id}`)).body.secrets[0].last_used_at
    let touched = 0
    const DB = tamperedD1((trip) => {
      if (/^update .* set "secrets_used"/i.test(trip.sql)) touched += 1
      return trip.run()
    })
    const first = new Date().toISOString()
    expect(await lastUsed()).toBeNull()
    for (let i = 0; i < 6; i++) {
      await world.send(stripeEvent(), { bindings: { DB } })
      expect(await lastUsed()).toBe(first)
      advance(10 * SECOND - 1)
    }
    expect(touched).toBe(1)
    advance(10 * SECOND)
    await world.send(stripeEvent(), { bindings: { DB } })
    expect([touched, await lastUsed()]).toEqual([2, new Date().toISOString()])
    await settle(world)
    await expectConsistent(world.project)
  })
})

describe('a delivery of several events', () => {
  it('is a row for each and one payload, and all are done', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    const { status, body } = await sendGocardless(world, connection, ['EV_1', 'EV_2'])
    expect([status, body.duplicate, body.event_ids.length]).toEqual([200, false, 2])
    await world.queue.pump()
    const events = await Promise.all(body.event_ids.map(world.event))
    expect(events).toMatchObject([
      { vendor_event_id: 'EV_1', status: 'ignored', decoded_summary: { object: { id: 'PM_EV_1' }, refs: ['PM_EV_1'] } },
      { vendor_event_id: 'EV_2', status: 'ignored', decoded_summary: { object: { id: 'PM_EV_2' }, refs: ['PM_EV_2'] } },
    ])
    expect(new Set(events.map(({ raw_payload_b64 }) => raw_payload_b64)).size).toBe(1)
    expect(await rows('SELECT key FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(1)
    await expectConsistent(world.project)
  })

  it('counts each that was there before, and records the others', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    const { body: first } = await sendGocardless(world, connection, ['EV_1', 'EV_2'])
    const { body: second } = await sendGocardless(world, connection, ['EV_2', 'EV_3', 'EV_3'])
    expect(second).toMatchObject({ duplicate: false, event_ids: [first.event_ids[1], expect.any(String)] })
    expect((await sendGocardless(world, connection, ['EV_3', 'EV_1'])).body).toEqual({
      event_ids: [second.event_ids[1], first.event_ids[0]],
      duplicate: true,
    })
    await settle(world)
    const events = await stored(world.project)
    expect(Object.fromEntries(events.map((row) => [row.vendor_event_id, [row.deliveries, row.status]]))).toEqual({
      EV_1: [2, 'ignored'],
      EV_2: [2, 'ignored'],
      EV_3: [2, 'ignored'],
    })
    expect(await rows('SELECT key FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })
})
