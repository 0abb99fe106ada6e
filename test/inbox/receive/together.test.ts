import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inflated } from '../../../src/inbox/packing'
import { asText } from '../../../src/inbox/payload'
import { type Answer, deliver, drain, freshKey, lossyQueue, stripeConnection, stripeEvent } from '../../harness'
import { LOST, rows, type Trip, tamperedD1 } from '../pipeline'
import { until } from './until'

/* Deliveries that come while the database is busy share its trips (group-commit.test.ts). Here: what each is answered. */

const AT_ONCE = 40
/** As many trips leave at once; all other deliveries wait. */
const AHEAD = 4
let project: string
let connection: string

beforeEach(async () => {
  const { project: made, owner } = await freshKey()
  project = made
  connection = (await stripeConnection(owner.token, project)).id
  await deliver(connection, stripeEvent()) // from here on, the connection is remembered
  // The clock stands still, so that no delivery goes alone for having waited.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const fresh = (n = AT_ONCE) => Array.from({ length: n }, () => stripeEvent())
const inTrip = ({ sql }: Trip) => sql.split('INSERT INTO "events"').length - 1

/** D1 whose first four trips return once all other deliveries wait. `tamper` sees the trips behind them. */
function busyD1(deliveries: number, tamper: (trip: Trip) => Promise<D1Result[]> = ({ run }) => run()) {
  const carried: number[] = []
  let busy = false
  const DB = tamperedD1(async (trip) => {
    carried.push(inTrip(trip))
    if (trip.index >= AHEAD) return tamper(trip)
    // A held trip has one timer, its timeout; and so has a delivery that waits.
    await until(() => {
      busy ||= vi.getTimerCount() === deliveries
      return busy
    })
    return trip.run()
  })
  return { DB, carried }
}

const sendAll = (events: unknown[], bindings: Parameters<typeof deliver>[2]) =>
  Promise.all(events.map((event) => deliver(connection, event, bindings)))

async function stored() {
  const found = await rows<{ id: string; vendor_event_id: string; deliveries: number; hex: string }>(
    `SELECT e.id, e.vendor_event_id, e.deliveries, hex(p.body) AS hex FROM events e JOIN packed_bodies p
      ON p.project_id = e.project_id AND p.key = CAST(e.payload_id AS INTEGER) WHERE e.project_id = ?`,
    project,
  )
  for (const { vendor_event_id, hex } of found) {
    expect(JSON.parse(asText(inflated(Uint8Array.fromHex(hex))) ?? '').id).toBe(vendor_event_id)
  }
  return found
}

async function counted() {
  const [minute] = await rows(
    `SELECT (SELECT count(*) FROM events WHERE project_id = ?1) AS received, coalesce(sum(duplicates), 0) AS duplicates
      FROM minutes WHERE project_id = ?1`,
    project,
  )
  return minute
}

/** Each answer names the event that its own delivery is stored as. */
async function expectOwnReceipts(events: { id: string }[], answers: Answer[]) {
  expect(answers.map(({ status }) => status)).toEqual(events.map(() => 200))
  const ids = new Map((await stored()).map((row) => [row.vendor_event_id, row.id]))
  expect(answers.map(({ body }) => body.event_ids)).toEqual(events.map(({ id }) => [ids.get(id)]))
  expect(new Set(ids.values()).size).toBe(events.length + 1)
}

it('names its own event to each, and sends each its own message, at the same rows in fewer trips', async () => {
  const events = fresh()
  let written = 0
  const { DB, carried } = busyD1(AT_ONCE, async ({ run }) => {
    const results = await run()
    written += results.reduce((sum, { meta }) => sum + meta.rows_written, 0)
    return results
  })
  const { EVENTS, sent } = lossyQueue()
  const answers = await sendAll(events, { bindings: { DB, EVENTS } })
  await expectOwnReceipts(events, answers)
  expect(carried.toSorted()).toEqual([1, 1, 1, 1, 4, 8, 8, 8, 8])
  expect(written).toBeLessThanOrEqual(8 * (AT_ONCE - AHEAD))
  const named = sent.map((body) => (body as { event_id: string }).event_id)
  expect(named.toSorted()).toEqual(answers.map(({ body }) => body.event_ids[0]).toSorted())
  expect(await counted()).toEqual({ received: AT_ONCE + 1, duplicates: 0 })
})

it('tells a repeat from the first even in one trip', async () => {
  const [one, two] = [stripeEvent(), stripeEvent()]
  const { DB, carried } = busyD1(AHEAD + 6)
  const answers = await sendAll([...fresh(AHEAD), one, one, two, one, two, one], { bindings: { DB } })
  expect(answers.map(({ status }) => status)).toEqual(Array(AHEAD + 6).fill(200))
  expect(carried).toEqual([1, 1, 1, 1, 6])
  expect(answers.slice(AHEAD).filter(({ body }) => !body.duplicate)).toHaveLength(2)
  const deliveries = new Map((await stored()).map((row) => [row.vendor_event_id, row.deliveries]))
  expect([deliveries.get(one.id), deliveries.get(two.id)]).toEqual([4, 2])
  expect(await counted()).toEqual({ received: AHEAD + 3, duplicates: 4 })
})

it('keeps a statement that D1 refuses from the deliveries that share its trip', async () => {
  const events = fresh()
  let refused = 0
  // As D1 does with what a constraint refuses: the whole batch fails, and nothing of it has happened.
  const { DB } = busyD1(AT_ONCE, async (trip) => {
    if (inTrip(trip) === 1) return trip.run()
    refused += 1
    throw new Error('D1_ERROR: CHECK constraint failed: events: SQLITE_CONSTRAINT')
  })
  await expectOwnReceipts(events, await sendAll(events, { bindings: { DB } }))
  expect(refused).toBeGreaterThan(0)
  expect(await counted()).toEqual({ received: AT_ONCE + 1, duplicates: 0 })
})

it.each(['before', 'after'] as const)(
  'spools every delivery of a trip that D1 does not answer, and records each once (%s it happened)',
  async (mode) => {
    const events = fresh()
    const { EVENTS, sent } = lossyQueue()
    const { DB, carried } = busyD1(AT_ONCE, async ({ run }) => {
      if (mode === 'after') await run()
      throw new Error(LOST)
    })
    const answers = await sendAll(events, { bindings: { DB, EVENTS } })
    expect(answers.map(({ status }) => status)).toEqual(events.map(() => 200))
    // Each of the trips that were lost was made once more.
    expect(carried.toSorted()).toEqual([1, 1, 1, 1, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8])
    const spooled = sent.filter((body) => (body as { spooled?: number }).spooled === 1)
    expect(spooled).toHaveLength(AT_ONCE - AHEAD)
    await drain(spooled)
    await drain(spooled) // the Queue may deliver twice
    await expectOwnReceipts(events, answers)
    expect(await counted()).toEqual({ received: AT_ONCE + 1, duplicates: 0 })
  },
)
