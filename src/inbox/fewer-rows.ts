import { sql } from 'drizzle-orm'
import { batch, type Db, raw, rawWrite, run } from '../db/client'
import { literals } from '../db/sql'
import { type StateName, state } from '../stores/schema'
import type { PassStep } from '../tenancy/pass'

/*
 * What changes once the version before migration 0040 no longer runs. An event is added to its minute as received only when it first
 * becomes final. A first attempt that succeeds has no row. The indexes that only that version names are dropped.
 */

/** The time (ms) from which that holds, as an expression; 0 for a database that had no connections. */
export const fewerRowsFrom = sql`coalesce((SELECT ${state.value} FROM ${state} WHERE ${state.name} = 'fewer_rows_from'), 0)`

/** Indexes that only a previous version names, and under which name the database knows until when it may run. */
const FORMER: Readonly<Record<string, StateName>> = {
  events_final: 'fewer_rows_from',
  consumers_name: 'keyed_names_from',
  consumers_last_name: 'keyed_names_from',
}

/** Drops the indexes that nothing uses any more. If there are none, that costs one statement. */
export async function dropFormerIndexes(db: Db, now: number): Promise<PassStep> {
  const name = sql<string>`m.name`
  const found = await run(
    db,
    raw(
      db,
      { name },
      (fields) => sql`SELECT ${fields} FROM sqlite_master m
        WHERE m.type = 'index' AND ${name} IN (${literals(Object.keys(FORMER))})
          AND coalesce((SELECT ${state.value} FROM ${state} WHERE ${state.name} = ${JSON.stringify(FORMER)} ->> ${name}), 0) <= ${now}`,
    ),
  )
  if (found.length > 0) {
    const drops = found.map((one) => [one.name, rawWrite(db, sql`DROP INDEX IF EXISTS ${sql.identifier(one.name)}`)])
    await batch(db, Object.fromEntries(drops))
  }
  return { done: found.length, after: null }
}
