import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Settings } from './settings'

/**
 * Projects. A store has the projects that were created in it. The directory has all projects: its own, and a copy of the
 * row of every other one. The row says which store the project is in.
 *
 * The marks of a deleted project are set in its store first. The directory has a copy of them.
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
    /** When an owner deleted the project (ms); null if it is not deleted. */
    deleted_at: integer(),
    /** Until when an owner can restore it (ms). Then its rows are deleted. Null if it is not deleted. */
    purge_at: integer(),
    /** Since when its rows in this database are being deleted (ms). From then on, nothing restores it. */
    purging_since: integer(),
    /** The settings that were ever set. settings.ts says which database decides. */
    settings: text({ mode: 'json' }).$type<Partial<Settings>>().notNull().default({}),
    /**
     * The single sign-on connection that its team must use; null if there is none. Only the directory's row has it. Triggers
     * keep a member with `break_glass` meanwhile: they refuse other changes with `break_glass_missing`.
     */
    sso_enforced_by: text(),
  },
  (t) => [
    index('projects_store').on(t.store, t.id),
    // Asking whether a project is deleted reads no row if it is not.
    index('projects_deleted').on(t.id).where(sql`deleted_at IS NOT NULL`),
  ],
)
