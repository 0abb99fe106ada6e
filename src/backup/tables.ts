import { sql } from 'drizzle-orm'
import { type Database, raw, run } from '../db/client'

/** A table as the database describes it. Nothing here names a column, so that a migration needs no change in this room. */
export type Table = {
  name: string
  /** Its columns without generated ones, in their order. `holdsText`: whether its values can be text or bytes. */
  columns: readonly { name: string; holdsText: boolean }[]
  /** The columns by which its rows are walked: its primary key, or those of a unique index if only its rowid is one. */
  key: readonly string[]
  /** The index of the key; null for a primary key. */
  index: string | null
}

/**
 * What a backup leaves out, because it must not come back, or means nothing in another database: sessions, unfinished sign-ins, removed signing secrets,
 * the keys of names, which triggers write again, the feed of changes, whose readers begin again after a restore, with what was sent of it, the counts of the day, how far the cron has got, and how far imports have: a backup may have read what they recorded before that.
 */
export const LEFT_OUT: readonly string[] = [
  'changes',
  'changes_epoch',
  'consumer_names',
  'customer_names',
  'deliveries',
  'delivery_runs',
  'directory_changes',
  'progress',
  'removed_secrets',
  'resends',
  'sessions',
  'sign_in_codes',
  'spent_challenges',
  'sso_codes',
  'sso_logins',
  'vendor_runs',
]

/** The triggers that write what a backup leaves out, from the rows that it has. */
export const WRITES_LEFT_OUT: readonly string[] = ['consumers_keyed', 'customers_keyed']

/**
 * The tables that are copied last, in this order. What an event has done is copied before the event itself. So a backup has no effects of
 * an event that it lacks. The archive comes after the events, so that an event that is archived meanwhile is copied once at least.
 */
const LAST: readonly string[] = ['events', 'payloads', 'bodies', 'packed_bodies', 'archives', 'archived_refs']

/** Tables of SQLite, of D1, and of wrangler. */
const NOT_OURS = sql`(m.name GLOB 'sqlite_*' OR m.name GLOB '_cf_*' OR m.name = 'd1_migrations')`

/**
 * Reads which tables there are.
 *
 * @returns the tables in the order in which they are copied
 * @throws {Error} if a table has no key
 */
export async function readTables(db: Database): Promise<Table[]> {
  const columns = await run(
    db,
    raw(
      db,
      {
        table: sql<string>`m.name`,
        column: sql<string>`x.name`,
        type: sql<string>`x.type`,
        /** Its place in the primary key, from 1; 0 if it is no part of it. */
        place: sql<number>`x.pk`,
      },
      (fields) => sql`SELECT ${fields} FROM sqlite_master m JOIN pragma_table_xinfo(m.name) x
        WHERE m.type = 'table' AND NOT ${NOT_OURS} AND x.hidden = 0 ORDER BY m.name, x.cid`,
    ),
  )
  const indexes = await run(
    db,
    raw(
      db,
      { table: sql<string>`m.name`, index: sql<string>`i.name`, column: sql<string>`x.name` },
      (
        fields,
      ) => sql`SELECT ${fields} FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) x
        WHERE m.type = 'table' AND NOT ${NOT_OURS} AND i."unique" = 1 AND i.partial = 0 AND x.name IS NOT NULL
        ORDER BY m.name, i.name, x.seqno`,
    ),
  )
  const indexesOf = Map.groupBy(indexes, ({ table }) => table)
  const tables = [...Map.groupBy(columns, ({ table }) => table)].map(([name, own]): Table => {
    const key = own.filter(({ place }) => place > 0).sort((a, b) => a.place - b.place)
    const unique = (indexesOf.get(name) ?? []).filter(({ index }, _, [first]) => index === first?.index)
    if (key.length + unique.length === 0) throw new Error(`the table ${name} has no key: its rows cannot be walked`)
    return {
      name,
      columns: own.map(({ column, type }) => ({ name: column, holdsText: !/^(integer|int)$/i.test(type) })),
      key: (key.length > 0 ? key : unique).map(({ column }) => column),
      index: key.length > 0 ? null : (unique[0]?.index ?? null),
    }
  })
  const rank = ({ name }: Table) => LAST.indexOf(name)
  return tables.filter(({ name }) => !LEFT_OUT.includes(name)).sort((a, b) => rank(a) - rank(b))
}
