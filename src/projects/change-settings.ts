import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { Actor } from '../http/actor'
import { requireConfirmed } from '../http/policy'
import { Fault } from '../lib/fault'
import { copySettings } from '../tenancy/patched'
import type { Project } from '../tenancy/project'
import {
  type DirectoryChange,
  ofDirectory,
  ofStore,
  requires,
  type SettingsChange,
  type StoreChange,
} from '../tenancy/settings'
import { changeInDirectory } from './in-directory'
import { changeInStore } from './in-store'

/**
 * Changes settings of a project. Those that the directory decides are changed first, because that may be refused. Each is
 * copied to the other database, which only shows it. The same call again repairs a copy that the last one did not reach,
 * and so does the cron.
 *
 * @returns null if there is no such project
 * @throws {Fault} `console_session_required` for an API key, `insufficient_role` for a user who is not an owner,
 *   `passkey_required` and `confirmation_required` where a setting requires what the session lacks
 */
export async function changeSettingsEverywhere(
  rt: Runtime,
  actor: Actor,
  { project_id, settings }: { project_id: string; settings: SettingsChange },
  change: Change,
): Promise<Project | null> {
  if (settings.on_exposure !== undefined && actor.type !== 'session') throw peopleOnly()
  const owned = ofDirectory(settings)
  const others = ofStore(settings)
  const changed =
    Object.keys(owned).length === 0 ? null : await changeOwned(rt, actor, { project_id, settings: owned }, change)
  if (Object.keys(others).length > 0) return changeOthers(rt, project_id, others, change)
  return changed
}

/** Settings that only owners change. */
async function changeOwned(
  { db, directory, store }: Runtime,
  actor: Actor,
  { project_id, settings }: { project_id: string; settings: DirectoryChange },
  change: Change,
): Promise<Project | null> {
  if (actor.type !== 'session') {
    throw new Fault('console_session_required', 'Only an owner can change this setting. Use an owner’s session.')
  }
  if (actor.role !== 'owner') throw ownersOnly()
  const proving = requires('proved', settings)
  if (proving && !actor.second_factor) throw factorFirst()
  if (requires('confirmed', settings)) requireConfirmed(actor)
  const done = await changeInDirectory(directory, actor, { project_id, settings }, change)
  if (!done) return null
  const { project, proved } = done
  if (project.role !== 'owner') throw ownersOnly()
  if (proving && !proved) throw factorFirst()
  if (store !== 0) await copySettings(db, project_id, settings)
  return project
}

async function changeOthers(
  { db, directory, store }: Runtime,
  id: string,
  settings: StoreChange,
  change: Change,
): Promise<Project | null> {
  const project = await changeInStore(db, id, settings, change)
  if (project && store !== 0) await copySettings(directory, id, settings)
  return project
}

/** A key that was stolen must not keep a report from ending it. */
function peopleOnly(): Fault {
  return new Fault('console_session_required', 'An API key cannot change `on_exposure`. Use a console session.')
}

function ownersOnly(): Fault {
  return new Fault('insufficient_role', 'Only an owner can change this setting of the project.')
}

function factorFirst(): Fault {
  return new Fault(
    'passkey_required',
    'Use your passkey or a recovery code in this session before you require one. Otherwise you would lock yourself out.',
  )
}
