import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { StateKind } from '../../vendors/kinds'

/**
 * How many of the states that events described had each field, by connection, version of the vendor's API, kind of object, and week of
 * receipt. Counts alone, and words that we do not know: no other value of an event.
 */
export const formats = sqliteTable(
  'formats',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** Cut if it is long; empty if the vendor names none. */
    api_version: text().notNull(),
    kind: text().$type<StateKind>().notNull(),
    /** See `weekOf` in weeks.ts. */
    week: integer().notNull(),
    /** States that were counted. */
    events: integer().notNull(),
    /** How many of them had a value in each field, by the name of the field. Fields that none had are left out. */
    fields: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
    /** Words that we do not know, as `field:word`, with the number of states that had them. */
    words: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
    /** The id of the first event of this version and kind. It stays when the week of that event is deleted. */
    first_event: text().notNull(),
    /** The id of the last event of this week. */
    last_event: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.connection_id, t.api_version, t.kind, t.week] }),
    index('formats_week').on(t.week),
  ],
)

/** A connection whose format needs attention, and the findings of the last check. Other connections have no row. */
export const formatFindings = sqliteTable(
  'format_findings',
  {
    project_id: text().notNull(),
    connection_id: text().notNull(),
    /** Fields that have vanished, as `kind.field`. */
    vanished: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** Words that we do not know, as `kind field word`. */
    words: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** The version that lacks the fields, or has the words; empty if the vendor names none. */
    api_version: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.connection_id] })],
)

export type FormatRow = typeof formats.$inferSelect
export type FindingsRow = typeof formatFindings.$inferSelect
