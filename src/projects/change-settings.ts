import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { type Actor, requireConfirmed } from '../http/auth'
import { Fault } from '../lib/fault'
import { changeSettings } from './directory-store'
import { type SettingsChange, settingsOf } from './settings'
import { copySettings, type Project } from './store'

/**
 * Changes settings of a project in the directory, where they count, and then the copy in the project's store. The same
 * change again repairs a copy that the last call did not reach.
 *
 * @returns null if there is no such project
 * @throws {Fault} `console_session_required` for an API key, `insufficient_role` for a user who is not an owner,
 *   `passkey_required` where the session lacks the second factor that it would require, `confirmation_required` where an
 *   unconfirmed session stops requiring it
 */
export async function changeSettingsEverywhere(
  { db, directory, store }: Runtime,
  actor: Actor,
  id: string,
  settings: SettingsChange,
  change: Change,
): Promise<Project | null> {
  if (actor.type !== 'session') {
    throw new Fault('console_session_required', 'Only an owner can change settings. Use the session of one.')
  }
  if (actor.role !== 'owner') throw ownersOnly()
  if (settings.require_passkey && !actor.second_factor) throw factorFirst()
  if (settings.require_passkey === false) requireConfirmed(actor)
  const done = await changeSettings(directory, actor, id, settings, change)
  if (!done) return null
  const { project, proved } = done
  if (project.role !== 'owner') throw ownersOnly()
  if (settings.require_passkey && !proved) throw factorFirst()
  if (store !== 0) await copySettings(db, project)
  return { ...project, settings: settingsOf(project.settings) }
}

function ownersOnly(): Fault {
  return new Fault('insufficient_role', 'Only an owner can change the settings of the project.')
}

function factorFirst(): Fault {
  return new Fault(
    'passkey_required',
    'Use your passkey or a recovery code in this session before you require one. Otherwise you would lock yourself out.',
  )
}
