import { and, desc, eq, gt, inArray, lt, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { apiKeys } from '../api-keys/schema'
import { auditLog } from '../audit/schema'
import { type Database, type Db, type Query, raw } from '../db/client'
import { json, valuesOf } from '../db/sql'
import { invitations } from '../tenancy/schema'
import { type AuditFilters, MAX_LOOKED_AT, rangeOf } from './filters'

const a = alias(auditLog, 'a')
const i = alias(invitations, 'i')

/**
 * The details. The address of an invitation is only in the invitation, so an address that is erased there is erased here:
 * the id of its user has taken its place, which contains no `@`. Rows of older versions have a copy of it.
 */
const details = sql`CASE WHEN ${i.email} IS NULL THEN ${a.details} WHEN instr(${i.email}, '@') = 0 THEN json_remove(${a.details}, '$.email')
  ELSE json_set(${a.details}, '$.email', ${i.email}) END`

const shown = {
  id: a.id,
  actor_type: a.actor_type,
  actor_id: a.actor_id,
  action: a.action,
  object_type: a.object_type,
  object_id: a.object_id,
  request_id: a.request_id,
  client_request_id: a.client_request_id,
  details: json<Record<string, unknown> | null>(details).as('details'),
  /** Of an API key, revoked ones too. */
  actor_name: sql<string | null>`${apiKeys.name}`.as('actor_name'),
}
/** An entry with the current name of its actor, if that is an API key. */
export type AuditRow = Shown<typeof shown>
type Shown<F extends Parameters<typeof raw>[1]> = ReturnType<typeof raw<F>>['_']['result'][number]
/** An entry; or, without an action, the place that the next page starts after: see {@link listAudit}. */
export type ListRow = Pick<AuditRow, 'id'> & { [Name in Exclude<keyof AuditRow, 'id'>]: AuditRow[Name] | null }

/**
 * Reads the part of a project's audit log that is in one database, newest first, starting after the entry `before`. If
 * a filtered page is not full after {@link MAX_LOOKED_AT} entries, it ends with a row that has only an id: that of the
 * last one looked at.
 *
 * The time range is a range of the primary key. The other filters have no index: each would cost one more row for every
 * change, in a log that rarely grows beyond the bound of one page.
 *
 * @throws {Fault} `validation_failed` if the time range is empty
 */
export function listAudit(
  db: Database,
  projectId: string,
  filters: AuditFilters,
  { before, take }: { before: string | null; take: number },
): Query<ListRow[]> {
  const { above, below } = rangeOf(filters)
  const from = before !== null && before < below ? before : below
  const range = and(eq(a.project_id, projectId), gt(a.id, above), lt(a.id, from))
  const wanted = conditionOf(filters)
  const scan = sql`FROM ${auditLog} ${a} NOT INDEXED WHERE ${range} ORDER BY ${desc(a.id)}`
  const rest = Object.keys(shown)
    .slice(1)
    .map(() => sql`NULL`)
  // Without filters, a page needs no more entries than it shows.
  const most = wanted ? MAX_LOOKED_AT : take
  // SQLite runs the second part only where the first one has fewer rows than the limit.
  return raw(
    db,
    shown,
    (fields) => sql`
      SELECT * FROM (
        SELECT ${fields} FROM (SELECT * ${scan} LIMIT ${most}) ${a}
        LEFT JOIN ${apiKeys} ON ${a.actor_type} = 'api_key' AND ${apiKeys.id} = ${a.actor_id}
        LEFT JOIN ${invitations} ${i} ON ${a.object_type} = 'invitation' AND ${i.project_id} = ${a.project_id} AND ${i.id} = ${a.object_id}
        WHERE ${wanted ?? sql`1`} ORDER BY ${desc(a.id)} LIMIT ${take})
      UNION ALL
      SELECT * FROM (SELECT ${a.id}, ${sql.join(rest, sql`, `)} ${scan} LIMIT ${wanted ? 1 : 0} OFFSET ${MAX_LOOKED_AT - 1})
      LIMIT ${take}`,
  )
}

/** Reads the names of API keys, revoked ones too. */
export function keyNamesOf(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

/** A merge is an entry about the consumer that ended. It concerns the one that stays as well. */
function isMergeInto(id: string) {
  return and(eq(a.action, 'consumer.merged'), sql`${a.details}->>'into' = ${id}`)
}

/** The conditions on each entry in the range; undefined if there are none. */
function conditionOf({ actor_id, action, object_type, object_id }: AuditFilters) {
  const prefix = action?.endsWith('*') ? action.slice(0, -1) : null
  return and(
    actor_id === undefined ? undefined : eq(a.actor_id, actor_id),
    prefix !== null
      ? sql`substr(${a.action}, 1, ${[...prefix].length}) = ${prefix}`
      : action === undefined
        ? undefined
        : eq(a.action, action),
    object_type === undefined ? undefined : eq(a.object_type, object_type),
    object_id === undefined ? undefined : or(eq(a.object_id, object_id), isMergeInto(object_id)),
  )
}
