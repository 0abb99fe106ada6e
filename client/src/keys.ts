import { CALLS } from './calls.js'
import { connect, type PlatformClient, type PlatformClientOptions } from './connect.js'
import { PlatformError } from './errors.js'
import type { DeviceVerification } from './schema.js'

/*
 * The keys that a product gives its customers: devices of the platform `server`. Nothing is cached: each check asks the API, so that a
 * key that was revoked is refused from then on.
 */

export type KeyCheckOptions = Omit<PlatformClientOptions, 'retry'> & {
  /** An API key with the scope `entitlements:read`. */
  token: string
  projectId: string
  /** How long one check may take, with a second attempt (milliseconds). 3,000 by default. After that, the request is refused with 503. */
  timeoutMs?: number
  /** Is told why a check could not be made, for your log. The request is refused with 503 or 429. */
  onError?: (error: unknown) => void
}

/** What a request needs. */
export type KeyNeeds = {
  /** Scopes that the key must have. */
  require?: readonly string[]
  /** Features to ask for: what the customer may do with them is in `features` of the answer, allowed or not. */
  features?: readonly string[]
  /** Features that the customer must be allowed to use. They are in `features` too. */
  requireFeatures?: readonly string[]
}

/** A valid key, with its customer. */
export type VerifiedKey = DeviceVerification & {
  device: NonNullable<DeviceVerification['device']>
  consumer: NonNullable<DeviceVerification['consumer']>
}

/** Why a request is refused. Codes may be added. */
export type KeyRefusal = {
  status: 401 | 403 | 429 | 503
  code:
    | 'key_missing'
    | 'key_unknown'
    | 'key_revoked'
    | 'key_expired'
    | 'customer_blocked'
    | 'missing_scope'
    | 'feature_not_allowed'
    | 'rate_limited'
    | 'verification_unavailable'
  detail: string
  headers: Record<string, string>
}

export type KeyCheck = { key: VerifiedKey; refusal: null } | { key: null; refusal: KeyRefusal }

/** One token, as RFC 6750 writes it. */
const BEARER = /^bearer +([\w.~+/=-]{1,1000})$/i

/**
 * Makes a function that checks the value of a request's `Authorization` header. It never throws and never lets a request in that
 * could not be checked.
 */
export function keyCheck(options: KeyCheckOptions) {
  const { onError = () => {}, timeoutMs = 3_000, ...rest } = options
  const api = connect(CALLS, { ...rest, timeoutMs, retry: { attempts: 2, totalMs: timeoutMs } })
  return async (authorization: string | null | undefined, needs: KeyNeeds = {}): Promise<KeyCheck> => {
    const [, token] = BEARER.exec(authorization ?? '') ?? []
    if (token === undefined) return refused(401, 'key_missing', 'Send your key as Authorization: Bearer.')
    try {
      return judged(await verified(api, token, needs, timeoutMs), needs)
    } catch (error) {
      tell(onError, error)
      return unavailable(error)
    }
  }
}

async function verified(
  api: PlatformClient,
  token: string,
  needs: KeyNeeds,
  timeoutMs: number,
): Promise<DeviceVerification> {
  const { require = [], features = [], requireFeatures = [] } = needs
  const asked = [...new Set([...features, ...requireFeatures])]
  const body = {
    token,
    ...(require.length > 0 && { require: [...require] }),
    ...(asked.length > 0 && { features: asked }),
  }
  return api.verifyDevice({ body }, { signal: AbortSignal.timeout(timeoutMs) })
}

function judged(answer: DeviceVerification, { requireFeatures = [] }: KeyNeeds): KeyCheck {
  // Only these very values let a request in: the answer of something else than the API must not.
  if (answer.valid !== true || !answer.device || !answer.consumer) return refusedFor(answer)
  const lacking = requireFeatures.filter((feature) => answer.features?.[feature]?.allowed !== true)
  if (lacking.length === 0)
    return { key: { ...answer, device: answer.device, consumer: answer.consumer }, refusal: null }
  return refused(403, 'feature_not_allowed', `Your plan does not include ${lacking.join(', ')}.`)
}

function refusedFor({ reason, missing_scopes }: DeviceVerification): KeyCheck {
  switch (reason) {
    case 'revoked':
      return refused(401, 'key_revoked', 'This key was revoked.')
    case 'expired':
      return refused(401, 'key_expired', 'This key has expired.')
    case 'consumer_blocked':
      return refused(403, 'customer_blocked', 'This account is blocked.')
    case 'missing_scope':
      return refused(403, 'missing_scope', `This key lacks ${missing_scopes.join(', ')}.`, {
        'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${missing_scopes.join(' ')}"`,
      })
    default:
      return refused(401, 'key_unknown', 'This key is not known.')
  }
}

function unavailable(error: unknown): KeyCheck {
  const wait = error instanceof PlatformError ? error.retry_after : null
  const headers = { 'Retry-After': String(Math.ceil(wait ?? 1)) }
  if (error instanceof PlatformError && error.status === 429) {
    return refused(429, 'rate_limited', 'Too many requests. Wait and try again.', headers)
  }
  return refused(503, 'verification_unavailable', 'The key could not be checked. Try again.', headers)
}

function refused(
  status: KeyRefusal['status'],
  code: KeyRefusal['code'],
  detail: string,
  headers: Record<string, string> = {},
): KeyCheck {
  const challenge = code === 'key_missing' ? 'Bearer' : 'Bearer error="invalid_token"'
  return {
    key: null,
    refusal: {
      status,
      code,
      detail,
      headers: { ...(status === 401 && { 'WWW-Authenticate': challenge }), ...headers },
    },
  }
}

/** An error of the program's own log must not let a request in, nor leave it without a response. */
function tell(onError: (error: unknown) => void, error: unknown): void {
  try {
    onError(error)
  } catch {
    // What it was told is in the refusal too.
  }
}

/** The body of a refusal, as JSON. */
export function refusalBody({ status, code, detail }: KeyRefusal): string {
  return JSON.stringify({ status, code, detail })
}
