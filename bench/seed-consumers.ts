/* Fills a local D1 with consumers, as src/consumers and src/devices write them, by INSERT … SELECT inside SQLite. */
import { createHash } from 'node:crypto'
import { type Database, type Seeded, seedAccess } from './seed.ts'

/** The number of the consumer that the questions are about, and the token of its first device. */
export const ONE = 502
export const TOKEN = `svc_dv_${'0'.repeat(64)}`

/**
 * What each consumer has: an external id, a customer that is linked to it (every hundredth has none), a subscription of that
 * customer, and two devices. One customer has a third of the subscriptions.
 */
const ROWS = [
  `INSERT INTO consumers (project_id, id, email, metadata, state, merged_into, revision, created_at, updated_at)
   SELECT ?1, printf('csm_0000000000%016d', v), 'c' || v || '@example.com', '{}',
     CASE WHEN v % 10 = 0 THEN 'blocked' WHEN v % 10 = 1 THEN 'merged' ELSE 'active' END,
     CASE WHEN v % 10 = 1 THEN 'csm_00000000000000000000000002' END, 1, 0, 0 FROM n`,
  `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
   SELECT ?1, 'u' || v, printf('csm_0000000000%016d', v), 0, 0 FROM n`,
  `INSERT INTO customer_links (project_id, customer, vendor, said, said_rank)
   SELECT ?1, printf('cus_%06d', v), 'stripe', CASE WHEN v % 100 = 7 THEN 'nobody' ELSE 'u' END || v, '' FROM n`,
  `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
   SELECT ?1, 'subscription', 'sub_' || v, 'stripe', CASE WHEN v % 3 = 0 THEN 'cus_000000' ELSE printf('cus_%06d', v) END,
     'active', 1, '[{"body":{"status":"active"}}]' FROM n`,
  `INSERT INTO devices (project_id, token_hash, id, consumer_id, installation_id, platform, state, last_seen_at, created_at)
   SELECT ?1, CASE WHEN v = ${ONE} AND d.value = 1 THEN ?4 ELSE printf('%064d', 2 * v + d.value) END,
     printf('dev_0000000000%016d', 2 * v + d.value), printf('csm_0000000000%016d', v), 'i' || d.value, 'ios', 'active', ?3, ?3
     FROM n CROSS JOIN json_each('[0,1]') d`,
]

/** Seeds `total` consumers in one project. */
export async function seedConsumers(db: Database, total: number, now: number): Promise<Seeded> {
  const began = performance.now()
  const access = await seedAccess(db, now)
  const numbers = 'WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?2)'
  const hash = createHash('sha256').update(TOKEN).digest('hex')
  for (const rows of ROWS) {
    const values = [access.project, total, now, hash]
    const named = Math.max(...[...rows.matchAll(/\?(\d)/g)].map(([, n]) => Number(n)), 2)
    await db
      .prepare(rows.replace(/^(INSERT[^)]*\))/, `$1 ${numbers}`))
      .bind(...values.slice(0, named))
      .run()
  }
  const { meta } = await db.prepare('SELECT 1').run()
  return { ...access, bytes: meta.size_after ?? 0, seconds: (performance.now() - began) / 1000 }
}
