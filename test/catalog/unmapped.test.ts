import { expect, it } from 'vitest'
import { insertObjects } from '../billing/rows'
import { call, countingD1, STORE } from '../harness'
import { newWorld } from '../routes/world'

const PATH = '/platform/v1/billing/plans/unmapped-prices'
const N = 1_000

/** A project with {@link N} subscriptions, each with so many items, whose prices are its own; the one with the highest number changed last. */
async function subscribed(items: number) {
  const { project, secret } = await newWorld()
  await insertObjects(project, 'subscription', ['sub_first'])
  const { results } = await STORE.prepare(
    "SELECT name FROM pragma_table_xinfo('billing_objects') WHERE hidden = 0",
  ).all()
  const set: Record<string, string> = {
    vendor_id: "printf('sub_%05d', n.v)",
    updated: "printf('2026-01-01T00:00:00.%06d000', n.v)",
    candidates: "json_set(r.candidates, '$[0].body.items', json(replace(?2, 'price_', 'price_' || n.v || '_')))",
  }
  const names = results.map(({ name }) => name as string)
  const each = Array.from({ length: items }, (_, i) => ({
    price: `price_${i}`.padEnd(100, 'x'),
    product: null,
    price_name: 'n'.repeat(200),
    quantity: 1,
  }))
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${N})
     INSERT INTO billing_objects (${names.join()}) SELECT ${names.map((name) => set[name] ?? `r.${name}`).join()}
     FROM (SELECT * FROM billing_objects WHERE project_id = ?1 AND vendor_id = 'sub_first') r, n`,
  )
    .bind(project, JSON.stringify(each))
    .run()
  const { DB, count } = countingD1()
  const { status, body } = await call(PATH, { project, token: secret, bindings: { DB } })
  const prices = (body.prices as { price: string }[]).map(({ price }) => price)
  return { status, prices, rows: count.rows_read }
}

const ITEM = { price: 'price_1', variant: 'variant_1', product: 'product_1', quantity: 1 }

it.each(['price', 'variant', 'product'] as const)('an item whose %s a plan has is not among them', async (name) => {
  const { project, owner } = await newWorld()
  await insertObjects(project, 'subscription', ['sub_1'])
  await STORE.prepare(
    "UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.items', json(?)) WHERE project_id = ?",
  )
    .bind(JSON.stringify([ITEM]), project)
    .run()
  const by = { project, token: owner.token }
  const listed = async () => (await call(PATH, by)).body.prices.map(({ price }: { price: string }) => price)
  expect(await listed()).toEqual(['price_1'])
  const json = { key: 'plan', name: 'Plan', prices: [{ vendor: 'stripe', ref: ITEM[name] }] }
  expect((await call('/platform/v1/billing/plans', { ...by, method: 'POST', json })).status).toBe(201)
  expect(await listed()).toEqual([])
})

it('of ordinary subscriptions, all of the newest thousand are looked at', async () => {
  const { status, prices, rows } = await subscribed(1)
  expect(status).toBe(200)
  // The prices of the first ones by name are among them, although they are the oldest of the thousand.
  expect(prices[0]).toMatch(/^price_1000_0/)
  expect(prices).toContainEqual(expect.stringMatching(/^price_101_0/))
  expect(rows).toBeLessThan(12_000)
})

it('of subscriptions with a hundred items, so many of the newest are looked at that the database serves others too', async () => {
  const { status, prices, rows } = await subscribed(100)
  expect(status).toBe(200)
  expect(prices.every((price) => /^price_(9\d\d|1000)_/.test(price))).toBe(true)
  expect(rows).toBeLessThan(40_000)
})
