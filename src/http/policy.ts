import type { Context } from 'hono'
import { missingScopes, NEEDS_CONFIRMATION, type Scope, smallestRole } from '../lib/access'
import { Fault } from '../lib/fault'
import { MINUTE } from '../lib/time'
import type { Actor, ActorType } from './actor'
import type { HttpEnv } from './context'
import { CONFIRMED_FOR } from './limits'

/** How calls count against the limits of their project: `countForProject` in rate-limit.ts. */
export type Counted = {
  /** Whether a call takes much work for its size, or the names of the query parameters with which it does. */
  costly?: boolean | readonly string[]
  /**
   * Whether a call ends an access. A person may make it while the project is over its limit: those whose access it ends
   * must not be able to prevent it.
   */
  ends?: boolean
  /** Whether the handler counts the call itself, once it knows what is asked. */
  later?: boolean
}

/** What a route requires of its caller. */
export type Policy = Counted & {
  actors: readonly ActorType[]
  scope: Scope | null
  /**
   * Whether a session must send X-Project-Id (an API key always must); `path` if the `:id` of the path is the project.
   */
  project: boolean | 'path'
  /**
   * The path parameter with which a caller may address itself without the scope: an API key by its id, a session by its
   * user.
   */
  selfParam?: string
  /**
   * Whether the handler only reads, and does so through `read` (read.ts) before anything else. If this isolate knows the
   * credentials, their read and the handler's statements then share one round trip.
   */
  reads?: boolean
  /**
   * For what cannot be undone: whether a session must be confirmed, so that a stolen token alone is not enough. An API
   * key needs no confirmation: where the route takes one, its scope decides.
   */
  confirmed?: boolean
  /**
   * Of a route without a project: whether a session from single sign-on may call it, because the handler shows and changes
   * only what is within its reach. By default, it may not.
   */
  bounded?: boolean
}

/**
 * Checks the actor against the policy.
 *
 * @throws {Fault} 403, naming what is missing; 404 for another project in the path
 */
export function authorize(c: Context<HttpEnv>, policy: Policy, actor: Actor): void {
  if (policy.project === 'path' && actor.project_id !== c.req.param('id')) throw noProject()
  if (!policy.actors.includes(actor.type)) {
    if (actor.type === 'api_key') {
      throw new Fault(
        'console_session_required',
        'Use the Bearer token of a console session. An API key cannot make this call.',
      )
    }
    throw new Fault('api_key_required', 'Use an API key. This call returns the key that makes it.')
  }
  if (policy.project === false && !policy.bounded) requireOwnSignIn(actor)
  if (policy.scope && !isExempt(c, policy, actor)) requireScopes(actor, [policy.scope])
  if (policy.confirmed) requireConfirmed(actor)
}

/** Whether an actor needs no scope: it addresses itself, or the call concerns no project. */
function isExempt(c: Context<HttpEnv>, { selfParam }: Policy, actor: Actor): boolean {
  if (selfParam && c.req.param(selfParam) === selfOf(actor)) return true
  return actor.type === 'session' && actor.project_id === null
}

function selfOf(actor: Actor): string {
  return actor.type === 'api_key' ? actor.id : actor.user_id
}

/** @param what needs them @throws {Fault} 403 if the actor lacks one of the scopes */
export function requireScopes(actor: Actor, wanted: readonly Scope[], what = 'This call'): void {
  const [missing] = missingScopes(wanted, actor.scopes)
  if (!missing) return
  if (actor.type === 'api_key') {
    throw new Fault('insufficient_scope', `${what} requires the scope ${missing}.`, { missing })
  }
  throw new Fault('insufficient_role', `${what} requires the role ${smallestRole(missing)} or higher.`, {
    missing,
  })
}

/** @throws {Fault} `sso_session_limited` for a session from single sign-on */
export function requireOwnSignIn(actor: Actor): void {
  if (actor.type !== 'session' || actor.sso === null) return
  throw new Fault(
    'sso_session_limited',
    'Single sign-on opened this session, so it reaches only the project of its connection. Sign in with a code or a passkey to manage your account.',
  )
}

/** @throws {Fault} `confirmation_required` for a session that is not confirmed */
export function requireConfirmed(actor: Actor): void {
  if (actor.type === 'session' && !actor.confirmed) throw confirmationRequired()
}

/**
 * For a caller who gets the secret of an API key with these scopes.
 *
 * @throws {Fault} `confirmation_required` for a session that is not confirmed, if one of the scopes needs it
 */
export function requireConfirmedFor(actor: Actor, scopes: readonly Scope[]): void {
  if (scopes.some((scope) => NEEDS_CONFIRMATION.includes(scope))) requireConfirmed(actor)
}

/** For a session that must be confirmed first. */
export function confirmationRequired(): Fault {
  const period = `${CONFIRMED_FOR / MINUTE} minutes`
  return new Fault(
    'confirmation_required',
    `A session can make this call for ${period} after its sign-in. Sign in again, or confirm that it is you: request a code for your own address with POST /auth/codes, and send it with its challenge to POST /auth/session/confirm. Or use a passkey: POST /auth/session/passkey/options, then POST /auth/session/passkey. Then repeat this call within ${period}.`,
  )
}

/** Another tenant's project in the path looks the same as one that does not exist. */
export function noProject(): Fault {
  return new Fault('not_found', 'Project not found, or you are not a member of it.')
}
