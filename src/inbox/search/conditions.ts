import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { consumerIdOf } from '../../consumers/read'
import { connections } from '../connections/schema'
import { consumerOfEvent } from '../events/events'
import { notOnHold, onHold, statusShown } from '../held'
import { isFinal, type ShownStatus } from '../lifecycle'
import { events, refs } from '../schema'
import type { Filters, SearchFacts } from './filters'

/** The events that a search looks at. */
export const i = alias(events, 'i')

export type Condition = keyof ReturnType<typeof conditionsOf>

/** The conditions of the filters on an event `i`, except those that an index answers; null if none is left. */
export function checksOf(
  project: string,
  filters: Filters,
  facts: SearchFacts,
  answered: readonly Condition[],
): SQL | null {
  const conditions = Object.entries(conditionsOf(project, filters, facts))
  const left = conditions.flatMap(([name, condition]) =>
    condition && !answered.includes(name as Condition) ? [condition] : [],
  )
  return left.length === 0 ? null : sql.join(left, sql` AND `)
}

function conditionsOf(project: string, filters: Filters, facts: SearchFacts) {
  const { types, statuses, vendor_event_id, ref, min_attempts, error, error_code, replay_id, consumer } = filters
  return {
    types: types && ofTypes(types),
    statuses: statuses && among(statusShown(i), statuses),
    connections: facts.connections && among(sql`${i.connection_id}`, facts.connections),
    vendor_event_id: vendor_event_id === null ? null : sql`${i.vendor_event_id} = ${vendor_event_id}`,
    ref: ref === null ? null : refersTo(ref),
    min_attempts: min_attempts === null ? null : sql`${i.attempts} >= ${min_attempts}`,
    // These two are never NULL: after NULL, SQLite evaluates the rest of an AND. After 0, it does not.
    replay_id: replay_id === null ? null : sql`coalesce(${i.replay_id} = ${replay_id}, 0)`,
    error_code: error_code === null ? null : sql`coalesce(${i.last_error_code} = ${error_code}, 0)`,
    // SQLite's own lower() on both sides: it knows only ASCII, JavaScript's knows more.
    error: error === null ? null : sql`coalesce(instr(lower(${i.last_error}), lower(${error})), 0) > 0`,
    // The last one, because it reads three more rows.
    consumer: consumer && sql`${ofEvent} = ${consumerIdOf(project, consumer)}`,
  }
}

/** The consumer of an event's customer. */
const ofEvent = consumerOfEvent(
  i,
  sql`(SELECT ${connections.vendor} FROM ${connections} WHERE ${connections.id} = ${i.connection_id})`,
)

function ofTypes(types: readonly string[]): SQL {
  const each = types.map((type) => {
    if (!isPrefix(type)) return sql`${i.event_type} = ${type}`
    const prefix = type.slice(0, -1)
    return sql`substr(${i.event_type}, 1, ${[...prefix].length}) = ${prefix}`
  })
  return sql`(${sql.join(each, sql` OR `)})`
}

function refersTo(ref: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${refs}
    WHERE ${refs.project_id} = ${i.project_id} AND ${refs.ref} = ${ref} AND ${refs.event_id} = ${i.id})`
}

/** For ids and statuses, which hold no quotes: a list in a table, as `IN` makes it, counts as one more row read each. */
function among(column: SQL, values: readonly string[]): SQL {
  return sql`instr(${JSON.stringify(values)}, '"' || (${column}) || '"') > 0`
}

/** Whether a type is a prefix, as in `customer.*`. */
export const isPrefix = (type: string) => type.endsWith('*')

/** Whether only open events have one of these statuses. */
export const isOpenOnly = (statuses: readonly ShownStatus[]) => !statuses.some(isFinal)

/** The part of the index of open events that has all events with one of these statuses. The held ones, which may be many, are its end. */
export function isOpenOf(statuses: readonly ShownStatus[]): SQL {
  if (!statuses.includes('held')) return notOnHold(i)
  return statuses.every((status) => status === 'held') ? onHold(i) : sql`${i.due_at} IS NOT NULL`
}
