import { MAX_LIVE_KEYS } from '../../src/api-keys/limits'
import { MAX_CATALOG_BYTES, MAX_FEATURES, MAX_FEATURES_OF_PLAN, MAX_PLANS } from '../../src/catalog/limits'
import { MAX_CUSTOMERS, MAX_EXTERNAL_IDS, MAX_GRANTS, MAX_MERGED, MAX_METADATA } from '../../src/consumers/limits'
import { MAX_DOMAINS } from '../../src/domains/limits'
import { MAX_DERIVED } from '../../src/entitlements/limits'
import { MAX_CONNECTIONS } from '../../src/inbox/connections/limits'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { SCOPES } from '../../src/lib/access'
import { MAX_PENDING } from '../../src/members/limits'
import { MAX_REDIRECT_URI, MAX_REDIRECT_URIS, MAX_SSO_CONNECTIONS } from '../../src/sso/limits'
import { MAX_DEVICES } from '../../src/tenancy/limits'
import { insertObjects } from '../billing/rows'
import { call, DIRECTORY, STORE } from '../harness'
import { newWorld, type World } from '../routes/world'

/** Rows of what has no limit: more than any call may read. */
export const MANY = 6_000
export const MEMBERS = 1_000
const ITEMS_EACH = 10
/** Every other feature is a config of so many bytes, so that the plans together take nearly what a catalog may. */
const BYTES_OF_CONFIG = Math.floor((0.9 * MAX_CATALOG_BYTES) / MAX_PLANS / (MAX_FEATURES_OF_PLAN / 2) - 90)
/** Subscriptions of each customer of the consumer that is read: with its grants, as many as a call derives entitlements from. */
const SUBSCRIPTIONS_EACH = Math.floor((MAX_DERIVED / MAX_FEATURES - MAX_GRANTS) / ITEMS_EACH / MAX_CUSTOMERS)

const text = (length: number) => `'${'x'.repeat(length)}'`
/** The id of a copy: that of the row, its end counted. */
const ID = "substr(r.id, 1, length(r.id) - 6) || printf('%06d', n.v)"

type Copies = { table: string; of: string; n: number; set: Record<string, string> }

/**
 * Copies one row many times.
 *
 * @param of the condition that finds the row
 * @param set expressions of the columns that differ, over the row `r` and the number `n.v` of the copy
 */
async function copy(db: D1Database, { table, of, n, set }: Copies): Promise<void> {
  const { results } = await db.prepare(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`).all()
  const columns = results.map(({ name }) => name as string)
  const values = columns.map((name) => set[name] ?? `r.${name}`)
  await db
    .prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${n})
       INSERT INTO ${table} (${columns.join(', ')})
       SELECT ${values.join(', ')} FROM (SELECT * FROM ${table} WHERE ${of} LIMIT 1) r, n`,
    )
    .run()
}

/** A project that has as much of everything as its limits allow, and much of what has none. */
export async function largestProject(): Promise<World> {
  const world = await newWorld()
  await catalog(world)
  await people(world)
  await consumers(world)
  await billing(world)
  await inbox(world)
  await lastChange(world)
  return world
}

/** A change that somebody made, so that the newest ones name who. */
async function lastChange({ project, owner }: World) {
  const json = { name: 'SSO', type: 'boolean' }
  const { status, text } = await call('/platform/v1/billing/features/sso', {
    method: 'PUT',
    token: owner.token,
    project,
    json,
  })
  if (status !== 200) throw new Error(text)
}

async function people({ project, other, member, invitation, domain, sso, consumer, owner }: World) {
  const own = `project_id = '${project}'`
  const key = { table: 'api_keys', of: `id = '${other.key.id}'` }
  const kept = { id: ID, hash: 'r.hash || n.v', name: text(100), scopes: `'${JSON.stringify(SCOPES)}'` }
  await copy(STORE, { ...key, n: MAX_LIVE_KEYS - 2, set: kept })
  const revoked = { ...kept, id: `'key_' || substr(${ID}, 5) || 'r'`, hash: "r.hash || 'r' || n.v", revoked_at: '1' }
  await copy(STORE, { ...key, n: MANY, set: revoked })
  const user = "substr(r.user_id, 1, length(r.user_id) - 6) || printf('%06d', n.v)"
  const email = `n.v || substr(r.id, -8) || '@' || ${text(230)} || '.example'`
  await copy(DIRECTORY, { table: 'users', of: `id = '${member.user}'`, n: MEMBERS, set: { id: ID, email } })
  await copy(DIRECTORY, { table: 'members', of: `user_id = '${member.user}'`, n: MEMBERS, set: { user_id: user } })
  const open = { id: ID, email, send_error: text(200) }
  await copy(DIRECTORY, { table: 'invitations', of: `id = '${invitation.id}'`, n: MAX_PENDING - 2, set: open })
  const closed = { ...open, id: `${ID} || 'r'`, state: "'revoked'", expires_at: 'n.v', recent_sends: "'[]'" }
  await copy(DIRECTORY, { table: 'invitations', of: `id = '${invitation.id}'`, n: MANY, set: closed })
  const held = { id: ID, hostname: `${text(200)} || n.v || '.plain.dev'` }
  await copy(DIRECTORY, { table: 'domains', of: `id = '${domain}'`, n: MAX_DOMAINS - 1, set: held })
  const subject = { id: ID, subject: `${text(200)} || n.v`, email }
  const identity = { table: 'sso_identities', of: `${own} AND consumer_id = '${consumer}'` }
  await copy(DIRECTORY, { ...identity, n: MANY, set: subject })
  const uris = Array.from({ length: MAX_REDIRECT_URIS }, (_, i) =>
    `https://x.example/${i}`.padEnd(MAX_REDIRECT_URI, 'x'),
  )
  const settings = `json_set(r.settings, '$.redirect_uris', json('${JSON.stringify(uris)}'))`
  const provider = { id: ID, name: text(100), issuer: `'https://' || n.v || '.' || ${text(200)}`, settings }
  await copy(DIRECTORY, { table: 'sso_connections', of: `id = '${sso.id}'`, n: MAX_SSO_CONNECTIONS - 1, set: provider })
  const session = { id: ID, hash: 'r.hash || n.v', user_agent: text(200) }
  await copy(DIRECTORY, { table: 'sessions', of: `user_id = '${owner.user}'`, n: 1_000, set: session })
  // The service's own entries do not count to the day's limit.
  const entry = { id: ID, actor_type: "'system'", details: `json_object('note', ${text(1_900)})` }
  for (const db of new Set([DIRECTORY, STORE])) await copy(db, { table: 'audit_log', of: own, n: MANY, set: entry })
}

async function catalog({ project, plan }: World) {
  const own = `project_id = '${project}'`
  const feature = { table: 'features', of: `${own} AND key = 'sso'` }
  const named = { key: "printf('feature_%03d', n.v)", name: text(100), type: "iif(n.v % 2, 'config', 'boolean')" }
  await copy(STORE, { ...feature, n: MAX_FEATURES - 3, set: named })
  const features = Array.from({ length: MAX_FEATURES_OF_PLAN }, (_, i) => [
    `feature_${String(i + 1).padStart(3, '0')}`,
    { value: i % 2 === 0 ? 'x'.repeat(BYTES_OF_CONFIG) : true, per_seat: false },
  ])
  const given = `'${JSON.stringify(Object.fromEntries(features))}'`
  const like = { id: ID, key: "printf('plan_%03d', n.v)", name: text(100), features: given }
  await copy(STORE, { table: 'plans', of: `id = '${plan}'`, n: MAX_PLANS - 1, set: like })
  await STORE.prepare(`UPDATE plans SET features = ${given} WHERE id = ?`).bind(plan).run()
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 50)
     INSERT INTO plan_refs (project_id, vendor, ref, plan_id)
     SELECT p.project_id, 'stripe', 'price_' || p.key || '_' || n.v, p.id FROM plans p, n WHERE p.${own}`,
  ).run()
}

async function consumers({ project, consumer, device, grant, plan }: World) {
  const metadata = Object.fromEntries(
    Array.from({ length: MAX_METADATA }, (_, i) => [`${i}`.padEnd(40, 'k'), 'x'.repeat(500)]),
  )
  await STORE.prepare(`UPDATE consumers SET metadata = ?, name = ?, email = ? WHERE id = ?`)
    .bind(JSON.stringify(metadata), 'x'.repeat(100), `${'x'.repeat(240)}@x.example`, consumer)
    .run()
  const one = { table: 'consumers', of: `id = '${consumer}'` }
  await copy(STORE, { ...one, n: 2_000, set: { id: ID } })
  const merged = { id: `${ID} || 'm'`, metadata: "'{}'", state: "'merged'", merged_into: `'${consumer}'` }
  await copy(STORE, { ...one, n: MAX_MERGED, set: merged })
  const external = { external_id: `${text(190)} || n.v`, position: 'n.v' }
  await copy(STORE, {
    table: 'consumer_ids',
    of: `consumer_id = '${consumer}'`,
    n: MAX_EXTERNAL_IDS - 1,
    set: external,
  })
  const app = { id: ID, token_hash: 'r.token_hash || n.v', installation_id: `${text(150)} || n.v`, name: text(100) }
  await copy(STORE, { table: 'devices', of: `id = '${device}'`, n: MAX_DEVICES - 1, set: app })
  const gone = {
    ...app,
    id: `${ID} || 'r'`,
    token_hash: "r.token_hash || 'r' || n.v",
    state: "'revoked'",
    revoked_at: '1',
  }
  await copy(STORE, {
    table: 'devices',
    of: `id = '${device}'`,
    n: 1_000,
    set: { ...gone, installation_id: "'r' || n.v" },
  })
  const all = { id: ID, feature: 'NULL', plan_id: `'${plan}'`, value: 'NULL', reason: text(200) }
  await copy(STORE, { table: 'grants', of: `id = '${grant}'`, n: MAX_GRANTS - 1, set: all })
  const ended = { ...all, id: `${ID} || 'r'`, revoked_at: '1' }
  await copy(STORE, { table: 'grants', of: `id = '${grant}'`, n: 1_000, set: ended })
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${MANY})
     INSERT INTO customer_links (project_id, customer, vendor, pinned)
     SELECT '${project}', printf('cus_%05d', v), 'stripe', CASE WHEN v <= ${MAX_CUSTOMERS} THEN '${consumer}' END FROM n
     WHERE true ON CONFLICT DO UPDATE SET pinned = excluded.pinned`,
  ).run()
}

async function billing({ project }: World) {
  await insertObjects(project, 'subscription', ['sub_largest'])
  const metadata = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'x'.repeat(500)])))
  const price = (n: number) => ({ price: `price_plan_${String(n).padStart(3, '0')}_1`, product: null, quantity: 1 })
  const items = JSON.stringify(Array.from({ length: ITEMS_EACH }, (_, i) => price(i + 1)))
  await STORE.prepare(
    `UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.metadata', json(?1), '$[0].body.items', json(?2))
     WHERE project_id = ?3 AND vendor_id IN ('sub_largest', 'sub_sample', 'in_sample')`,
  )
    .bind(metadata, items, project)
    .run()
  const of = `project_id = '${project}' AND vendor_id = 'sub_largest'`
  const customer = `printf('cus_%05d', 1 + n.v % ${MAX_CUSTOMERS})`
  const candidates = `json_set(r.candidates, '$[0].body.customer', ${customer})`
  const n = MAX_CUSTOMERS * SUBSCRIPTIONS_EACH
  await copy(STORE, {
    table: 'billing_objects',
    of,
    n,
    set: { vendor_id: "printf('sub_%05d', n.v)", customer, candidates },
  })
  for (const [kind, one] of [
    ['invoice', 'in_sample'],
    ['payment_method', 'pm_sample'],
    ['purchase', 'pi_sample'],
  ] as const) {
    const like = `project_id = '${project}' AND vendor_id = '${one}'`
    const set = { vendor_id: `'${kind}' || printf('_%05d', n.v)`, customer, candidates }
    await copy(STORE, { table: 'billing_objects', of: like, n: 2_000, set })
  }
}

async function inbox({ project, connection, event, replay }: World) {
  const own = `project_id = '${project}'`
  const name = { id: ID, name: text(100), secrets: "'[]'" }
  await copy(STORE, { table: 'connections', of: `id = '${connection.id}'`, n: MAX_CONNECTIONS - 1, set: name })
  const summary = JSON.stringify({
    vendor: 'stripe',
    customer: 'cus_1',
    subscription: 'sub_sample',
    invoice: null,
    object: { id: 'sub_sample', status: 'active' },
    effects: [
      {
        kind: 'subscription',
        id: 'sub_sample',
        result: 'applied',
        change: { status: { from: 'x'.repeat(1_500), to: 'y'.repeat(1_500) } },
      },
    ],
  })
  await STORE.prepare(
    "UPDATE events SET summary = ?, status = 'processed', processed_at = ?, due_at = NULL WHERE id = ?",
  )
    .bind(summary, Date.now(), event)
    .run()
  await copy(STORE, {
    table: 'events',
    of: `id = '${event}'`,
    n: MANY,
    set: { id: ID, vendor_event_id: "'evt_' || n.v" },
  })
  await STORE.prepare(
    `INSERT INTO refs (project_id, ref, event_id) SELECT project_id, 'sub_sample', id FROM events WHERE ${own} AND true
     ON CONFLICT DO NOTHING`,
  ).run()
  const body = `CAST(${text(1)} AS BLOB)`
  const large = { key: '1', encoding: 'NULL', bytes: String(MAX_DELIVERY_BYTES), body }
  await copy(STORE, { table: 'packed_bodies', of: own, n: 1, set: large })
  await STORE.prepare(
    "UPDATE packed_bodies SET body = CAST(printf('%.*c', ?, 'x') AS BLOB) WHERE project_id = ? AND key = 1",
  )
    .bind(MAX_DELIVERY_BYTES, project)
    .run()
  await STORE.prepare(
    "UPDATE events SET payload_id = '1' WHERE project_id = ?1 AND id IN (SELECT id FROM events WHERE project_id = ?1 ORDER BY id DESC LIMIT 200)",
  )
    .bind(project)
    .run()
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
     INSERT INTO attempts (event_id, number, trigger, started_at, finished_at, outcome, error)
     SELECT ?, v + 10, 'retry', 1, 2, 'retrying', ${text(1_000)} FROM n`,
  )
    .bind(event)
    .run()
  await copy(STORE, {
    table: 'replays',
    of: `id = '${replay}'`,
    n: MANY,
    set: { id: ID, filter: `json_object('q', ${text(1_000)})` },
  })
}
