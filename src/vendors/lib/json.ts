/** A JSON object from a vendor. Its fields may have any type. */
export type Json = { readonly [key: string]: unknown }

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

/** The id of what a field refers to: vendors send the id alone, or the whole object with its `id`. */
export function idOf(value: unknown): string | null {
  return text(value) ?? text(at(value, 'id'))
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

/** The objects in a list; none if the value is not a list. */
export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The strings in a list that are not empty; none if the value is not a list. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((one) => text(one) ?? []) : []
}

/** A safe integer; else null. */
export function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

/** A finite number; else null. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
