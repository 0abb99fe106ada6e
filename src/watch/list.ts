import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../db/client'
import { fitsPage, json } from '../db/sql'
import { watchers } from '../followers/schema'
import { MAX_LISTED_BYTES } from './limits'
import { entitlementStates } from './schema'

const s = alias(entitlementStates, 's')

/** Reads the state of a project's watcher; no row if it was never on. */
export function findWatcherState(db: Db, projectId: string) {
  return db.select({ state: watchers.state }).from(watchers).where(eq(watchers.project_id, projectId))
}

/**
 * Reads what was told of the consumers of a project, the newest first, starting after the consumer `before`. `features` is null beyond
 * {@link MAX_LISTED_BYTES}: such a row is for the next page.
 */
export function listStates(db: Db, projectId: string, { before, take }: { before: string | null; take: number }) {
  const fits = fitsPage(sql`octet_length(${s.features})`, MAX_LISTED_BYTES, sql`${desc(s.consumer_id)}`)
  const from: SQL | undefined = and(
    eq(s.project_id, projectId),
    before === null ? undefined : lt(s.consumer_id, before),
  )
  return raw(
    db,
    {
      consumer_id: s.consumer_id,
      revision: s.revision,
      features: json<Record<string, unknown> | null>(sql`iif(${fits}, ${s.features}, NULL)`).as('features'),
    },
    (fields) => sql`SELECT ${fields} FROM (SELECT * FROM ${entitlementStates} ${s} NOT INDEXED WHERE ${from}
      ORDER BY ${desc(s.consumer_id)} LIMIT ${take}) ${s} ORDER BY ${desc(s.consumer_id)}`,
  )
}

type Row = ReturnType<typeof listStates>['_']['result'][number]

/** Whether a row is for this page. */
export function isOnPage(row: Row): row is Row & { features: Record<string, unknown> } {
  return row.features !== null
}
