import { type Db, run } from '../db/client'
import { excluded } from '../db/sql'
import { progress } from '../stores/schema'

export type Progress = typeof progress.$inferSelect

/** Reads how far each task has got. */
export function readProgress(db: Db) {
  return db.select().from(progress)
}

/** Records how far tasks have got. */
export async function writeProgress(db: Db, rows: readonly Progress[]): Promise<void> {
  const set = { hour: excluded(progress.hour), after: excluded(progress.after) }
  await run(
    db,
    db
      .insert(progress)
      .values([...rows])
      .onConflictDoUpdate({ target: progress.task, set }),
  )
}
