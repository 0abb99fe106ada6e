import { type DecodedEvent, type Envelope, MAX_REFS, Undecodable } from './vendor'

/** A JSON object of a vendor's: nothing about its fields is taken on trust. */
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

/** The value at a path of keys; undefined where the path ends early. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string | number, unknown>)[key]
  }
  return here
}

/** A non-empty text, else null. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text that has to be there. @throws {Undecodable} naming the field */
export function required(value: unknown, field: string): string {
  const found = text(value)
  if (found === null) throw new Undecodable(`the payload has no ${field}`)
  return found
}

/** The object that an event is about. @throws {Undecodable} naming the field; the event keeps its envelope */
export function subjectOf(value: unknown, field: string, envelope: Envelope): Json {
  if (isObject(value)) return value
  throw new Undecodable(`the payload has no ${field}`, envelope)
}

/** Whether a text can be an object's id: those stand in addresses and cursors. */
export function isId(value: string): boolean {
  return /^[\x21-\x7e]{1,200}$/.test(value)
}

/** The id of what a field refers to: vendors send it bare or expanded to an object with an `id`. */
export function idOf(value: unknown): string | null {
  return text(value) ?? text(at(value, 'id'))
}

/** Distinct ids, in order, at most {@link MAX_REFS}. */
export function refsOf(...ids: (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))].slice(0, MAX_REFS)
}

/** An id that a vendor sends as a text or as a number; null for a number too large to have survived JSON unchanged. */
export function numericId(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : text(value)
}

/** A boolean, else null. */
export function flag(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** The part of a text before the first separator: `invoice` of `invoice.paid`. */
export function before(value: string, separator: string): string {
  return value.split(separator, 1)[0] as string
}

/** An event of a vendor whose events become no billing state: what is not given is null. */
export function eventOf(
  known: Partial<DecodedEvent> & Pick<DecodedEvent, 'vendor_event_id' | 'event_type' | 'object'>,
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

/** The objects of a list; none where it is no list. */
export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A safe integer, else null. */
export function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}
