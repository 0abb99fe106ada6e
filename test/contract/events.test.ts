import { describe, expect, it } from 'vitest'
import { advance, stopClock } from '../clock'
import {
  call,
  deliver,
  deliverBytes,
  drain,
  freshKey,
  lossyQueue,
  QUEUE_OUT,
  STORE,
  settled,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { freshEvent, ISO, replay, WEBHOOKS } from './api'

describe('billing webhook events', () => {
  it('[events.1] event_type is the vendor’s own name of the event', async () => {
    const { project, secret } = await freshKey()
    const connection = await stripeConnection(secret, project)
    const types = [
      'invoice.payment_succeeded',
      'customer.subscription.updated',
      'charge.dispute.created',
      'x.unheard.of',
    ]
    for (const type of types) {
      const receipt = await deliver(connection.id, stripeEvent(type), { bindings: { EVENTS: lossyQueue().EVENTS } })
      const { body } = await call(`${WEBHOOKS}/${receipt.body.event_ids[0]}`, { token: secret, project })
      expect(body.event_type).toBe(type)
    }
  })

  it('[events.2] status says where in its lifecycle the event is', async () => {
    const event = await freshEvent()
    expect((await event.read()).status).toBe('received')
    await event.process()
    expect((await event.read()).status).toBe('processed')
  })

  it('[events.3] processing_attempts counts the attempts', async () => {
    const event = await freshEvent()
    expect((await event.read()).processing_attempts).toBe(0)
    await event.process()
    expect((await event.read()).processing_attempts).toBe(1)
    const { EVENTS, sent } = lossyQueue()
    await replay(event, { EVENTS })
    await drain(sent)
    expect((await event.read()).processing_attempts).toBe(2)
  })

  it('[events.4] received_at is when the event came in, however late it is processed', async () => {
    const at = stopClock()
    const event = await freshEvent()
    const { received_at } = await event.read()
    expect(received_at).toMatch(ISO)
    expect(Date.parse(received_at)).toBe(at)
    advance(5000)
    await event.process()
    expect((await event.read()).received_at).toBe(received_at)
  })

  it('[events.5] processed_at is null until processing completed, then when it did', async () => {
    const event = await freshEvent()
    expect((await event.read()).processed_at).toBeNull()
    const at = stopClock()
    await event.process()
    advance(5000)
    const { processed_at } = await event.read()
    expect(processed_at).toMatch(ISO)
    expect(Date.parse(processed_at)).toBe(at)
  })

  it('[events.6] last_error says why processing did not succeed, and is null when it did', async () => {
    const good = await freshEvent()
    await good.process()
    expect(await good.read()).toMatchObject({ status: 'processed', last_error: null, last_error_code: null })
    const bad = await freshEvent('{"object":"event", cut short')
    await bad.process()
    expect(await bad.read()).toMatchObject({
      status: 'failed',
      processed_at: null,
      last_error: expect.stringMatching(/\w{3}/),
      last_error_code: 'payload_invalid',
    })
  })

  const JSON_TEXT = JSON.stringify(stripeEvent())
  const bytes = (...values: number[]) => Uint8Array.from(values)
  const utf8 = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  it.each<[string, () => Uint8Array<ArrayBuffer>]>([
    ['JSON', () => utf8(JSON_TEXT)],
    [
      'JSON with odd spacing, CRLF and a last newline',
      () => utf8(`\r\n{ "object" :\t"event" ,\r\n"id":"evt_odd"}\r\n\n`),
    ],
    [
      'JSON with escapes that a parser would undo',
      () => utf8('{"object":"event","a":"\\u00e9\\/\\ud83d\\ude00","n":1.0e3}'),
    ],
    ['text beyond ASCII, and noncharacters', () => utf8('{"a":"żółć 漢字 🔑 e\u0301 \u202e \ufffd \uffff \u2028"}')],
    ['a byte order mark', () => utf8(`\ufeff${JSON_TEXT}`)],
    ['NUL', () => utf8('{"a":"\0"}\0\0')],
    ['bytes that are not UTF-8', () => bytes(0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x80, 0xed, 0xa0, 0x80, 0x7d)],
    ['every byte', () => Uint8Array.from({ length: 256 }, (_, index) => index)],
    ['Latin-1', () => bytes(...[...'{"name":"Zo\u00eb"}'].map((char) => char.charCodeAt(0)))],
    ['no bytes at all', () => bytes()],
    ['300 kB of bytes', () => Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) >> 3)],
    ['1 MiB of text', () => utf8(`{"a":"${'é'.repeat(524_284)}"}`)],
  ])('[events.7] raw_payload_b64 is the payload verbatim: %s', async (_, make) => {
    const { project, secret } = await freshKey()
    const connection = await stripeConnection(secret, project)
    const sent = make()
    const receipt = await deliverBytes(connection.id, sent, { bindings: { EVENTS: lossyQueue().EVENTS } })
    expect(receipt.status, receipt.text).toBe(200)
    const id = receipt.body.event_ids[0]
    const readings = async () => {
      const one = await call(`${WEBHOOKS}/${id}`, { token: secret, project })
      const list = await call(WEBHOOKS, { token: secret, project })
      return [one.body.raw_payload_b64, list.body.data[0].raw_payload_b64]
    }
    const expected = sent.toBase64()
    for (const reading of await readings()) expect(reading === expected).toBe(true)
    await drain([{ project_id: project, event_id: id }])
    for (const reading of await readings()) expect(reading === expected).toBe(true)
  })

  it('[events.8] decoded_summary is a decoded view of the payload', async () => {
    const event = await freshEvent(
      stripeEvent('invoice.paid', { object: 'invoice', id: 'in_9', customer: 'cus_7', total: 1999, currency: 'usd' }),
    )
    await event.process()
    expect((await event.read()).decoded_summary).toMatchObject({
      vendor: 'stripe',
      object: { type: 'invoice', id: 'in_9' },
      customer: 'cus_7',
      invoice: 'in_9',
      amount: { value: 1999, currency: 'USD' },
    })
  })

  it('[events.9] an event is recorded before it is processed: one the Queue lost is listed as received', async () => {
    const payload = JSON.stringify(stripeEvent('charge.dispute.created'))
    const event = await freshEvent(payload)
    expect(event.sent).toHaveLength(1)
    const { body } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(body.data).toHaveLength(1)
    expect(body.data[0]).toMatchObject({
      id: event.id,
      status: 'received',
      processing_attempts: 0,
      processed_at: null,
      last_error: null,
      raw_payload_b64: btoa(payload),
    })
    // And when the Queue cannot even be reached.
    const receipt = await deliver(event.connection.id, stripeEvent(), { bindings: { EVENTS: QUEUE_OUT } })
    expect(receipt.status).toBe(200)
    const { body: two } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(two.data.map((row) => row.status)).toEqual(['received', 'received'])
  })

  it('[events.10] events are recorded per project', async () => {
    const mine = await freshEvent()
    const theirs = await freshEvent()
    for (const [world, id] of [[mine, mine.id] as const, [theirs, theirs.id] as const]) {
      const { body } = await call(WEBHOOKS, { token: world.secret, project: world.project })
      expect(body.data.map((row) => row.id)).toEqual([id])
    }
  })

  it('[events.11] the list shows recent events with every specified field', async () => {
    const event = await freshEvent()
    await event.process()
    const { EVENTS } = lossyQueue()
    const second = await deliver(event.connection.id, stripeEvent(), { bindings: { EVENTS } })
    const { status, body } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(status).toBe(200)
    expect(body.data.map((row) => row.id)).toEqual([second.body.event_ids[0], event.id])
    const FIELDS = {
      event_type: expect.any(String),
      status: expect.any(String),
      processing_attempts: expect.any(Number),
      received_at: expect.stringMatching(ISO),
      processed_at: expect.stringMatching(ISO),
      raw_payload_b64: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      decoded_summary: expect.any(Object),
      last_error: null,
    }
    expect(body.data[1]).toMatchObject(FIELDS)
    expect(Number.isInteger(body.data[1]?.processing_attempts)).toBe(true)
  })

  it('[events.12] search answers with the events that match its filters, and no others', async () => {
    const event = await freshEvent(stripeEvent('invoice.paid', { object: 'invoice', id: 'in_1' }))
    await event.process()
    const { EVENTS } = lossyQueue()
    const second = await deliver(event.connection.id, stripeEvent('charge.refunded'), { bindings: { EVENTS } })
    const [other] = second.body.event_ids
    const cases: [string, string[]][] = [
      ['event_type=invoice.paid', [event.id]],
      ['event_type=charge.*', [other]],
      ['status=received', [other]],
      ['status=processed', [event.id]],
      ['event_type=invoice.paid&status=received', []],
      [`connection_id=${event.connection.id}`, [other, event.id]],
      ['ref=in_1', [event.id]],
      ['received_after=2000-01-01T00:00:00Z', [other, event.id]],
      ['received_before=2000-01-01T00:00:00Z', []],
    ]
    for (const [filter, ids] of cases) {
      const answer = await call(`${WEBHOOKS}/search?${filter}`, { token: event.secret, project: event.project })
      expect([answer.status, answer.body.data?.map((row) => row.id)], filter).toEqual([200, ids])
    }
  })

  it('[events.13] health is a snapshot of the pipeline’s current state', async () => {
    await STORE.prepare(
      "INSERT INTO state (name, value) VALUES ('last_sweep_at', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    )
      .bind(Date.now())
      .run()
    const event = await freshEvent()
    const snapshot = async () => {
      const answer = await call(`${WEBHOOKS}/health`, { token: event.secret, project: event.project })
      expect(answer.status, answer.text).toBe(200)
      return answer.body
    }
    expect(await snapshot()).toMatchObject({ status: 'ok', counts: { received: 1, processed: 0 } })
    await event.process()
    expect(await snapshot()).toMatchObject({ status: 'ok', counts: { received: 0, processed: 1 } })
  })

  it('[events.14] the lag series tells the time from ingestion to processing over time', async () => {
    stopClock()
    const event = await freshEvent()
    advance(2000)
    await event.process()
    advance(60_000)
    const answer = await call(`${WEBHOOKS}/lag-timeseries`, { token: event.secret, project: event.project })
    expect(answer.status, answer.text).toBe(200)
    const [point] = answer.body.data.filter(({ received }) => Number(received) > 0)
    expect(point).toMatchObject({ received: 1, processed: 1, pending: 0 })
    expect(Math.abs(Number(point?.p50_ms) - 2000)).toBeLessThanOrEqual(2000 * 0.01)
  })

  it('[events.15] replay re-runs the processing of a recorded event', async () => {
    const event = await freshEvent()
    await event.process()
    const answer = await replay(event)
    expect(answer.status).toBe(202)
    expect(answer.body.replay).toMatchObject({ event_id: event.id, deduplicated: false })
    const done = await settled(event.project, event.secret, event.id) // through the real Queue
    expect(done).toMatchObject({ status: 'processed', processing_attempts: 2 })
  })

  it('[events.16] replay is idempotent: however often, the record says the same but for its attempts', async () => {
    const event = await freshEvent()
    await event.process()
    const first = await event.read()
    for (let i = 1; i <= 3; i++) {
      const { EVENTS, sent } = lossyQueue()
      expect((await replay(event, { EVENTS })).body.replay.deduplicated).toBe(false)
      expect((await replay(event, { EVENTS })).body.replay.deduplicated).toBe(true) // a run is coming already
      await drain([...sent, ...sent])
      expect(await event.read()).toEqual({ ...first, processing_attempts: 1 + i })
    }
    expect((await call(WEBHOOKS, { token: event.secret, project: event.project })).body.data).toHaveLength(1)
  })

  it('[events.17] a failed event may be replayed: it ends as it did, and nothing else changes', async () => {
    const event = await freshEvent('not JSON')
    await event.process()
    const first = await event.read()
    const { EVENTS, sent } = lossyQueue()
    expect((await replay(event, { EVENTS })).status).toBe(202)
    await drain(sent)
    expect(await event.read()).toEqual({ ...first, processing_attempts: 2 })
  })

  it('[events.18] replay is of an event of the project: any other id is a 404', async () => {
    const mine = await freshKey()
    const theirs = await freshEvent()
    for (const id of [theirs.id, 'evt_00000000000000000000000000', 'x']) {
      const answer = await replay({ ...mine, id })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await theirs.read()).status).toBe('received')
  })

  it('[events.19] an event that a vendor sends again is one record', async () => {
    const event = await freshEvent()
    const again = await deliver(event.connection.id, event.event, { bindings: { EVENTS: lossyQueue().EVENTS } })
    expect(again.body).toEqual({ event_ids: [event.id], duplicate: true })
    expect((await call(WEBHOOKS, { token: event.secret, project: event.project })).body.data).toHaveLength(1)
  })
})
