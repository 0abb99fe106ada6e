import { beforeAll, describe, expect, it } from 'vitest'
import {
  MAX_BODIES_READ_OF_SET,
  MAX_OWN_CUSTOMERS,
  MAX_ROWS_READ,
  MAX_SCANNED_OF_SET,
  MAX_SORTED,
} from '../../src/billing/limits'
import { MAX_CUSTOMERS, MAX_EXTERNAL_IDS } from '../../src/consumers/limits'
import { stopClock } from '../clock'
import { insertConsumer } from '../consumers/rows'
import { countingD1, STORE } from '../harness'
import { insertEvents, seedEvent, walk } from '../inbox/seeding'
import { insertObjects } from './rows'
import { type BillingWorld, billingWorld, type Shown } from './world'

// Once a minute, a key's use is written, which would be a trip more.
beforeAll(() => void stopClock())

/* What the lists of one consumer's objects cost, in D1's own figures, with as many customers and objects as there may be. */

/** Links customers of Stripe to an external id. */
const LINK = `INSERT INTO customer_links (project_id, customer, vendor, said, said_rank)
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?3)
  SELECT ?1, ?2 || '_' || i, 'stripe', ?2, '2026-01-01T00:00:00.000000000 1 evt_1 evt_00000000000000000000000000' FROM n`
/** Moves every n-th invoice to these customers in turn. */
const GIVE = `UPDATE billing_objects SET customer = ?2 || '_' || (CAST(substr(vendor_id, 4) AS INTEGER) / CAST(?4 AS INTEGER) % CAST(?3 AS INTEGER))
  WHERE project_id = ?1 AND kind = 'invoice' AND CAST(substr(vendor_id, 4) AS INTEGER) % CAST(?4 AS INTEGER) = 0`

/** @param every of how many invoices in turn one is the consumer's */
async function linked(project: string, externalId: string, customers: number, every: number) {
  await STORE.prepare(LINK).bind(project, externalId, customers).run()
  await STORE.prepare(GIVE).bind(project, externalId, customers, every).run()
}

async function invoices(world: BillingWorld, n: number) {
  for (let from = 0; from < n; from += 1000) {
    const ids = Array.from({ length: Math.min(1000, n - from) }, (_, i) => `in_${String(from + i).padStart(6, '0')}`)
    await insertObjects(world.project, 'invoice', ids)
  }
}

/** All objects of a list, its pages, and the most rows that one of them read. */
async function walked(world: BillingWorld, path: string, limit: number) {
  let most = 0
  const pages = await walk(
    async (path) => {
      const { DB, count } = countingD1()
      const answer = await world.api(path, { bindings: { DB } })
      expect([answer.status, count.trips <= (path.startsWith('/webhooks') ? 5 : 1)], answer.text).toEqual([200, true])
      most = Math.max(most, count.rows_read)
      return answer
    },
    path,
    limit,
  )
  return { pages, most, ids: pages.flatMap(({ data }) => data.map(({ id }: Shown) => id)) }
}

describe('the invoices of a consumer, among many of others', () => {
  const ALL = 6_000
  let world: BillingWorld
  let consumer: string
  const every = (n: number) =>
    Array.from({ length: ALL }, (_, i) => i)
      .filter((i) => i % n === 0)
      .map((i) => `in_${String(i).padStart(6, '0')}`)
      .reverse()
  beforeAll(async () => {
    world = await billingWorld()
    await invoices(world, ALL)
    // The others belong to a consumer too, which takes a row more to see: `cus_1` is one of its customers.
    consumer = await insertConsumer(world.project, 'cus')
    await STORE.prepare(LINK).bind(world.project, 'cus', 2).run()
  }, 120_000)

  it('a page of everybody’s, and one invoice, take one trip: finding the consumer reads two rows for a linked object, else one', async () => {
    // Of a page, the row after it is read too.
    for (const [path, rows] of [
      ['/invoices?limit=100', 101],
      ['/invoices/in_000001', 1],
    ] as const) {
      const cost = async () => {
        const { DB, count } = countingD1()
        const { status, text } = await world.api(path, { bindings: { DB } })
        expect([status, count.trips], text).toEqual([200, 1])
        return { read: count.rows_read, text }
      }
      const linked = await cost()
      expect(linked.text).toContain(`"consumer_id":"${consumer}"`)
      await STORE.prepare("UPDATE customer_links SET said = NULL WHERE customer = 'cus_1'").run()
      const free = await cost()
      await STORE.prepare("UPDATE customer_links SET said = 'cus' WHERE customer = 'cus_1'").run()
      expect([path, linked.read - free.read]).toEqual([path, rows])
      expect(linked.read).toBeLessThanOrEqual(6 * rows + 6)
    }
  })

  it('as many as are sorted, of as many customers: every page takes one trip, and reads a bounded number of rows', async () => {
    await insertConsumer(world.project, 'few')
    await linked(world.project, 'few', MAX_OWN_CUSTOMERS, ALL / MAX_SORTED)
    const { ids, most, pages } = await walked(world, '/invoices?consumer=ext:few', 100)
    expect(ids).toEqual(every(ALL / MAX_SORTED))
    expect(pages.every(({ truncated }) => !truncated)).toBe(true)
    // Each of them is counted, read and sorted; then those of the page, with their sizes and consumers.
    expect(most).toBeLessThanOrEqual(4 * MAX_SORTED + 300)
  })

  it('for more customers than that, they are found among the invoices of others, in the same order', async () => {
    await insertConsumer(world.project, 'many')
    await linked(world.project, 'many', MAX_OWN_CUSTOMERS + 1, 600)
    const { ids, most, pages } = await walked(world, '/invoices?consumer=ext:many', 4)
    expect(ids).toEqual(every(600))
    expect(pages.some(({ truncated }) => truncated)).toBe(true)
    expect(pages.length).toBeLessThan(4 + ALL / MAX_SCANNED_OF_SET + 1)
    expect(most).toBeLessThanOrEqual(MAX_ROWS_READ)
  })

  it('more than are sorted, and as many external ids and customers of each as there may be', async () => {
    const names = Array.from({ length: MAX_EXTERNAL_IDS }, (_, n) => `name${n}`)
    await insertConsumer(world.project, ...names)
    for (const name of names) await STORE.prepare(LINK).bind(world.project, name, 150).run()
    await STORE.prepare(GIVE).bind(world.project, 'name99', 100, 4).run()
    for (const query of [
      '',
      '&metadata[no]=such',
      '&status=void',
      '&customer=name99_0',
      '&vendor=paddle',
      '&livemode=true',
      '&livemode=true&metadata[no]=such',
      '&livemode=false',
    ]) {
      const { most, ids } = await walked(world, `/invoices?consumer=ext:name3${query}`, 100)
      expect(most, query).toBeLessThanOrEqual(query.includes('metadata') ? MAX_BODIES_READ_OF_SET : MAX_ROWS_READ)
      if (query === '' || query === '&livemode=true') expect(ids).toEqual(every(4))
    }
    // Of the newest, few are the consumer's: a page goes through all that it may, and shows almost as many as it may.
    await STORE.prepare(
      `UPDATE billing_objects SET customer = iif(CAST(substr(vendor_id, 4) AS INTEGER) % 19 = 0, 'name99_0', 'cus_1')
        WHERE project_id = ?1 AND kind = 'invoice' AND CAST(substr(vendor_id, 4) AS INTEGER) >= ?2`,
    )
      .bind(world.project, ALL - MAX_SCANNED_OF_SET)
      .run()
    const { most, pages } = await walked(world, '/invoices?consumer=ext:name3', 100)
    expect([pages[0]?.data.length, pages[0]?.truncated]).toEqual([Math.floor(MAX_SCANNED_OF_SET / 19), true])
    expect(most).toBeLessThanOrEqual(MAX_ROWS_READ)
  }, 60_000)
})

describe('the events of a consumer, among many of others', () => {
  const ALL = 6_000
  let world: BillingWorld
  const ids = { few: [] as string[], many: [] as string[] }
  beforeAll(async () => {
    world = await billingWorld()
    await insertConsumer(world.project, 'few')
    await insertConsumer(world.project, 'many')
    await insertConsumer(world.project, 'others')
    await STORE.prepare(LINK).bind(world.project, 'few', MAX_CUSTOMERS).run()
    await STORE.prepare(LINK)
      .bind(world.project, 'many', MAX_CUSTOMERS + 1)
      .run()
    await STORE.prepare(LINK).bind(world.project, 'others', 1).run()
    const events = Array.from({ length: ALL }, (_, n) => {
      const customer = n % 3 === 0 ? `few_${(n / 3) % 100}` : n % 400 === 1 ? `many_${n % 101}` : 'others_0'
      const connection = world.connection.id
      return seedEvent({ connection, received_at: Date.now() - ALL + n, refs: [customer, 'sub_all'] })
    })
    await insertEvents(world.project, events)
    await STORE.prepare(
      `UPDATE events SET summary = json_object('customer', (SELECT ref FROM refs
        WHERE project_id = ?1 AND event_id = events.id AND ref <> 'sub_all')) WHERE project_id = ?1`,
    )
      .bind(world.project)
      .run()
    for (const name of ['few', 'many'] as const)
      ids[name] = events.filter(({ refs }) => refs[0]?.startsWith(name)).map(({ id }) => id)
  }, 120_000)

  it.each([
    ['few', 'of as many customers as are looked up', ''],
    ['few', 'with another filter that an index answers', '&ref=sub_all'],
    ['many', 'of more customers than that', ''],
  ] as const)('%s: %s', async (name, _, query) => {
    const pages = await walked(world, `/webhooks/search?consumer=ext:${name}${query}`, 100)
    expect(pages.ids).toEqual(ids[name].toReversed())
    expect(pages.most).toBeLessThanOrEqual(10_000)
  })
})
