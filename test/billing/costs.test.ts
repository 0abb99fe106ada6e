import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_BODIES_READ, MAX_ROWS_READ, MAX_SCANNED } from '../../src/billing/limits'
import { HOUR } from '../../src/lib/time'
import { stopClock } from '../clock'
import { call, countingD1 } from '../harness'
import { rows } from '../inbox/pipeline'
import { walk } from '../inbox/seeding'
import {
  anId,
  paddleEventOf,
  paddlePayment,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { insertObjects } from './rows'
import { type BillingWorld, billingWorld, type Shown } from './world'

/*
 * What the billing state costs, in D1's own figures. Rows written, indexes included: 8 to record, claim and finish an event, 3 for each
 * batch, and 1 for each of an event's refs (test/inbox/process/costs.test.ts, with batches of 100); then the object's row and its entry in
 * the index by last change; one in the index by key where the object is new, and one in the index by customer where the object is new or
 * its customer changes. A payment
 * card has neither index. An invoice with a number has an entry in the index of numbers. An object of test mode has an entry by last change in the index of its mode too.
 */

const BATCH = 20
// Rows that are written once a minute must not be written in between, and those of the test before are an hour old.
let hours = 0
beforeEach(() => {
  stopClock(Date.now() + hours * HOUR)
  hours += 1
})

/** A project that has processed events before, so that rows written at the first one or once a minute do not count. */
async function warmWorld(): Promise<BillingWorld> {
  const world = await billingWorld()
  await world.deliver(stripeEventOf('charge.succeeded', {}), paddleEventOf('price.created', {}))
  await world.deliver(stripeEventOf('payment_method.attached', stripePaymentMethod({ customer: null })))
  return world
}

/** The pages of a list to its end, with the rows and the trips that each one reads. */
async function walkCounting(world: BillingWorld, path: string, limit: number) {
  const reads: number[] = []
  const trips: number[] = []
  const read = async (page: string) => {
    const { DB, count } = countingD1()
    const answer = await world.api(page, { bindings: { DB } })
    reads.push(count.rows_read)
    trips.push(count.trips)
    return answer
  }
  return { pages: await walk(read, path, limit), reads, trips }
}

const perEvent = (rows: number) => Math.round((rows / BATCH) * 100) / 100

/** Processes the messages in the queue as one batch, and counts what that costs. */
async function processed(world: BillingWorld) {
  const { DB, count } = countingD1()
  expect(await world.queue.pump({ DB })).toBe(1)
  return { trips: count.trips, written: count.rows_written, read: perEvent(count.rows_read) }
}

async function costOf(world: BillingWorld, events: readonly object[]) {
  const { DB, count } = countingD1()
  for (const event of events) expect((await world.send(event, { bindings: { DB } })).status).toBe(200)
  const { trips, written, read } = await processed(world)
  return { trips, read, written: perEvent(count.rows_written + written) }
}

/** Rows written for the objects of an event: `made` where they are new, `changed` where they exist. */
type Made = { of: string; refs: number; made: number; changed: number; make: (id: string, second: number) => object }
const at = (second: number) => ({ at: `2026-01-01T00:00:0${second}Z` })
const in_ = (second: number) => ({ at: T0 + second, livemode: true })
const MADE: Made[] = [
  {
    of: "Stripe's subscription",
    refs: 3,
    made: 4,
    changed: 2,
    make: (id, n) =>
      stripeEventOf(
        'customer.subscription.updated',
        stripeSubscription({ id, status: n === 2 ? 'past_due' : 'active' }),
        in_(n),
      ),
  },
  {
    of: "Stripe's subscription in test mode",
    refs: 3,
    made: 5,
    changed: 3,
    make: (id, n) =>
      stripeEventOf(
        'customer.subscription.updated',
        stripeSubscription({ id, status: n === 2 ? 'past_due' : 'active' }),
        { ...in_(n), livemode: false },
      ),
  },
  {
    of: "Stripe's invoice, which has a number",
    refs: 3,
    made: 5,
    changed: 3,
    make: (id, n) => stripeEventOf('invoice.updated', stripeInvoice({ id, total: n }), in_(n)),
  },
  {
    of: "Stripe's payment method",
    refs: 2,
    made: 4,
    changed: 2,
    make: (id, n) => stripeEventOf('payment_method.updated', stripePaymentMethod({ id, metadata: { n } }), in_(n)),
  },
  {
    of: "Paddle's subscription",
    refs: 3,
    made: 4,
    changed: 2,
    make: (id, n) => paddleEventOf('subscription.updated', paddleSubscription({ id, custom_data: { n } }), at(n)),
  },
  {
    of: "Paddle's transaction",
    refs: 4,
    made: 4,
    changed: 2,
    make: (id, n) => paddleEventOf('transaction.updated', paddleTransaction({ id, custom_data: { n } }), at(n)),
  },
  {
    of: "Paddle's transaction, paid by a card",
    refs: 5,
    made: 6,
    changed: 3,
    make: (id, n) =>
      paddleEventOf('transaction.updated', paddleTransaction({ id, payments: [paddlePayment(`paymtd_${id}`)] }), at(n)),
  },
  {
    of: "Paddle's payment method",
    refs: 3,
    made: 4,
    changed: 2,
    make: (id, n) => paddleEventOf('payment_method.saved', paddlePaymentMethod({ id, custom_data: { n } }), at(n)),
  },
]

describe.each(MADE)(`a batch of ${BATCH} events of ${BATCH} objects: $of`, ({ refs, made, changed, make }) => {
  const event = Math.round((8 + 3 / BATCH + refs) * 100) / 100
  const [first, next] = [made, changed].map((rows) => Math.round((event + rows) * 100) / 100)
  it(`three round trips, ${first} rows written an event of a new object, ${next} of a known one, ${event} of no effect`, async () => {
    const world = await warmWorld()
    const ids = Array.from({ length: BATCH }, () => anId('obj'))
    for (const [second, written] of [
      [1, first],
      [2, next],
    ] as const) {
      const cost = await costOf(
        world,
        ids.map((id) => make(id, second)),
      )
      expect(cost).toMatchObject({ trips: 3, written })
      // One of them because of the triggers of names: SQLite then keeps the rows of an INSERT aside before it writes them.
      expect(cost.read).toBeLessThan(64)
    }
    // Older than the winner and the events that are kept to order ties: no object's row is written.
    const before = await world.objects()
    const late = ids.map((id) => make(id, 0))
    expect(await costOf(world, late)).toMatchObject({ trips: 3, written: event })
    expect(await world.objects()).toEqual(before)
  })
})

it.each(MADE.slice(0, 3))(`replaying ${BATCH} winning events writes no object: $of`, async ({ make }) => {
  const world = await warmWorld()
  const ids = await world.deliverTogether(Array.from({ length: BATCH }, () => make(anId('obj'), 1)))
  const before = await world.objects()
  for (const id of ids) expect((await world.replay(id)).status).toBe(202)
  // The claim, the attempt, the event and its entry in the index of final events, and two in that of repeated attempts.
  expect(await processed(world)).toMatchObject({ trips: 3, written: 6 * BATCH + 2 }) // one each for its replay and for the feed
  expect(await world.objects()).toEqual(before)
})

describe('reading', () => {
  /** A project with six objects of each kind to find, among others. */
  async function among(others: number): Promise<BillingWorld> {
    const world = await warmWorld()
    const mine = { customer: 'cus_mine' }
    await world.deliverTogether(
      Array.from({ length: 6 }, (_, i) => [
        stripeEventOf(
          'customer.subscription.updated',
          stripeSubscription({ ...mine, id: `sub_mine_${i}`, status: 'paused' }),
        ),
        stripeEventOf('invoice.updated', stripeInvoice({ ...mine, id: `in_mine_${i}`, subscription: 'sub_mine' })),
        stripeEventOf('payment_method.updated', stripePaymentMethod({ ...mine, id: `pm_mine_${i}` })),
      ]).flat(),
    )
    for (const kind of ['subscription', 'invoice', 'payment_method'] as const) {
      await insertObjects(
        world.project,
        kind,
        Array.from({ length: others }, (_, i) => `zz_${i}`),
      )
    }
    return world
  }

  it('uses an index for a customer, a page and one object, however many objects the project has', async () => {
    const [few, many] = [await among(20), await among(2000)]
    // Rows read: 2 for the credential; each row of the page, with its index entry and, of a customer, that it is counted;
    // and three more for each, to add up the sizes.
    const READS: [string, number, number][] = [
      ['/subscriptions?customer=cus_mine', 6, 44],
      ['/subscriptions?customer=cus_mine&status=paused&vendor=stripe', 6, 44],
      ['/invoices?customer=cus_mine&subscription=sub_mine', 6, 44],
      ['/invoices?customer=cus_mine', 6, 44],
      ['/payment-methods?customer=cus_mine', 6, 44],
      // The others are live.
      ['/subscriptions?livemode=false', 6, 35],
      // Each is asked of the index, and the six that come before them are left out.
      ['/subscriptions?livemode=true&limit=20', 20, 125],
      ['/subscriptions?limit=20', 20, 87],
      ['/subscriptions?limit=20&updated_after=2026-01-01T00:00:00Z', 6, 35],
      ['/customers/stripe/cus_mine', 0, 134],
      ['/subscriptions/sub_mine_1', 0, 4],
      ['/subscriptions/sub_mine_1/timeline', 1, 9],
    ]
    for (const [path, length, bound] of READS) {
      const reads: number[] = []
      for (const world of [few, many]) {
        const { DB, count } = countingD1()
        const { status, body } = await world.api(path, { bindings: { DB } })
        expect([status, body.data?.length ?? 0], path).toEqual([200, length])
        expect(count.rows_written, path).toBe(0)
        expect(count.trips, path).toBe(1)
        reads.push(count.rows_read)
      }
      // A row or two more or fewer, by the order in which the sort meets them; not more with a hundred times the objects.
      expect(Math.max(...reads), path).toBeLessThanOrEqual(bound)
    }
  })

  it('reads as few rows to tell the live objects from newer ones of test mode', async () => {
    const world = await warmWorld()
    const old = Array.from({ length: 20 }, (_, i) => `aa_${String(i).padStart(2, '0')}`)
    for (const ids of [old, ...[1, 2, 3].map((n) => Array.from({ length: 1000 }, (_, i) => `in_${n * 1000 + i}`))])
      await insertObjects(world.project, 'invoice', ids)
    await rows(
      `UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.livemode', json('false'))
        WHERE project_id = ? AND vendor_id LIKE 'in_%'`,
      world.project,
    )
    for (const [filter, most, found] of [
      ['livemode=true', MAX_ROWS_READ, old.toReversed()],
      ['livemode=true&status=open&customer=cus_1', MAX_ROWS_READ, old.toReversed()],
      ['livemode=true&metadata[no]=such', MAX_BODIES_READ, []],
      ['livemode=false&metadata[no]=such', MAX_BODIES_READ, []],
      ['livemode=false&status=paid', MAX_ROWS_READ, []],
    ] as const) {
      const { pages, reads } = await walkCounting(world, `/invoices?${filter}`, 100)
      expect(Math.max(...reads), filter).toBeLessThanOrEqual(most + 5)
      expect(pages[0]?.truncated, filter).toBe(!filter.includes('status=paid'))
      expect(
        pages.flatMap(({ data }) => data.map(({ id }: Shown) => id)),
        filter,
      ).toEqual(found)
    }
  })

  it('reads at most 10,000 rows a page without an index, and continues to the end', async () => {
    const world = await warmWorld()
    const { description } = JSON.parse((await call('/openapi.json')).text).paths['/platform/v1/billing/invoices'].get
    expect(description).toContain('at most 10000 rows')
    await world.deliver(stripeEventOf('invoice.paid', stripeInvoice({ id: 'aa_the_last', status: 'paid' })))
    for (let i = 0; i < 11; i++) {
      await insertObjects(
        world.project,
        'invoice',
        Array.from({ length: 1000 }, (_, j) => `in_${String(i * 1000 + j).padStart(6, '0')}`),
      )
    }
    // On both sides of where the first and the second page end.
    const ends = [1, 2].map((page) => 11_000 - page * MAX_SCANNED)
    const around = ends.flatMap((n) => [n, n - 1]).map((n) => `in_${String(n).padStart(6, '0')}`)
    await rows(
      `UPDATE billing_objects SET status = 'void' WHERE project_id = ? AND vendor_id IN (SELECT value FROM json_each(?))`,
      world.project,
      JSON.stringify(around),
    )
    for (const [filter, wanted] of [
      ['status=paid', ['aa_the_last']],
      ['vendor=paddle', []],
      ['status=void', around],
      ['customer=cus_1&status=void', around],
    ] as const) {
      const { pages, reads, trips } = await walkCounting(world, `/invoices?${filter}`, 20)
      expect(new Set(trips), filter).toEqual(new Set([1]))
      expect(Math.max(...reads), filter).toBeLessThanOrEqual(10_000 + 5)
      expect(
        pages.map(({ truncated }) => truncated),
        filter,
      ).toEqual([true, true, false])
      expect(
        pages.flatMap(({ data }) => data.map(({ id }: Shown) => id)),
        filter,
      ).toEqual(wanted)
    }
  })
})
