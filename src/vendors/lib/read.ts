import { MAX_OBJECT_ID, MAX_REFS } from '../limits'
import { type DecodedEvent, type Envelope, Undecodable } from '../vendor'
import { isObject, type Json, text } from './json'

/** The payload as a JSON object. @throws {Undecodable} */
export function parseObject(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Undecodable('the payload is not JSON')
  }
  if (!isObject(value)) throw new Undecodable('the payload is not a JSON object')
  return value
}

/** A string that the payload must have. @throws {Undecodable} naming the field */
export function required(value: unknown, field: string): string {
  const found = text(value)
  if (found === null) throw new Undecodable(`the payload has no ${field}`)
  return found
}

/** The object that an event is about. @throws {Undecodable} naming the field, with the envelope */
export function subjectOf(value: unknown, field: string, envelope: Envelope): Json {
  if (isObject(value)) return value
  throw new Undecodable(`the payload has no ${field}`, envelope)
}

/** Whether a string can be an object's id: ids are part of addresses and cursors. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_OBJECT_ID && /^[\x21-\x7e]+$/.test(value)
}

/** Whether a string can be an id in a path of a vendor's API as it is. */
export function isPathId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,200}$/.test(value)
}

/** The distinct ids, in order; at most {@link MAX_REFS}. */
export function distinctIds(...ids: (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))].slice(0, MAX_REFS)
}

/** An event, from what is known of it: everything else is null. */
export function eventOf(
  known: Partial<DecodedEvent> & Pick<DecodedEvent, 'vendor_event_id' | 'event_type' | 'object' | 'content'>,
): DecodedEvent {
  return {
    occurred_at: null,
    livemode: null,
    api_version: null,
    customer: null,
    subscription: null,
    invoice: null,
    amount: null,
    refs: [],
    state: null,
    ...known,
  }
}
