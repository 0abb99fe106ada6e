import { SECOND } from './time'

/*
 * Every request to a server that others run goes through here. It limits how long and how large an answer may be, and follows no redirect.
 * The caller decides who may be asked: see fetch-outside.ts, and fetch-vendor.ts of the inbox.
 */

export type Bounds = {
  /** How long the request and the reading of its response may take together (ms). */
  within: number
  /** The largest body, in bytes after decompression. */
  most: number
}

/** Why there is no response. */
export type BoundRule = 'redirect' | 'time' | 'size' | 'unreachable'

/** A response that did not come, or that is not used. The message names the host and the rule. */
export class OutOfBounds extends Error {
  override readonly name = 'OutOfBounds'
  constructor(
    readonly rule: BoundRule,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/**
 * Fetches within bounds. The response is complete: its body is in memory. Redirects are not followed, and nothing is cached.
 *
 * @param check looks at the head of a response before its body is read; what it returns is thrown
 * @throws {OutOfBounds}
 */
export async function boundedFetch(
  url: URL,
  init: Pick<RequestInit, 'method' | 'headers' | 'body'>,
  { within, most }: Bounds,
  check: (response: Response) => Error | null = () => null,
): Promise<Response> {
  const timeout = AbortSignal.timeout(within)
  let refusal: Error | null = null
  try {
    const response = await fetch(url.href, { ...init, redirect: 'manual', cache: 'no-store', signal: timeout })
    const isUnchanged = response.status === 304 && new Headers(init.headers).has('If-None-Match')
    refusal = (isUnchanged ? null : redirectOf(response, url.host)) ?? check(response)
    if (!refusal) return copyOf(response, await bodyOf(response, url.host, most))
    await response.body?.cancel()
    throw refusal
  } catch (cause) {
    if (cause === refusal || cause instanceof OutOfBounds) throw cause
    if (timeout.aborted)
      throw new OutOfBounds('time', `${url.host} did not answer within ${Math.ceil(within / SECOND)} s.`, { cause })
    throw new OutOfBounds('unreachable', `${url.host} cannot be reached.`, { cause })
  }
}

/** The status and the headers of an answer, and the beginning of its body. */
export type Beginning = { status: number; headers: Headers; begins: Uint8Array }

/**
 * Sends something to a server whose status is the answer. Redirects are not followed: they are answers too. Of the body, no more is read
 * than what is kept, and it is not waited for long.
 *
 * @param within until when the head of the response must have come (ms)
 * @param bodyWithin how long the body is read after that (ms)
 * @param most bytes of the body that are kept
 * @throws {OutOfBounds} `time` or `unreachable`
 */
export async function boundedSend(
  url: URL,
  init: Pick<RequestInit, 'method' | 'headers' | 'body'>,
  { within, bodyWithin, most }: Bounds & { bodyWithin: number },
): Promise<Beginning> {
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(), within)
  try {
    const { signal } = ended
    const response = await fetch(url.href, { ...init, redirect: 'manual', cache: 'no-store', signal })
    const begins = await beginningOf(response, bodyWithin, most)
    return { status: response.status, headers: response.headers, begins }
  } catch (cause) {
    if (ended.signal.aborted)
      throw new OutOfBounds('time', `${url.host} did not answer within ${Math.ceil(within / SECOND)} s.`, { cause })
    throw new OutOfBounds('unreachable', `${url.host} cannot be reached.`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** The first bytes of a body, as far as they come in time. A body that breaks off is no failure: the status has come. */
async function beginningOf({ body }: Response, within: number, most: number): Promise<Uint8Array> {
  if (!body) return new Uint8Array()
  const reader = body.getReader()
  const kept: Uint8Array<ArrayBuffer>[] = []
  let left = most
  let timer: ReturnType<typeof setTimeout> | null = null
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), within)
  })
  try {
    while (left > 0) {
      const read = await Promise.race([reader.read(), late])
      if (!read || read.done) break
      kept.push(read.value.slice(0, left))
      left -= read.value.byteLength
    }
  } catch {
    // It broke off: what has come is kept.
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => {}) // Nobody waits for the rest, or for what becomes of it.
  }
  return new Uint8Array(await new Blob(kept).arrayBuffer())
}

function redirectOf({ status }: Response, host: string): OutOfBounds | null {
  if (status < 300 || status >= 400) return null
  return new OutOfBounds('redirect', `${host} answered with a redirect (${status}). Redirects are not followed.`)
}

/** The body, counted while it is read: a length that the host states proves nothing. */
async function bodyOf(response: Response, host: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > most) throw new OutOfBounds('size', `The response of ${host} is larger than ${most / 1024} KB.`)
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** The response with its body in memory, which is no longer compressed. */
function copyOf({ status, headers: given }: Response, body: Uint8Array<ArrayBuffer>): Response {
  const headers = new Headers(given)
  for (const name of ['Content-Encoding', 'Content-Length']) headers.delete(name)
  return new Response(body.byteLength > 0 ? body : null, { status, headers })
}
