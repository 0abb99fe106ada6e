import { type Beginning, type BoundRule, boundedFetch, boundedSend, OutOfBounds } from './bounded-fetch'
import { isSpecialUse } from './special-use'
import { SECOND } from './time'

/*
 * The only door to addresses that a customer chooses, or that a document of theirs names. A caller cannot loosen its rules:
 * there is no switch for insecure addresses. The compatibility flag `global_fetch_strictly_public` belongs to it.
 */

/** How long the request and the reading of its response may take together (ms). */
const WITHIN = 5 * SECOND
/** The largest body, in bytes after decompression. */
const MAX_BYTES = 512 * 1024

/** What was wrong with an address, or with what came from it. */
export type OutsideRule =
  | 'malformed'
  | 'https'
  | 'port'
  | 'user_info'
  | 'ip_literal'
  | 'special_use'
  | 'our_host'
  | 'media_type'
  | BoundRule

/** An address that is not fetched, or a response that is not used. The message names the host and the rule. */
export class OutsideRefusal extends Error {
  override readonly name = 'OutsideRefusal'
  constructor(
    readonly rule: OutsideRule,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** An address that breaks a rule. `fault` says how, after the name of whatever holds the address: `must begin with https://`. */
export class AddressRefusal extends OutsideRefusal {
  constructor(
    rule: OutsideRule,
    readonly fault: string,
  ) {
    super(rule, `The address ${fault}.`)
  }
}

export type OutsideRequest = {
  /** Our own host names: neither they nor names below them are fetched. */
  ours: readonly string[]
  /** The media types that a successful response may have. */
  accept: readonly string[]
  method?: 'GET' | 'POST'
  headers?: HeadersInit
  body?: string | URLSearchParams
  /** A shorter time limit (ms). */
  within?: number
  /** A smaller limit of the body (bytes). */
  most?: number
}

/**
 * Checks an address by the rules for outside fetches, without fetching it.
 *
 * @param ours our own host names
 * @throws {AddressRefusal}
 */
export function outsideUrl(address: string | URL, ours: readonly string[]): URL {
  const url = URL.parse(address)
  if (!url) throw new AddressRefusal('malformed', 'is not a URL')
  if (url.protocol !== 'https:') throw new AddressRefusal('https', 'must begin with https://')
  if (url.port !== '') throw new AddressRefusal('port', 'must use port 443, so leave out the port')
  if (url.username !== '' || url.password !== '')
    throw new AddressRefusal('user_info', 'must not include a user name or a password')
  const host = url.hostname
  // The URL parser has already turned 0x7f.1 and 2130706433 into 127.0.0.1.
  if (host.startsWith('[') || /^[\d.]+$/.test(host))
    throw new AddressRefusal('ip_literal', 'must have a host name, not an IP address')
  if (!/^[^.]+(\.[^.]+)+$/.test(host) || isSpecialUse(host))
    throw new AddressRefusal('special_use', `must have a host on the public internet. ${host} is not one`)
  if (ours.some((own) => host === own || host.endsWith(`.${own}`)))
    throw new AddressRefusal('our_host', `must not point to this service. ${host} does`)
  return url
}

/**
 * Fetches an address that somebody outside has chosen. The response is complete: its body is in memory.
 *
 * @throws {OutsideRefusal} if the address breaks a rule, the host does not answer in time, or the response is a redirect, too
 *   large, or (if successful) of another media type
 */
export async function fetchOutside(address: string | URL, request: OutsideRequest): Promise<Response> {
  const { ours, accept, within = WITHIN, most = MAX_BYTES, ...init } = request
  const url = outsideUrl(address, ours)
  const headers = new Headers(init.headers)
  headers.set('Accept', accept.join(', '))
  const bounds = { within: Math.min(within, WITHIN), most: Math.min(most, MAX_BYTES) }
  try {
    return await boundedFetch(url, { ...init, headers }, bounds, (response) => mediaTypeOf(response, url.host, accept))
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error
    throw new OutsideRefusal(error.rule, error.message, { cause: error.cause })
  }
}

export type OutsideDelivery = {
  /** Our own host names, as for {@link fetchOutside}. */
  ours: readonly string[]
  headers: HeadersInit
  body: string | Uint8Array<ArrayBuffer>
  /** See {@link boundedSend}. */
  within: number
  bodyWithin: number
  most: number
}

/**
 * Posts to an address that somebody outside has chosen. Whatever the status is, it is the answer.
 *
 * @throws {OutsideRefusal} if the address breaks a rule, or the host does not answer in time
 */
export async function sendOutside(
  address: string,
  { ours, headers, body, ...bounds }: OutsideDelivery,
): Promise<Beginning> {
  const url = outsideUrl(address, ours)
  try {
    return await boundedSend(url, { method: 'POST', headers, body }, bounds)
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error
    throw new OutsideRefusal(error.rule, error.message, { cause: error.cause })
  }
}

/** What is wrong with the media type of a successful response. */
function mediaTypeOf({ ok, headers }: Response, host: string, accept: readonly string[]): OutsideRefusal | null {
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';')
  if (!ok || accept.includes(type.trim().toLowerCase())) return null
  const answered = type.trim() || 'no media type'
  return new OutsideRefusal('media_type', `${host} answered with ${answered}. It must be ${accept.join(' or ')}.`)
}
