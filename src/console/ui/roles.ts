import { ROLES, type Role, rankOf } from '../../lib/access'
import { capital } from './format'

/** The roles that somebody with a role may give, as the options of a list. */
export function rolesUpTo(own: Role): [Role, string][] {
  return ROLES.filter((role) => rankOf(role) <= rankOf(own)).map((role) => [role, capital(role)])
}
