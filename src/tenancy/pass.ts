import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, type Query } from '../db/client'
import { PROJECTS_AT_ONCE } from './limits'
import { projects } from './schema'

/** What a step of a pass did, and the project after which the next step continues; null once all projects are done. */
export type PassStep = { done: number; after: string | null }

/** Where a step begins: after a project of this store. */
export type PassStart = { store: number; after: string }
/** The same, or after a project of any store. */
export type PassStartOfAny = { store: number | null; after: string }

/** What a step deletes or folds, by the project of each row, with statements that come before it. */
type Work = Record<string, Query> & { gone: Query<{ project_id: string }[]> }

/**
 * One step of a pass over the projects of a store: a transaction over those that follow one, in the order of their ids.
 *
 * @param work makes the statements, for `slice`: a table `p` of the ids of these projects. They take at most `most` rows,
 *   project by project.
 */
export async function passStep(
  db: Db,
  { store, after }: PassStartOfAny,
  most: number,
  work: (slice: SQL) => Work,
): Promise<PassStep> {
  const own = store === null ? undefined : eq(projects.store, store)
  const slice = sql`(SELECT ${projects.id} FROM ${projects}
    WHERE ${and(own, gt(projects.id, after))} ORDER BY ${projects.id} LIMIT ${PROJECTS_AT_ONCE}) p`
  const last = db
    .select({ id: projects.id })
    .from(projects)
    .where(and(own, gt(projects.id, after)))
    .orderBy(projects.id)
    .limit(1)
    .offset(PROJECTS_AT_ONCE - 1)
  const { gone, next } = await batch(db, { ...work(slice), next: last })
  if (gone.length < most) return { done: gone.length, after: next[0]?.id ?? null }
  // The projects before the last one that the step reached are done.
  const [, before] = [...new Set(gone.map((row) => row.project_id))].sort().reverse()
  return { done: gone.length, after: before ?? after }
}
