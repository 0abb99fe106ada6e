/*
 * Fills a local D1 in the shape the pipeline writes, by INSERT … SELECT inside SQLite. Everything is a function of the
 * event's number, so two runs seed the same.
 */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type IdPrefix, idFloor } from '../src/lib/ids.ts'

/** The part of D1 that seeding uses. */
export type Database = {
  prepare(query: string): Statement
  batch(statements: Statement[]): Promise<unknown>
}
type Statement = {
  bind(...values: unknown[]): Statement
  run(): Promise<{ meta: { size_after?: number } }>
  all<T = Record<string, unknown>>(): Promise<{ results: T[] }>
}

/** What was seeded, for the questions to name. */
export type Seeded = { project: string; secret: string; connections: Connections; bytes: number; seconds: number }
type Connections = { first: string; second: string; third: string; quiet: string }

const DAY = 86_400_000
const MINUTE = 60_000
/** Events are spread evenly over this time. */
const SPAN = 30 * DAY
const SMALL_PROJECTS = 50
/** Events an INSERT takes. */
const CHUNK = 100_000

const OBJECTS =
  'customer customer.subscription invoice charge payment_intent payment_method checkout.session product price payout'
const VERBS = 'updated created succeeded deleted failed archived'
/** 60 types; the first ones are the most frequent. */
const TYPES = VERBS.split(' ').flatMap((verb) => OBJECTS.split(' ').map((object) => `${object}.${verb}`))

/** Of each of these there are `count` events in the big project, whatever its size. */
export const RARE = {
  count: 5,
  type: 'account.application.deauthorized',
  ref: 'sub_rare',
  error: 'currency XTS',
  attempts: 12,
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** An id of the moment `ms`, as src/lib/ids.ts writes it; its end is the project's number and the event's. */
const idOf = (prefix: IdPrefix) => {
  const digits = Array.from({ length: 10 }, (_, i) => `substr('${ALPHABET}', ((ms >> ${45 - 5 * i}) & 31) + 1, 1)`)
  return `'${prefix}_' || ${digits.join(' || ')} || printf('%08x%08x', ?6, n)`
}
/** The key of a payload, as packing.ts makes it, as text: one for each event of a second. */
const PAYLOAD = `CAST(ms / 1000 * ${2 ** 21} + ?6 * 40000 + n % 40000 AS TEXT)`
/** 0 … 2^24 - 1, of a number: another sequence for each odd factor. */
const hash = (factor: number) => `(((n * ${factor}) & 4294967295) >> 8)`
const idAt = (prefix: IdPrefix, ms: number, name: string) => idFloor(prefix, ms).slice(0, -name.length) + name

/** A project with its connections, and a key. Two of them need two names and two times. */
export async function seedAccess(db: Database, now: number, name = 'b1g') {
  const project = idAt('prj', now - SPAN, name)
  return {
    project,
    connections: await seedProject(db, { project, number: 0, count: 0, now }),
    secret: await seedKey(db, project, now),
  }
}

/** Seeds `total` events: nine tenths in one project, the rest in fifty small ones. */
export async function seed(db: Database, total: number, now: number): Promise<Seeded> {
  const began = performance.now()
  const indexes = await secondaryIndexes(db)
  // Built afterwards, in order: many times faster than row by row.
  for (const { name } of indexes) await db.prepare(`DROP INDEX ${name}`).run()
  const project = idAt('prj', now - SPAN, 'b1g')
  const connections = await seedProject(db, { project, number: 0, count: Math.round(total * 0.9), now })
  for (let i = 0; i < SMALL_PROJECTS; i++) {
    const small = idAt('prj', now - SPAN, `5ma11${String(i).padStart(3, '0')}`)
    const count = Math.round((total * 0.1) / SMALL_PROJECTS)
    await seedProject(db, { project: small, number: i + 1, count, now })
  }
  for (const { sql } of indexes) await db.prepare(sql).run()
  await seedRollups(db, { project, connections, total, now })
  const secret = await seedKey(db, project, now)
  const { meta } = await db.prepare('SELECT 1').run() // every answer of D1 tells how large it is
  return { project, secret, connections, bytes: meta.size_after ?? 0, seconds: (performance.now() - began) / 1000 }
}

async function secondaryIndexes(db: Database): Promise<{ name: string; sql: string }[]> {
  const { results } = await db
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL")
    .all<{ name: string; sql: string }>()
  return results
}

/** A project to seed: its number in ids, and how many events it gets. */
type Seeding = { project: string; number: number; count: number; now: number }

async function seedProject(db: Database, { project, number, count, now }: Seeding): Promise<Connections> {
  const connections = await seedConnections(db, project, now)
  for (let from = 0; from < count; from += CHUNK) {
    const to = Math.min(count, from + CHUNK)
    await db
      .prepare(eventsStatement(count, now))
      .bind(project, from, to, JSON.stringify(TYPES), JSON.stringify(Object.values(connections)), number)
      .run()
  }
  await seedWhatFollows(db, project)
  return connections
}

async function seedConnections(db: Database, project: string, now: number): Promise<Connections> {
  const tail = project.slice(-12)
  const connections = {
    first: idAt('con', now - SPAN, `1${tail}`),
    second: idAt('con', now - SPAN, `2${tail}`),
    third: idAt('con', now - SPAN, `3${tail}`),
    quiet: idAt('con', now - SPAN, `4${tail}`),
  }
  const rows = [
    [connections.first, 'stripe', 1],
    [connections.second, 'stripe', 1],
    [connections.third, 'paddle', 1],
    [connections.quiet, 'shopify', 0],
  ]
  await db.batch([
    db
      .prepare('INSERT INTO projects (id, name, created_by, created_at) VALUES (?, ?, ?, ?)')
      .bind(project, 'Bench', 'usr_bench', now),
    ...rows.map(([id, vendor, livemode]) =>
      db
        .prepare(
          "INSERT INTO connections (id, project_id, vendor, name, livemode, secrets, created_at) VALUES (?, ?, ?, ?, ?, '[]', ?)",
        )
        .bind(id, project, vendor, `${vendor} of the bench`, livemode, now),
    ),
  ])
  return connections
}

/** What the events of a project bring with them: references, attempts, payloads and totals. */
async function seedWhatFollows(db: Database, project: string): Promise<void> {
  await db.batch([
    db
      .prepare(
        `INSERT INTO refs SELECT e.project_id, r.value, e.id FROM events e CROSS JOIN json_each(e.summary, '$.refs') r
          WHERE e.project_id = ? ORDER BY 1, 2, 3`,
      )
      .bind(project),
    db
      .prepare(
        `INSERT INTO attempts SELECT id, attempts, 'ingest', NULL, last_delivered_at + 90, last_delivered_at + 120, status, last_error
          FROM events WHERE project_id = ? AND due_at IS NULL ORDER BY id`,
      )
      .bind(project),
    db
      .prepare(
        `INSERT INTO packed_bodies (key, project_id, bytes, body)
          SELECT CAST(payload_id AS INTEGER), project_id, 50, '{"id":"' || vendor_event_id || '"}'
          FROM events WHERE project_id = ? ORDER BY 1`,
      )
      .bind(project),
    db
      .prepare(
        `INSERT INTO totals SELECT project_id, status, count(*) FROM events
          WHERE project_id = ? AND due_at IS NULL GROUP BY 1, 2`,
      )
      .bind(project),
  ])
}

/**
 * The events `from` ≤ n < `to` of `count`. 60 types, some frequent, some not; three connections, and five events of a
 * quiet one; 2 % failed, 30 % ignored, the newest 0.1 % still open; three refs each.
 */
function eventsStatement(count: number, now: number): string {
  const rareEvery = Math.max(150, Math.floor(count / 250) * 50) // a multiple of 50, so that a rare error falls on a failed one
  const rare = (place: number) => `(n % ${rareEvery} = ${place} AND n < ${RARE.count * rareEvery})`
  const openFrom = count - Math.ceil(count / 1000)
  return `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, occurred_at, payload_id, status, due_at,
      next_attempt_at, lease_token, lease_until, attempts, tries, deliveries, last_delivered_at, processed_at, last_error,
      replay_id, summary)
    WITH RECURSIVE g(n) AS (SELECT CAST(?2 AS INTEGER) UNION ALL SELECT n + 1 FROM g WHERE n + 1 < ?3),
    a AS (SELECT n, CAST(${now - SPAN} + n * ${SPAN / count} AS INTEGER) AS ms, ${hash(2246822519)} / 16777216.0 AS u,
      CASE WHEN n >= ${openFrom} THEN CASE n % 20 WHEN 0 THEN 'processing' WHEN 1 THEN 'retrying' ELSE 'received' END
        WHEN n % 50 = 3 THEN 'failed' WHEN ${hash(3266489917)} % 10 < 3 THEN 'ignored' ELSE 'processed' END AS status FROM g),
    b AS (SELECT *, status IN ('processed', 'ignored', 'failed') AS final,
      'cus_' || (${hash(668265263)} % ${Math.max(1, Math.floor(count / 20))}) AS customer,
      CASE WHEN ${rare(17)} THEN '${RARE.ref}' ELSE 'sub_' || (n / 3) END AS subscription FROM a)
    SELECT ?1, ${idOf('evt')}, ?5->>CASE WHEN ${rare(11)} THEN 3 ELSE ${hash(2654435761)} % 3 END,
      'evt_' || printf('%08x', (n * 2654435761) & 4294967295) || '_' || n,
      CASE WHEN ${rare(7)} THEN '${RARE.type}' ELSE ?4->>CAST(${TYPES.length} * u * u AS INTEGER) END,
      strftime('%Y-%m-%dT%H:%M:%SZ', ms / 1000, 'unixepoch'), ${PAYLOAD}, status,
      CASE WHEN NOT final THEN ms + 30000 END, CASE status WHEN 'retrying' THEN ms + 30000 END,
      CASE status WHEN 'processing' THEN 'lse_bench' END, CASE status WHEN 'processing' THEN ms + 60000 END,
      CASE WHEN status = 'received' THEN 0 WHEN ${rare(103)} THEN ${RARE.attempts} WHEN status = 'failed' THEN 8
        WHEN n % 200 = 9 THEN 2 ELSE 1 END, 0, 1 + (n % 100 = 1), ms,
      CASE WHEN status IN ('processed', 'ignored') THEN ms + 120 END,
      CASE WHEN ${rare(53)} THEN '${RARE.error} is not known' WHEN status IN ('failed', 'retrying') THEN 'the amount of ' || subscription || ' is no integer' END,
      NULL, CASE WHEN status IN ('processed', 'ignored') THEN json_object('vendor', 'stripe',
        'object', json_object('type', 'subscription', 'id', subscription, 'status', 'active'), 'customer', customer,
        'subscription', subscription, 'invoice', NULL, 'amount', json_object('value', 1900, 'currency', 'EUR'), 'occurred_at', NULL,
        'livemode', json('true'), 'api_version', '2026-03-25.dahlia',
        'refs', json_array(subscription, customer, 'price_' || (n % 10)), 'effects', json('[]')) END
    FROM b`
}

/** Two days by the minute, then hours: as dense as a series can be, at every size. */
async function seedRollups(
  db: Database,
  { project, connections, total, now }: { project: string; connections: Connections; total: number; now: number },
) {
  const lag = JSON.stringify(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [200 + i * 5, 1])))
  const minute = Math.floor(now / MINUTE)
  const each = Math.max(1, Math.round(total / (SPAN / MINUTE) / 3))
  const insert = (of: string, values: number[]) =>
    db
      .prepare(
        `INSERT INTO minutes (project_id, minute, connection_id, received, processed, lag, lag_sum, lag_max)
        WITH RECURSIVE t(m) AS (${of}) SELECT ?1, m, c.value, ?2, ?2, ?3, 1500, 400 FROM t CROSS JOIN json_each(?4) c WHERE true`,
      )
      .bind(project, each, lag, JSON.stringify(Object.values(connections).slice(0, 3)), ...values)
  const kept = minute - 2 * 1440
  await db.batch([
    insert('SELECT CAST(?5 AS INTEGER) UNION ALL SELECT m + 1 FROM t WHERE m < ?6', [kept, minute]),
    insert('SELECT CAST(?5 AS INTEGER) UNION ALL SELECT m + 60 FROM t WHERE m + 60 < ?6', [
      Math.floor((now - SPAN) / (60 * MINUTE)) * 60,
      kept,
    ]),
  ])
}

/** A key in the form of src/api-keys/secret.ts. */
async function seedKey(db: Database, project: string, now: number): Promise<string> {
  const body = `svc_v1_${randomBytes(44).toString('hex')}`
  const secret = body + crc32(body).toString(16).padStart(8, '0')
  await db
    .prepare(
      'INSERT INTO api_keys (id, project_id, name, key_prefix, hash, scopes, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    )
    .bind(
      idAt('key', now, 'be0c'),
      project,
      'bench',
      `${secret.slice(0, 11)}…${secret.slice(-4)}`,
      createHash('sha256').update(secret).digest('hex'),
      JSON.stringify(['billing:read', 'projects:read', 'consumers:read', 'entitlements:read']),
      'usr_bench',
      now,
    )
    .run()
  return secret
}
