import { SECOND } from '../lib/time'
import { MAX_ANSWER_BYTES, RESOLVE_WITHIN } from './limits'
import { readTextAnswer, type TextAnswer, textQuery } from './message'
import type { ResolverAnswer } from './schema'

/** What a resolver said, with its name. */
export type Told = Omit<ResolverAnswer, 'values'> & TextAnswer

/** Asks each resolver for the TXT records of a name, all at once. A resolver that gives no usable answer is no error. */
export function resolveText(resolvers: readonly string[], name: string): Promise<Told[]> {
  return Promise.all(resolvers.map((resolver) => ask(resolver, name)))
}

const NO_ANSWER = { authenticated: false, isUsable: false, values: [] }

/** DNS over HTTPS, with the message in the address (RFC 8484, section 4.1). */
async function ask(resolver: string, name: string): Promise<Told> {
  const url = new URL(resolver)
  url.searchParams.set('dns', textQuery(name).toBase64({ alphabet: 'base64url', omitPadding: true }))
  const by = { name: url.hostname, ...NO_ANSWER }
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), RESOLVE_WITHIN)
  try {
    const answer = await fetch(url, {
      headers: { Accept: 'application/dns-message' },
      redirect: 'manual',
      signal: ending.signal,
    })
    if (answer.status !== 200) {
      await answer.body?.cancel()
      return { ...by, rcode: `HTTP ${answer.status}` }
    }
    return { ...by, ...readable(await upTo(MAX_ANSWER_BYTES, answer), name) }
  } catch {
    return { ...by, rcode: ending.signal.aborted ? `silent for ${RESOLVE_WITHIN / SECOND} s` : 'not reached' }
  } finally {
    clearTimeout(timer)
  }
}

function readable(message: Uint8Array | null, name: string): TextAnswer {
  try {
    if (message !== null) return readTextAnswer(message, name)
  } catch {
    // Whatever is wrong with it: it is not the answer of a resolver.
  }
  return { ...NO_ANSWER, rcode: 'unreadable' }
}

/** The bytes of a body; null if it is longer. */
async function upTo(max: number, { body }: Response): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > max) return null
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
