import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { ConstraintError } from '../db/client'
import { Fault } from '../lib/fault'
import { ERRORS, type FaultName } from '../lib/faults'
import type { HttpEnv } from './context'
import { noteFull } from './database-full'
import { DAILY_LIMIT, RETRY_AFTER } from './limits'
import { publicUrl } from './origin'
import { problemBody } from './problem'
import { dailyLimit } from './rate-limit'

/** A failure as RFC 9457 problem+json. Anything other than a {@link Fault} becomes a 500 that reveals nothing. */
export function problem(c: Context<HttpEnv>, error: unknown): Response {
  const fault = asFault(error)
  const body = problemBody(fault.fault, {
    detail: fault.detail,
    errors: fault.extra.errors,
    request_id: c.get('clientRequestId') ?? c.get('requestId'),
    documentation: (path) => publicUrl(c, path),
  })
  const { code } = body
  const { status } = ERRORS[fault.fault]
  if (fault.fault === 'database_full') noteFull(c.get('rt'))
  const log = c.get('log') as Record<string, unknown> | undefined
  if (log) {
    log.code = code
    if (status >= 500) log.error = describe(fault.extra.cause ?? error)
  }
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json', ...fault.extra.headers }
  const wait = retryAfter(status)
  if (wait !== null) headers['Retry-After'] ??= wait
  const challenge = challengeOf(fault, status)
  if (challenge) headers['WWW-Authenticate'] = challenge
  return c.body(JSON.stringify(body), status, headers)
}

/** How long a refused caller waits by default (s); null if there is nothing to wait for. */
export function retryAfter(status: number): string | null {
  if (status === 429) return String(RETRY_AFTER)
  return status === 503 ? '5' : null
}

/**
 * RFC 6750 §3: a bare challenge when credentials are missing, `invalid_token` for bad ones, `insufficient_scope` for
 * 403.
 */
function challengeOf(fault: Fault, status: number): string | null {
  const realm = 'Bearer realm="platform"'
  if (status === 401) {
    const bare: FaultName[] = ['missing_credentials', 'invalid_code', 'invalid_passkey', 'invalid_recovery_code']
    if (bare.includes(fault.fault) || fault.fault.startsWith('signature_')) return realm
    return `${realm}, error="invalid_token", error_description="${ERRORS[fault.fault].title}"`
  }
  if (fault.fault === 'insufficient_scope' || fault.fault === 'insufficient_role') {
    return `${realm}, error="insufficient_scope"${fault.extra.missing ? `, scope="${fault.extra.missing}"` : ''}`
  }
  return null
}

/** Any failure as a fault; an unexpected one is an `internal_error`. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof ConstraintError && error.message.includes(DAILY_LIMIT)) return dailyLimit(Date.now())
  if (error instanceof HTTPException && error.status === 400) {
    return new Fault('invalid_json', 'Send one JSON value in UTF-8 as the body.')
  }
  return new Fault('internal_error', 'The error was logged under this request_id. Try again later.')
}

/** A failure for the log. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
