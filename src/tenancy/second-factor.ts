import { type Role, rankOf } from '../lib/access'
import { Fault } from '../lib/fault'
import { type Settings, settingsOf } from './settings'

/** A user's role in a project, the settings of that project, and whether the session has its second factor. */
type Access = { role: Role | null; settings: Partial<Settings> | null; second_factor: boolean }

/**
 * Refuses a session without its second factor where a project requires a passkey. Each call about a project needs it, also
 * one that names the project only in its path.
 *
 * @throws {Fault} `passkey_required`
 */
export function requireSecondFactor({ role, settings, second_factor }: Access): void {
  if (second_factor || !isManager(role) || !settingsOf(settings).require_passkey) return
  throw new Fault(
    'passkey_required',
    'This project requires a passkey for its admins and owners. Sign in with your passkey, or use it or a recovery code in this session. If you have none, add one first: on the Passkeys page of the console, or with POST /auth/passkeys.',
  )
}

/** Whether the role is one of those that a project can require a passkey of. */
function isManager(role: Role | null): boolean {
  return role !== null && rankOf(role) >= rankOf('admin')
}
