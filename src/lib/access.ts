/** What a credential may do: `<resource>:<read|write>`. One list serves key scopes and roles alike; `members` is
 * granted from the start, so that a key need not be made anew for calls that are still to come. */
export const SCOPES = [
  'projects:read',
  'projects:write',
  'members:read',
  'members:write',
  'api_keys:read',
  'api_keys:write',
  'billing:read',
  'billing:write',
  'connections:read',
  'connections:write',
  'audit_log:read',
] as const
export type Scope = (typeof SCOPES)[number]

/** From the smallest to the largest; each includes what the ones before it may do. */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

const VIEWER: Scope[] = ['projects:read', 'members:read', 'api_keys:read', 'billing:read', 'connections:read']
const DEVELOPER: Scope[] = [...VIEWER, 'api_keys:write', 'billing:write']
const ADMIN: Scope[] = [...DEVELOPER, 'projects:write', 'members:write', 'connections:write', 'audit_log:read']

/** What each role may do. Viewer reads; developer also mints, rotates, revokes, replays; admin also manages. */
export const ROLE_SCOPES: Record<Role, readonly Scope[]> = {
  viewer: VIEWER,
  developer: DEVELOPER,
  admin: ADMIN,
  owner: ADMIN,
}

/** The smallest role that may do what the scope names: what a refused caller is told to ask for. */
export function smallestRole(scope: Scope): Role {
  return ROLES.find((role) => ROLE_SCOPES[role].includes(scope)) ?? 'owner'
}

/** The scopes of `wanted` that `held` lacks. */
export function missingScopes(wanted: readonly Scope[], held: readonly Scope[]): Scope[] {
  return wanted.filter((scope) => !held.includes(scope))
}
