import type { Context } from 'hono'
import { run } from '../db/client'
import { notBound, type Runtime } from '../env'
import { BoundedMap } from '../lib/bounded-map'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { ERRORS } from '../lib/faults'
import { storeOfProject } from '../lib/ids'
import { isInNetworks } from '../lib/networks'
import type { Actor, Asked, AskedFrom, CredentialKind } from './actor'
import { addressOf, clientAddress } from './address'
import { readBearer } from './bearer'
import type { HttpEnv } from './context'
import { failuresBySource } from './failures'
import { countOwn, countRemembered } from './key-limit'
import { MAX_KNOWN_CREDENTIALS, MAX_KNOWN_NETWORKS } from './limits'
import { authorize, noProject, type Policy } from './policy'
import { countForProject, limit, refusePaused } from './rate-limit'
import { settle } from './read'

/** Requests that this Worker sends itself, for a request of the same caller that was counted. */
const sentFor = new WeakSet<Request>()

/** The request, which counts no more against the limits of its credential: the one that it is sent for was counted there. */
export function alreadyCounted(request: Request): Request {
  sentFor.add(request)
  return request
}

/** Actors that this isolate has authenticated before, by hash of the secret. A hint only: the database decides. */
const known = new BoundedMap<string, Actor>(MAX_KNOWN_CREDENTIALS)

/**
 * Where secrets may be used from, by hash, as this isolate saw it last. A use from elsewhere counts apart, so that whoever has stolen a
 * secret cannot use up the limits of its owner. A hint too: the database decides who is refused.
 */
const networks = new BoundedMap<string, readonly string[]>(MAX_KNOWN_NETWORKS)

const failures = failuresBySource('auth_failure', 'Too many failed authentications from this address.')

/**
 * Authenticates the caller and checks the route's policy. If the route only reads and this isolate knows the secret,
 * the database is not asked yet: `read` or {@link settle} does that.
 *
 * @throws {Fault} 400, 401, 403, 404, 429 or 503 as docs/reference/api.md lists them
 */
export async function authenticate(c: Context<HttpEnv>, policy: Policy): Promise<void> {
  const { kind, token } = readBearer(c)
  const sent = c.req.header('X-Project-Id')?.trim() || null
  if (!sent && (policy.project === true || (kind.type === 'api_key' && policy.actors.includes('api_key')))) {
    throw new Fault('project_required', 'Send the project id in the X-Project-Id header.')
  }
  const projectId = kind.type === 'api_key' ? sent : projectOfSession(c, policy, sent)
  const admission = await admit(c, kind, token, projectId)
  const hint = known.get(admission.hash)
  const remembered = hint?.project_id === projectId && !admission.isOutside ? hint : undefined
  if (remembered) refusePaused(c, policy, remembered)
  const isOurs = sentFor.has(c.req.raw)
  const isGood = remembered && (isOurs || (await countRemembered(c.get('rt'), remembered)))
  const good = isGood ? remembered : undefined
  let isCounted = false
  const uphold = async (rows: readonly unknown[]) => {
    try {
      const actor = await admission.judge(rows)
      c.set('actor', actor)
      c.set('confirmed', actor)
    } catch (error) {
      throw policy.project === 'path' && error instanceof Fault && error.fault === 'not_a_member' ? noProject() : error
    }
    if (!good && !isOurs) await countOwn(c.get('rt'), c.get('actor'))
    authorize(c, policy, c.get('actor'))
    if (policy.scope) await kind.requireAwake?.(c.get('rt'), c.get('actor'), policy.scope)
    // After the permissions: who lacks them must not use up what the project has for those who have them.
    if (!isCounted) await countForProject(c, policy, c.get('actor'))
  }
  const pending = { db: admission.db, query: admission.query, uphold }
  const before = policy.reads && kind.lasting ? good : undefined
  c.set('pending', pending)
  // A refusal must come from the database, never from what this isolate remembers.
  if (!before || !isAuthorized(c, policy, before)) return settle(c)
  isCounted = true
  await countForProject(c, policy, before)
  c.set('actor', before)
}

/**
 * Looks up the actor of a well-formed secret, subject to the rate limits of the credential and of its address.
 *
 * @throws {Fault} 401, `not_a_member`, `rate_limited` or `database_unavailable`
 */
export async function identifyCaller(
  c: Context<HttpEnv>,
  kind: CredentialKind,
  token: string,
  projectId: string | null,
): Promise<Actor> {
  const { db, query, judge } = await admit(c, kind, token, projectId)
  const actor = await judge(await run(db, query))
  c.set('actor', actor)
  return actor
}

/**
 * Checks the rate limits, then prepares the lookup of the secret together with the side effects of its result. A
 * request about a project enters the store of that project.
 */
async function admit(c: Context<HttpEnv>, kind: CredentialKind, token: string, projectId: string | null) {
  const rt = kind.enter(c.get('rt'), token, projectId)
  c.set('rt', rt)
  const address = addressOf(c)
  const hash = await sha256Hex(token)
  // The failures may come from another client behind the same address, so a known secret is still looked up.
  const hint = known.get(hash)
  if (!hint) failures.refuseBlocked(address, rt.now)
  const within = networks.get(hash) ?? (hint?.type === 'api_key' ? hint.networks : undefined)
  const isOutside = within !== undefined && !isInNetworks(clientAddress(c), within)
  const counted = isOutside ? `${hash.slice(0, 32)}:outside` : hash.slice(0, 32)
  if (!sentFor.has(c.req.raw)) {
    await limit(rt.limits, 'credential', counted, 'This session or API key has sent too many requests.')
  }
  const lookup = kind.lookup(rt, { token, hash }, projectId, askedFrom(c))
  const judge = async (rows: readonly unknown[]) => {
    try {
      const actor = await lookup.judge(rows)
      if (actor.type === 'session' && actor.project_id !== null) c.set('rt', storeOf(rt, actor.project_id))
      known.set(hash, actor)
      if (actor.type === 'api_key' && actor.networks) networks.set(hash, actor.networks)
      else networks.delete(hash)
      return actor
    } catch (error) {
      if (error instanceof Fault && error.extra.elsewhere) networks.set(hash, error.extra.elsewhere.networks)
      if (error instanceof Fault && ERRORS[error.fault].status === 401) {
        known.delete(hash)
        if (!kind.ended.includes(error.fault)) await failures.count(rt, address)
      }
      throw error
    }
  }
  return { hash, isOutside, db: lookup.db, query: lookup.query, judge }
}

/**
 * The runtime at the store of a project that exists.
 *
 * @throws {Fault} `not_configured` if that store is not bound
 */
function storeOf(rt: Runtime, projectId: string): Runtime {
  const store = storeOfProject(projectId) ?? 0
  const inside = rt.at(store)
  if (!inside) throw notBound(store)
  return inside
}

function isAuthorized(c: Context<HttpEnv>, policy: Policy, actor: Actor): boolean {
  try {
    authorize(c, policy, actor)
    return true
  } catch {
    return false // The database decides and gives the reason.
  }
}

/** The session of a request. A route whose policy takes no API keys always has one. */
export function sessionOf(c: Context<HttpEnv>): Extract<Actor, { type: 'session' }> {
  const actor = c.get('actor')
  if (actor.type === 'session') return actor
  throw new Fault('console_session_required', 'Use the Bearer token of a console session.')
}

/** The project of a request. A route whose policy requires a project always has one. */
export function projectOf(actor: Actor): string {
  if (actor.project_id === null) throw new Fault('project_required', 'Send the project id in the X-Project-Id header.')
  return actor.project_id
}

/** The user that a request acts for: the user of the session, or the one who minted the key. */
export function userIdOf(actor: Actor): string {
  return actor.type === 'session' ? actor.user_id : actor.minted_by
}

/** The ids of a request. */
export function askedBy(c: Context<HttpEnv>): Asked {
  return { request_id: c.get('requestId'), client_request_id: c.get('clientRequestId') }
}

/** The same, with the address that it comes from. */
export function askedFrom(c: Context<HttpEnv>): AskedFrom {
  return { ...askedBy(c), address: clientAddress(c) }
}

/** The author, request and time of a change, for its audit row. */
export function changeOf(c: Context<HttpEnv>) {
  const actor = c.get('actor')
  const by =
    actor.type === 'session' ? { type: 'user' as const, id: actor.user_id } : { type: actor.type, id: actor.id }
  return {
    actor: by,
    ...askedBy(c),
    claim: c.get('claim') ?? null,
    now: c.get('rt').now,
  }
}

/** The project of a session: from the path, from X-Project-Id if the policy requires one, or none. */
function projectOfSession(c: Context<HttpEnv>, policy: Policy, named: string | null): string | null {
  if (policy.project === 'path') return c.req.param('id') ?? null
  return policy.project ? named : null
}
