import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isFinal, type ShownStatus } from '../lifecycle'
import { events, refs } from '../schema'
import { type Condition, i, isOpenOf, isOpenOnly } from './conditions'
import type { Filters, SearchFacts } from './filters'

/*
 * SQLite's planner, left alone, reads far too much at a million rows. So each search names the index it reads: the first
 * of INDEXES that suits its filters. The conditions that the index does not answer are checked on each event it gives.
 */

export type Index = {
  /**
   * The values to read from the index, each with a list of events in order of time; null if the index does not suit the
   * filters. An index that is one list for the whole project has {@link ONE_LIST}.
   */
  keys: (filters: Filters, facts: SearchFacts) => readonly string[] | null
  /** FROM and WHERE: the events `i` of one key, which is `t.value`. */
  events: (project: string, filters: Filters) => SQL
  /** The conditions that all events of the lists meet. */
  answers: readonly Condition[]
  /** The event's id, in the table that the index belongs to. */
  id: Column
  /** Whether the lists are known to be short, so that they are read to their end at once. */
  short?: boolean
}

const r = alias(refs, 'r')
const key = sql`t.value`
const ONE_LIST = ['']

const INDEXES: readonly Index[] = [
  {
    keys: ({ ids }) => ids && [...new Set(ids)],
    events: (project) => sql`${events} i WHERE ${i.project_id} = ${project} AND ${i.id} = ${key}`,
    answers: [],
    id: i.id,
    short: true,
  },
  {
    keys: ({ vendor_event_id }, { connections }) => (vendor_event_id === null ? null : connections),
    events: (_, { vendor_event_id }) => sql`${events} i INDEXED BY events_dedupe
      WHERE ${i.connection_id} = ${key} AND ${i.vendor_event_id} = ${vendor_event_id}`,
    answers: ['vendor_event_id', 'connections'],
    id: i.id,
  },
  {
    keys: (_, { connections, fewOfConnections }) => (fewOfConnections ? connections : null),
    events: ofConnection,
    answers: ['connections'],
    id: i.id,
    short: true,
  },
  {
    keys: ({ ref }) => (ref === null ? null : ONE_LIST),
    events: (project, { ref }) => referringTo(project, sql`${ref}`),
    answers: ['ref'],
    id: r.event_id,
  },
  {
    keys: (_, { customers }) => customers,
    events: (project) => referringTo(project, key),
    answers: [],
    id: r.event_id,
  },
  {
    // These filters find only events that were retried or have an error.
    keys: ({ error, error_code, min_attempts, statuses }) =>
      error !== null || (min_attempts ?? 0) > 1 || (error_code !== null && !statuses?.every(isRareFinal))
        ? ONE_LIST
        : null,
    events: (project) => sql`${events} i INDEXED BY events_trouble
      WHERE ${i.project_id} = ${project} AND (${i.attempts} > 1 OR ${i.last_error} IS NOT NULL)`,
    answers: [],
    id: i.id,
  },
  {
    // Not in order of time: SQLite sorts these few.
    keys: ({ statuses }, { fewOpen }) => (fewOpen && statuses && isOpenOnly(statuses) ? ONE_LIST : null),
    events: (project, { statuses }) => sql`${events} i INDEXED BY events_open
      WHERE ${i.project_id} = ${project} AND ${isOpenOf(statuses ?? [])}`,
    answers: [],
    id: i.id,
    short: true,
  },
  {
    keys: (_, { types }) => types,
    events: (project) => sql`${events} i INDEXED BY events_type
      WHERE ${i.project_id} = ${project} AND ${i.event_type} = ${key}`,
    answers: ['types'],
    id: i.id,
  },
  {
    keys: ({ statuses }) => (statuses?.every(isRareFinal) ? [...new Set(statuses)] : null),
    events: (project) => sql`${events} i INDEXED BY events_ended
      WHERE ${i.project_id} = ${project} AND ${i.status} = ${key} AND ${i.due_at} IS NULL AND ${i.status} <> 'processed'`,
    answers: ['statuses'],
    id: i.id,
  },
  {
    keys: (_, { connections }) => connections,
    events: ofConnection,
    answers: ['connections'],
    id: i.id,
  },
]

/** Almost all events are processed. The index leaves those out, and the primary key finds them as fast. */
function isRareFinal(status: ShownStatus): boolean {
  return isFinal(status) && status !== 'processed'
}

/** The primary key: all events of the project. */
const BY_TIME: Index = {
  keys: () => ONE_LIST,
  events: (project) => sql`${events} i WHERE ${i.project_id} = ${project}`,
  answers: [],
  id: i.id,
}

/** The index to read, and the keys to read it for. */
export function chooseIndex(filters: Filters, facts: SearchFacts): { index: Index; keys: readonly string[] } {
  const index = INDEXES.find(({ keys }) => keys(filters, facts) !== null) ?? BY_TIME
  return { index, keys: index.keys(filters, facts) ?? [] }
}

function referringTo(project: string, ref: SQL): SQL {
  return sql`${refs} r CROSS JOIN ${events} i ON ${i.project_id} = ${r.project_id} AND ${i.id} = ${r.event_id}
    WHERE ${r.project_id} = ${project} AND ${r.ref} = ${ref}`
}

function ofConnection(): SQL {
  return sql`${events} i INDEXED BY events_connection WHERE ${i.connection_id} = ${key}`
}
