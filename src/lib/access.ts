/**
 * The permissions of credentials: `<resource>:<read|write>`, `consumers:erase` and `sso:use`. API keys and roles share
 * this list.
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
  'consumers:read',
  'consumers:write',
  'consumers:erase',
  'catalog:read',
  'catalog:write',
  'entitlements:read',
  'entitlements:write',
  'domains:read',
  'domains:write',
  'sso:read',
  'sso:use',
  'sso:write',
  'webhooks:read',
  'webhooks:write',
] as const
export type Scope = (typeof SCOPES)[number]

/**
 * From the lowest to the highest. Each role includes the permissions of the roles before it. The database has them too: in the
 * CHECKs `members_role` and `invitations_role`, and in the trigger `audit_log_counted`, which ranks them.
 */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

const VIEWER: Scope[] = [
  'projects:read',
  'members:read',
  'api_keys:read',
  'billing:read',
  'connections:read',
  'consumers:read',
  'catalog:read',
  'entitlements:read',
  'domains:read',
  'sso:read',
  'webhooks:read',
]
const DEVELOPER: Scope[] = [
  ...VIEWER,
  'api_keys:write',
  'billing:write',
  'consumers:write',
  'catalog:write',
  'entitlements:write',
  'domains:write',
  'sso:use',
]
const ADMIN: Scope[] = [
  ...DEVELOPER,
  'projects:write',
  'members:write',
  'connections:write',
  'audit_log:read',
  'consumers:erase',
  'sso:write',
  'webhooks:write',
]

/** The scopes of each role. access-words.ts says what they are for. */
export const ROLE_SCOPES: Record<Role, readonly Scope[]> = {
  viewer: VIEWER,
  developer: DEVELOPER,
  admin: ADMIN,
  owner: ADMIN,
}

/**
 * Scopes of an API key that count only while the user who minted it, and the one who was handed its secret, are members whose
 * roles have them. Without this, an admin who was removed could come back with a key. All other scopes of the key stay.
 */
export const ADMINISTRATIVE: readonly Scope[] = ['members:write', 'sso:write']

/**
 * Scopes of an API key whose secret only a confirmed session gets, by minting or by rotating the key: the administrative
 * ones, and one that cannot be undone.
 */
export const NEEDS_CONFIRMATION: readonly Scope[] = [...ADMINISTRATIVE, 'consumers:erase']

/**
 * The administrative scopes in `scopes` that do not count.
 *
 * @param role the lowest one of the users that the key depends on; null if one of them is not a member
 */
export function dormantScopes(scopes: readonly Scope[], role: Role | null): Scope[] {
  const counting = role === null ? [] : ROLE_SCOPES[role]
  return scopes.filter((scope) => ADMINISTRATIVE.includes(scope) && !counting.includes(scope))
}

/** The place of a role in {@link ROLES}: a higher role has a greater number. */
export function rankOf(role: Role): number {
  return ROLES.indexOf(role)
}

/** The role that an API key acts as: the highest one, up to admin, of which it has all scopes. Null if there is none. */
export function roleOfScopes(scopes: readonly Scope[]): Role | null {
  const below = ROLES.filter((role) => role !== 'owner')
  return below.findLast((role) => missingScopes(ROLE_SCOPES[role], scopes).length === 0) ?? null
}

/** The lowest role that has the scope. Refusals name it. */
export function smallestRole(scope: Scope): Role {
  return ROLES.find((role) => ROLE_SCOPES[role].includes(scope)) ?? 'owner'
}

/** The scopes in `wanted` that are missing from `held`. */
export function missingScopes(wanted: readonly Scope[], held: readonly Scope[]): Scope[] {
  return wanted.filter((scope) => !held.includes(scope))
}
