/**
 * The permissions of credentials: `<resource>:<read|write>`. API keys and roles share this list. The `members` scopes
 * exist before their calls do, so that keys minted today will work with them.
 */
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

/** From the lowest to the highest. Each role includes the permissions of the roles before it. */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

const VIEWER: Scope[] = ['projects:read', 'members:read', 'api_keys:read', 'billing:read', 'connections:read']
const DEVELOPER: Scope[] = [...VIEWER, 'api_keys:write', 'billing:write']
const ADMIN: Scope[] = [...DEVELOPER, 'projects:write', 'members:write', 'connections:write', 'audit_log:read']

/**
 * The scopes of each role. A viewer reads; a developer also mints, rotates, revokes and replays; an admin also manages.
 */
export const ROLE_SCOPES: Record<Role, readonly Scope[]> = {
  viewer: VIEWER,
  developer: DEVELOPER,
  admin: ADMIN,
  owner: ADMIN,
}

/** The lowest role that has the scope. Refusals name it. */
export function smallestRole(scope: Scope): Role {
  return ROLES.find((role) => ROLE_SCOPES[role].includes(scope)) ?? 'owner'
}

/** The scopes in `wanted` that are missing from `held`. */
export function missingScopes(wanted: readonly Scope[], held: readonly Scope[]): Scope[] {
  return wanted.filter((scope) => !held.includes(scope))
}
