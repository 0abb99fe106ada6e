import { sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { progress } from '../stores/schema'

export type Progress = typeof progress.$inferSelect

/** Reads how far each task has got. */
export function readProgress(db: Db) {
  return db.select().from(progress)
}

/** Records how far tasks have got. They are one list, because together they have more values than a statement binds. */
export async function writeProgress(db: Db, rows: readonly Progress[]): Promise<void> {
  const row = { task: sql`j.value->>'task'`, hour: sql`j.value->>'hour'`, after: sql`j.value->>'after'` }
  const set = sql.join(
    [progress.hour, progress.after].map((column) => sql`${bare(column)} = ${excluded(column)}`),
    sql`, `,
  )
  const from = sql`FROM json_each(${JSON.stringify(rows)}) j WHERE true ON CONFLICT DO UPDATE SET ${set}`
  await run(db, insertFrom(db, progress, row, from))
}
