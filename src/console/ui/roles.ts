import { ROLE_SCOPES, ROLES, type Role, rankOf, type Scope } from '../../lib/access'
import { capital } from './format'

/** The roles that somebody with a role may give, as the options of a list. */
export function rolesUpTo(own: Role): [Role, string][] {
  return ROLES.filter((role) => rankOf(role) <= rankOf(own)).map((role) => [role, capital(role)])
}

/** Whom to ask for what needs a scope, such as “a developer or admin”. Not the owner, who may do all that an admin may. */
export function whoMay(scope: Scope): string {
  const roles = ROLES.filter((role) => role !== 'owner' && ROLE_SCOPES[role].includes(scope))
  return `${roles[0] === 'admin' ? 'an' : 'a'} ${roles.join(' or ')}`
}
