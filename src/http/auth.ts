import type { Context } from 'hono'
import type { Runtime } from '../env'
import { missingScopes, type Role, type Scope, smallestRole } from '../lib/access'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
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

/** One kind of bearer secret. Kinds are told apart by prefix before any I/O. */
export type CredentialKind = {
  type: ActorType
  prefix: string
  /** Whether the text has the form of this kind, checked without I/O. */
  wellFormed: (token: string) => boolean
  /** Whether what an actor may do stays as it is for as long as the secret is good. */
  lasting: boolean
  /**
   * The actor of a secret's hash.
   *
   * @param projectId what X-Project-Id says, or null
   * @param how the one read: now, or with the next trip
   * @throws {Fault} one of the 401 codes; `not_a_member` for a session
   */
  find: (rt: Runtime, hash: string, projectId: string | null, how: 'point' | 'ride') => Promise<Actor>
}

/** Who calls, and the database's word for it, which may still be on its way: see {@link upheld}. */
export type Admission = { actor: Actor; verdict: Promise<Actor> }

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
}

const MAX_KNOWN = 10_000
/** Actors that this isolate has seen authenticated, by hash. Never proof: only whom to ask the database of. */
const known = new Map<string, Actor>()

const BLOCK_MS = 10 * SECOND
const MAX_BLOCKED = 10_000
const blocked = new Map<string, number>() // address → until (ms); in this isolate

/**
 * Bearer secret → actor, in the project that the policy asks for. {@link authorize} and {@link upheld} come after it.
 *
 * @throws {Fault} 400, 401, 403, 429 or 503 as docs/api.md lists them
 */
export async function authenticate(c: Context<HttpEnv>, policy: Policy): Promise<Admission> {
  const { kind, token } = readBearer(c)
  const projectId = c.req.header('X-Project-Id')?.trim() || null
  if (!projectId && (policy.project === true || (kind.type === 'api_key' && policy.actors.includes('api_key')))) {
    throw new Fault('project_required', 'Send the project id in the X-Project-Id header.')
  }
  try {
    const named = kind.type === 'api_key' ? projectId : projectOfSession(c, policy, projectId)
    return await admit(c, kind, token, named, c.req.method === 'GET' || c.req.method === 'HEAD')
  } catch (error) {
    if (policy.project === 'path' && error instanceof Fault && error.fault === 'not_a_member') throw noProject()
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
  return (await admit(c, kind, token, projectId, false)).actor
}

/**
 * Waits for the database's word on the caller, and holds it against the policy; before that, no answer leaves.
 *
 * @throws {Fault} 401, 403, 404 or `database_unavailable`: what was made ready is thrown away
 */
export async function upheld(c: Context<HttpEnv>, policy: Policy, { verdict }: Admission): Promise<void> {
  c.get('rt').db.depart()
  try {
    const actor = await verdict
    c.set('actor', actor)
    authorize(c, policy, actor)
  } catch (error) {
    c.res = undefined
    throw error
  }
}

/**
 * As {@link identify}; but where this isolate has seen the secret before and the request only reads, its first read is
 * not kept waiting: the credential is read in the same trip. That is a round trip less, and a revoked key gets nothing
 * all the same.
 */
async function admit(
  c: Context<HttpEnv>,
  kind: CredentialKind,
  token: string,
  projectId: string | null,
  reads: boolean,
): Promise<Admission> {
  const rt = c.get('rt')
  const address = c.req.header('CF-Connecting-IP') ?? 'local'
  const hash = await sha256Hex(token)
  // A neighbour behind the same address may be what fails: a secret that was good here is asked of the database.
  if (!known.has(hash)) refuseBlocked(address, rt.now)
  await limit(rt.limits.credential, hash.slice(0, 32), 'This credential is over its rate limit.')
  const find = async (how: 'point' | 'ride') => {
    try {
      const actor = await kind.find(rt, hash, projectId, how)
      if (kind.lasting) rememberActor(hash, actor)
      return actor
    } catch (error) {
      known.delete(hash)
      if (error instanceof Fault && ERRORS[error.fault].status === 401) await countFailure(rt, address)
      throw error
    }
  }
  const before = reads ? known.get(hash) : undefined
  const rides = before !== undefined && before.project_id === projectId
  const verdict = find(rides ? 'ride' : 'point')
  verdict.catch(() => {}) // thrown where it is awaited, which may be later
  const actor = rides ? before : await verdict
  c.set('actor', actor)
  return { actor, verdict }
}

function rememberActor(hash: string, actor: Actor): void {
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(hash, actor)
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
  if (blocked.size >= MAX_BLOCKED) blocked.clear()
  blocked.set(address, rt.now + BLOCK_MS)
}
