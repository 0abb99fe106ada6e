import { run } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import type { Project } from '../tenancy/project'
import { beginPurge, deleteLast, deleteRows, firstWithRows, handOver, nextToPurge } from './purge-store'

/**
 * Deletes the rows of deleted projects that can no longer be restored. This is one step: some rows of one project, which is
 * the next one after the project `after`. The store of a project comes first, with every table. Then the directory, where
 * the project's members are. Its own row is always the last, so that a step that failed is found again.
 *
 * @param failed is told of a project whose step failed. The next pass tries it again, and this one goes on to the others.
 * @returns the project after which the next step continues; null once all are done
 */
export async function purgeProjects(
  rt: Runtime,
  after: string,
  failed: (error: unknown) => void,
): Promise<{ done: number; after: string | null }> {
  const { db, store, now } = rt
  const [project] = await run(db, nextToPurge(db, { store, after, now }))
  if (!project) return { done: 0, after: null }
  try {
    const isDone = await purgeSome(rt, project)
    return { done: isDone ? 1 : 0, after: isDone ? project.id : after }
  } catch (error) {
    writeLog('error', 'project_not_purged', { project_id: project.id, store, error: String(error) })
    failed(error)
    return { done: 0, after: project.id }
  }
}

/** @returns whether nothing is left of the project in this database */
async function purgeSome({ db, directory, store, now }: Runtime, project: Project): Promise<boolean> {
  const { id } = project
  // If it was not begun, the project was restored a moment ago.
  if (project.purging_since === null && !(await beginPurge(db, id, now))) return true
  const table = await firstWithRows(db, id)
  if (table !== null) {
    await deleteRows(db, table, id)
    return false
  }
  if (store !== 0) await handOver(directory, { ...project, purging_since: project.purging_since ?? now })
  await deleteLast(db, id)
  if (store === 0) writeLog('info', 'project_purged', { project_id: id, deleted_at: project.deleted_at })
  return true
}
