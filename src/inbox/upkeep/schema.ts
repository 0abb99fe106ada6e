import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What the deployment remembers of itself: when the sweep last ran (ms), and the number of the key that seals every secret. */
export const STATE_NAMES = ['last_sweep_at', 'sealed_under'] as const

export const state = sqliteTable('state', {
  name: text({ enum: STATE_NAMES }).primaryKey(),
  value: integer().notNull(),
})
