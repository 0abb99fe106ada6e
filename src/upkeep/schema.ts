import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** How far housekeeping has got: a row for each task, which passes over all projects once an hour. */
export const progress = sqliteTable('progress', {
  task: text().primaryKey(),
  /** The hour (since the epoch) in which the last complete pass ended; 0 if none has. */
  hour: integer().notNull(),
  /** The project that the current pass has reached, in the order of ids; empty if no pass has begun. */
  after: text().notNull(),
})
