import { ADMINISTRATIVE, NEEDS_CONFIRMATION, ROLE_SCOPES, ROLES, type Role, rankOf, type Scope } from './access'

/** What a scope is about: `api_keys` of `api_keys:read`. */
export type Area = Scope extends `${infer A}:${string}` ? A : never
type Reading = Exclude<Extract<Scope, `${string}:read`>, 'audit_log:read'>

/** What each area is called, and what its scopes are for. The console shows this, and docs/reference/api.md is tested against it. */
export const AREAS: Record<Area, { label: string; hint: string }> = {
  projects: {
    label: 'Project',
    hint: 'Its name and its settings. Write also creates projects for the user who created the key.',
  },
  members: { label: 'Members', hint: 'The people of the project.' },
  api_keys: { label: 'API keys', hint: 'Write renames, rotates and revokes keys. Only people create keys.' },
  billing: { label: 'Events and billing', hint: 'Events, health, subscriptions, invoices. Write replays events.' },
  connections: {
    label: 'Connections',
    hint: 'Write also adds and removes signing secrets and the API key of the vendor, creates and repairs the webhook endpoint at the vendor, sets how deliveries are verified, and runs imports.',
  },
  audit_log: { label: 'Audit log', hint: 'Who changed what.' },
  consumers: {
    label: 'Consumers',
    hint: 'The end users of your product. Write also blocks and merges them. Erase removes them for good.',
  },
  catalog: { label: 'Catalog', hint: 'Features, plans and their prices.' },
  entitlements: {
    label: 'Entitlements',
    hint: 'What consumers are allowed to do. Read also verifies device tokens. Write creates and revokes grants and denials.',
  },
  domains: {
    label: 'Domains',
    hint: 'DNS names of the project. Write adds, checks and deletes them.',
  },
  sso: {
    label: 'Single sign-on',
    hint: 'Connections to identity providers. Use signs consumers in. Write changes connections, and domains for them.',
  },
  webhooks: {
    label: 'Webhooks out',
    hint: 'Webhook endpoints, and what was sent to them. Write adds and changes endpoints, for types that the caller can read, and resends changes.',
  },
}

const namesOf = (scopes: readonly Scope[]) => scopes.map((scope) => `\`${scope}\``).join(', ')
/** The administrative scopes, as descriptions list them. */
export const ADMINISTRATIVE_NAMES = namesOf(ADMINISTRATIVE)
/** The scopes that take a confirmed session, as descriptions list them. */
export const NEEDS_CONFIRMATION_NAMES = namesOf(NEEDS_CONFIRMATION)

/**
 * The calls of the plane that take the session of a person and no API key, by their operation, and why. The specification lets a
 * key make every other call. The API description and docs/reference/api.md show these reasons.
 */
export const SESSIONS_ONLY: Readonly<Record<string, string>> = {
  mintApiKey: 'The specification lets only people create keys. Otherwise a key could outlive its own revocation.',
  deleteProject: 'Only an owner may do this, and a key is never an owner.',
  restoreProject: 'Only an owner may do this. While the project is deleted, its keys do not work.',
  giveBreakGlass: 'Only an owner may do this, and a key is never an owner.',
  takeBreakGlass: 'Only an owner may do this, and a key is never an owner.',
  rotateEntitlementKey: 'A key that leaked could otherwise end every entitlement token of the project.',
}

/** What a person may do by each scope. Every role may read what the scopes of a viewer name. */
const ABILITIES: Record<Exclude<Scope, Reading>, string> = {
  'projects:write': 'rename the project and change its settings',
  'members:write': 'invite people and manage members up to admin',
  'api_keys:write': 'manage API keys',
  'billing:write': 'replay events',
  'connections:write': 'manage connections',
  'audit_log:read': 'read the audit log',
  'consumers:write': 'change consumers and their devices',
  'consumers:erase': 'erase consumers',
  'catalog:write': 'change the catalog',
  'entitlements:write': 'create and revoke grants',
  'domains:write': 'manage domains for hosts',
  'sso:use': 'sign consumers in with single sign-on',
  'sso:write': 'set up single sign-on and its domains',
  'webhooks:write': 'manage outgoing webhooks',
}

/**
 * What a role may do, in sentences. The console shows them, and docs/reference/api.md is tested against them.
 *
 * @param may whom the sentences are about, and “can”
 */
export function roleWords(role: Role, may: 'Can' | 'You can'): string {
  if (role === 'viewer') return `${may} see everything except the audit log, and change nothing.`
  if (role === 'owner') {
    return `${may} do everything in this project. Only an owner can make someone an owner, remove an owner, or delete the project.`
  }
  const below = ROLES[rankOf(role) - 1] as Role
  const added = ROLE_SCOPES[role].filter((scope) => !ROLE_SCOPES[below].includes(scope))
  const abilities = added.map((scope) => ABILITIES[scope as keyof typeof ABILITIES])
  return `${may} do what a ${below} can. ${may} also ${new Intl.ListFormat('en').format(abilities)}.`
}
