import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw, run } from '../../db/client'
import { notOnHold } from '../held'
import type { EventKey } from '../process/claim'
import { events } from '../schema'
import { FLOOD_EVENTS, FLOOD_PER_S, LEAST_FLOOD_WAIT_S, MAX_FLOOD_COUNTED, SHARE_EVENTS } from './limits'

/** `now`: the events that a batch is to do, the projects in turn. `waits`: after how many seconds the messages of the others come again. */
export type Shares = { now: EventKey[]; waits: Map<string, number> }

/**
 * Decides which events of a batch are done now. A project that has very many open events gets a share of each batch, and the others of its
 * messages come again later: so the queue is soon at the events of other projects, which would wait for thousands of calls otherwise.
 * A project with few events has no such share, whatever others do.
 */
export async function sharesOf(db: Db, keys: readonly EventKey[]): Promise<Shares> {
  const byProject = Map.groupBy(keys, ({ project_id }) => project_id)
  const many = [...byProject].filter(([, own]) => own.length > SHARE_EVENTS).map(([project]) => project)
  const waits = new Map<string, number>()
  const open = many.length === 0 ? [] : await run(db, countOpen(db, many))
  for (const { id, n } of open) {
    if (n <= FLOOD_EVENTS) continue
    const own = byProject.get(id) ?? []
    byProject.set(id, own.slice(0, SHARE_EVENTS))
    for (const { event_id } of own.slice(SHARE_EVENTS)) {
      waits.set(event_id, LEAST_FLOOD_WAIT_S + Math.ceil((Math.random() * n) / FLOOD_PER_S))
    }
  }
  return { now: inTurn([...byProject.values()]), waits }
}

/** The first of each list, then the second of each, … */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
}

const e = alias(events, 'e')

/** Counts the open events of projects, up to a bound. */
function countOpen(db: Db, projects: readonly string[]) {
  const id = sql<string>`j.value`
  const isOpen = and(eq(e.project_id, id), notOnHold(e))
  const n = sql<number>`(SELECT count(*) FROM (SELECT 1 FROM ${events} ${e} INDEXED BY events_open WHERE ${isOpen} LIMIT ${MAX_FLOOD_COUNTED}))`
  return raw(db, { id, n }, (fields) => sql`SELECT ${fields} FROM json_each(${JSON.stringify(projects)}) j`)
}
