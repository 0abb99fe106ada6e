import type { Change } from '../../audit/store'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import type { Actor } from '../../http/actor'
import { requireConfirmed } from '../../http/policy'
import { invalidField } from '../../http/validate'
import type { ConnectionSettings } from '../../identities/values'
import { requireSealingKey } from '../../inbox/connections/sealing'
import { Fault, notFound } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { type Sealed, seal } from '../../lib/seal'
import { SsoError } from '../oidc/error'
import { discover, issuerUrl } from '../oidc/metadata'
import { findSsoConnection, type OfferedDomain, type SsoConnection } from './connection'
import { findDomains, requireEmailDomains, requireSurface } from './domains'
import type { ChangedFields, NewFields } from './fields'
import { secretContext } from './oidc-client'
import {
  requireNotEnforced,
  requireOwnFields,
  requireReady,
  requireSecretFor,
  requireTested,
  requireVerified,
} from './rules'
import { deleteSsoConnection, insertSsoConnection, type Update, updateSsoConnection } from './write'

type Of = { project_id: string; id: string }
type Changing = { actor: Actor; of: Of; change: Change }
const MAX_ATTEMPTS = 5

/**
 * Creates a connection as a draft. A provider that cannot be reached stops nothing: `discovery` says so.
 *
 * @throws {Fault} `validation_failed`, `connection_limit_reached`, `domain_taken`, `encryption_key_unavailable`
 */
export async function createConnection(
  rt: Runtime,
  project_id: string,
  fields: NewFields,
  change: Change,
): Promise<SsoConnection> {
  const { audience, name, issuer, client_id, client_secret = null, domain_ids } = fields
  const auth_method = fields.auth_method ?? (client_secret === null ? 'none' : 'client_secret_basic')
  requireOwnFields(audience, fields)
  requireSecretFor(auth_method, client_secret !== null)
  requireIssuer(rt, issuer)
  const domains = await findDomains(rt, project_id, fields)
  requireEmailDomains(domains, domain_ids)
  requireSurface(domains, fields.surface_id)
  const of = { project_id, id: newId('sso', rt.now) }
  const settings: ConnectionSettings = {
    scopes: fields.scopes,
    claims: fields.claims,
    default_role: fields.default_role ?? null,
    create_consumers: fields.create_consumers ?? false,
    redirect_uris: fields.redirect_uris ?? [],
    surface_id: fields.surface_id ?? null,
  }
  const row = {
    ...of,
    audience,
    name,
    issuer,
    client_id,
    secret: client_secret === null ? null : await sealed(rt, of, client_secret),
    auth_method,
    settings,
    state: 'draft' as const,
    revision: 1,
    tested_revision: null,
    tested_at: null,
    discovery: { ...(await discover(rt, issuer)), checked_at: rt.now },
    end_session_endpoint: null,
    last_used_at: null,
    created_by: change.actor.id,
    created_at: change.now,
    deleted_at: null,
  }
  return insertSsoConnection(rt.directory, row, domain_ids, change)
}

/**
 * Changes a connection. A change of the client or the claims asks for a new test; an active connection goes on meanwhile, so
 * that a secret can be replaced. The same values again change nothing; a secret always counts as another one.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `domain_taken`, `domain_unverified`, `connection_inactive`,
 *   `connection_untested`, `sso_session_required`, `break_glass_missing`, `console_session_required`, `confirmation_required`,
 *   `connection_changed`, `encryption_key_unavailable`
 */
export async function changeSsoConnection(
  rt: Runtime,
  { actor, of, change }: Changing,
  changes: ChangedFields,
): Promise<SsoConnection> {
  return untilWritten(rt, of, async (row) => {
    requireOwnFields(row.audience, changes)
    if (changes.enforce !== undefined) requireEnforceable(actor, row, changes.enforce)
    requirePersonFor(actor, row, changes)
    const domains = await findDomains(rt, of.project_id, changes)
    const update = await updateOf(rt, row, changes, domains)
    if (update === null) return row
    const action = 'sso_connection.updated'
    return updateSsoConnection(rt.directory, row, update, { ...change, action, details: detailsOf(row, changes) })
  })
}

/** The details of a change, with what it replaces. A secret is never among them. */
function detailsOf(row: SsoConnection, { client_secret, ...shown }: ChangedFields): Record<string, unknown> {
  const { name, client_id, auth_method, settings, domains, enforced } = row
  const stored: Record<string, unknown> = {
    ...{ name, client_id, auth_method, ...settings },
    domain_ids: domains.map(({ id }) => id),
    enforce: enforced,
  }
  const before = Object.fromEntries(Object.keys(shown).map((field) => [field, stored[field]]))
  return {
    ...shown,
    ...(client_secret !== undefined && { client_secret: 'changed' }),
    ...(Object.keys(before).length > 0 && { before }),
  }
}

/**
 * Lets people sign in with a connection, or no longer, which ends its sessions.
 *
 * @throws {Fault} `not_found`, `connection_untested`, `domain_unverified`, `connection_enforced`, `connection_changed`;
 *   `console_session_required` for a key that activates one of the team
 */
export async function switchConnection(
  rt: Runtime,
  { actor, of, change }: Changing,
  active: boolean,
): Promise<SsoConnection> {
  return untilWritten(rt, of, async (row) => {
    const state = active ? 'active' : 'disabled'
    if (row.state === state) return row
    if (active) requireReady(row)
    else requireNotEnforced(row)
    if (active && row.audience === 'team') requirePerson(actor)
    const action = active ? 'sso_connection.activated' : 'sso_connection.disabled'
    return updateSsoConnection(rt.directory, row, { state }, { ...change, action })
  })
}

/**
 * A connection of the team takes a confirmed session, except for its name: whoever signs in with it acts as a user. A key may
 * change a draft, which signs nobody in.
 *
 * @throws {Fault} `console_session_required`, `confirmation_required`
 */
function requirePersonFor(actor: Actor, { audience, state }: SsoConnection, { name: _, ...changes }: ChangedFields) {
  if (audience !== 'team' || Object.keys(changes).length === 0) return
  if (actor.type === 'session' || state !== 'draft') requirePerson(actor)
}

/** The minter of a key may have been removed since, and a session may be stolen. */
function requirePerson(actor: Actor): void {
  requireConfirmed(actor)
  if (actor.type === 'session') return
  throw new Fault(
    'console_session_required',
    'Use the Bearer token of a console session. An API key cannot activate a connection for the team. Once such a connection has been active, a key can only rename, disable or delete it.',
  )
}

/** Deletes a connection, which ends its sessions. Again: nothing. @throws {Fault} `not_found`, `connection_enforced` */
export async function removeConnection({ directory }: Runtime, of: Of, change: Change): Promise<void> {
  const { existed, enforced } = await deleteSsoConnection(directory, of, change)
  if (!existed) throw notFound('Single sign-on connection')
  if (enforced) {
    throw new Fault('connection_enforced', 'The project enforces this connection. Stop enforcing it first.')
  }
}

/** @throws {Fault} `not_found` */
export function requireConnection(row: SsoConnection | undefined): SsoConnection {
  if (!row) throw notFound('Single sign-on connection')
  return row
}

/** Reads and writes, again if another call has changed the connection in between. @throws {Fault} `connection_changed` */
async function untilWritten(
  { directory }: Runtime,
  { project_id, id }: Of,
  write: (row: SsoConnection) => Promise<SsoConnection | null>,
): Promise<SsoConnection> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [row] = await run(directory, findSsoConnection(directory, project_id, id))
    const written = await write(requireConnection(row))
    if (written) return written
  }
  throw new Fault(
    'connection_changed',
    'Other calls changed this connection at the same time. This call changed nothing.',
  )
}

/** @returns null for a change that leaves everything as it is */
async function updateOf(
  rt: Runtime,
  row: SsoConnection,
  changes: ChangedFields,
  found: readonly OfferedDomain[],
): Promise<Update | null> {
  const { name, client_id, client_secret, auth_method, domain_ids, enforce, ...rest } = changes
  const settings = { ...row.settings, ...definedOf(rest) }
  const has = client_secret === undefined ? row.secret !== null : client_secret !== null
  requireSecretFor(auth_method ?? row.auth_method, has)
  const domains = requireEmailDomains(found, domain_ids)
  // Those that were lost since stay: what was read can be sent back.
  const sameDomains = isSame(domain_ids?.toSorted(), row.domains.map(({ id }) => id).sort())
  if (!sameDomains && row.state === 'active') requireVerified({ audience: row.audience, domains })
  if (changes.surface_id !== row.settings.surface_id) requireSurface(found, changes.surface_id)
  const sameSecret = client_secret === undefined || (client_secret === null && row.secret === null)
  const sameClient =
    sameSecret &&
    isSame(client_id, row.client_id) &&
    isSame(auth_method, row.auth_method) &&
    isSame(changes.scopes, row.settings.scopes) &&
    isSame(changes.claims, row.settings.claims) &&
    // The provider must know the other callback address.
    isSame(changes.surface_id, row.settings.surface_id) &&
    // Without a domain, a test of a connection for customers passes without an address.
    (row.audience === 'team' || row.domains.length > 0 || !domain_ids?.length)
  if (enforce) requireTested(sameClient)
  const sameShown = isSame(name, row.name) && isSame(settings, row.settings) && isSame(enforce, row.enforced)
  if (sameClient && sameDomains && sameShown) return null
  const secret = client_secret ? await sealed(rt, row, client_secret) : null
  return {
    ...definedOf({ name, client_id, auth_method, domain_ids, enforce }),
    ...(client_secret !== undefined && { secret }),
    settings,
    retest: !sameClient,
  }
}

/** A client secret, encrypted for its connection. @throws {Fault} `encryption_key_unavailable` */
async function sealed(rt: Runtime, of: Of, secret: string): Promise<Sealed> {
  await requireSealingKey(rt)
  return seal(rt.settings.encryptionKeys, secret, secretContext(of))
}

/** Whoever enforces a connection decides how everybody gets in, so only an owner may. To switch it on proves that the owner is not locked out. */
function requireEnforceable(actor: Actor, row: SsoConnection, enforce: boolean): void {
  if (actor.type !== 'session') {
    throw new Fault('console_session_required', 'Only the session of an owner can turn enforcement on or off.')
  }
  requireEnforcer(actor)
  requireConfirmed(actor)
  if (!enforce) return
  if (row.state !== 'active') throw new Fault('connection_inactive', 'Activate the connection before you enforce it.')
  requireReady(row)
  if (actor.sso?.connection_id === row.id) return
  throw new Fault(
    'sso_session_required',
    `Sign in with this connection first, and enforce it from that session: /auth/sso/start?connection=${row.id}. Otherwise, you could lock yourself out.`,
  )
}

/** @throws {Fault} `insufficient_role` for a user who may not enforce single sign-on */
export function requireEnforcer({ role }: Extract<Actor, { type: 'session' }>): void {
  if (role !== 'owner') throw new Fault('insufficient_role', 'Only an owner can turn enforcement on or off.')
}

/** @throws {Fault} `validation_failed` for an address that is never fetched */
function requireIssuer(rt: Runtime, issuer: string): void {
  try {
    issuerUrl(rt, issuer)
  } catch (error) {
    const why = error instanceof SsoError ? error.detail : (error as Error).message
    throw invalidField('/issuer', 'malformed', `must be a public https address without a query (${why})`)
  }
}

/** Whether a change leaves a value as it is. */
function isSame<T>(next: T | undefined, now: T): boolean {
  return next === undefined || JSON.stringify(next) === JSON.stringify(now)
}

/** Without what was not sent. */
function definedOf<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
