import { type OutsideRefusal, sendOutside } from '../lib/fetch-outside'
import { SECOND } from '../lib/time'
import { ANSWER_WITHIN_MS, KEPT_OF_FAILURE, KEPT_OF_SUCCESS, MAX_HELD_MS } from './limits'
import type { Message } from './message'
import { signedHeaders } from './sign'

/** The result of one attempt. `error`: why there was no answer. `hold`: how long the endpoint asks us to wait (ms). */
export type Attempted = {
  at: number
  ms: number
  status: number | null
  error: string | null
  answer: string
  hold: number
}

/** Where something is sent, and the secrets that sign it. */
export type Target = { url: string; secrets: readonly string[]; ours: readonly string[] }

/**
 * Sends something once, if it is still there. It does not throw: an error is the result of the attempt.
 *
 * @param within how long it may take (ms)
 */
export async function attempt(
  { url, secrets, ours }: Target,
  { id, body, headers: more = {} }: Pick<Message, 'id' | 'body' | 'headers'>,
  within: number,
): Promise<Attempted> {
  const at = Date.now()
  if (body === null) return { at, ms: 0, status: null, error: GONE, answer: '', hold: 0 }
  try {
    const headers = {
      'content-type': 'application/json',
      ...more,
      'user-agent': 'platform-api-webhooks/1',
      ...(await signedHeaders(secrets, id, body, at)),
    }
    const bounds = { within, bodyWithin: ANSWER_WITHIN_MS, most: KEPT_OF_FAILURE }
    const { status, headers: sent, begins } = await sendOutside(url, { ours, headers, body, ...bounds })
    const kept = begins.slice(0, isTaken(status) ? KEPT_OF_SUCCESS : KEPT_OF_FAILURE)
    const answer = new TextDecoder().decode(kept).replaceAll('\u0000', '\ufffd')
    const hold = isTaken(status) ? 0 : holdOf(sent.get('Retry-After'), at)
    return { at, ms: Date.now() - at, status, error: null, answer, hold }
  } catch (error) {
    const { rule = 'unreachable' } = error as Partial<OutsideRefusal>
    return { at, ms: Date.now() - at, status: null, error: rule, answer: '', hold: 0 }
  }
}

/** Why nothing was sent: the payload of an event is no longer kept. */
export const GONE = 'payload_gone'

/** Whether there was nothing to send any more. This says nothing about the endpoint, and trying again does not help. */
export function isGone({ error }: Attempted): boolean {
  return error === GONE
}

/** Whether the endpoint has taken what was sent. */
export function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** How long `Retry-After` says to wait (ms): seconds, or a date. */
function holdOf(header: string | null, now: number): number {
  if (header === null) return 0
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * SECOND : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(0, Math.min(ms, MAX_HELD_MS)) : 0
}
