import type { Change } from '../audit/store'
import { batch } from '../db/client'
import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { newProjectId } from '../lib/ids'
import { placesFor } from '../stores/places'
import { readStores } from '../stores/store'
import { findMemberProject, mayOwnMore, ownerAdded, ownsFewer, projectCopied } from './directory-store'
import { MAX_OWNED_PROJECTS } from './limits'
import { findProject, type Project, projectCreated } from './store'

/**
 * Creates a project with `ownerId` as its owner. If its store does not answer, another one is tried.
 *
 * @throws {Fault} `project_limit_reached`
 */
export async function createProject(rt: Runtime, name: string, ownerId: string, change: Change): Promise<Project> {
  const places = rt.stores.length === 1 ? rt.stores : await choose(rt, ownerId)
  for (const [i, store] of places.entries()) {
    const project = { id: newProjectId(change.now, store), name, created_by: ownerId, created_at: change.now, store }
    try {
      if (await create(rt, project, change)) return project
      throw limitReached()
    } catch (error) {
      const isLast = i === places.length - 1
      if (isLast || !(error instanceof Fault) || error.fault !== 'database_unavailable') throw error
    }
  }
  throw new Error('there is no store')
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
 * Creates a project in its store, then in the directory, which is the commit: until then nobody can reach it. If the
 * second part fails, housekeeping removes what the first part left.
 *
 * @returns whether its owner may own one more
 */
async function create({ directory, at }: Runtime, project: Project, change: Change): Promise<boolean> {
  const inside = at(project.store)
  if (!inside) throw new Error(`store ${project.store} is not bound`)
  if (project.store === 0) {
    const { made } = await batch(directory, {
      ...projectCreated(inside.db, project, change, ownsFewer(directory, project.created_by)),
      // This comes after the audit row, which is written only if the project was.
      owner: ownerAdded(directory, project),
      made: findProject(inside.db, project.id),
    })
    return made.length > 0
  }
  await batch(inside.db, projectCreated(inside.db, project, change, undefined))
  const { made } = await batch(directory, {
    copied: projectCopied(directory, project),
    owner: ownerAdded(directory, project),
    made: findMemberProject(directory, project.id, project.created_by),
  })
  return made.length > 0
}

function limitReached(): Fault {
  return new Fault('project_limit_reached', `A user can own ${MAX_OWNED_PROJECTS} projects, and this one does.`)
}
