/* Fills a local D1 with consumers, their devices and grants, and a catalog. */
import { createHash } from 'node:crypto'
import { CONSUMERS, GRANTS, numbered, ONE, PURCHASES } from './consumer-rows.ts'
import { type Database, type Seeded, seedAccess } from './seed.ts'

/** The token of the first device of the consumer {@link ONE}. */
export const TOKEN = `svc_dv_${'0'.repeat(64)}`
/** What checks ask about. Plans give the first two, and a grant the third. */
export const ASKED = ['flag_1', 'amount_1', 'seats']

const DEVICES = `INSERT INTO devices (project_id, token_hash, id, consumer_id, installation_id, platform, state, last_seen_at, created_at)
   SELECT ?1, CASE WHEN v = ${ONE} AND d.value = 1 THEN ?4 ELSE printf('%064d', 2 * v + d.value) END,
     printf('dev_0000000000%016d', 2 * v + d.value), printf('csm_0000000000%016d', v), 'i' || d.value, 'ios', 'active', ?3, ?3
     FROM n CROSS JOIN json_each('[0,1]') d`

/** The names of consumers. */
const CALLED = `UPDATE consumers SET name = printf('First%d Last%d', ltrim(substr(id, -6), '0') % 20, ltrim(substr(id, -6), '0') % 1000)
   WHERE project_id = ?1`
/** Customers with names and email addresses, and their invoices with numbers. */
const TOLD = `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
   SELECT ?1, k.value, k.value || printf('_%06d', v), 'stripe', iif(k.value = 'customer', NULL, printf('cus_%06d', v)), 'paid', 1,
     json_array(json_object('event_id', 'evt_' || v, 'body', json_object('name', printf('Name%d Last%d', v % 20, v % 1000),
       'email', 'c' || v || '@example.com', 'number', 'INV-' || v, 'livemode', json('true'), 'updated_at', '2026-11-01T00:00:00Z')))
     FROM n CROSS JOIN json_each('["customer","invoice"]') k`

/** The keys of names of two words, as `keysOf` in src/lib/names.ts makes them. */
const keysOf = (name: string) => `json_array(${name}, lower(${name}),
   lower(substr(${name}, instr(${name}, ' ') + 1) || ' ' || substr(${name}, 1, instr(${name}, ' ') - 1)))`
const CUSTOMER_NAME = `(candidates ->> '$[0].body.name')`
const KEYED = [
  `UPDATE consumers SET name_keys = ${keysOf('name')} WHERE project_id = ?1`,
  `UPDATE billing_objects SET name_keys = ${keysOf(CUSTOMER_NAME)} WHERE project_id = ?1 AND kind = 'customer'`,
]

/** 20 features, and 5 plans with a price each, which have all of them. */
const CATALOG = [
  `INSERT INTO features (project_id, key, name, type, combine, created_at)
   WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 10)
   SELECT ?1, 'flag_' || v, 'A flag', 'boolean', NULL, 0 FROM n WHERE true
   UNION ALL SELECT ?1, iif(v = 10, 'seats', 'amount_' || v), 'An amount', 'quantity', 'max', 0 FROM n`,
  `INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
   SELECT ?1, printf('pln_%026d', p.value), 'plan_' || p.value, 'A plan', p.value, 'active',
     (SELECT json_group_object(key, json_object('value', iif(type = 'boolean', json('true'), p.value), 'per_seat', json('false')))
       FROM features WHERE project_id = ?1 AND key <> 'seats'), 1, 0 FROM json_each('[0,1,2,3,4]') p`,
  `INSERT INTO plan_refs (project_id, vendor, ref, plan_id)
   SELECT ?1, 'stripe', 'price_' || p.value, printf('pln_%026d', p.value) FROM json_each('[0,1,2,3,4]') p`,
]

/** Seeds `total` consumers in one project. */
export async function seedConsumers(db: Database, total: number, now: number): Promise<Seeded> {
  const began = performance.now()
  const access = await seedAccess(db, now)
  await insertConsumers(db, access.project, total)
  const hash = createHash('sha256').update(TOKEN).digest('hex')
  await db.prepare(numbered(DEVICES)).bind(access.project, total, now, hash).run()
  const { meta } = await db.prepare('SELECT 1').run()
  return { ...access, bytes: meta.size_after ?? 0, seconds: (performance.now() - began) / 1000 }
}

/** Seeds `total` consumers in one project, with names, and as many customers and invoices. */
export async function seedNames(db: Database, total: number, now: number): Promise<Seeded> {
  const began = performance.now()
  const { project, ...of } = await seedConsumers(db, total, now)
  await db.prepare(CALLED).bind(project).run()
  await db.prepare(numbered(TOLD)).bind(project, total).run()
  for (const keys of KEYED) await db.prepare(keys).bind(project).run()
  const { meta } = await db.prepare('SELECT 1').run()
  return { ...of, project, bytes: meta.size_after ?? 0, seconds: (performance.now() - began) / 1000 }
}

/** How long one-time payments give the five plans. */
const LASTING = `INSERT INTO plan_refs (project_id, vendor, ref, plan_id, lasts)
   SELECT ?1, 'stripe', 'once_' || p.value, printf('pln_%026d', p.value), 'P1Y' FROM json_each('[0,1,2,3,4]') p`

/** Seeds `total` consumers in one project, with purchases. */
export async function seedBuyers(db: Database, total: number, now: number): Promise<Seeded> {
  const began = performance.now()
  const access = await seedAccess(db, now)
  await insertConsumers(db, access.project, total)
  await db.prepare(LASTING).bind(access.project).run()
  await db.prepare(numbered(PURCHASES)).bind(access.project, total).run()
  const { meta } = await db.prepare('SELECT 1').run()
  return { ...access, bytes: meta.size_after ?? 0, seconds: (performance.now() - began) / 1000 }
}

/** Consumers of a project that has none, with a grant each, and a catalog. */
export async function insertConsumers(db: Database, project: string, total: number): Promise<void> {
  for (const rows of [...CONSUMERS, GRANTS]) await db.prepare(numbered(rows)).bind(project, total).run()
  for (const rows of CATALOG) await db.prepare(rows).bind(project).run()
}
