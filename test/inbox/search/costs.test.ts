import { beforeAll, describe, expect, it } from 'vitest'
import { FINAL_STATUSES, STATUSES } from '../../../src/inbox/lifecycle'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { stopClock } from '../../clock'
import { countingD1 } from '../../harness'
import { freshReader, insertConnection, insertEvents, insertMinutes, type Reader, seedEvent } from '../seeding'
import { at, idsOf, pathOf, type Query } from './oracle'

/*
 * Rows that D1 says it read for a whole request, authentication included (two rows). What an index answers reads as much
 * of 3,000 events as of 300; what no index answers reads at most 10,000 rows a page.
 */

const LIMIT = 20
const DAY_OF_MINUTES = 1440

/** Events over a day, a few of them open, under three connections of which one is quiet; and the rollups of that day. */
async function world(count: number) {
  const { project, read } = await freshReader()
  const busy = await insertConnection(project, 'stripe')
  const other = await insertConnection(project, 'paddle')
  const quiet = await insertConnection(project, 'shopify', { livemode: false })
  const now = Date.now()
  const step = (DAY_OF_MINUTES * MINUTE) / count
  const events = Array.from({ length: count }, (_, i) => {
    const failed = i % 10 < 4 // more than a page looks at
    return seedEvent({
      connection: i < 5 ? quiet : i % 3 === 0 ? other : busy,
      received_at: now - Math.floor((count - i) * step),
      vendor_event_id: `evt_${i}`,
      event_type: i < 5 ? 'rare.type' : `customer.${['created', 'updated', 'deleted'][i % 3]}`,
      status:
        i >= count - 12 ? (STATUSES[i % 4] as 'received') : failed ? 'failed' : i % 2 === 0 ? 'processed' : 'ignored',
      attempts: failed ? 3 : 1,
      last_error: failed ? 'the amount is no integer' : null,
      refs: [`sub_${i % 7}`, i < 5 ? 'sub_rare' : `cus_${i}`],
    })
  })
  await insertEvents(project, events)
  const thisMinute = Math.floor(now / MINUTE)
  for (const connection of [busy, other, quiet]) {
    const minutes = Array.from({ length: DAY_OF_MINUTES + 1 }, (_, i) => ({
      connection,
      minute: thisMinute - i,
      received: 1,
    }))
    await insertMinutes(project, minutes)
  }
  return { read, now, busy, quiet, ids: events.slice(0, 100).map(({ id }) => id) }
}
type World = Awaited<ReturnType<typeof world>>

let small: World
let large: World
beforeAll(async () => {
  stopClock() // once a minute, a key's use is written, which would be a trip more
  small = await world(300)
  large = await world(3000)
  expect(STATUSES.slice(0, 4).filter((status) => (FINAL_STATUSES as readonly string[]).includes(status))).toEqual([])
})

async function costOf(read: Reader, path: string) {
  const { DB, count } = countingD1()
  const { status, body } = await read(path, { DB })
  expect(status).toBe(200)
  return { rows: count.rows_read, trips: count.trips, body }
}

/** The cost of each page, to the last one. */
async function costOfAll(read: Reader, path: string) {
  const costs = [await costOf(read, path)]
  for (;;) {
    const cursor = costs.at(-1)?.body.next_cursor
    if (cursor === null) return costs
    costs.push(await costOf(read, `${path}&cursor=${cursor}`))
  }
}

const search = (query: Query) => `${pathOf(query)}&limit=${LIMIT}`

/** What each reads at most, with a page of twenty, whatever the number of events. */
const FLAT: [string, (world: World) => string, number][] = [
  ['the list', () => `?limit=${LIMIT}`, 8 * LIMIT], // each payload is looked for in three tables
  ['the list, view=summary', () => `?limit=${LIMIT}&view=summary`, 3 * LIMIT],
  ['no filter', () => search({}), 6 * LIMIT],
  ['event_type', () => search({ event_type: ['customer.created'] }), 6 * LIMIT],
  ['event_type, rare', () => search({ event_type: ['rare.type'] }), 2 * LIMIT],
  ['event_type, none', () => search({ event_type: ['no.such'] }), 10],
  ['event_type, two', () => search({ event_type: ['customer.created', 'rare.type'] }), 7 * LIMIT],
  ['event_type, a prefix of three', () => search({ event_type: ['customer.*'] }), 9 * LIMIT],
  ['status, processed', () => search({ status: ['processed'] }), 9 * LIMIT], // four times as many are looked at
  ['status, final', () => search({ status: ['failed'] }), 6 * LIMIT],
  ['status, two final', () => search({ status: ['failed', 'ignored'] }), 8 * LIMIT],
  ['status, open', () => search({ status: ['retrying'] }), 4 * LIMIT],
  ['vendor', () => search({ vendor: 'stripe' }), 6 * LIMIT],
  ['vendor, quiet', () => search({ vendor: 'shopify' }), 3 * LIMIT],
  ['vendor, none', () => search({ vendor: 'adyen' }), 10],
  ['livemode=true', () => search({ livemode: true }), 8 * LIMIT],
  ['livemode=false', () => search({ livemode: false }), 3 * LIMIT],
  ['connection_id', ({ busy }) => search({ connection_id: busy }), 6 * LIMIT],
  ['connection_id, quiet', ({ quiet }) => search({ connection_id: quiet }), 3 * LIMIT],
  ['id, a hundred', ({ ids }) => search({ id: ids }), 17 * LIMIT],
  ['vendor_event_id', () => search({ vendor_event_id: 'evt_17' }), LIMIT],
  ['ref', () => search({ ref: 'sub_3' }), 7 * LIMIT],
  ['ref, rare', () => search({ ref: 'sub_rare' }), 3 * LIMIT],
  [
    'received',
    ({ now }) => search({ received_after: at(now - 500 * MINUTE), received_before: at(now - SECOND) }),
    6 * LIMIT,
  ],
  ['received, asc', ({ now }) => search({ received_after: at(now - 500 * MINUTE), order: 'asc' }), 6 * LIMIT],
  ['min_attempts', () => search({ min_attempts: 2 }), 9 * LIMIT],
  ['error', () => search({ error: 'AMOUNT' }), 9 * LIMIT],
  ['health', () => '/health', 300], // the rollups of an hour of three connections, and 12 open events
  // A lookup a minute: whatever other connections there are. Each minute counts once more for being asked for.
  ['lag of a day, one connection', ({ busy }) => `/lag-timeseries?connection_id=${busy}`, 2 * DAY_OF_MINUTES + 50],
  ['lag of a day, three connections', () => '/lag-timeseries', 3 * DAY_OF_MINUTES + 50],
]

describe('rows read', () => {
  it.each(FLAT)('%s: the same of 300 events as of 3,000, and few', async (_, path, most) => {
    const of300 = await costOf(small.read, path(small))
    const of3000 = await costOf(large.read, path(large))
    expect(of3000.rows).toBeLessThanOrEqual(most)
    expect(Math.abs(of3000.rows - of300.rows)).toBeLessThanOrEqual(LIMIT)
    expect(of3000.trips).toBeLessThanOrEqual(4)
  })

  it('the last page of a long list reads no more than the first', async () => {
    for (const path of [
      '?view=summary',
      pathOf({}),
      pathOf({ event_type: ['customer.*'] }),
      pathOf({ livemode: true }),
    ]) {
      const rows = (await costOfAll(large.read, `${path}&limit=100`)).map((cost) => cost.rows)
      expect(rows.length).toBeGreaterThanOrEqual(27)
      expect(Math.max(...rows)).toBeLessThanOrEqual((rows[0] ?? 0) + LIMIT)
    }
  })
})

describe('what no index answers', () => {
  const COUNT = 6000
  let read: Reader
  let oldest: string[]
  beforeAll(async () => {
    const fresh = await freshReader()
    read = fresh.read
    const busy = await insertConnection(fresh.project, 'stripe')
    const quiet = await insertConnection(fresh.project, 'shopify', { livemode: false })
    const from = Date.now() - COUNT
    const events = Array.from({ length: COUNT }, (_, i) =>
      seedEvent({
        connection: i < 3 ? quiet : busy,
        received_at: from + i,
        event_type: i < 3 ? 'many.0001' : `many.${String(i % 900).padStart(4, '0')}`,
        status: i < COUNT - 1900 ? 'processed' : 'queued',
        attempts: 2,
        last_error: 'common words',
        refs: ['cus_all'],
      }),
    )
    await insertEvents(fresh.project, events)
    oldest = events.slice(0, 3).map(({ id }) => id)
  })

  /** Each finds the three oldest events, or none, behind thousands of others: the bound is what a page costs. */
  it.each<[string, Query, number]>([
    ['ref + vendor', { ref: 'cus_all', vendor: 'shopify' }, 3],
    ['ref + livemode', { ref: 'cus_all', livemode: false }, 3],
    ['error + vendor', { error: 'common', vendor: 'shopify' }, 3],
    ['error, none', { error: 'no such words' }, 0],
    ['min_attempts + livemode', { min_attempts: 2, livemode: false }, 3],
    ['status + vendor', { status: ['processed'], vendor: 'shopify' }, 3],
    ['open status + vendor', { status: ['queued'], vendor: 'shopify' }, 0],
    ['an open and a final status + vendor', { status: ['retrying', 'processed'], vendor: 'shopify' }, 3],
    ['a prefix of 900 types + vendor', { event_type: ['many.*'], vendor: 'shopify' }, 3],
    [
      'three prefixes of 100 types + vendor',
      { event_type: ['many.00*', 'many.01*', 'many.02*'], vendor: 'shopify' },
      3,
    ],
  ])('%s: at most 10,000 rows a page, and a cursor to the end', async (_, query, found) => {
    for (const limit of [1, 100]) {
      const costs = await costOfAll(read, `${pathOf(query)}&limit=${limit}`)
      expect(Math.max(...costs.map(({ rows }) => rows))).toBeLessThanOrEqual(10_000)
      expect(idsOf(costs.map(({ body }) => body))).toEqual(oldest.slice(0, found).reverse())
      expect(costs.length).toBeLessThanOrEqual(10)
    }
    // A quiet connection's few events are found at once, however many others an index would have to go through.
    if (query.vendor === undefined && query.livemode === undefined) return
    const { rows, body } = await costOf(read, `${pathOf(query)}&limit=100`)
    expect(body).toMatchObject({ has_more: false, next_cursor: null })
    expect(rows).toBeLessThanOrEqual(6000)
  })
})
