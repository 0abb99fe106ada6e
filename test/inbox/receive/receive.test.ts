import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import { MAX_DELIVERY_BYTES } from '../../../src/inbox/receive/receive'
import { sha256Hex, utf8 } from '../../../src/lib/crypto'
import { newId } from '../../../src/lib/ids'
import { SECOND } from '../../../src/lib/time'
import { bound, call, countingD1, deliverBytes, ORIGIN, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
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
const refusedOf = async (project: string) => {
  const sum: Record<string, number> = {}
  for (const { refused } of await rows('SELECT refused FROM minutes WHERE project_id = ?', project)) {
    for (const [cause, n] of Object.entries<number>(JSON.parse(refused))) sum[cause] = (sum[cause] ?? 0) + n
  }
  return sum
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
    ['that is no event', { object: 'v2.core.event' }, 'the payload is not a Stripe event: its object is not "event"'],
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

describe('junk', () => {
  const CAUSES = [
    ['signature_mismatch', { 'Stripe-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` }],
    ['signature_malformed', { 'Stripe-Signature': 'v1=zz' }],
    ['signature_missing', {}],
  ] as const

  /** Posts without waiting for what each leaves to be done: the refusals are summed meanwhile. */
  async function post(id: string, headers: Record<string, string>, bindings: Partial<Env>) {
    const ctx = createExecutionContext()
    const request = new Request(`${ORIGIN}/ingest/${id}`, { method: 'POST', body: '{}', headers })
    const response = await worker.fetch(request as never, { ...bound, ...bindings } as Env, ctx)
    const { code } = (await response.json()) as { code: string }
    return { status: response.status, code, ctx }
  }

  it('costs a read a second, and no write each: refusals are summed by cause', async () => {
    const world = await newWorld()
    await world.send(event)
    await settle(world)
    advance(2 * SECOND)
    const seen = { reads: 0, writes: 0 }
    const DB = tamperedD1((trip) => {
      seen[/^select/i.test(trip.sql) ? 'reads' : 'writes'] += 1
      return trip.run()
    })
    const bindings = { DB, REFUSAL_FLUSH_MS: '400' }
    const contexts: ExecutionContext[] = []
    for (let i = 0; i < 100; i++) {
      if (i > 0 && i % 25 === 0) advance(SECOND)
      const [cause, headers] = CAUSES[i % 3] as (typeof CAUSES)[number]
      const answer = await post(world.connection.id, headers, bindings)
      expect([answer.status, answer.code]).toEqual([401, cause])
      contexts.push(answer.ctx)
    }
    await Promise.all(contexts.map((ctx) => waitOnExecutionContext(ctx)))
    expect(seen).toEqual({ reads: 4, writes: 1 })
    expect(await refusedOf(world.project)).toEqual({
      signature_mismatch: 34,
      signature_malformed: 33,
      signature_missing: 33,
    })
    const { last_60m } = (await world.api('/webhooks/health')).body
    expect(last_60m).toMatchObject({ received: 1, refused: { signature_mismatch: 34 } })
    expect(await stored(world.project)).toHaveLength(1)
    await expectConsistent(world.project)
  })

  it('all at once is written once too, and is added to what was counted before', async () => {
    const world = await newWorld()
    let writes = 0
    const DB = tamperedD1((trip) => {
      if (!/^select/i.test(trip.sql)) writes += 1
      return trip.run()
    })
    for (const round of [1, 2]) {
      const [, headers] = CAUSES[0]
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(world.connection.id, headers, { DB })))
      await Promise.all(answers.map(({ ctx }) => waitOnExecutionContext(ctx)))
      expect(await refusedOf(world.project)).toEqual({ signature_mismatch: 50 * round })
      expect(writes).toBeLessThanOrEqual(3 * round)
    }
    await expectConsistent(world.project)
  })

  it('tells how far the clocks are apart', async () => {
    stopClock(Math.ceil(Date.now() / 1000) * 1000)
    const world = await newWorld()
    const at = Math.floor(Date.now() / 1000)
    for (const [skew, status] of [
      [-299, 200],
      [299, 200],
      [-302, 401],
      [302, 401],
    ] as const) {
      const { status: answered, body } = await world.send(event, { at: at + skew })
      expect(answered).toBe(status)
      if (status === 401) {
        expect(body.code).toBe('signature_timestamp')
        expect(body.detail).toMatch(/ -?302 s from ours/)
      }
    }
    expect(await refusedOf(world.project)).toEqual({ signature_timestamp: 2 })
    await settle(world)
    await expectConsistent(world.project)
  })

  it('to an id that nobody has is answered from memory, for a while', async () => {
    const id = newId('con', Date.now())
    const { DB, count } = countingD1()
    const send = async () => (await post(id, {}, { DB })).code
    const trips: number[] = []
    for (const wait of [0, 0, 500, 10 * SECOND]) {
      advance(wait)
      expect(await send()).toBe('unknown_connection')
      trips.push(count.trips)
    }
    expect(trips).toEqual([1, 1, 1, 2])
    for (const wrong of ['con_1', 'evt_00000000000000000000000000', `${id}0`]) {
      expect((await post(wrong, {}, { DB })).code).toBe('unknown_connection')
    }
    expect(count.trips).toBe(2)
  })
})

describe('a connection that changes while it is remembered', () => {
  const known = async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await settle(world)
    return world
  }
  const patch = ({ api, connection }: World, json: unknown) =>
    api(`/connections/${connection.id}`, { method: 'PATCH', json })

  it('refuses at once when it is disabled, and takes deliveries a second after it is enabled', async () => {
    const world = await known()
    expect((await patch(world, { status: 'disabled' })).body.status).toBe('disabled')
    expect(await world.send(event)).toMatchObject({ status: 403, body: { code: 'connection_disabled' } })
    expect(await refusedOf(world.project)).toEqual({ connection_disabled: 1 })
    await patch(world, { status: 'active' })
    advance(SECOND)
    expect((await world.send(event)).status).toBe(200)
    await settle(world)
    expect(await stored(world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })

  it('answers 404 at once when it is deleted; its events stay', async () => {
    const world = await known()
    expect((await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await world.send(event)).toMatchObject({ status: 404, body: { code: 'unknown_connection' } })
    const events = await stored(world.project)
    expect(events).toMatchObject([{ status: 'processed' }])
    expect((await world.event(events[0].id)).vendor).toBe('stripe')
    await expectConsistent(world.project)
  })

  it('takes the old and the new secret while both are live, and the old one not a moment longer', async () => {
    const world = await known()
    const { api, connection, project } = world
    const next = 'whsec_the_next_secret_of_this_one'
    advance(SECOND)
    const added = await api(`/connections/${connection.id}/secrets`, { method: 'POST', json: { signing_secret: next } })
    expect(added.status).toBe(201)
    for (const secret of [next, undefined, next, undefined]) {
      expect((await world.send(stripeEvent(), secret ? { secret } : {})).status).toBe(200)
    }
    const old = connection.secrets[0]?.id
    const used = (await api(`/connections/${connection.id}`)).body.secrets
    expect(used.map(({ last_used_at }: any) => last_used_at)).toEqual([expect.any(String), expect.any(String)])
    expect((await api(`/connections/${connection.id}/secrets/${old}`, { method: 'DELETE' })).status).toBe(204)
    expect(await world.send(event)).toMatchObject({ status: 401, body: { code: 'signature_mismatch' } })
    expect((await world.send(event, { secret: next })).status).toBe(200)
    await settle(world)
    expect(await stored(project)).toHaveLength(6)
    await expectConsistent(project)
  })

  it('records nothing under a secret that goes while the delivery is being verified', async () => {
    const world = await known()
    const old = world.connection.secrets[0]?.id
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 0) await world.api(`/connections/${world.connection.id}/secrets/${old}`, { method: 'DELETE' })
      return trip.run()
    })
    expect(await world.send(event, { bindings: { DB } })).toMatchObject({
      status: 401,
      body: { code: 'signature_mismatch' },
    })
    expect(await stored(world.project)).toHaveLength(1)
  })

  it('gives up, 503, on one that changes under every try', async () => {
    const world = await known()
    let n = 0
    const DB = tamperedD1(async (trip) => {
      if (trip.sql.includes('INSERT INTO "events"')) await patch(world, { name: `name ${n++}` })
      return trip.run()
    })
    const { status, headers } = await world.send(event, { bindings: { DB } })
    expect([status, n]).toEqual([503, 5])
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await stored(world.project)).toHaveLength(1)
  })

  it.each([
    ['is not what was sealed', "json_set(secrets, '$[0].box', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')"],
    ['is no base64', "json_set(secrets, '$[0].box', '?')"],
    ['is under a key that is not there', "json_set(secrets, '$[0].key', 99)"],
    ['is gone', "'[]'"],
  ])('fails closed when its secret %s', async (_, secrets) => {
    const log = captureLog()
    const world = await newWorld()
    await rows(`UPDATE connections SET secrets = ${secrets} WHERE id = ?`, world.connection.id)
    expect(await world.send(event)).toMatchObject({ status: 401, body: { code: 'signature_mismatch' } })
    expect(await stored(world.project)).toEqual([])
    if (secrets !== "'[]'") expect(log.of('secret_not_readable').length).toBeGreaterThan(0)
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
    expect(events[0].raw_payload_b64).toBe(events[1].raw_payload_b64)
    expect(await rows('SELECT id FROM payloads WHERE project_id = ?', world.project)).toHaveLength(1)
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
    expect(await rows('SELECT id FROM payloads WHERE project_id = ?', world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })
})
