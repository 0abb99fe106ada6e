import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Settings } from './settings'

/**
 * Projects. A store has those that were created in it. The directory has all of them: its own projects, and a copy of
 * the row of every other project. The row says which store the project is in.
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
    /** The settings that are not at their defaults: settings.ts. What the directory has counts. */
    settings: text({ mode: 'json' }).$type<Partial<Settings>>().notNull().default({}),
  },
  (t) => [index('projects_store').on(t.store, t.id)],
)
