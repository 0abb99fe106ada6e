import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { utf8 } from '../../../src/lib/crypto'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { call, deliver, deliverBytes, QUEUE, settled, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  D1_OUT,
  deliverBatch,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  only,
  QUEUE_OUT,
  type Rows,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A world whose connection this isolate knows, with nothing recorded under it yet. */
async function knownWorld(): Promise<World> {
  const world = await newWorld()
  const { status } = await world.send(stripeEvent(), { secret: 'whsec_not_the_one_it_has' })
  expect(status).toBe(401)
  return world
}
const event = stripeEvent()
const bytes = (...values: number[]) => Uint8Array.from(values) as Uint8Array<ArrayBuffer>
const outage = ({ queue }: World) => ({ DB: D1_OUT, EVENTS: queue.EVENTS })
const outOf = (world: World) => ({ bindings: outage(world) })

describe('while D1 is out, a delivery goes to the Queue', () => {
  it.each([
    ['an event', utf8(JSON.stringify(event)), 'processed'],
    ['text of every length of UTF-8', utf8('{"id":"é€😀"}'), 'failed'],
    ['a byte order mark', utf8('\ufeff{}'), 'failed'],
    ['nothing', bytes(), 'failed'],
    ['a NUL', bytes(0x7b, 0, 0x7d), 'failed'],
    ['every byte there is', Uint8Array.from({ length: 256 }, (_, i) => i) as Uint8Array<ArrayBuffer>, 'failed'],
    ['as much as fits', utf8(JSON.stringify({ ...event, pad: 'x'.repeat(109_000) })), 'processed'],
  ])('and is recorded as it came, when it came: %s', async (_, body, status) => {
    const world = await knownWorld()
    const receivedAt = Date.now()
    const answer = await deliverBytes(world.connection.id, body, outOf(world))
    expect(answer).toMatchObject({ status: 200, body: { duplicate: false } })
    expect(await stored(world.project)).toEqual([])
    expect(world.queue.sent).toMatchObject([{ contentType: 'v8', body: { spooled: 1 } }])
    advance(10 * MINUTE)
    await settle(world)
    const [id] = answer.body.event_ids
    const recorded = await world.event(id)
    expect(recorded).toMatchObject({ status, deliveries: 1, received_at: new Date(receivedAt).toISOString() })
    expect(recorded.raw_payload_b64).toBe(body.toBase64())
    expect(
      await rows('SELECT minute, received FROM minutes WHERE project_id = ? AND received > 0', world.project),
    ).toEqual([{ minute: Math.floor(receivedAt / MINUTE), received: 1 }])
    await expectConsistent(world.project)
  })

  it('through the real Queue too, byte by byte', async () => {
    vi.useRealTimers()
    const world = await knownWorld()
    const binary = Uint8Array.from({ length: 512 }, (_, i) => i % 256) as Uint8Array<ArrayBuffer>
    const bindings = { DB: D1_OUT, EVENTS: QUEUE }
    const answers = [
      await deliverBytes(world.connection.id, binary, { bindings }),
      await deliver(world.connection.id, event, { bindings }),
    ]
    const statuses = []
    for (const { body } of answers) {
      await vi.waitUntil(async () => (await stored(world.project)).some(({ id }) => id === body.event_ids[0]), 10_000)
      statuses.push(await settled(world.project, world.token, body.event_ids[0]))
    }
    expect(statuses).toMatchObject([
      { status: 'failed', raw_payload_b64: binary.toBase64(), deliveries: 1 },
      { status: 'processed', processing_attempts: 1, deliveries: 1 },
    ])
    await expectConsistent(world.project)
  })

  it('with all its events, and its payload once', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    await sendGocardless(world, connection, ['EV_0'])
    const { body, status } = await sendGocardless(world, connection, ['EV_1', 'EV_2'], outage(world))
    expect(status).toBe(200)
    await settle(world)
    for (const id of body.event_ids) expect((await world.event(id)).status).toBe('ignored')
    expect(await rows('SELECT key FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })

  it('however long it is out: what is remembered has to do', async () => {
    const world = await knownWorld()
    advance(30 * MINUTE)
    expect((await world.send(event, outOf(world))).status).toBe(200)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 1 }])
    await expectConsistent(world.project)
  })

  it.each([
    ['under a connection this isolate does not know', (world: World) => world.send(event, outOf(world)), newWorld],
    [
      'that no live secret has signed',
      (world: World) => {
        advance(2 * SECOND)
        return world.send(event, { secret: 'whsec_not_the_one_it_has', ...outOf(world) })
      },
      knownWorld,
    ],
    [
      'that is too large for a message',
      (world: World) => world.send({ ...event, pad: 'x'.repeat(110_000) }, outOf(world)),
      knownWorld,
    ],
    [
      'with the Queue out too',
      (world: World) => world.send(event, { bindings: { DB: D1_OUT, EVENTS: QUEUE_OUT } }),
      knownWorld,
    ],
    [
      'whose events do not fit beside its body',
      async (world: World) => {
        const connection = await gocardlessConnection(world)
        await sendGocardless(world, connection, ['EV_0'])
        world.queue.lose()
        world.queue.sent.length = 0
        await rows('DELETE FROM events WHERE project_id = ?', world.project)
        const ids = Array.from({ length: 500 }, (_, i) => `EV_${i + 1}`)
        return sendGocardless(world, connection, ids, outage(world))
      },
      newWorld,
    ],
  ])('but not one %s: 503, the vendor sends again', async (_, refused, make) => {
    const world = await make()
    const answer = await refused(world)
    expect(answer).toMatchObject({ status: 503, body: { code: 'database_unavailable' } })
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(world.queue.sent).toEqual([])
    expect(await stored(world.project)).toEqual([])
  })
})

describe('a spooled delivery', () => {
  it('is recorded once when its message comes twice, at once or one after the other', async () => {
    const world = await knownWorld()
    await world.send(event, outOf(world))
    const [message] = world.queue.sent
    await Promise.all([deliverBatch([message?.body]), deliverBatch([message?.body, message?.body])])
    await deliverBatch([message?.body])
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 1, attempts: 1 }])
    expect(await rows('SELECT received, duplicates FROM minutes WHERE project_id = ?', world.project)).toContainEqual({
      received: 1,
      duplicates: 0,
    })
    await expectConsistent(world.project)
  })

  it('is a duplicate when the vendor has sent it again meanwhile', async () => {
    const world = await knownWorld()
    await world.send(event, outOf(world))
    advance(SECOND)
    expect((await world.send(event)).body.duplicate).toBe(false)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 2, attempts: 1 }])
    await expectConsistent(world.project)
  })

  it('is not acked while D1 is still out', async () => {
    const world = await knownWorld()
    await world.send(event, outOf(world))
    const [message] = world.queue.sent
    for (let i = 0; i < 3; i++) {
      expect(await deliverBatch([message?.body], outage(world))).toEqual([{ delaySeconds: 65 }])
    }
    expect(await stored(world.project)).toEqual([])
    expect(await deliverBatch([message?.body], { EVENTS: world.queue.EVENTS })).toEqual(['ack'])
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1 }])
    await expectConsistent(world.project)
  })

  it.each([
    [
      'its secret was removed',
      async ({ api, connection }: World) => {
        const secret = connection.secrets[0]?.id
        expect((await api(`/connections/${connection.id}/secrets/${secret}`, { method: 'DELETE' })).status).toBe(204)
      },
    ],
    [
      'its secret was removed, and another one is left',
      async ({ api, connection }: World) => {
        const path = `/connections/${connection.id}/secrets`
        const json = { signing_secret: 'whsec_another_secret_of_this_connection' }
        expect((await api(path, { method: 'POST', json })).status).toBe(201)
        expect((await api(`${path}/${connection.secrets[0]?.id}`, { method: 'DELETE' })).status).toBe(204)
      },
    ],
    [
      'its connection was deleted',
      async ({ api, connection }: World) => {
        expect((await api(`/connections/${connection.id}`, { method: 'DELETE' })).status).toBe(204)
      },
    ],
  ])('is not recorded when meanwhile %s', async (_, change) => {
    const log = captureLog()
    const world = await knownWorld()
    const { body } = await world.send(event, outOf(world))
    await change(world)
    expect(await deliverBatch([world.queue.sent[0]?.body])).toEqual(['ack'])
    expect(await stored(world.project)).toEqual([])
    expect(await rows('SELECT * FROM packed_bodies WHERE project_id = ?', world.project)).toEqual([])
    expect(log.of('spooled_refused')).toMatchObject([{ connection_id: world.connection.id, event_ids: body.event_ids }])
    const minute = await only(rows<Rows['minutes']>('SELECT * FROM minutes WHERE project_id = ?', world.project))
    expect(JSON.parse(minute.refused)).toMatchObject({ secret_removed: 1 })
    await expectConsistent(world.project)
  })

  it('is recorded when another secret was removed, or the connection disabled or renamed: it was accepted', async () => {
    const world = await newWorld()
    const { api, connection } = world
    const other = 'whsec_another_secret_of_this_connection'
    const { body: two } = await api(`/connections/${connection.id}/secrets`, {
      method: 'POST',
      json: { signing_secret: other },
    })
    await world.send(stripeEvent(), { secret: other })
    await settle(world)
    expect((await world.send(event, { secret: other, ...outOf(world) })).status).toBe(200)
    await api(`/connections/${connection.id}/secrets/${two.secrets[0].id}`, { method: 'DELETE' })
    await api(`/connections/${connection.id}`, { method: 'PATCH', json: { name: 'New', status: 'disabled' } })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed' }, { status: 'processed' }])
    await expectConsistent(world.project)
  })

  it('holds no secret', async () => {
    const world = await knownWorld()
    await world.send(event, { ...outOf(world), headers: { Authorization: 'Bearer of-a-proxy', Cookie: 'a=b' } })
    const { body, ...rest } = world.queue.sent[0]?.body ?? {}
    expect(Object.keys(rest).toSorted()).toEqual(
      [
        'connection_id',
        'events',
        'headers',
        'payload_id',
        'project_id',
        'received_at',
        'secret_id',
        'spooled',
      ].toSorted(),
    )
    expect(rest.headers).toEqual({})
  })
})

describe('the dead-letter queue', () => {
  it('sends messages of both kinds round again, and they are done', async () => {
    const world = await knownWorld()
    const { body: first } = await world.send(event, outOf(world))
    const { body: second } = await world.send(stripeEvent())
    const dead = world.queue.sent.map(({ body }) => body)
    expect(dead).toHaveLength(2)
    world.queue.lose()
    const results = await deliverBatch(dead, { EVENTS: world.queue.EVENTS }, 'platform-api-events-dead')
    expect(results).toEqual(['ack', 'ack'])
    expect(world.queue.sent.slice(2)).toMatchObject([
      { delaySeconds: 600, contentType: 'v8', body: dead[0] },
      { delaySeconds: 600, contentType: 'json', body: dead[1] },
    ])
    advance(10 * MINUTE)
    await world.queue.pump()
    for (const id of [first.event_ids[0], second.event_ids[0]]) {
      expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 1 })
    }
    await expectConsistent(world.project)
  })

  it('keeps what the Queue does not take', async () => {
    const log = captureLog()
    const world = await knownWorld()
    await world.send(event, outOf(world))
    await world.send(stripeEvent())
    const dead = world.queue.sent.map(({ body }) => body)
    const results = await deliverBatch(dead, { EVENTS: QUEUE_OUT }, 'platform-api-events-dead')
    expect(results).toEqual([{ delaySeconds: 600 }, { delaySeconds: 600 }])
    expect(log.of('dead_letter_not_resent')).toHaveLength(2)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('needs neither D1 nor the sense of a message', async () => {
    const world = await newWorld()
    const bindings = { DB: D1_OUT, EVENTS: world.queue.EVENTS }
    expect(await deliverBatch([null, { anything: 1 }], bindings, 'platform-api-events-dead')).toEqual(['ack', 'ack'])
    expect(world.queue.sent.map(({ body }) => body)).toEqual([null, { anything: 1 }])
    expect((await call('/healthz')).status).toBe(200)
  })
})
