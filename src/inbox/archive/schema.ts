import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Records of old events of one project, packed together: see records.ts. A record is either here or in `events`, with its attempts and
 * its rows of `refs`. The key is the rowid, because the rows are large.
 */
export const archives = sqliteTable(
  'archives',
  {
    number: integer().primaryKey(),
    project_id: text().notNull(),
    /** When its newest event was received (ms). */
    last_at: integer().notNull(),
    events: integer().notNull(),
    /**
     * Begins at random, because the number of a deleted pack is given again, and goes up with every change. A write over another revision than the
     * one that was read does nothing.
     */
    revision: integer().notNull(),
    // A BLOB: see `bodies`.
    records: text().$type<ArrayBuffer>().notNull(),
  },
  (t) => [index('archives_project').on(t.project_id, t.last_at), index('archives_last').on(t.last_at)],
)

/**
 * In which packs to look for an event: by its id, and by the ids that it refers to. `key`: keys.ts makes it, of 53 bits. Whole ids would take
 * five times as much, and there are some four rows for each event.
 */
export const archivedRefs = sqliteTable(
  'archived_refs',
  { key: integer().notNull(), archive: integer().notNull() },
  (t) => [primaryKey({ columns: [t.key, t.archive] })],
)
