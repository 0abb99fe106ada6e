import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { drain, STORE, stripeEvent, tamperedD1 } from '../harness'
import { advance, newWorld, rows, settle, stopClock, type World } from '../inbox/pipeline'

/*
 * SQLite finds a row by comparing whole records of a key, and in a table WITHOUT ROWID that is the whole row. Where one
 * goes beyond its page, all of it is read at every comparison, so that a neighbour with large rows would make each
 * look-up of everybody slow. Neither the rows that D1 counts nor a plan shows this; the size of the records does.
 */

beforeEach(() => {
  stopClock()
})

const LARGEST = { note: 'x'.repeat(MAX_DELIVERY_BYTES - 1000) }
/** Bytes of a row that has nothing large in it. */
const SMALL = 4000

/** The largest record of each table's key, in bytes. */
async function largestRecords(): Promise<Record<string, number>> {
  const tables = await rows<{ name: string; columns: string }>(
    `SELECT m.name, group_concat('coalesce(octet_length("' || c.name || '"), 0)', ' + ') AS columns
      FROM sqlite_master m CROSS JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.sql LIKE '%WITHOUT ROWID' GROUP BY m.name`,
  )
  expect(tables.length).toBeGreaterThan(10)
  const found = tables.map(async ({ name, columns }) => {
    const [row] = await rows<{ bytes: number }>(`SELECT coalesce(max(${columns}), 0) AS bytes FROM ${name}`)
    return [name, row?.bytes ?? 0] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

/** A world with the largest deliveries: text, and bytes that are not UTF-8. */
async function largeWorld(): Promise<World> {
  const world = await newWorld()
  for (const fields of [LARGEST, LARGEST, LARGEST]) {
    expect((await world.send(stripeEvent('charge.succeeded', { object: 'charge', ...fields }))).status).toBe(200)
  }
  await settle(world)
  return world
}

describe('the records of keys', () => {
  it('are small after the largest deliveries: no body is in one', async () => {
    const world = await largeWorld()
    await world.send({ ...stripeEvent(), data: {}, ...LARGEST })
    await settle(world)
    const large = Object.entries(await largestRecords()).filter(([, bytes]) => bytes > SMALL)
    expect(large).toEqual([])
  })

  it('stay within a few pages where events say as much of what they did as they can', async () => {
    const world = await newWorld()
    const itemsOf = (quantity: number) => ({
      object: 'list',
      data: Array.from({ length: 250 }, (_, n) => ({
        id: `si_${n}`,
        object: 'subscription_item',
        quantity,
        price: { id: `price_${String(n).padStart(20, '0')}`, product: `prod_${String(n).padStart(20, '0')}` },
      })),
    })
    const long = '€'.repeat(100)
    const words = { status: long, latest_invoice: long, default_payment_method: long, currency: long, customer: long }
    for (const quantity of [1, 2]) {
      await world.send(
        stripeEvent('customer.subscription.updated', { ...words, id: 'sub_large', items: itemsOf(quantity) }),
      )
      advance(1000)
      await world.queue.pump()
    }
    const { body } = await world.api('/webhooks?view=summary&limit=1')
    expect(body.data[0]?.decoded_summary?.effects).toMatchObject([
      { result: 'applied', change: { items: { from: null, to: null, too_large: true } } },
    ])
    const { events } = await largestRecords()
    expect(events).toBeGreaterThan(SMALL / 4)
    expect(events).toBeLessThan(12_000)
  })

  it('of no index hold a body', async () => {
    const columns = await rows<{ name: string }>(
      `SELECT DISTINCT i.name FROM sqlite_master m CROSS JOIN pragma_index_info(m.name) i
        WHERE m.type = 'index' AND m.tbl_name IN ('bodies', 'packed_bodies')`,
    )
    expect(columns.map(({ name }) => name)).toEqual(['project_id', 'id'])
  })
})

/** What each statement of these requests does with the table of the bodies, in SQLite's own code. */
type Opcode = { opcode: string; p1: number; p2: number; p4: string | null; p5: number }

/** The statements that a piece of work sends, with their values. */
async function statementsOf(work: (DB: D1Database) => Promise<unknown>) {
  const seen: { sql: string; values: unknown[] }[] = []
  const DB = tamperedD1(({ sql, values, run }) => {
    seen.push(...sql.split(';\n').map((one, i) => ({ sql: one, values: values[i] ?? [] })))
    return run()
  })
  await work(DB)
  return seen
}

/**
 * How often a statement loads the column `body` with its bytes. SQLite marks a load of which only the type or the length
 * is used (p5: 0x80, 0x40): such a one reads no more than the head of the row.
 */
async function loadsOfBody({ sql, values }: { sql: string; values: unknown[] }): Promise<number> {
  const roots = await rows<{ rootpage: number; column: number }>(
    `SELECT m.rootpage, c.cid AS column FROM sqlite_master m CROSS JOIN pragma_table_info('packed_bodies') c
      WHERE m.name = 'packed_bodies' AND c.name = 'body'`,
  )
  const [root] = roots
  const { results } = await STORE.prepare(`EXPLAIN ${sql}`)
    .bind(...values)
    .all<Opcode>()
  const cursors = results.filter(({ opcode, p2 }) => /^Open(Read|Write)$/.test(opcode) && p2 === root?.rootpage)
  const isBody = ({ opcode, p1, p2, p5 }: Opcode) =>
    opcode === 'Column' && p2 === root?.column && (p5 & 0xc0) === 0 && cursors.some((cursor) => cursor.p1 === p1)
  return results.filter(isBody).length
}

describe('the bodies', () => {
  const of = (seen: { sql: string; values: unknown[] }[], what: RegExp) =>
    seen.filter(({ sql }) => what.test(sql) && sql.includes('"packed_bodies"'))

  it('are not read to ask whether they are there: a bulk replay', async () => {
    const world = await largeWorld()
    const seen = await statementsOf((DB) =>
      world.api('/webhooks/replay', { method: 'POST', json: { filter: {} }, bindings: { DB } }),
    )
    const asking = of(seen, /./)
    expect(asking).toHaveLength(3) // the totals, first attempts, the events
    for (const one of asking) expect(await loadsOfBody(one), one.sql).toBe(0)
  })

  it('are not read to see how many fit into memory: a claim', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    const bodies = world.queue.sent.map(({ body }) => body)
    const seen = await statementsOf((DB) => drain(bodies, { DB, EVENTS: world.queue.EVENTS }))
    const [claim, ...others] = of(seen, /"tries" \+ 1/)
    expect(others).toEqual([])
    expect(claim && (await loadsOfBody(claim))).toBe(0)
    // The reading itself is recognized, so that the figures above can be other than 0.
    const [read] = of(seen, /^select/i)
    expect(read && (await loadsOfBody(read))).toBe(3) // as text, or as hexadecimal in two parts
  })
})
