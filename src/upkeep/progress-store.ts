import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, type Query, run } from '../db/client'
import { excluded } from '../db/sql'
import { projects } from '../tenancy/schema'
import { PROJECTS_AT_ONCE } from './limits'
import { progress } from './schema'

export type Progress = typeof progress.$inferSelect

/** What a step did, and the project after which the next step continues; null once all projects are done. */
export type Step = { done: number; after: string | null }

/** Where a step begins: after a project of this store. */
export type From = { store: number; after: string }

/** What a step deletes or folds, by the project of each row, with statements that come before it. */
type Work = Record<string, Query> & { gone: Query<{ project_id: string }[]> }

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

/**
 * One step over the projects that follow one: a transaction over all of them, in the order of their ids.
 *
 * @param work makes the statements, for `slice`: a table `p` of the ids of these projects. They take at most `most` rows,
 *   project by project.
 */
export async function step(db: Db, { store, after }: From, most: number, work: (slice: SQL) => Work): Promise<Step> {
  const slice = sql`(SELECT ${projects.id} FROM ${projects}
    WHERE ${projects.store} = ${store} AND ${projects.id} > ${after} ORDER BY ${projects.id} LIMIT ${PROJECTS_AT_ONCE}) p`
  const last = db
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.store, store), gt(projects.id, after)))
    .orderBy(projects.id)
    .limit(1)
    .offset(PROJECTS_AT_ONCE - 1)
  const { gone, next } = await batch(db, { ...work(slice), next: last })
  if (gone.length < most) return { done: gone.length, after: next[0]?.id ?? null }
  // The projects before the last one that the step reached are done.
  const [, before] = [...new Set(gone.map((row) => row.project_id))].sort().reverse()
  return { done: gone.length, after: before ?? after }
}
