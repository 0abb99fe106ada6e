import { type Column, type SQL, sql } from 'drizzle-orm'
import { type IdPrefix, idFloor } from '../lib/ids'

/*
 * What a row of `events` records: an event that a vendor delivered (`evt_…`), or an object that was fetched from the vendor's API
 * (`ftc_…`). Both are processed in the same way. Lists, counts and rollups are of deliveries only. They are ranges of ids, so that the
 * indexes keep both apart.
 */

export const SOURCES = ['delivery', 'fetch'] as const
export type Source = (typeof SOURCES)[number]

/** The prefix of the ids of a source. */
export const PREFIX_OF = { delivery: 'evt', fetch: 'ftc' } as const satisfies Record<Source, IdPrefix>

/** What the row with this id records. */
export function sourceOfId(id: string): Source {
  return id.startsWith(PREFIX_OF.fetch) ? 'fetch' : 'delivery'
}

/** Whether a row of `events` is a delivery, as a condition on its id. */
export function isDelivered(id: Column | SQL): SQL {
  return sql`${id} < ${PREFIX_OF.fetch}`
}

/** Whether a row of `events`, of any source, was recorded before this time (ms). Two ranges, each of which an index answers. */
export function isBefore(id: Column | SQL, time: number): SQL {
  const { delivery, fetch } = PREFIX_OF
  return sql`(${id} < ${idFloor(delivery, time)} OR ${id} >= ${fetch} AND ${id} < ${idFloor(fetch, time)})`
}

/** The ranges of ids of {@link isBefore}, as a table `r` to be joined: an index then reads no others also after a condition of a join. */
export function rangesBefore(time: number): SQL {
  const { delivery, fetch } = PREFIX_OF
  return sql`(SELECT ${delivery} AS first, ${idFloor(delivery, time)} AS floor UNION ALL SELECT ${fetch}, ${idFloor(fetch, time)}) r`
}

/** Whether it was recorded at this time (ms) or later. */
export function isSince(id: Column | SQL, time: number): SQL {
  const { delivery, fetch } = PREFIX_OF
  return sql`(${id} >= ${idFloor(fetch, time)} OR ${id} >= ${idFloor(delivery, time)} AND ${isDelivered(id)})`
}
