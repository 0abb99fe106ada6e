import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Projects. A store has the projects that were created in it. The directory has all projects: its own, and a copy of the
 * row of every other one. The row says which store the project is in.
 */
export const projects = sqliteTable(
  'projects',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    created_by: text().notNull(),
    created_at: integer().notNull(),
    /** The number of the store that the project is in. */
    store: integer().notNull().default(0),
  },
  (t) => [index('projects_store').on(t.store, t.id)],
)
