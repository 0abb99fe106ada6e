import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { Actor } from '../http/auth'
import { requireConfirmed } from '../http/policy'
import { Fault } from '../lib/fault'
import { requirePasskey } from './directory-store'
import { ofStore, type SettingsChange, type StoreChange } from './settings'
import { changeInStore, copySettings, type Project } from './store'

/**
 * Changes settings of a project. `require_passkey` counts in the directory, and is changed first, because that may be refused.
 * The others count in the project's store. Each is copied to the other database, which only shows it. The same call again
 * repairs a copy that the last one did not reach, and so does the cron.
 *
 * @returns null if there is no such project
 * @throws {Fault} `console_session_required` for an API key, `insufficient_role` for a user who is not an owner,
 *   `passkey_required` where the session lacks the second factor that it would require, `confirmation_required` where an
 *   unconfirmed session stops requiring it
 */
export async function changeSettingsEverywhere(
  rt: Runtime,
  actor: Actor,
  id: string,
  settings: SettingsChange,
  change: Change,
): Promise<Project | null> {
  const { require_passkey } = settings
  const others = ofStore(settings)
  const changed = require_passkey === undefined ? null : await changePasskey(rt, actor, id, require_passkey, change)
  if (Object.keys(others).length > 0) return changeOthers(rt, id, others, change)
  return changed
}

async function changePasskey(
  { db, directory, store }: Runtime,
  actor: Actor,
  id: string,
  required: boolean,
  change: Change,
): Promise<Project | null> {
  if (actor.type !== 'session') {
    throw new Fault('console_session_required', 'Only an owner can change this setting. Use the session of one.')
  }
  if (actor.role !== 'owner') throw ownersOnly()
  if (required && !actor.second_factor) throw factorFirst()
  if (!required) requireConfirmed(actor)
  const done = await requirePasskey(directory, actor, id, required, change)
  if (!done) return null
  const { project, proved } = done
  if (project.role !== 'owner') throw ownersOnly()
  if (required && !proved) throw factorFirst()
  if (store !== 0) await copySettings(db, id, { require_passkey: required })
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

function ownersOnly(): Fault {
  return new Fault('insufficient_role', 'Only an owner can change this setting of the project.')
}

function factorFirst(): Fault {
  return new Fault(
    'passkey_required',
    'Use your passkey or a recovery code in this session before you require one. Otherwise you would lock yourself out.',
  )
}
