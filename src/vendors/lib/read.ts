import { MAX_OBJECT_ID, MAX_REFS } from '../limits'
import { type DecodedEvent, type Envelope, Undecodable } from '../vendor'

/** A JSON object from a vendor. Its fields may have any type. */
export type Json = { readonly [key: string]: unknown }

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

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of keys; undefined if a part of the path is missing. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string | number, unknown>)[key]
  }
  return here
}

/** A string that is not empty; else null. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * An http or https URL, spelled as browsers read it; else null. People and programs follow it. One with a user or a
 * password is null too: these can look like the host (`https://invoice.stripe.com@evil.example`).
 */
export function webUrl(value: unknown): string | null {
  const url = URL.parse(text(value) ?? '')
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username || url.password) return null
  return url.href
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

/** The id of what a field refers to: vendors send the id alone, or the whole object with its `id`. */
export function idOf(value: unknown): string | null {
  return text(value) ?? text(at(value, 'id'))
}

/** The distinct ids, in order; at most {@link MAX_REFS}. */
export function refsOf(...ids: (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))].slice(0, MAX_REFS)
}

/** An id that a vendor sends as a string or a number; null for a number too large for JSON to keep exactly. */
export function numericId(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : text(value)
}

/** A boolean; else null. */
export function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** The part of a string before the first separator: `invoice` of `invoice.paid`. */
export function before(value: string, separator: string): string {
  return value.split(separator, 1)[0] || value
}

/** A copy of an object that lacks these fields. */
export function without(object: Json, ...fields: string[]): Json {
  const copy = { ...object }
  for (const field of fields) delete copy[field]
  return copy
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

/** The objects in a list; none if the value is not a list. */
export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A safe integer; else null. */
export function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

/** A finite number; else null. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
