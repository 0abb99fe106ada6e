import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE } from '../../../src/lib/time'
import { stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  D1_OUT,
  expectConsistent,
  fail,
  newWorld,
  QUEUE_OUT,
  settle,
  stopClock,
  stored,
  tamperedD1,
} from '../pipeline'
import { deliverFates, expectFates } from './fates'

beforeEach(() => {
  stopClock()
})

const event = stripeEvent()

describe('the Queue fails', () => {
  it('loses nothing when it takes no message: the sweep finds them', async () => {
    const log = captureLog()
    const world = await newWorld()
    const { status, body } = await world.send(event, { bindings: { EVENTS: QUEUE_OUT } })
    expect([status, body.duplicate]).toEqual([200, false])
    expect(log.of('queue_send_failed')).toHaveLength(1)
    expect(world.queue.sent).toHaveLength(0)
    // It is out for the sweep too, at first: an event taken then is taken again five minutes later.
    advance(MINUTE)
    await cron({ EVENTS: QUEUE_OUT }).catch((error) => expect(String(error)).toContain('Queue is overloaded'))
    await settle(world)
    expect(await world.event(body.event_ids[0])).toMatchObject({ status: 'processed', processing_attempts: 1 })
    expect(await world.attempts(body.event_ids[0])).toMatchObject([{ trigger: 'sweep', outcome: 'processed' }])
    await expectConsistent(world.project)
  })

  it('loses nothing when it drops every message', async () => {
    const world = await newWorld()
    const ids = await deliverFates(world)
    world.queue.lose()
    await settle(world)
    await expectFates(world, ids)
  })

  it('answers 503 with Retry-After when D1 is out too, and the vendor sends again', async () => {
    const world = await newWorld()
    await world.send(event)
    const other = stripeEvent()
    const refused = await world.send(other, { bindings: { DB: D1_OUT, EVENTS: QUEUE_OUT } })
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } })
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await stored(world.project)).toHaveLength(1)
    expect((await world.send(other)).body).toMatchObject({ duplicate: false })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed' }, { status: 'processed' }])
    await expectConsistent(world.project)
  })

  it('counts a repeat, and runs once, when it was recorded but neither D1 nor the Queue said so', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    advance(1)
    const other = stripeEvent()
    const DB = tamperedD1((trip) => fail(trip, 'after'))
    expect((await world.send(other, { bindings: { DB, EVENTS: QUEUE_OUT } })).status).toBe(503)
    expect((await world.send(other)).body).toMatchObject({ duplicate: true })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([
      { status: 'processed', deliveries: 1 },
      { status: 'processed', deliveries: 2, attempts: 1 },
    ])
    await expectConsistent(world.project)
  })
})
