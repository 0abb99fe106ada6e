import { beforeEach, describe, expect, it, vi } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/time'
import { VENDORS } from '../../../src/vendors'
import { countingD1, STORES, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  expectConsistent,
  keepHouse,
  newWorld,
  only,
  rows,
  stopClock,
  stored,
  type World,
} from '../pipeline'

/*
 * Rows written, indexes included, as D1's own meta counts them: they are what D1 bills. An event with its four other
 * indexes, its payload: 6 to record. A claim: 1. The event: 1 to
 * finish, and 1 for each ref; totals, rollups and the row of the feed are shared by a batch. A billing object with its
 * two indexes: 3, new or changed. That ingest is one round trip, and that junk writes nothing, is in ingest.test.ts.
 */

const BATCH = 100

// An hour after the test before, so that what is done once a minute is done while the world gets warm, and not again.
let hours = 0
beforeEach(() => {
  stopClock(Date.now() + hours * HOUR)
  hours += 1
})

/** A world that knows its connection and has processed before: what is first or once a minute is behind it. */
async function warmWorld(): Promise<World> {
  const world = await newWorld()
  await world.send(stripeEvent())
  await world.queue.pump()
  return world
}

/** Sends the events, and pumps the Queue until they are done or wait. */
async function costOf(world: World, events: readonly unknown[]) {
  const ingest = countingD1()
  for (const event of events) {
    expect((await world.send(event, { bindings: { DB: ingest.DB } })).status).toBe(200)
  }
  const rest = countingD1()
  const batches = await world.queue.pump({ DB: rest.DB })
  return {
    ingestTrips: ingest.count.trips / events.length,
    ingestRows: ingest.count.rows_written / events.length,
    trips: rest.count.trips,
    batches,
    rows: rest.count.rows_written / events.length,
    total: (ingest.count.rows_written + rest.count.rows_written) / events.length,
  }
}

/** Of live mode. Of test mode, a billing object has one index more. */
const live = (...event: Parameters<typeof stripeEvent>) => ({ ...stripeEvent(...event), livemode: true })
const many = (n: number, ...event: Parameters<typeof stripeEvent>) => Array.from({ length: n }, () => live(...event))

/** Every id that Stripe's objects name: eight, the most that are kept. */
const ALL_REFS = {
  subscription: 'sub_1',
  invoice: 'in_1',
  payment_intent: 'pi_1',
  charge: 'ch_1',
  payment_method: 'pm_1',
  setup_intent: 'seti_1',
}

describe('a batch of 100 events of 100 objects', () => {
  it.each<{ of: string; event: Parameters<typeof stripeEvent>; status: string; refs: number; total: number }>([
    { of: 'a new subscription', event: [], status: 'processed', refs: 2, total: 14.03 },
    {
      of: 'a new invoice',
      event: ['invoice.paid', { object: 'invoice', subscription: 'sub_0' }],
      status: 'processed',
      refs: 3,
      total: 15.03,
    },
    {
      of: 'nothing to apply',
      event: ['product.created', { object: 'product', customer: null }],
      status: 'ignored',
      refs: 1,
      total: 10.03,
    },
    {
      of: 'nothing to apply',
      event: ['charge.succeeded', { object: 'charge', ...ALL_REFS }],
      status: 'ignored',
      refs: 8,
      total: 17.03,
    },
    // The index of troubled events is one more. The notice that events fail has four rows for the batch.
    { of: 'an event without its object', event: ['broken'], status: 'failed', refs: 0, total: 11.07 },
  ])('$of, $refs refs: $total rows written an event', async ({ event, status, refs, total }) => {
    const world = await warmWorld()
    const first = await only(stored(world.project))
    const events = many(BATCH, ...event).map((one) => (event[0] === 'broken' ? { ...one, data: {} } : one))
    const cost = await costOf(world, events)
    expect(cost).toMatchObject({ ingestTrips: 1, ingestRows: 6, trips: status === 'processed' ? 3 : 2, batches: 1 })
    expect(cost.total).toBeCloseTo(total, 5)
    const rows = (await stored(world.project)).filter(({ id }) => id !== first.id)
    expect(rows.map((row) => row.status)).toEqual(Array(BATCH).fill(status))
    expect(rows.map((row) => JSON.parse(row.summary ?? '{"refs":[]}').refs.length)).toEqual(Array(BATCH).fill(refs))
    await expectConsistent(world.project)
  })
})

describe('what else an event may cost', () => {
  it('12.03 rows when it changes a subscription that is there, two refs', async () => {
    const world = await warmWorld()
    const events = many(BATCH)
    await costOf(world, events)
    advance(20_000)
    const changes = events.map(({ data }) => live('customer.subscription.updated', data.object))
    const cost = await costOf(world, changes)
    expect(cost).toMatchObject({ ingestTrips: 1, ingestRows: 6, trips: 3, batches: 1 })
    expect(cost.total).toBeCloseTo(12.03, 5)
    await expectConsistent(world.project)
  })

  it('17 rows when it comes alone: totals, rollup and the row of the feed are its own', async () => {
    const world = await warmWorld()
    expect(await costOf(world, many(1))).toMatchObject({ ingestRows: 6, trips: 3, rows: 11, total: 17 })
    await expectConsistent(world.project)
  })

  it('2 rows and one round trip when it is a repeat of one that is done', async () => {
    const world = await warmWorld()
    const events = many(10)
    await costOf(world, events)
    expect(await costOf(world, events)).toMatchObject({ ingestTrips: 1, ingestRows: 2, trips: 0, total: 2 })
    await expectConsistent(world.project)
  })

  it('nothing when its message comes again', async () => {
    const world = await warmWorld()
    await costOf(world, many(BATCH))
    for (const { body } of [...world.queue.sent]) await world.queue.EVENTS.send(body)
    expect(await costOf(world, [live()])).toMatchObject({ batches: 2, rows: 11 })
  })

  it('8 rows more when it fails once: 22.04', async () => {
    const world = await warmWorld()
    const events = many(BATCH)
    const decode = vi.spyOn(VENDORS.stripe, 'decode')
    const ingest = countingD1()
    for (const event of events) await world.send(event, { bindings: { DB: ingest.DB } })
    captureLog()
    decode.mockImplementation(() => {
      throw new TypeError('a bug of ours')
    })
    const first = countingD1()
    await world.queue.pump({ DB: first.DB })
    decode.mockRestore()
    advance(10_000)
    const second = countingD1()
    await world.queue.pump({ DB: second.DB })
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(Array(BATCH + 1).fill('processed'))
    const rows = [ingest, first, second].map(({ count }) => count.rows_written / BATCH)
    expect(rows).toEqual([6, expect.closeTo(5.01, 5), expect.closeTo(11.03, 5)])
    await expectConsistent(world.project)
  })

  it('15 rows when it is replayed: 7 to ask, with its first attempt, and 8 to run', async () => {
    const world = await warmWorld()
    const { id } = await only(stored(world.project))
    const asked = countingD1()
    await world.replay(id, { bindings: { DB: asked.DB } })
    const run = countingD1()
    await world.queue.pump({ DB: run.DB })
    expect(asked.count).toMatchObject({ trips: 2, rows_written: 7 }) // one trip to authenticate, one to open and show the event
    expect(run.count).toMatchObject({ trips: 3, rows_written: 8 })
    await expectConsistent(world.project)
  })

  it('2 rows each, and seven round trips to a store for all, when a hundred are lost and swept', async () => {
    // An hour that is over: nothing that other tests left is due in it, not even if this one has just begun.
    stopClock((Math.floor(Date.now() / HOUR) - 1) * HOUR + MINUTE)
    const world = await warmWorld()
    await keepHouse() // this hour's housekeeping
    await cron({ EVENTS: world.queue.EVENTS }) // … and the look at every secret that comes of it
    for (const event of many(BATCH)) await world.send(event)
    world.queue.lose()
    advance(60_000)
    const swept = countingD1()
    await cron({ EVENTS: world.queue.EVENTS, DB: swept.DB })
    // Where there are several stores, also whose turn it is. What was seen of each is noted together.
    const trips = 7 * STORES.length + (STORES.length > 1 ? 3 : 2)
    expect(swept.count).toMatchObject({ trips, rows_written: 2 * BATCH + 2 * STORES.length })
    const totals = await only(rows<{ n: number }>('SELECT count(*) AS n FROM totals'))
    // Each store is asked for its state, its progress and due emails, whatever it holds; the metrics read the totals.
    expect(swept.count.rows_read).toBeLessThanOrEqual(10 * BATCH + 50 * STORES.length + 10 * totals.n)
    await world.queue.pump()
    await expectConsistent(world.project)
  })
})
