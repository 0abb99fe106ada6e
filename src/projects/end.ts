import type { Change } from '../audit/store'
import { run } from '../db/client'
import { notBound, type Runtime } from '../env'
import { invalidField } from '../http/validate'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { findMemberProject, type MemberProject } from './directory-store'
import { copyMarks, markDeleted, unmarkDeleted } from './end-store'
import { RESTORABLE_FOR } from './limits'

/** A project, and the user who deletes or restores it. */
type Of = { id: string; user_id: string }

/**
 * Deletes a project for its owner: its API keys and ingest addresses stop at once, and its data is kept until `purge_at`.
 * The store is marked first, because keys and deliveries are checked there, and then the copy in the directory. If the
 * second step fails, repeating the call finishes it, and so does the cron. Deleting it again changes nothing.
 *
 * @param typed the name of the project, as proof that this project is meant
 * @throws {Fault} `not_found`, `insufficient_role`, `validation_failed` for another name
 */
export async function deleteProject(rt: Runtime, { id, user_id }: Of, typed: string, change: Change) {
  const own = await readOwned(rt, id, user_id)
  const home = homeOf(rt, own)
  const project = await markDeleted(home.db, { id, name: typed, purge_at: change.now + RESTORABLE_FOR }, change)
  if (!project) throw projectNotFound()
  if (project.name !== typed) throw invalidField('/name', 'not_one_of', "must be the project's name, exactly")
  if (project.store !== 0) await copyMarks(rt.directory, project)
  return { ...project, role: own.role }
}

/**
 * Restores a deleted project for its owner: in its store first, then in the directory, as {@link deleteProject}. Restoring
 * it again changes nothing.
 *
 * @throws {Fault} `not_found`, `insufficient_role`, `project_purged` if the time for it is over
 */
export async function restoreProject(rt: Runtime, { id, user_id }: Of, change: Change): Promise<MemberProject> {
  const own = await readOwned(rt, id, user_id)
  const project = await unmarkDeleted(homeOf(rt, own).db, own, change)
  if (!project || project.deleted_at !== null) {
    const until = own.purge_at === null ? '' : ` It could be restored until ${iso(own.purge_at)}.`
    throw new Fault('project_purged', `The project was deleted, and its data is being removed.${until}`)
  }
  if (project.store !== 0) await copyMarks(rt.directory, project)
  return { ...project, role: own.role }
}

/** A project that this user owns, deleted or not. */
async function readOwned({ directory }: Runtime, id: string, user_id: string): Promise<MemberProject> {
  const [own] = await run(directory, findMemberProject(directory, id, user_id))
  if (!own) throw projectNotFound()
  if (own.role !== 'owner') throw new Fault('insufficient_role', 'This call requires the role owner.')
  return own
}

function homeOf(rt: Runtime, { store }: MemberProject): Runtime {
  const home = rt.at(store)
  if (!home) throw notBound(store)
  return home
}

export function projectNotFound(): Fault {
  return new Fault('not_found', 'Project not found, or you are not a member of it.')
}
