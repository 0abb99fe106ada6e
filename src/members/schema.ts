import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const members = sqliteTable(
  'members',
  {
    project_id: text().notNull(),
    user_id: text().notNull(),
    role: text({ enum: ['owner', 'admin', 'developer', 'viewer'] }).notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.user_id] }),
    index('members_user').on(t.user_id, t.project_id),
    check('members_role', sql`${t.role} IN ('owner','admin','developer','viewer')`),
  ],
)
