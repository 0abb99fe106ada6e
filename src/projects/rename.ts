import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { Project } from '../tenancy/project'
import { renameCopy } from './directory-store'
import { renameProject } from './store'

/**
 * Renames a project in its store, and then its copy in the directory. The same name again repairs a copy that the last
 * call did not reach.
 *
 * @returns null if there is no such project
 */
export async function renameEverywhere(
  { db, directory, store }: Runtime,
  id: string,
  name: string,
  change: Change,
): Promise<Project | null> {
  const project = await renameProject(db, id, name, change)
  if (project && store !== 0) await renameCopy(directory, id, name)
  return project
}
