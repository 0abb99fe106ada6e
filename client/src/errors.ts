import type { ErrorCode, FieldError, Problem } from './schema.js'

/**
 * Codes of this package: no response came (`unreachable`), or not in time (`timeout`); a response that the API does not send
 * (`unexpected_response`), for example a page of a proxy; a webhook or a token that does not pass (`invalid_webhook`, `invalid_token`).
 */
export type ClientErrorCode = 'unreachable' | 'timeout' | 'unexpected_response' | 'invalid_webhook' | 'invalid_token'

type Details = {
  status?: number
  request_id?: string | null
  errors?: FieldError[]
  retry_after?: number | null
  cause?: unknown
}

/** Why a call has no result: the API refused it, or could not be reached. */
export class PlatformError extends Error {
  /** Stable: write code against it. Codes may be added to the API, so expect others too. */
  readonly code: ErrorCode | ClientErrorCode
  /** The status of the response; null if there was none. */
  readonly status: number | null
  /** Names the request in the logs of the API. */
  readonly request_id: string | null
  /** What is wrong, and what to do next. */
  readonly detail: string
  /** The fields that are wrong, each with a JSON Pointer into the body or the query. */
  readonly errors: FieldError[]
  /** How many seconds to wait before the next attempt, if the response says so. */
  readonly retry_after: number | null

  constructor(code: ErrorCode | ClientErrorCode, detail: string, details: Details = {}) {
    const { status = null, request_id = null, errors = [], retry_after = null, cause } = details
    super(`${code}: ${detail}${request_id === null ? '' : ` (${request_id})`}`, { cause })
    this.name = 'PlatformError'
    this.code = code
    this.status = status
    this.request_id = request_id
    this.detail = detail
    this.errors = errors
    this.retry_after = retry_after
  }
}

type Result<T> = { data?: T; error?: unknown; response: Response }

/** The body of a call's response. @throws PlatformError if the API refused the call */
export async function unwrap<T>(call: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await call.catch(unlessNoJson)
  if (response.ok) return data as T
  throw refusal(error, response)
}

/** A page of a proxy, for example, with status 200. */
function unlessNoJson(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error
  throw new PlatformError('unexpected_response', 'The response is not JSON.', { cause: error })
}

function refusal(error: unknown, { status, headers }: Response): PlatformError {
  const details = { status, request_id: headers.get('X-Request-Id'), retry_after: retryAfter(headers) }
  if (!isProblem(error)) {
    return new PlatformError('unexpected_response', `status ${status}: ${String(error ?? '').slice(0, 200)}`, details)
  }
  return new PlatformError(error.code, error.detail, { ...details, ...(error.errors && { errors: error.errors }) })
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value
}

/** `Retry-After` in seconds, which is a number or a date. Null if there is none. */
export function retryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')
  if (value === null) return null
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
