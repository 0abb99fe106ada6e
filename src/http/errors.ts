import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Fault, type FaultName } from '../lib/fault'
import type { HttpEnv } from './context'
import { noteFull } from './database-full'
import { RETRY_AFTER } from './limits'
import { publicUrl } from './origin'

/** `code` is set where callers see a different code from the fault's name. */
type Line = { status: ContentfulStatusCode; title: string; code?: string }

/** The table of errors: fault → status, title and code. GET /errors shows it to people. */
export const ERRORS: Record<FaultName, Line> = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_cursor: { status: 400, title: 'The cursor does not belong to this list' },
  body_incomplete: { status: 400, title: 'The body is incomplete' },
  invalid_grant: { status: 400, title: 'The code of a sign-in cannot be exchanged' },
  project_required: { status: 400, title: 'The X-Project-Id header is missing' },
  missing_credentials: { status: 401, title: 'Credentials are missing' },
  malformed_credentials: { status: 401, title: 'The credentials are malformed' },
  unknown_key: { status: 401, title: 'Unknown API key' },
  key_rotated: { status: 401, title: 'This secret was replaced by a rotation' },
  key_revoked: { status: 401, title: 'This API key was revoked' },
  key_expired: { status: 401, title: 'This API key has expired' },
  wrong_project: { status: 401, title: 'The API key belongs to another project' },
  unknown_session: { status: 401, title: 'Unknown session' },
  session_expired: { status: 401, title: 'The session has expired' },
  invalid_code: { status: 401, title: 'The sign-in code is not valid' },
  invalid_passkey: { status: 401, title: 'The passkey could not be verified' },
  invalid_recovery_code: { status: 401, title: 'The recovery code is not valid' },
  signature_missing: { status: 401, title: 'The signature header is missing' },
  signature_malformed: { status: 401, title: 'The signature header cannot be parsed' },
  signature_mismatch: { status: 401, title: 'The signature does not match any live secret' },
  signature_timestamp: { status: 401, title: 'The timestamp of the signature is too far from the current time' },
  insufficient_scope: { status: 403, title: 'The API key lacks a required scope' },
  insufficient_role: { status: 403, title: 'The role does not allow this' },
  key_expires_first: { status: 403, title: 'The API key expires before the key that it would rotate' },
  console_session_required: { status: 403, title: 'A console session is required' },
  api_key_required: { status: 403, title: 'An API key is required' },
  not_a_member: { status: 403, title: 'Not a member of this project' },
  role_escalation: { status: 403, title: 'The role is higher than the caller may give or change' },
  confirmation_required: { status: 403, title: 'The session must be confirmed first' },
  passkey_required: { status: 403, title: 'A passkey is required' },
  sso_required: { status: 403, title: 'The project requires its own single sign-on' },
  sso_session_limited: { status: 403, title: 'A session from single sign-on cannot make this call' },
  connection_disabled: { status: 403, title: 'The connection is disabled' },
  https_required: { status: 403, title: 'HTTPS is required' },
  not_found: { status: 404, title: 'Not found' },
  unknown_connection: { status: 404, title: 'Connection not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  body_timeout: { status: 408, title: 'The body did not arrive in time' },
  passkey_exists: { status: 409, title: 'The passkey is registered already' },
  passkey_limit_reached: { status: 409, title: 'The user has reached their limit of passkeys' },
  project_limit_reached: { status: 409, title: 'The user has reached their limit of projects' },
  project_purged: { status: 409, title: 'The project can no longer be restored' },
  key_limit_reached: { status: 409, title: 'The project has reached its limit of live API keys' },
  last_owner: { status: 409, title: 'The project would have no owner' },
  not_an_owner: { status: 409, title: 'The member is not an owner' },
  break_glass_missing: { status: 409, title: 'Nobody could sign in without the single sign-on that is enforced' },
  domain_taken: { status: 409, title: 'Another connection has the domain' },
  domain_unverified: { status: 409, title: 'The connection has no verified domain' },
  connection_inactive: { status: 409, title: 'The connection is not active' },
  connection_untested: { status: 409, title: 'The connection has not passed a test since its last change' },
  connection_enforced: { status: 409, title: 'The project enforces the connection' },
  sso_session_required: { status: 409, title: 'A session of this connection is required' },
  already_member: { status: 409, title: 'The address belongs to a member of the project' },
  already_invited: { status: 409, title: 'The address has a pending invitation to the project' },
  invitation_limit_reached: { status: 409, title: 'The project has reached its limit of pending invitations' },
  invitation_not_pending: { status: 409, title: 'The invitation is no longer pending' },
  invitation_expired: { status: 409, title: 'The invitation has expired' },
  rotation_conflict: { status: 409, title: 'Another call rotated or revoked this API key first' },
  rotation_of_revoked_key: { status: 409, title: 'This API key was revoked', code: 'key_revoked' },
  rotation_of_expired_key: { status: 409, title: 'This API key has expired', code: 'key_expired' },
  connection_limit_reached: { status: 409, title: 'The project has reached its limit of connections' },
  external_id_taken: { status: 409, title: 'Another consumer has this external id' },
  external_id_limit_reached: { status: 409, title: 'The consumer has reached its limit of external ids' },
  merge_limit_reached: { status: 409, title: 'The merge would exceed a limit of the consumer' },
  pin_limit_reached: { status: 409, title: 'The consumer has reached its limit of pinned customers' },
  consumer_merged: { status: 409, title: 'The consumer was merged into another one' },
  consumer_erased: { status: 409, title: 'The consumer was erased' },
  consumer_blocked: { status: 409, title: 'The consumer is blocked' },
  device_revoked: { status: 409, title: 'The device was revoked' },
  device_limit_reached: { status: 409, title: 'The consumer has reached its limit of active devices' },
  feature_type_fixed: { status: 409, title: 'The type of a feature cannot change' },
  feature_in_use: { status: 409, title: 'A plan, a grant or a setting has the feature' },
  feature_limit_reached: { status: 409, title: 'The project has reached its limit of features' },
  plan_key_taken: { status: 409, title: 'Another plan has this key' },
  plan_limit_reached: { status: 409, title: 'The project has reached its limit of plans' },
  grant_limit_reached: { status: 409, title: 'The consumer has reached its limit of live grants' },
  domain_exists: { status: 409, title: 'The project has this domain already' },
  domain_limit_reached: { status: 409, title: 'The project has reached its limit of domains' },
  hostname_in_use: { status: 409, title: 'Another project serves this host' },
  domain_released: { status: 409, title: 'The domain was deleted' },
  domain_enforced: { status: 409, title: 'Single sign-on needs the domain' },
  price_mapped: { status: 409, title: 'The price or product is mapped to another plan' },
  secret_exists: { status: 409, title: 'The connection already has this signing secret' },
  secret_limit_reached: { status: 409, title: 'The connection has reached its limit of signing secrets' },
  payload_gone: { status: 409, title: 'The payload of this event is no longer stored' },
  precondition_failed: { status: 412, title: 'The object has changed since it was read' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  too_many_events: { status: 413, title: 'The delivery has too many events' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported' },
  validation_failed: { status: 422, title: 'The request has invalid fields' },
  registration_refused: { status: 422, title: 'The new passkey could not be verified' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'Internal server error' },
  overloaded: { status: 503, title: 'The service is handling too much at once' },
  public_origin_missing: { status: 503, title: 'The deployment does not know its public address' },
  database_unavailable: { status: 503, title: 'The database is unavailable' },
  database_full: { status: 503, title: 'The database is full' },
  not_configured: { status: 503, title: 'The deployment lacks a setting' },
  not_migrated: { status: 503, title: 'The database lacks a migration' },
  encryption_key_unavailable: { status: 503, title: 'The encryption key is missing or wrong' },
}

/** The code that callers see for a fault. */
export function codeOf(fault: FaultName): string {
  return ERRORS[fault].code ?? fault
}

/** A failure as RFC 9457 problem+json. Anything other than a {@link Fault} becomes a 500 that reveals nothing. */
export function problem(c: Context<HttpEnv>, error: unknown): Response {
  const fault = asFault(error)
  const { status, title } = ERRORS[fault.fault]
  const code = codeOf(fault.fault)
  if (fault.fault === 'database_full') noteFull(c.get('rt'))
  const log = c.get('log') as Record<string, unknown> | undefined
  if (log) {
    log.code = code
    if (status >= 500) log.error = describe(fault.extra.cause ?? error)
  }
  const body = {
    type: publicUrl(c, `/errors#${code}`),
    title,
    status,
    detail: fault.detail,
    code,
    request_id: c.get('clientRequestId') ?? c.get('requestId'),
    ...(fault.extra.errors && { errors: fault.extra.errors }),
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
  if (error instanceof HTTPException && error.status === 400) {
    return new Fault('invalid_json', 'Send one JSON value in UTF-8 as the body.')
  }
  return new Fault('internal_error', 'The error was logged under this request_id. Try again later.')
}

/** A failure for the log. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
