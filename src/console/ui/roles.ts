import { ROLES, type Role, rankOf } from '../../lib/access'
import { capital } from './format'

/** What each role may do, from the lowest to the highest. */
export const ROLE_WORDS: Record<Role, string> = {
  viewer: 'Can see everything except the audit log, and change nothing.',
  developer:
    'Can do what a viewer can. Can also create, rotate and revoke API keys, change consumers and their devices, and replay events.',
  admin:
    'Can do what a developer can. Can also invite people, change and remove members up to admin, rename the project, change its settings, manage its connections, erase consumers, and read the audit log.',
  owner: 'Can do everything. Only an owner can make somebody an owner, or remove an owner.',
}

/** The roles that somebody with a role may give, as the options of a list. */
export function rolesUpTo(own: Role): [Role, string][] {
  return ROLES.filter((role) => rankOf(role) <= rankOf(own)).map((role) => [role, capital(role)])
}
