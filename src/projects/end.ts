import { and, eq, gt, isNull, type SQL } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Directory, run } from '../db/client'
import { notBound, type Runtime } from '../env'
import { noProject } from '../http/policy'
import { invalidField } from '../http/validate'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { findProject, type Project } from '../tenancy/project'
import { requireReach, type Viewer } from '../tenancy/reach'
import { projects } from '../tenancy/schema'
import { requireSecondFactor } from '../tenancy/second-factor'
import { findMemberProject, hasOwner, type MemberProject } from './in-directory'
import { projectEntry } from './in-store'
import { RESTORABLE_FOR } from './limits'
import { copyAllMarks, type Marked } from './marks'

/** A project, and the session of the user who deletes or restores it. */
type Of = { id: string; session: Viewer & { second_factor: boolean } }

/**
 * Deletes a project for its owner: its API keys and ingest addresses stop at once, and its data is kept until `purge_at`.
 * The store is marked first, because keys and deliveries are checked there, and then the copy in the directory. If the
 * second step fails, repeating the call finishes it, and so does the cron. Deleting it again changes nothing.
 *
 * @param typed the name of the project, as proof that this project is meant
 * @throws {Fault} `not_found`, `insufficient_role`, `passkey_required`, `validation_failed` for another name
 */
export async function deleteProject(rt: Runtime, { id, session }: Of, typed: string, change: Change) {
  const own = await readOwned(rt, { id, session })
  const home = homeOf(rt, own)
  const project = await markDeleted(home.db, { id, name: typed, purge_at: change.now + RESTORABLE_FOR }, change)
  if (!project) throw noProject()
  if (project.name !== typed) throw invalidField('/name', 'not_one_of', "must be the project's name, exactly")
  if (project.store !== 0) await copyMarks(rt.directory, project)
  return { ...project, role: own.role }
}

/**
 * Restores a deleted project for its owner: in its store first, then in the directory, as {@link deleteProject}. Restoring
 * it again changes nothing. The directory knows the owners: if the last one has left since, it refuses, and the project is
 * deleted in its store again.
 *
 * @throws {Fault} `not_found`, `insufficient_role`, `passkey_required`, `project_purged` if the time for it is over
 */
export async function restoreProject(rt: Runtime, { id, session }: Of, change: Change): Promise<MemberProject> {
  const own = await readOwned(rt, { id, session })
  const { db } = homeOf(rt, own)
  const owned = own.store === 0 ? hasOwner(rt.directory, id) : undefined
  const project = await unmarkDeleted(db, own, owned, change)
  if (!project || project.deleted_at !== null) {
    await readOwned(rt, { id, session }) // The user may have left since.
    const until = own.purge_at === null ? '' : ` It could be restored until ${iso(own.purge_at)}.`
    throw new Fault('project_purged', `The project was deleted, and its data is being removed.${until}`)
  }
  if (project.store !== 0 && !(await copyMarks(rt.directory, project))) {
    await copyAllMarks(db, [own])
    throw noProject()
  }
  return { ...project, role: own.role, break_glass: own.break_glass }
}

/** A project that the user of the session owns, deleted or not. */
async function readOwned(rt: Runtime, { id, session }: Of): Promise<MemberProject> {
  const [own] = await run(rt.directory, findMemberProject(rt.directory, id, session.user_id))
  if (!own) throw noProject()
  requireReach(rt, session.sso, id, own)
  if (own.role !== 'owner') throw new Fault('insufficient_role', 'This call requires the role owner.')
  requireSecondFactor({ ...own, second_factor: session.second_factor })
  return own
}

function homeOf(rt: Runtime, { store }: MemberProject): Runtime {
  const home = rt.at(store)
  if (!home) throw notBound(store)
  return home
}

/**
 * Marks a project of this store as deleted, if this is its name. A deleted one stays as it is.
 *
 * @returns it as it is then; null if there is no such project
 */
export async function markDeleted(
  db: Db,
  { id, name, purge_at }: { id: string; name: string; purge_at: number },
  change: Change,
): Promise<Project | null> {
  const deleted = db
    .update(projects)
    .set({ deleted_at: change.now, purge_at })
    .where(and(eq(projects.id, id), eq(projects.name, name), isNull(projects.deleted_at)))
  const { project } = await batch(db, {
    ...audited(db, change, projectEntry(id, 'project.deleted', name), deleted),
    project: findProject(db, { id }),
  })
  return project[0] ?? null
}

/**
 * Restores a deleted project of this store, if the time for it is not over. Any other stays as it is.
 *
 * @param condition a further one
 * @returns it as it is then; null if there is no such project
 */
export async function unmarkDeleted(
  db: Db,
  { id, name }: Pick<Project, 'id' | 'name'>,
  condition: SQL | undefined,
  change: Change,
): Promise<Project | null> {
  // Once its rows are being deleted, no clock that is behind may restore it.
  const inTime = and(gt(projects.purge_at, change.now), isNull(projects.purging_since))
  const restored = db
    .update(projects)
    .set({ deleted_at: null, purge_at: null })
    .where(and(eq(projects.id, id), inTime, condition))
  const { project } = await batch(db, {
    ...audited(db, change, projectEntry(id, 'project.restored', name), restored),
    project: findProject(db, { id }),
  })
  return project[0] ?? null
}

/**
 * Copies the marks of a project from its store to the directory. A live project must have an owner: so a deleted one that has
 * none stays deleted here.
 *
 * @returns whether it did
 */
export async function copyMarks(directory: Directory, { id, deleted_at, purge_at }: Marked): Promise<boolean> {
  const kept = deleted_at === null ? hasOwner(directory, projects.id) : undefined
  const copied = directory
    .update(projects)
    .set({ deleted_at, purge_at })
    .where(and(eq(projects.id, id), kept))
    .returning({ id: projects.id })
  return (await run(directory, copied)).length > 0
}
