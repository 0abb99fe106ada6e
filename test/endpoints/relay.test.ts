import { beforeEach, describe, expect, it } from 'vitest'
import type { Env } from '../../src/env'
import { hmac, utf8 } from '../../src/lib/crypto'
import { HOUR, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { deliverBytes, mint, STORE, stripeEvent } from '../harness'
import { call } from '../harness/call'
import { gocardlessConnection, sendGocardless, settle } from '../inbox/pipeline'
import type { Seen } from '../outside/hosts'
import { SAMPLES } from '../vendors/samples'
import { type HooksWorld, hookedD1, hooksWorld } from './world'

beforeEach(() => {
  stopClock()
})

const RELAY = { types: undefined, relay: {} }
const bytesOf = (text: string) => utf8(text) as Uint8Array<ArrayBuffer>
const base64 = (bytes: Uint8Array) => bytes.toBase64()

/** Delivers bytes as Stripe signs them, and lets them be processed. */
async function arrives(world: HooksWorld, bytes: Uint8Array<ArrayBuffer>, more: Partial<Env> = {}): Promise<void> {
  const { status } = await deliverBytes(world.connection.id, bytes, { bindings: world.bindings })
  if (status !== 200) throw new Error(`the delivery was answered with ${status}`)
  await world.queue.pump({ ...world.bindings, ...more })
}

const event = (type = 'customer.subscription.updated') => bytesOf(JSON.stringify(stripeEvent(type)))
const isSigned = async (secret: string, { headers, base64: sent }: Seen) => {
  const key = Uint8Array.fromBase64(secret.slice('whsec_'.length)) as Uint8Array<ArrayBuffer>
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const mac = await hmac('SHA-256', key, signed, Uint8Array.fromBase64(sent ?? ''))
  return headers['webhook-signature'] === `v1,${mac.toBase64()}`
}

describe('a relay', () => {
  it.each<[string, () => Uint8Array<ArrayBuffer>]>([
    ['an event', () => event()],
    ['an event that is ignored', () => event('product.created')],
    [
      'odd spaces, a byte order mark and other scripts',
      () => bytesOf(`\uFEFF {\r\n"id":\t"evt_1", "type" : "a.b","n":"naïve 日本 \\u0000 🎈"}\n\n`),
    ],
    ['bytes that are not UTF-8', () => new Uint8Array([123, 0xff, 0xfe, 0, 0xc3, 0x28, 125])],
    ['a NUL', () => bytesOf('{"a":"\0"}')],
    [
      '1 MiB of text',
      () => bytesOf(JSON.stringify({ ...stripeEvent(), note: 'ä'.repeat(250_000) }).padEnd(1024 * 1024 - 250_000)),
    ],
    ['1 MiB of other bytes', () => Uint8Array.from({ length: 1024 * 1024 }, (_, i) => (i * 2_654_435_761) >>> 24)],
    ...Object.entries(SAMPLES).map(
      ([name, sample]) =>
        [`what ${name} sends`, () => bytesOf(JSON.stringify(sample))] as [string, () => Uint8Array<ArrayBuffer>],
    ),
  ])('sends %s byte for byte, signed under the id of the event', async (_, make) => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    const bytes = make()
    await arrives(world, bytes)
    await world.pump()
    const [sent, ...others] = await endpoint.seen()
    if (!sent) throw new Error('nothing came')
    expect(others).toEqual([])
    expect(sent.base64 === base64(bytes)).toBe(true)
    expect(await isSigned(endpoint.secret, sent)).toBe(true)
    const { data } = await world.must('GET', 'billing/webhooks')
    expect(sent.headers).toMatchObject({
      'webhook-id': data[0]?.id,
      'webhook-connection': world.connection.id,
      'content-type': 'application/json',
    })
    expect(sent.headers['webhook-replay']).toBeUndefined()
  })

  it('sends the content type of the vendor, and its headers that were kept, but no header of ours under its name', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    const { id, secret } = await standardConnection(world)
    const body = '{"type":"a.b","timestamp":"2026-01-01T00:00:00Z","data":{}}'
    const at = String(Math.floor(Date.now() / 1000))
    const mac = await hmac(
      'SHA-256',
      Uint8Array.fromBase64(secret.slice(6)) as Uint8Array<ArrayBuffer>,
      `msg_1.${at}.${body}`,
    )
    const headers = {
      'Content-Type': 'text/plain;x=y',
      'webhook-id': 'msg_1',
      'webhook-timestamp': at,
      'webhook-signature': `v1,${mac.toBase64()}`,
    }
    const { status } = await call(`/ingest/${id}`, { method: 'POST', body, headers, bindings: world.bindings })
    expect(status).toBe(200)
    await world.queue.pump(world.bindings)
    await world.pump()
    const [sent] = await endpoint.seen()
    expect(sent?.headers).toMatchObject({
      'content-type': 'text/plain;x=y',
      'vendor-webhook-id': 'msg_1',
      'vendor-webhook-timestamp': at,
      'webhook-id': expect.stringMatching(/^evt_/),
      'webhook-connection': id,
    })
    expect(Object.keys(sent?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual(['webhook-signature'])
    expect(await isSigned(endpoint.secret, sent as Seen)).toBe(true)
  })

  it('sends an event at its first outcome and not at later ones, and after a replay only if asked to', async () => {
    const world = await hooksWorld()
    const plain = await world.endpoint({}, RELAY)
    const replays = await world.endpoint({}, { types: undefined, relay: { replays: true } })
    await arrives(world, event())
    const broken = hookedD1(({ sql, run }) => {
      if (!/insert into "billing_objects"/i.test(sql)) return run()
      throw new Error('D1_ERROR: CHECK constraint failed: planted: SQLITE_CONSTRAINT')
    })
    await arrives(world, event(), { DB: broken })
    const found = (await world.must('GET', 'billing/webhooks')).data
    expect(found.map(({ status }) => status).sort()).toEqual(['processed', 'retrying'])
    await world.pump()
    expect([(await plain.seen()).length, (await replays.seen()).length]).toEqual([2, 2])
    await settle(world)
    await world.pump()
    expect([(await plain.seen()).length, (await replays.seen()).length]).toEqual([2, 2])
    for (const { id } of found) {
      await world.replay(id, { bindings: world.bindings })
      await settle(world)
    }
    await world.pump()
    advance(MINUTE)
    await world.cron()
    await world.pump()
    expect(await plain.seen()).toHaveLength(2)
    const later = (await replays.seen()).slice(2)
    expect(later).toHaveLength(2)
    expect(later.map(({ headers }) => headers['webhook-replay'])).toEqual(['true', 'true'])
    expect(later.map(({ headers }) => headers['webhook-id']).sort()).toEqual(found.map(({ id }) => id).sort())
  })

  it('sends only events of its connections and types', async () => {
    const world = await hooksWorld()
    const other = await gocardlessConnection(world)
    const ofOther = await world.endpoint({}, { types: undefined, relay: { connection_ids: [other] } })
    const invoices = await world.endpoint(
      {},
      { types: undefined, relay: { event_types: ['invoice.*', 'charge.failed'] } },
    )
    for (const type of ['invoice.paid', 'charge.failed', 'charge.succeeded', 'customer.updated'])
      await arrives(world, event(type))
    await sendGocardless(world, other, ['EV1'])
    await world.queue.pump(world.bindings)
    await world.pump()
    expect((await ofOther.seen()).map(({ headers }) => headers['webhook-connection'])).toEqual([other])
    expect((await invoices.seen()).map(({ body }) => JSON.parse(body).type).sort()).toEqual([
      'charge.failed',
      'invoice.paid',
    ])
    expect(await ofOther.get()).toMatchObject({ behind: 0 })
  })

  it('sends a delivery of many events once', async () => {
    const world = await hooksWorld()
    const connection = await gocardlessConnection(world)
    const endpoint = await world.endpoint({}, RELAY)
    await sendGocardless(
      world,
      connection,
      Array.from({ length: 50 }, (_, i) => `EV${i}`),
    )
    await world.queue.pump(world.bindings)
    await world.pump()
    const seen = await endpoint.seen()
    expect(seen).toHaveLength(1)
    expect(JSON.parse(seen[0]?.body ?? '').events).toHaveLength(50)
    expect(await endpoint.get()).toMatchObject({ behind: 0 })
  })

  it('has two megabytes in flight at most, and passes what is no longer kept', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    const large = () => bytesOf(JSON.stringify({ ...stripeEvent(), note: 'x'.repeat(900_000) }))
    for (let i = 0; i < 5; i++) await arrives(world, large())
    await STORE.prepare(
      'DELETE FROM packed_bodies WHERE key = (SELECT min(key) FROM packed_bodies WHERE project_id = ?1)',
    )
      .bind(world.project)
      .run()
    const read: number[] = []
    const DB = hookedD1(async ({ run, sql }) => {
      const results = await run()
      if (sql.includes('more_hex')) read.push(JSON.stringify(results).length)
      return results
    })
    await world.pump({ DB })
    expect(await endpoint.seen()).toHaveLength(4)
    expect(read.length).toBeGreaterThanOrEqual(2)
    expect(Math.max(...read)).toBeLessThan(5 * 1024 * 1024)
    expect(await endpoint.deliveries()).toMatchObject([
      { state: 'failed', tries: 0, error: 'payload_gone', http_status: null },
    ])
    expect(await endpoint.get()).toMatchObject({ state: 'active', behind: 0, last_failure_at: null })
  })

  it('sends an event again after a failure, and when somebody asks for it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 }, RELAY)
    const bytes = event()
    await arrives(world, bytes)
    await world.pump()
    const [{ number } = { number: 0 }] = await endpoint.deliveries()
    await endpoint.answers({})
    advance(6000)
    await world.pump()
    await world.must('POST', `${endpoint.path}/deliveries/${number}/resend`)
    await world.pump()
    expect((await endpoint.seen()).map((one) => one.base64)).toEqual([base64(bytes), base64(bytes)])
    await world.change()
    await world.pump()
    const told = (await world.must('GET', 'changes?types=consumer.*')).data.at(-1)
    expect((await world.ask('POST', `${endpoint.path}/deliveries/${told?.number}/resend`)).status).toBe(404)
  })

  it('that fails goes past what it does not get, and is tried with the next event', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint(
      { status: 500 },
      { types: undefined, relay: { event_types: ['invoice.paid'] } },
    )
    for (let i = 0; i < 5; i++) await arrives(world, event('invoice.paid'))
    await world.pump()
    expect(await endpoint.get()).toMatchObject({ state: 'failing' })
    for (let i = 0; i < 150; i++) await world.send(stripeEvent('charge.failed'), { bindings: world.bindings })
    await world.queue.pump(world.bindings)
    await arrives(world, event('invoice.paid'))
    await endpoint.answers({})
    advance(HOUR)
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(6)
    expect(await endpoint.get()).toMatchObject({ state: 'active', behind: 0 })
  })

  it('learns of a gap too', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    await STORE.prepare("UPDATE webhook_endpoints SET epoch = 'ffffffff' WHERE id = ?").bind(endpoint.id).run()
    await world.cron()
    await world.pump()
    expect((await endpoint.got()).map(({ type }) => type)).toEqual(['feed.gap'])
  })
})

describe('the calls of a relay', () => {
  it('create, show and change it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    const none = { connection_ids: null, event_types: null, replays: false }
    expect(await endpoint.get()).toMatchObject({ types: [], relay: none })
    const relay = { connection_ids: [world.connection.id], event_types: ['invoice.*'], replays: true }
    expect(await world.must('PATCH', endpoint.path, { relay })).toMatchObject({ types: [], relay })
    expect(await world.must('PATCH', endpoint.path, { relay: {} })).toMatchObject({ relay: none })
  })

  it.each<[string, object, string]>([
    ['types and a relay', { types: ['consumer.*'], relay: {} }, '/relay'],
    ['neither', {}, '/types'],
    ['objects', { relay: {}, include_object: true }, '/include_object'],
    ['a strange connection', { relay: { connection_ids: ['con_other'] } }, '/relay/connection_ids'],
    ['no connection', { relay: { connection_ids: [] } }, '/relay/connection_ids'],
    ['a star in the middle', { relay: { event_types: ['a*b'] } }, '/relay/event_types/0'],
    ['a field that there is not', { relay: { vendor: 'stripe' } }, '/relay/vendor'],
  ])('refuse %s', async (_, fields, pointer) => {
    const world = await hooksWorld()
    const { status, body } = await world.ask('POST', 'webhook-endpoints', {
      url: 'https://a.plain.dev/hook',
      ...fields,
    })
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, pointer])
  })

  it('refuse to make one kind of endpoint the other', async () => {
    const world = await hooksWorld()
    const [changes, relay] = [await world.endpoint(), await world.endpoint({}, RELAY)]
    const refused = await Promise.all([
      world.ask('PATCH', changes.path, { relay: {} }),
      world.ask('PATCH', relay.path, { types: ['consumer.*'] }),
      world.ask('PATCH', relay.path, { include_object: true }),
    ])
    expect(refused.map(({ status, body }) => [status, body.errors?.[0]?.pointer])).toEqual([
      [422, '/relay'],
      [422, '/types'],
      [422, '/include_object'],
    ])
  })

  it('need the scope that reads payloads', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({}, RELAY)
    const key = await mint(world.owner.token, world.project, { scopes: ['webhooks:read', 'webhooks:write'] })
    const by = { token: key.secret }
    const denied = await Promise.all([
      world.ask('POST', 'webhook-endpoints', { url: endpoint.url, relay: {} }, by),
      world.ask('PATCH', endpoint.path, { url: 'https://mine.plain.dev/hook' }, by),
      world.ask('PATCH', endpoint.path, { relay: { replays: true } }, by),
    ])
    expect(denied.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([403, 'insufficient_scope']))
  })

  it('relay nothing of a consumer who was erased', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 }, RELAY)
    const consumer = await world.must('PUT', 'consumers/ext:gone', {})
    await arrives(
      world,
      bytesOf(
        JSON.stringify(
          stripeEvent('customer.updated', {
            id: 'cus_gone',
            object: 'customer',
            email: 'ada@example.com',
            metadata: { consumer_external_id: 'gone' },
          }),
        ),
      ),
    )
    await world.pump()
    expect(await endpoint.deliveries()).toMatchObject([{ state: 'pending' }])
    await world.must('DELETE', `consumers/${consumer.id}`)
    for (let i = 0; i < 5; i++) {
      advance(10 * MINUTE)
      await world.cron()
    }
    await endpoint.answers({})
    advance(HOUR)
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toEqual([])
    expect(await endpoint.deliveries()).toMatchObject([{ state: 'failed', error: 'payload_gone' }])
  })
})

/** A connection of a sender that signs as Standard Webhooks say. */
async function standardConnection(world: HooksWorld) {
  const secret = `whsec_${base64(crypto.getRandomValues(new Uint8Array(24)))}`
  const json = { vendor: 'standard', name: 'Standard', livemode: true, signing_secret: secret }
  const { body } = await world.api('/connections', { method: 'POST', json })
  return { id: body.id as string, secret }
}
