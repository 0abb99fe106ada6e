import type { Context } from 'hono'
import { batch, type Queries, type Query, type Results, run } from '../db/client'
import type { Runtime } from '../env'
import { missingScopes, type Role, type Scope, smallestRole } from '../lib/access'
import { BoundedMap } from '../lib/bounded-map'
import { sha256Hex } from '../lib/crypto'
import { Fault, type FaultName } from '../lib/fault'
import { SECOND } from '../lib/time'
import type { HttpEnv } from './context'
import { ERRORS } from './errors'
import { limit } from './rate-limit'

/** Who is calling. `scopes` is what this credential may do in `project_id`. */
export type Actor =
  | { type: 'api_key'; id: string; project_id: string; scopes: readonly Scope[]; minted_by: string }
  | {
      type: 'session'
      id: string
      user_id: string
      email: string
      /** The project that X-Project-Id named, if it named one. */
      project_id: string | null
      role: Role | null
      scopes: readonly Scope[]
    }

export type ActorType = Actor['type']

/** What the database is asked of one secret, and what is made of its answer. */
export type Lookup = {
  query: Query<unknown[]>
  /** @throws {Fault} one of the 401 codes of its kind; `not_a_member` for a session */
  judge: (rows: readonly unknown[]) => Promise<Actor>
}

/** One kind of bearer secret. Kinds are told apart by prefix before any I/O. */
export type CredentialKind = {
  type: ActorType
  prefix: string
  /** Whether the text has the form of this kind, checked without I/O. */
  wellFormed: (token: string) => boolean
  /** Whether what an actor may do stays as it is for as long as the secret is good. */
  lasting: boolean
  /** @param projectId what X-Project-Id says, or null */
  lookup: (rt: Runtime, hash: string, projectId: string | null) => Lookup
  /** Why a secret of this kind is refused. */
  faults: readonly FaultName[]
  /** The OpenAPI security scheme: its name and definition. */
  scheme: { name: string; description: string }
}

/** What a route asks of its caller. */
export type Policy = {
  actors: readonly ActorType[]
  scope: Scope | null
  /**
   * Whether a session has to name a project in X-Project-Id (an API key always has to); `path` where the project is
   * the path's `:id`.
   */
  project: boolean | 'path'
  /** An API key needs no scope to address itself by this path parameter. */
  selfParam?: string
  /**
   * Whether the handler does nothing before its statements, which it sends by {@link read}: those of a credential that
   * this isolate knows then travel with the credential's own, in one round trip.
   */
  reads?: boolean
}

/** Actors that this isolate has seen authenticated, by hash. A hint only; the database decides. */
const known = new BoundedMap<string, Actor>(10_000)

const BLOCK_MS = 10 * SECOND
/** Addresses over their limit of failures, and until when each is refused (ms); in this isolate. */
const blocked = new BoundedMap<string, number>(10_000)

/**
 * Bearer secret → actor, in the project that the policy asks for, and within the policy. Where the route only reads and
 * this isolate knows the secret, the database's word is still to come: {@link read} or {@link settle} brings it.
 *
 * @throws {Fault} 400, 401, 403, 404, 429 or 503 as docs/api.md lists them
 */
export async function authenticate(c: Context<HttpEnv>, policy: Policy): Promise<void> {
  const { kind, token } = readBearer(c)
  const sent = c.req.header('X-Project-Id')?.trim() || null
  if (!sent && (policy.project === true || (kind.type === 'api_key' && policy.actors.includes('api_key')))) {
    throw new Fault('project_required', 'Send the project id in the X-Project-Id header.')
  }
  const projectId = kind.type === 'api_key' ? sent : projectOfSession(c, policy, sent)
  const admission = await admit(c, kind, token, projectId)
  const uphold = async (rows: readonly unknown[]) => {
    try {
      c.set('actor', await admission.judge(rows))
    } catch (error) {
      throw policy.project === 'path' && error instanceof Fault && error.fault === 'not_a_member' ? noProject() : error
    }
    authorize(c, policy, c.get('actor'))
  }
  const pending = { query: admission.query, uphold }
  const before = policy.reads ? known.get(admission.hash) : undefined
  c.set('pending', pending)
  // What the known actor may not do is refused by the database's word, not by what was remembered.
  if (before?.project_id !== projectId || !before || !isAuthorized(c, policy, before)) return settle(c)
  c.set('actor', before)
}

/**
 * Sends a route's reads. Where the caller's credential is still to be read, it is read first in the same batch, and what
 * it says decides: what was read leaves here only for a caller whom the database upholds.
 *
 * @throws {Fault} 401, 403, 404 or `database_unavailable`
 */
export async function read<Q extends Queries>(c: Context<HttpEnv>, queries: Q): Promise<Results<Q>> {
  const { db } = c.get('rt')
  const pending = c.get('pending')
  if (!pending) return batch(db, queries)
  const { credential, ...found } = await asking(c, batch(db, { credential: pending.query, ...queries }))
  await pending.uphold(credential)
  return found as unknown as Results<Q>
}

/** Asks the database about the caller, where nothing has yet. @throws {Fault} as {@link read} */
export async function settle(c: Context<HttpEnv>): Promise<void> {
  const pending = c.get('pending')
  if (pending) await pending.uphold(await asking(c, run(c.get('rt').db, pending.query)))
}

/** Asked once: with an answer, or with a database that does not answer, nothing is pending any more. */
async function asking<T>(c: Context<HttpEnv>, work: Promise<T>): Promise<T> {
  try {
    const answer = await work
    c.set('pending', null)
    return answer
  } catch (error) {
    if (error instanceof Fault) c.set('pending', null)
    throw error
  }
}

/**
 * The actor of a well-formed secret, within the limits of its credential and of failures from its address.
 *
 * @throws {Fault} 401, `not_a_member`, `rate_limited` or `database_unavailable`
 */
export async function identify(
  c: Context<HttpEnv>,
  kind: CredentialKind,
  token: string,
  projectId: string | null,
): Promise<Actor> {
  const { query, judge } = await admit(c, kind, token, projectId)
  const actor = await judge(await run(c.get('rt').db, query))
  c.set('actor', actor)
  return actor
}

/** The lookup of a secret whose caller is within their limits, with what follows from its outcome. */
async function admit(c: Context<HttpEnv>, kind: CredentialKind, token: string, projectId: string | null) {
  const rt = c.get('rt')
  const address = c.req.header('CF-Connecting-IP') ?? 'local'
  const hash = await sha256Hex(token)
  // A neighbour behind the same address may be what fails: a secret that was good here is asked of the database.
  if (!known.has(hash)) refuseBlocked(address, rt.now)
  await limit(rt.limits.credential, hash.slice(0, 32), 'This credential is over its rate limit.')
  const lookup = kind.lookup(rt, hash, projectId)
  const judge = async (rows: readonly unknown[]) => {
    try {
      const actor = await lookup.judge(rows)
      if (kind.lasting) known.set(hash, actor)
      return actor
    } catch (error) {
      known.delete(hash)
      if (error instanceof Fault && ERRORS[error.fault].status === 401) await countFailure(rt, address)
      throw error
    }
  }
  return { hash, query: lookup.query, judge }
}

function isAuthorized(c: Context<HttpEnv>, policy: Policy, actor: Actor): boolean {
  try {
    authorize(c, policy, actor)
    return true
  } catch {
    return false // the database decides, and says why
  }
}

/** Whether the policy lets this actor through. @throws {Fault} 403, naming what is missing; 404 for a path's project */
export function authorize(c: Context<HttpEnv>, policy: Policy, actor: Actor): void {
  if (policy.project === 'path' && actor.project_id !== c.req.param('id')) throw noProject()
  if (!policy.actors.includes(actor.type)) {
    if (actor.type === 'api_key') {
      throw new Fault(
        'console_session_required',
        'Use the Bearer token of a console session: an API key may not do this.',
      )
    }
    throw new Fault('api_key_required', 'Use an API key: this call describes the key that makes it.')
  }
  if (!policy.scope) return
  if (actor.type === 'api_key' && policy.selfParam && c.req.param(policy.selfParam) === actor.id) return
  if (actor.type === 'session' && actor.project_id === null) return // nothing of a project's is asked for
  requireScopes(actor, [policy.scope])
}

/** @throws {Fault} 403 where the actor lacks one of the scopes */
export function requireScopes(actor: Actor, wanted: readonly Scope[]): void {
  const [missing] = missingScopes(wanted, actor.scopes)
  if (!missing) return
  if (actor.type === 'api_key') {
    throw new Fault('insufficient_scope', `This needs the scope ${missing}.`, { missing })
  }
  throw new Fault('insufficient_role', `This needs the role ${smallestRole(missing)} or above in the project.`, {
    missing,
  })
}

/** The project a request is scoped to. Routes whose policy asks for a project always have one. */
export function projectOf(actor: Actor): string {
  if (actor.project_id === null) throw new Fault('project_required', 'Send the project id in the X-Project-Id header.')
  return actor.project_id
}

/** The user a request acts for: the session's, or the one who minted the key. */
export function userOf(actor: Actor): string {
  return actor.type === 'session' ? actor.user_id : actor.minted_by
}

/** By whom, in which request and when a change is made: what its audit row needs. */
export function changeOf(c: Context<HttpEnv>) {
  const actor = c.get('actor')
  const by =
    actor.type === 'session' ? { type: 'user' as const, id: actor.user_id } : { type: actor.type, id: actor.id }
  return { actor: by, request_id: c.get('requestId'), now: c.get('rt').now }
}

function readBearer(c: Context<HttpEnv>): { kind: CredentialKind; token: string } {
  const header = c.req.header('Authorization')
  if (header === undefined || header.trim() === '') {
    throw new Fault('missing_credentials', 'Send an API key or a console session as Authorization: Bearer.')
  }
  const token = /^Bearer +([^\s,]+)$/i.exec(header.trim())?.[1]
  const kind = token === undefined ? undefined : c.get('credentialKinds').find(({ prefix }) => token.startsWith(prefix))
  if (!token || !kind?.wellFormed(token)) {
    throw new Fault(
      'malformed_credentials',
      'Send Authorization: Bearer followed by one whole secret; this one is cut short, mistyped or of another kind.',
    )
  }
  return { kind, token }
}

/** A session asked for no project is not held to the one it happens to name. */
function projectOfSession(c: Context<HttpEnv>, policy: Policy, named: string | null): string | null {
  if (policy.project === 'path') return c.req.param('id') ?? null
  return policy.project ? named : null
}

/** Where the path names the project, one that is not the caller's looks like one that is not there. */
function noProject(): Fault {
  return new Fault('not_found', 'You are a member of no project with this id.')
}

function refuseBlocked(address: string, now: number): void {
  const until = blocked.get(address)
  if (until === undefined) return
  if (until > now) {
    throw new Fault('rate_limited', 'Too many failed authentications from this address. Wait, then try again.')
  }
  blocked.delete(address)
}

/** Failures are counted by address; one over its limit is refused for a while before the database is asked. */
async function countFailure(rt: Runtime, address: string): Promise<void> {
  const { success } = await rt.limits.authFailure.limit({ key: address })
  if (success) return
  blocked.set(address, rt.now + BLOCK_MS)
}
