import { type Column, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type Database, onceInABatch, type Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { insertWhere } from '../db/insert-where'
import type { Claim } from '../idempotency/claim'
import { utf8 } from '../lib/crypto'
import { newId } from '../lib/ids'
import { auditLog } from './schema'

/**
 * One change to one object. Its audit row is written where the change is: in the directory for people, in the project's store
 * for everything else. `details` describes it and never holds a secret.
 */
export type AuditEntry = {
  project_id: string
  action: string
  object_type: string
  object_id: string
  details?: Record<string, unknown> | undefined
}

/** Makes the entries about objects of one type. */
export function entriesOf(object_type: string) {
  return (project_id: string, object_id: string, action: string, details?: Record<string, unknown>) => {
    return { project_id, action, object_type, object_id, details }
  }
}

/**
 * The author, request and time (ms) of a change. `client_request_id`: the id that the caller gave the request, if any. `claim`: its
 * Idempotency-Key, which goes into the batch of the change: see `keptWith`.
 */
export type Change = {
  actor: { type: 'user' | 'api_key' | 'system'; id: string }
  request_id: string
  client_request_id?: string | null
  claim?: Claim | null
  now: number
}
type AuditRow = typeof auditLog.$inferSelect

/**
 * A mutation and its audit row, for one batch: `batch(db, { ...audited(db, change, entry, mutation), … })`. The audit
 * row is written only if the mutation changed a row. A batch takes only one such pair, and throws if there are two.
 *
 * @returns the mutation as `changed`, directly followed by `audit`, because SQLite's `changes()` counts the previous
 *   statement
 */
export function audited<Q extends Query>(db: Database, change: Change, entry: AuditEntry, mutation: Q) {
  const audit = insertWhere(db, auditLog, rowOf(change, entry), sql`changes() > 0`)
  return onceInABatch({ changed: mutation, audit })
}

/** Bytes of the details of an entry, as JSON. */
export const MAX_DETAILS = 2048
/** Characters that are kept of the JSON of a value that is too long. */
const KEPT_CHARS = 60
/** Values that are kept, cut, of details that have too many. */
const MAX_CUT_FIELDS = 5

/**
 * Details that fit into an entry. Values are cut, the longest first, to `{ bytes, begins }`: the size and the beginning of
 * their JSON. Names stay, as far as they fit. Readers that go by a value (`at` of entitlements) only need short ones.
 */
function shortened(details: Record<string, unknown>): Record<string, unknown> {
  if (bytesOf(details) <= MAX_DETAILS) return details
  const sizes = Object.entries(details).map(([name, value]) => [name, bytesOf(value)] as const)
  const short = { ...details }
  for (const [name, bytes] of sizes.toSorted(([, a], [, b]) => b - a)) {
    const begins = JSON.stringify(details[name] ?? null).slice(0, KEPT_CHARS)
    short[name] = { bytes, begins }
    if (bytesOf(short) <= MAX_DETAILS) return short
  }
  const some = Object.entries(short).slice(0, MAX_CUT_FIELDS)
  return { ...Object.fromEntries(some), fields: sizes.length }
}

function bytesOf(value: unknown): number {
  return utf8(JSON.stringify(value ?? null)).length
}

function rowOf(change: Change, entry: AuditEntry): AuditRow {
  const { actor, request_id, client_request_id = null, now } = change
  const { project_id, action, object_type, object_id, details = null } = entry
  return {
    project_id,
    id: newId('aud', now),
    actor_type: actor.type,
    actor_id: actor.id,
    action,
    object_type,
    object_id,
    request_id,
    client_request_id,
    details: details && shortened(details),
  }
}

/**
 * An audit row for each of a set of objects, for one batch. It comes before the mutation, while the objects that the
 * mutation will change can still be selected.
 *
 * @param entry.project_id the project, or an expression over `object`, a row of `set.objects`
 * @param set.objects selects the `id` of each object
 * @param set.details the details of each, as a JSON object, if they are an expression
 * @param set.most how many there can be; more of them fail the batch
 */
export function auditedEach(
  db: Database,
  change: Change,
  { project_id, ...entry }: Omit<AuditEntry, 'object_id' | 'project_id'> & { project_id: string | SQL },
  { objects, details, most }: { objects: SQLWrapper; details?: SQL; most: number },
) {
  const ids = JSON.stringify(Array.from({ length: most }, () => newId('aud', change.now)))
  const row = {
    ...expressionsOf(rowOf(change, { ...entry, project_id: '', object_id: '' })),
    project_id: sql`${project_id}`,
    id: sql`${ids} ->> (row_number() OVER (ORDER BY object.id) - 1)`,
    object_id: sql`object.id`,
    ...(details && { details }),
  }
  return insertFrom(db, auditLog, row, sql`FROM ${objects} AS object`)
}

/**
 * An audit row that takes its contents from the row that a mutation will change, for one batch. It comes before the
 * mutation, and `from` must have the mutation's own condition.
 *
 * @param taken the fields that are read from that row; `details` as a JSON object
 * @param from FROM and WHERE, which select at most one row, unless `taken` has the `id` of each
 */
export function auditedFrom(
  db: Database,
  change: Change,
  entry: Omit<AuditEntry, 'project_id'>,
  {
    taken,
    from,
  }: {
    taken: Partial<
      Record<'id' | 'project_id' | 'actor_id' | 'action' | 'object_type' | 'object_id' | 'details', SQL | Column>
    > & {
      project_id: SQL | Column
    }
    from: SQL
  },
) {
  return insertFrom(db, auditLog, { ...expressionsOf(rowOf(change, { ...entry, project_id: '' })), ...taken }, from)
}

/** The values of a row as expressions, each encoded as its column is. */
function expressionsOf(row: AuditRow): Record<keyof AuditRow, SQL> {
  const columns = getTableColumns(auditLog)
  const values = Object.entries(row) as [keyof AuditRow, unknown][]
  const same = values.map(([name, value]) => [
    name,
    value === null ? sql`NULL` : sql`${sql.param(value, columns[name])}`,
  ])
  return Object.fromEntries(same) as Record<keyof AuditRow, SQL>
}
