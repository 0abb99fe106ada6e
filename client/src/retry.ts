import { PlatformError, retryAfter } from './errors.js'

export type RetryOptions = {
  /** How many times a request is sent at most. 4 by default. */
  attempts?: number
  /** How long a call may take, with all of its attempts and waits (milliseconds). 30,000 by default. */
  totalMs?: number
}

type Options = {
  fetch: (request: Request) => Promise<Response>
  /** False: each request is sent once. */
  retry: RetryOptions | false
  /** How long one attempt may take, until the whole response is here. */
  timeoutMs: number
  /** Whether sending the request again has no further effect. */
  isRepeatable: (request: Request) => boolean
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000

/**
 * A `fetch` that sends a request again after a failure that may pass: 429, any 5xx, no connection, or no whole response in time. It
 * waits as long as `Retry-After` says, and a random time, up to twice as long after each attempt. If that would take too long,
 * the caller gets the failure at once.
 *
 * @throws PlatformError `unreachable` or `timeout`; the reason of the request's signal, as soon as it is aborted
 */
export function retryingFetch({ fetch, retry, timeoutMs, isRepeatable }: Options) {
  const { attempts = 4, totalMs = 30_000 } = retry === false ? { attempts: 1, totalMs: timeoutMs } : retry
  return async (request: Request): Promise<Response> => {
    const until = Date.now() + totalMs
    const most = isRepeatable(request) ? attempts : 1
    // Read once: a request with a body can be sent only once.
    const hasNone = request.method === 'GET' || request.method === 'HEAD' || request.body === null
    const body = hasNone ? null : await request.arrayBuffer()
    for (let n = 1; ; n++) {
      const leftMs = Math.max(1, Math.min(timeoutMs, until - Date.now()))
      const outcome = await attempt(fetch, request, body, leftMs)
      const waitMs = n < most ? waitAfter(outcome, n) : null
      if (waitMs === null || Date.now() + waitMs >= until) {
        if (outcome instanceof PlatformError) throw outcome
        return outcome
      }
      await sleep(waitMs, request.signal)
    }
  }
}

/** Sends a request once. @returns its response with the whole body, or why there is none */
async function attempt(
  fetch: Options['fetch'],
  request: Request,
  body: ArrayBuffer | null,
  timeoutMs: number,
): Promise<Response | PlatformError> {
  const { signal } = request
  signal.throwIfAborted()
  const ending = new AbortController()
  const abort = () => ending.abort(signal.reason)
  signal.addEventListener('abort', abort)
  const timer = setTimeout(() => ending.abort(), timeoutMs)
  try {
    const sent = new Request(request, { signal: ending.signal, ...(body && { body }) })
    const response = await fetch(sent)
    const bytes = await response.arrayBuffer()
    return new Response(bytes.byteLength > 0 ? bytes : null, response)
  } catch (cause) {
    signal.throwIfAborted()
    const where = `${request.method} ${new URL(request.url).pathname}`
    if (ending.signal.aborted) return new PlatformError('timeout', `${where}: no response in time`, { cause })
    return new PlatformError('unreachable', `${where}: ${said(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** What an error says, with its cause: Node.js says only there that a connection was refused. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${said(error.cause)}`
}

/** How long to wait before the next attempt (milliseconds); null if there should not be one. */
function waitAfter(outcome: Response | PlatformError, attempts: number): number | null {
  const jitter = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1))
  if (outcome instanceof PlatformError) return jitter
  if (outcome.status !== 429 && outcome.status < 500) return null
  return (retryAfter(outcome.headers) ?? 0) * 1000 + jitter
}

/** Waits. @throws the reason of the signal, as soon as it is aborted */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
