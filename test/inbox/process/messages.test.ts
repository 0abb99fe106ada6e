import { beforeEach, describe, expect, it } from 'vitest'
import { drain, stripeEvent } from '../../harness'
import { captureLog, expectConsistent, newWorld, QUEUE_OUT, rows, settle, stopClock, stored } from '../pipeline'
import { deliverFates, expectFates } from './fates'

beforeEach(() => {
  stopClock()
})

const event = stripeEvent()

describe('deliveries and messages that come more than once', () => {
  it('records twenty deliveries at once as one event', async () => {
    const world = await newWorld()
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send(event)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.event_ids[0])).size).toBe(1)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ deliveries: 20, attempts: 1, status: 'processed' }])
    expect(await rows('SELECT * FROM minutes WHERE project_id = ?', world.project)).toMatchObject([
      { received: 1, duplicates: 19, processed: 1 },
    ])
    await expectConsistent(world.project)
  })

  type Drain = (bodies: unknown[]) => Promise<unknown>
  it.each([
    ['in two batches at once', (drained: Drain, body: unknown) => Promise.all([drained([body]), drained([body])])],
    ['five times in one batch', (drained: Drain, body: unknown) => drained([body, body, body, body, body])],
    [
      'one batch after the other',
      async (drained: Drain, body: unknown) => {
        await drained([body])
        await drained([body])
      },
    ],
  ])('runs once for the same message, %s', async (_, deliverTwice) => {
    const world = await newWorld()
    const ids = await deliverFates(world)
    for (const { body } of world.queue.sent) {
      await deliverTwice((bodies: unknown[]) => drain(bodies, { EVENTS: world.queue.EVENTS }), body)
    }
    for (const id of ids) expect((await world.event(id)).processing_attempts).toBe(1)
    await expectFates(world, ids)
  })

  it('does not skip an event that is not processed because it was delivered before', async () => {
    const world = await newWorld()
    await world.send(event, { bindings: { EVENTS: QUEUE_OUT } })
    expect((await world.send(event)).body.duplicate).toBe(true)
    await world.queue.pump()
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 2, attempts: 1 }])
    await expectConsistent(world.project)
  })
})

describe('messages that nothing can be done with', () => {
  const spooled = { spooled: 1, project_id: 'prj_x', connection_id: 'con_x', secret_id: 'sec_x', payload_id: 'pay_x' }
  it.each([
    ['null', null],
    ['a text', 'evt_1'],
    ['an empty object', {}],
    ['a list', []],
    ['an id that is a number', { project_id: 'prj_x', event_id: 1 }],
    ['a sender that nobody knows', { project_id: 'prj_x', event_id: 'evt_x', via: 'elsewhere' }],
    ['a spooled delivery without events', { ...spooled, received_at: 1, headers: {}, body: new Uint8Array(1) }],
    ['a spooled body that is text', { ...spooled, received_at: 1, headers: {}, events: [], body: 'text' }],
  ])('acks and logs %s, and does the rest of the batch', async (_, body) => {
    const log = captureLog()
    const world = await newWorld()
    await world.send(event)
    const { explicitAcks, retryMessages } = await drain([body, world.queue.sent[0]?.body, body])
    expect(explicitAcks.toSorted()).toEqual(['message-0', 'message-1', 'message-2'])
    expect(retryMessages).toEqual([])
    expect(log.of('malformed_message').map(({ message_id }) => message_id)).toEqual(['message-0', 'message-2'])
    expect(await stored(world.project)).toMatchObject([{ status: 'processed' }])
    await expectConsistent(world.project)
  })

  it('acks an id that no event has, and one of another project', async () => {
    const world = await newWorld()
    const other = await newWorld()
    await world.send(event)
    const { event_id } = world.queue.sent[0]?.body ?? {}
    const { explicitAcks } = await drain([
      { project_id: world.project, event_id: 'evt_00000000000000000000000000' },
      { project_id: other.project, event_id },
    ])
    expect(explicitAcks).toHaveLength(2)
    expect(await stored(world.project)).toMatchObject([{ status: 'received', attempts: 0 }])
    await settle(world)
    await expectConsistent(world.project)
  })
})
