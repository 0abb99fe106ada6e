import { sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { replaced } from '../db/upsert'
import { progress } from '../stores/schema'

export type Progress = typeof progress.$inferSelect

/** Reads how far each task has got. */
export function readProgress(db: Db) {
  return db.select().from(progress)
}

/** Records how far tasks have got. They are one list, because together they have more values than a statement binds. */
export async function writeProgress(db: Db, rows: readonly Progress[]): Promise<void> {
  const row = { task: sql`j.value->>'task'`, hour: sql`j.value->>'hour'`, after: sql`j.value->>'after'` }
  const from = sql`FROM json_each(${JSON.stringify(rows)}) j WHERE true ON CONFLICT DO UPDATE SET ${replaced(progress.hour, progress.after)}`
  await run(db, insertFrom(db, progress, row, from))
}
