import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const projects = sqliteTable('projects', {
  id: text().primaryKey(),
  name: text().notNull(),
  created_by: text().notNull(),
  created_at: integer().notNull(),
})
