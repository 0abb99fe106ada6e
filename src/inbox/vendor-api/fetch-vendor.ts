import { writeLog } from '../../http/log'
import { type BoundRule, type Bounds, boundedFetch, OutOfBounds } from '../../lib/bounded-fetch'
import { SECOND } from '../../lib/time'
import { type ApiOutcome, outcomeOf, type VendorHost } from '../../vendors/api'
import type { ApiPattern } from '../../vendors/calls'
import type { VendorWrite } from '../../vendors/endpoints'
import { isObject, type Json } from '../../vendors/lib/json'
import { isId, isPathId } from '../../vendors/lib/read'
import { CALL_BYTES, CALL_WITHIN, SHARED_WAIT_S } from './limits'
import { SHARED_LIMIT, type Turn } from './turn'

/** A request to a vendor's API that reads. */
export type VendorCall = {
  /** A constant of ours: `/v1/subscriptions/{id}`. */
  pattern: ApiPattern
  /** What stands for the `{…}` of the pattern. Ids may come from payloads: see {@link isIdOf}. */
  ids?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | readonly string[]>>
  /** In addition to the vendor's, or in their place: `Stripe-Version`, `Stripe-Context`. */
  headers?: Readonly<Record<string, string>>
}

/** Bounds of a call. `turn`: see {@link turnOf}. */
export type CallBounds = Partial<Bounds> & { turn?: Turn }

/** A vendor's answer, whatever its status; or our own, with `shared_limit` as its code, if the call was not made: see {@link turnOf}. */
export type VendorAnswer = {
  status: number
  outcome: ApiOutcome
  /** The vendor's code of an error; null if there is none. */
  code: string | null
  /** The body; null if it is no JSON object. */
  body: Json | null
  text: string
  /** What the vendor's clock said when it answered: its `Date` header as ISO 8601; null without one. */
  date: string | null
  /** When the request began, on our clock (ms since the epoch), and how long it took until the body was here (ms). */
  started_at: number
  took_ms: number
  /** How many seconds the vendor asks us to wait; null if it does not say. */
  retry_after_s: number | null
}

/** A call that has no answer. `id`: an id that no vendor has, so nothing was sent. */
export class VendorCallError extends Error {
  override readonly name = 'VendorCallError'
  constructor(
    readonly rule: BoundRule | 'id',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Makes a call whose failure the caller has an answer to. It is in the log. @returns null if there is no answer */
export async function ifVendorAnswers<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof VendorCallError) return null
    throw error
  }
}

/**
 * Asks a vendor's API with a customer's key. Always GET. Only this function and {@link writeVendor} call a vendor.
 *
 * @param limits smaller ones than 10 s and 2 MiB, and whose turn it is
 * @throws {VendorCallError} if an id is malformed, or there is no answer within the limits
 */
export async function fetchVendor(
  host: VendorHost,
  key: string,
  call: VendorCall,
  limits: CallBounds = {},
): Promise<VendorAnswer> {
  return ask(host, { key, call }, {}, limits)
}

/**
 * Changes something at a vendor. If there is no answer, the vendor may have made the change all the same.
 *
 * @throws {VendorCallError} as {@link fetchVendor}
 */
export async function writeVendor(
  host: VendorHost,
  key: string,
  write: VendorWrite,
  limits: CallBounds = {},
): Promise<VendorAnswer> {
  const { pattern, ids = {}, method, body } = write
  const headers = body && { 'Content-Type': body.type }
  return ask(host, { key, call: { pattern, ids, ...(headers && { headers }) } }, { method, body: body?.text }, limits)
}

/**
 * Makes a call. The host is a constant of the vendor's, the path one of our patterns, and ids in it have no character that means something in
 * an address, or are encoded. Writes one line of log, which has no key, id or body.
 */
async function ask(
  host: VendorHost,
  { key, call }: { key: string; call: VendorCall },
  sent: { method?: VendorWrite['method']; body?: string | undefined },
  { within = CALL_WITHIN, most = CALL_BYTES, turn }: CallBounds,
): Promise<VendorAnswer> {
  const url = urlOf(host, key, call)
  const headers = { Accept: 'application/json', 'User-Agent': 'platform-api', ...host.headers(key), ...call.headers }
  const bounds = { within: Math.min(within, CALL_WITHIN), most: Math.min(most, CALL_BYTES) }
  const started_at = Date.now()
  const about = { vendor: host.vendor, method: sent.method, pattern: call.pattern }
  if (turn && !(await turn())) {
    writeLog('warn', 'vendor_call', { ...about, failed: SHARED_LIMIT, ms: 0 })
    return notMade(started_at)
  }
  const { method = 'GET', body } = sent
  try {
    const response = await boundedFetch(url, { method, headers, ...(body !== undefined && { body }) }, bounds)
    const answer = await answerOf(host, response, started_at)
    const { status, code, took_ms } = answer
    writeLog('info', 'vendor_call', { ...about, status, code: code ?? undefined, ms: took_ms })
    return answer
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error
    writeLog('warn', 'vendor_call', { ...about, failed: error.rule, ms: Date.now() - started_at })
    throw new VendorCallError(error.rule, error.message, { cause: error.cause })
  }
}

/** Whether a text can be an id in a path of a vendor's API. */
export function isIdOf({ anyIds }: Pick<VendorHost, 'anyIds'>, id: string): boolean {
  // A part of dots alone would lead to another path.
  return anyIds ? isId(id) && !/^\.+$/.test(id) : isPathId(id)
}

function urlOf(host: VendorHost, key: string, { pattern, ids = {}, query = {} }: VendorCall): URL {
  const known = { ...ids, ...host.ids?.(key) }
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = known[name] ?? ''
    if (!isIdOf(host, id)) throw new VendorCallError('id', `The ${name} is no id of the vendor's: ${pattern}.`)
    return encodeURIComponent(id)
  })
  const url = new URL(path, host.origin(key))
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) url.searchParams.append(name, value)
  return url
}

async function answerOf(host: VendorHost, response: Response, started_at: number): Promise<VendorAnswer> {
  const text = await response.text()
  const body = objectIn(text)
  const { status, headers } = response
  const code = status >= 400 && body ? wordIn(host.errorCode(body)) : null
  const date = Date.parse(headers.get('Date') ?? '')
  return {
    status,
    outcome: outcomeOf(host, status, code),
    code,
    body,
    text,
    date: Number.isNaN(date) ? null : new Date(date).toISOString(),
    started_at,
    took_ms: Date.now() - started_at,
    retry_after_s: secondsOf(headers.get('Retry-After'), Number.isNaN(date) ? Date.now() : date),
  }
}

function objectIn(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null // No JSON, as from a proxy before the vendor: the status says what it is.
  }
}

/** A code is a word without digits, unlike an id or a key. What else a vendor puts there stays out of our log. */
function wordIn(code: string | null): string | null {
  return code !== null && /^[a-z_]{1,60}$/.test(code) ? code : null
}

/** `Retry-After` has seconds, or a time on the vendor's clock. @param now that clock (ms) */
function secondsOf(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const until = Date.parse(header)
  return Number.isNaN(until) ? null : Math.max(0, Math.ceil((until - now) / SECOND))
}

/** The answer that the vendor would give if the call were made: everybody handles it as that. */
function notMade(started_at: number): VendorAnswer {
  return {
    status: 429,
    outcome: 'failed',
    code: SHARED_LIMIT,
    body: null,
    text: '',
    date: null,
    started_at,
    took_ms: 0,
    retry_after_s: SHARED_WAIT_S,
  }
}
