import { and, asc, type Column, eq, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, Db, Query } from '../db/client'
import { begins, json } from '../db/sql'
import type { Named } from '../entitlements/named'
import type { Scope } from '../lib/access'
import type { IdPrefix } from '../lib/ids'
import type { FoundType } from './fields'
import { FEWEST_OF_VENDOR_ID, MOST_OF_A_TYPE } from './limits'
import type { SearchText } from './text'

/**
 * An object that a text identifies. `vendor`: whose id it is, if it is not one of ours. `consumer_id`: whose it is, if its page is one of a
 * consumer. `livemode`: null if it has no mode.
 */
export type FoundRow = {
  id: string
  title: string
  detail: string | null
  vendor: string | null
  consumer_id: string | null
  livemode: boolean | null
  about: About | null
}

/** What the console shows of a billing object besides. `named`: whose it is, if the caller may read that. */
export type About = { total: number | null; currency: string | null; overdue: boolean; named: Named }

/** How objects are looked for. `names`: whether to name consumers. `now`: milliseconds. */
export type How = { names: boolean; now: number }

/** Where objects of a type are looked for, for callers with the scope. */
export type SearchSource<D extends Database> = {
  type: FoundType
  scope: Scope
  /** Whether it names consumers, to callers who may read them. */
  names?: true
  /** The statement that finds them. Null if the text cannot identify any. */
  find: (db: D, project: string, text: SearchText, how: How) => Query<FoundRow[]> | null
}

type Shown = Record<'title' | 'detail', Column | SQL> & {
  id: Column
  vendor?: Column
  consumer?: Column
  livemode?: SQL
  about?: SQL
}

/** What a statement selects of an object: expressions, because one column can be shown twice. */
export function foundFields({ id, title, detail, vendor, consumer, livemode, about }: Shown) {
  return {
    id: sql<string>`${id}`.as('id'),
    title: sql<string>`${title}`.as('title'),
    detail: sql<string | null>`${detail}`.as('detail'),
    vendor: vendor ? sql<string>`${vendor}`.as('vendor') : sql<null>`NULL`.as('vendor'),
    consumer_id: consumer ? sql<string>`${consumer}`.as('consumer_id') : sql<null>`NULL`.as('consumer_id'),
    livemode: livemode ? sql<boolean>`${livemode}`.mapWith(Boolean).as('livemode') : sql<null>`NULL`.as('livemode'),
    about: about ? json<About>(about).as('about') : sql<null>`NULL`.as('about'),
  }
}

/** Whether a column contains a text, whatever the case of ASCII letters. It reads each row that the other conditions leave. */
export function contains(column: Column, { lower }: SearchText): SQL {
  return sql`instr(lower(${column}), ${lower}) > 0`
}

/** For texts that are an id of ours with this prefix, and for texts that are not an id of ours. */
export const byId = <T>({ id }: SearchText, prefix: IdPrefix, query: () => T): T | null =>
  id === prefix ? query() : null
export const byText = <T>({ id }: SearchText, query: () => T): T | null => (id === null ? query() : null)
/** For both, where objects have an id as well as a name. */
export const byBoth = <T>({ id }: SearchText, prefix: IdPrefix | null, query: (isId: boolean) => T): T | null =>
  id === null || id === prefix ? query(id !== null) : null

type Listed = Shown & {
  table: SQLiteTable
  project: Column
  /** Of their ids; null if they have none. */
  prefix: IdPrefix | null
  /** The columns that a text can be a part of. A project has at most some hundred of these objects. None: only ids are looked for. */
  names?: readonly [Column, ...Column[]]
  /** What else a text can be, with an index. */
  also?: (project: string, text: SearchText) => SQL
  /** Which objects are found at all, and which by a part of a name. */
  only?: SQL | undefined
  onlyByName?: SQL
}

/** Objects of one table, by their id or by a part of a name. */
export function inTable<D extends Database>(type: FoundType, scope: Scope, of: Listed): SearchSource<D> {
  const { table, project: projectOf, prefix, names, also, only, onlyByName } = of
  const named = (project: string, text: SearchText) =>
    and(onlyByName, or(...(names ?? []).map((name) => contains(name, text)), also?.(project, text)))
  return {
    type,
    scope,
    find: (db, project, text) =>
      names === undefined && text.id === null
        ? null
        : byBoth(text, prefix, (isId) =>
            db
              .select(foundFields(of))
              .from(table)
              .where(and(eq(projectOf, project), only, isId ? eq(of.id, text.text) : named(project, text)))
              .limit(MOST_OF_A_TYPE),
          ),
  }
}

type OfVendor = Omit<Shown, 'title' | 'about'> & {
  vendor: Column
  table: SQLiteTable
  project: Column
  only: SQL | undefined
  about: (project: string, how: How) => SQL
}

/** Objects of one table by the first characters of the vendor's id. It is compared with every text, because some look like our ids. */
export function ofVendor(type: FoundType, scope: Scope, of: OfVendor): SearchSource<Db> {
  return {
    type,
    scope,
    names: true,
    find: (db, project, { text }, how) =>
      text.length < FEWEST_OF_VENDOR_ID
        ? null
        : db
            .select(foundFields({ ...of, title: of.id, about: of.about(project, how) }))
            .from(of.table)
            .where(and(eq(of.project, project), of.only, begins(of.id, text)))
            .orderBy(asc(of.id))
            .limit(MOST_OF_A_TYPE),
  }
}
