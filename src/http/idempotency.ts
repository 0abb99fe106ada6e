import type { Context } from 'hono'
import { ConstraintError, run } from '../db/client'
import { IDEMPOTENT_CALLS } from '../idempotency/calls'
import { type Claim, findKept, type Kept } from '../idempotency/claim'
import { MAX_KEY_CHARS } from '../idempotency/limits'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import type { HttpEnv } from './context'
import type { Operation } from './meta'

export const IDEMPOTENCY_KEY = 'Idempotency-Key'
export const IDEMPOTENCY_REPLAYED = 'Idempotency-Replayed'
const VISIBLE = new RegExp(`^[\\x21-\\x7e]{1,${MAX_KEY_CHARS}}$`)

/**
 * Whether a call must look at the header. The other methods are safe to repeat, so it means nothing there. Neither does it where vendors
 * deliver: an event is recorded once by its own id, and a delivery must not be lost because of a header that we do not need.
 */
export function heedsKey(method: string, { rawBody }: Operation): boolean {
  return method === 'POST' && rawBody === undefined
}

/**
 * Reads the Idempotency-Key of an authenticated request.
 *
 * @throws {Fault} `idempotency_not_supported`, `invalid_idempotency_key`
 */
export async function openClaim(c: Context<HttpEnv>, operation: Operation): Promise<void> {
  const sent = c.req.header(IDEMPOTENCY_KEY)
  if (sent === undefined || !heedsKey(c.req.method, operation)) return
  if (!IDEMPOTENT_CALLS[operation.id]) {
    throw new Fault(
      'idempotency_not_supported',
      `This call does not take ${IDEMPOTENCY_KEY}. Send it without the header. The documentation lists the calls that take it.`,
    )
  }
  const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent
  if (!VISIBLE.test(key)) {
    throw new Fault(
      'invalid_idempotency_key',
      `Send 1 to ${MAX_KEY_CHARS} visible ASCII characters without spaces as ${IDEMPOTENCY_KEY}, for example a UUID.`,
    )
  }
  const actor = c.get('actor')
  const of = { project_id: actor.project_id ?? '', actor: actor.type === 'session' ? actor.user_id : actor.id }
  const key_hash = await sha256Hex(JSON.stringify([of.project_id, of.actor, key]))
  c.set('claim', { ...of, key, key_hash, fingerprint: null, state: 'open' })
}

/**
 * Notes what a request with an Idempotency-Key asks for. The key is a part of the fingerprint, so that a body that can be guessed cannot be
 * found out from it.
 *
 * @param body as it was validated; null if the call takes none
 */
export async function coverRequest(c: Context<HttpEnv>, body: unknown): Promise<void> {
  const claim = c.get('claim')
  if (!claim) return
  const { pathname, search } = new URL(c.req.url)
  claim.fingerprint = await sha256Hex(JSON.stringify([claim.key, pathname + search, body]))
}

/**
 * Answers a request whose Idempotency-Key an earlier request had. The handler has run, but its batch has failed, or it has refused what the
 * earlier request has done already: this is how a repeat shows, and a first request costs no read.
 *
 * @throws {Fault} `idempotency_key_reused`, `idempotent_result_gone`, `database_unavailable`, and those of the route's `repeated`
 */
export async function answerRepeat(c: Context<HttpEnv>, operation: Operation): Promise<void> {
  const claim = c.get('claim')
  const call = IDEMPOTENT_CALLS[operation.id]
  if (!call || !operation.repeated || !claim?.fingerprint || claim.state === 'kept' || isOurFailure(c)) return
  const db = call.in === 'directory' ? c.get('rt').directory : c.get('rt').db
  const [kept] = await run(db, findKept(db, claim)).catch((error) => {
    discard(c)
    throw error
  })
  if (!kept) return
  discard(c)
  requireSame(claim, kept)
  claim.state = 'repeat'
  const response = await operation.repeated(c as never, kept).catch((error) => {
    throw error instanceof Fault && error.fault === 'not_found' ? gone(kept) : error
  })
  response.headers.set(IDEMPOTENCY_REPLAYED, 'true')
  c.res = response
}

/** Whether the request failed for a reason that has nothing to do with it: then, nobody knows what has been done. */
function isOurFailure(c: Context<HttpEnv>): boolean {
  return c.res.status >= 500 && !(c.error instanceof ConstraintError)
}

/** Forgets the response of the handler, with its headers and what the log says of it. */
function discard(c: Context<HttpEnv>): void {
  c.res = undefined
  c.res = new Response(null)
  const { code: _, error: __, ...log } = c.get('log')
  c.set('log', log)
}

function requireSame({ fingerprint }: Claim, kept: Kept): void {
  if (kept.fingerprint === fingerprint) return
  throw new Fault(
    'idempotency_key_reused',
    `You have already used this ${IDEMPOTENCY_KEY} for another request, which created ${kept.object_id}. Use another key for each request, and the same key only to repeat one.`,
  )
}

function gone({ object_id }: Kept): Fault {
  return new Fault(
    'idempotent_result_gone',
    `This request was executed before. Its result, ${object_id}, has since been deleted. To create another one, use another ${IDEMPOTENCY_KEY}.`,
  )
}

/** For a repeat whose answer had a secret. @param why continues a sentence that begins with "because" */
export function secretNotReplayable({ object_id }: Kept, why: string): Fault {
  return new Fault(
    'secret_not_replayable',
    `This request was executed before, and its secret is not stored. ${object_id} does not get a new secret now, because ${why}. If you never received its secret, rotate it with another ${IDEMPOTENCY_KEY}, or revoke it.`,
  )
}
