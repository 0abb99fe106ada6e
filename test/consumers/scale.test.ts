import { beforeAll, expect, it } from 'vitest'
import { countingD1, freshKey, NO_LIMIT, type RequestOptions, STORE } from '../harness'
import { as } from './consumers'

/* What reads of consumers and customers cost does not grow with their number: rows read at two sizes. */

const SIZES = [1_000, 100_000]

/** Rows for `n` consumers, each with an external id, a customer that is linked to it, and a subscription of that customer. */
const SEEDS = [
  `INSERT INTO consumers (project_id, id, email, metadata, state, merged_into, revision, created_at, updated_at)
   SELECT ?1, printf('csm_0000000000%016d', v), 'c' || v || '@example.com', '{}',
     CASE WHEN v % 10 = 0 THEN 'blocked' WHEN v % 10 = 1 THEN 'merged' ELSE 'active' END,
     CASE WHEN v % 10 = 1 THEN 'csm_00000000000000000000000002' END, 1, 0, 0 FROM n`,
  `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
   SELECT ?1, 'u' || v, printf('csm_0000000000%016d', v), 0, 0 FROM n`,
  `INSERT INTO customer_links (project_id, customer, vendor, said, said_rank)
   SELECT ?1, printf('cus_%06d', v), 'stripe', 'u' || v, '' FROM n`,
  // One customer has a third of the subscriptions.
  `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
   SELECT ?1, 'subscription', 'sub_' || v, 'stripe', CASE WHEN v % 3 = 0 THEN 'cus_000000' ELSE printf('cus_%06d', v) END,
     'active', 1, '[{"body":{"status":"active"}}]' FROM n`,
]

const worlds: { project: string; secret: string }[] = []
beforeAll(async () => {
  for (const size of SIZES) {
    const world = await freshKey()
    for (const seed of SEEDS) {
      const numbers = 'WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?2)'
      await STORE.prepare(seed.replace(/^(INSERT[^)]*\))/, `$1 ${numbers}`))
        .bind(world.project, size)
        .run()
    }
    worlds.push(world)
  }
}, 120_000)

type Api = ReturnType<typeof as>

it.each<[string, number, (api: Api, options: RequestOptions) => ReturnType<Api['list']>]>([
  ['the list of consumers', 220, (api, o) => api.list('', o)],
  ['… by email', 30, (api, o) => api.list('?email=c702@example.com', o)],
  ['… active ones', 250, (api, o) => api.list('?state=active', o)],
  ['… blocked ones', 220, (api, o) => api.list('?state=blocked', o)],
  ['one consumer by its id', 30, (api, o) => api.get('csm_00000000000000000000000502', o)],
  ['one consumer by its external id', 30, (api, o) => api.get('ext:u502', o)],
  ['an upsert', 40, (api, o) => api.put('u502', { name: 'X' }, o)],
  ['a change', 40, (api, o) => api.patch('ext:u503', { name: 'X' }, o)],
  ['a merge', 80, (api, o) => api.merge('ext:u504', 'ext:u505', o)],
  ['the list of customers', 300, (api, o) => api.customers('', o)],
  ['… of a consumer', 60, (api, o) => api.customers('?consumer=ext:u502', o)],
  ['… without a consumer', 10_000, (api, o) => api.customers('?linked=false', o)],
  ['… of another vendor', 10_000, (api, o) => api.customers('?vendor=paddle', o)],
])('%s reads the same rows among 1,000 and 100,000, at most %i', async (_, most, ask) => {
  const reads: number[] = []
  for (const { project, secret } of worlds) {
    const { DB, count } = countingD1()
    const api = as(project, secret)
    const answer = await ask(api, { bindings: { DB, LIMIT_CREDENTIAL: NO_LIMIT } })
    expect(answer.status, answer.text).toBe(200)
    reads.push(count.rows_read)
  }
  const [small = 0, large = 0] = reads
  expect(Math.abs(large - small), String(reads)).toBeLessThanOrEqual(5)
  expect(large).toBeLessThanOrEqual(most)
})
