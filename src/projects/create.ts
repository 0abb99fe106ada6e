import type { Change } from '../audit/store'
import { batch, ConstraintError } from '../db/client'
import { notBound, type Runtime } from '../env'
import { noteFull } from '../http/database-full'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { newProjectId } from '../lib/ids'
import { placesFor } from '../stores/places'
import { readStores } from '../stores/store'
import { MAX_OWNED_PROJECTS } from '../tenancy/limits'
import type { Project } from '../tenancy/project'
import { halfMadeDeleted } from './half-made'
import { findMemberProject, mayOwnMore, ownerAdded, ownsFewer, projectCopied } from './in-directory'
import { projectCreated } from './in-store'

const NOT_DELETED = { deleted_at: null, purge_at: null, purging_since: null }

/**
 * Creates a project with `ownerId` as its owner: in its store, then in the directory, which is the commit. Until then nobody
 * can reach it. If the second part fails, housekeeping removes what the first part left.
 *
 * @throws {Fault} `project_limit_reached`
 */
export async function createProject(rt: Runtime, name: string, ownerId: string, change: Change): Promise<Project> {
  const places = rt.stores.length === 1 ? rt.stores : await choose(rt, ownerId)
  const fields = {
    name,
    created_by: ownerId,
    created_at: change.now,
    settings: {},
    sso_enforced_by: null,
    ...NOT_DELETED,
  }
  const project = await place(rt, places, fields, change)
  const made = await commit(rt, project, change).catch(async (error) => {
    // Another request with the same Idempotency-Key was first.
    if (error instanceof ConstraintError) await takeBack(rt, project)
    throw error
  })
  if (made) return project
  await takeBack(rt, project)
  throw limitReached()
}

/** Deletes what {@link place} has written. */
async function takeBack(rt: Runtime, project: Project): Promise<void> {
  const home = rt.at(project.store)
  if (home && project.store !== 0) await batch(home.db, halfMadeDeleted(home.db, [project.id]))
}

/** @throws {Fault} `project_limit_reached` */
async function choose({ directory, stores, now }: Runtime, ownerId: string): Promise<readonly number[]> {
  const { noted, owner } = await batch(directory, {
    noted: readStores(directory),
    owner: mayOwnMore(directory, ownerId),
  })
  if (!owner[0]?.may) throw limitReached()
  return placesFor(noted, stores, now)
}

/**
 * Writes a project in the first store that takes it. In store 0 there is nothing to write yet: the commit does it.
 *
 * @throws {Fault} that of the last store, if none takes it
 */
async function place(
  rt: Runtime,
  places: readonly number[],
  fields: Omit<Project, 'id' | 'store'>,
  change: Change,
): Promise<Project> {
  let failure: unknown = new Error('there is no store')
  for (const store of places) {
    const project = { ...fields, id: newProjectId(change.now, store), store }
    const inside = rt.at(store)
    if (store === 0) return project
    if (!inside) throw notBound(store)
    try {
      await batch(inside.db, projectCreated(inside.db, project, change, undefined))
      return project
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      if (error.fault === 'database_full') noteFull(inside)
      failure = error
    }
  }
  throw failure
}

/** @returns whether its owner may own one more */
async function commit({ directory, at }: Runtime, project: Project, change: Change): Promise<boolean> {
  const home = at(0)
  const { made } =
    project.store === 0 && home
      ? await batch(directory, {
          ...projectCreated(home.db, project, change, ownsFewer(directory, project.created_by)),
          // These come after the audit row, which is written only if the project was.
          ...keptWith(directory, change, project.id),
          owner: ownerAdded(directory, project),
          made: findMemberProject(directory, project.id, project.created_by),
        })
      : await batch(directory, {
          copied: projectCopied(directory, project),
          ...keptWith(directory, change, project.id),
          owner: ownerAdded(directory, project),
          made: findMemberProject(directory, project.id, project.created_by),
        })
  return made.length > 0
}

function limitReached(): Fault {
  return new Fault('project_limit_reached', `The user already owns ${MAX_OWNED_PROJECTS} projects, which is the limit.`)
}
