import { utf8 } from '../../lib/crypto'
import {
  MAX_KEPT_TEXT_BYTES,
  MAX_KEPT_WORD_BYTES,
  MAX_OBJECT_BYTES,
  MAX_OBJECT_METADATA,
  MAX_OBJECT_METADATA_KEY,
  MAX_OBJECT_METADATA_VALUE,
  MAX_URL_LENGTH,
} from '../limits'
import { at, idOf, isObject, type Json, objects, text, webUrl } from './json'

/*
 * Values of a vendor's object with a bound on each, so that what is kept of the object always fits into its row. A value
 * that cannot be the vendor's is null. What is cut off a list is noted, so that the object says that it is incomplete.
 */

/** Whether something was cut off an object: by the vendor, or by us. */
export type Cut = { any: boolean }

/** An id or a word; null if it is longer than any vendor sends. */
export function word(value: unknown): string | null {
  const found = text(value)
  return found !== null && bytesOf(found) <= MAX_KEPT_WORD_BYTES ? found : null
}

/** As {@link word}, of what a field refers to: the id alone, or an object with its `id`. */
export function wordOf(value: unknown): string | null {
  return word(idOf(value))
}

/** A text for people, cut after so many bytes; null if there is none. */
export function prose(value: unknown, most = MAX_KEPT_TEXT_BYTES): string | null {
  const found = text(value)
  if (found === null || bytesOf(found) <= most) return found
  let kept = ''
  let left = most - 5 // quotes, and the sign that something is missing
  for (const character of found.slice(0, most)) {
    left -= bytesOf(character) - 2
    if (left < 0) break
    kept += character
  }
  return `${kept}…`
}

/** An http or https address; null if it is neither, or longer than any vendor sends. */
export function link(value: unknown): string | null {
  const found = webUrl(value)
  return found !== null && bytesOf(found) <= MAX_URL_LENGTH ? found : null
}

/** The currency in upper case. */
export function upperCurrency(value: unknown): string | null {
  return word(value)?.toUpperCase() ?? null
}

/** The objects of a list, the first so many; none if it is not a list. */
export function firstOf(list: unknown, most: number, cut: Cut): Json[] {
  const all = objects(list)
  if (all.length > most) cut.any = true
  return all.slice(0, most)
}

/** Notes that a list of Stripe's (`data`, `has_more`, `total_count`) is not whole in the event. */
export function noteMissing(list: unknown, cut: Cut): void {
  const data = at(list, 'data')
  const total = at(list, 'total_count')
  const short = Array.isArray(data) && typeof total === 'number' && total > data.length
  if (at(list, 'has_more') === true || short) cut.any = true
}

export type ObjectMetadata = Record<string, string | number | boolean>

/**
 * What the project's own server stored with an object. A value that is an object or a list is kept as its JSON text; null
 * says that there is none.
 */
export function boundedMetadata(value: unknown, cut: Cut): ObjectMetadata | null {
  if (!isObject(value)) return null
  const kept: [string, string | number | boolean][] = []
  for (const [key, sent] of Object.entries(value)) {
    if (sent === null) continue
    const plain = typeof sent === 'object' ? JSON.stringify(sent) : sent
    const fits =
      key.length <= MAX_OBJECT_METADATA_KEY &&
      kept.length < MAX_OBJECT_METADATA &&
      (typeof plain !== 'string' || plain.length <= MAX_OBJECT_METADATA_VALUE)
    if (fits) kept.push([key, plain as string | number | boolean])
    else cut.any = true
  }
  return Object.fromEntries(kept)
}

/** A postal address; null if no part of it is there. */
export function postalAddress(value: unknown) {
  if (!isObject(value)) return null
  const { line1, line2, city, state, postal_code, country } = value
  const address = {
    line1: prose(line1),
    line2: prose(line2),
    city: word(city),
    state: word(state),
    postal_code: word(postal_code),
    country: word(country),
  }
  return Object.values(address).some((part) => part !== null) ? address : null
}

type Shrinkable = {
  lines?: { data: unknown[]; has_more: boolean } | null
  items?: unknown[]
  discounts?: unknown[] | null
  metadata?: ObjectMetadata | null
}

/**
 * A body that fits into its row. Amounts, the status and times always stay. Lines and metadata go first, and of the two
 * the larger; then discounts; items go last.
 */
export function fittedBody<B extends object>(body: B, cut: Cut): B {
  let kept = body as B & Shrinkable
  const bulky = [withoutLines, withoutMetadata]
  if (bytesOf(kept.metadata ?? null) > bytesOf(kept.lines ?? null)) bulky.reverse()
  for (const shrink of [...bulky, withoutDiscounts, withoutItems]) {
    const over = bytesOf(kept) - MAX_OBJECT_BYTES
    if (over <= 0) break
    const smaller = shrink(kept, over)
    if (smaller === null) continue
    kept = { ...kept, ...smaller }
    cut.any = true
  }
  return kept
}

/** What an object has of its lists where so many bytes of one are taken away; null if there is nothing to take. */
type Shrink = (from: Shrinkable, bytes: number) => Shrinkable | null

/** The last lines go first. */
const withoutLines: Shrink = ({ lines }, bytes) =>
  lines && lines.data.length > 0 ? { lines: { data: shortened(lines.data, bytes), has_more: true } } : null

const withoutItems: Shrink = ({ items }, bytes) =>
  items && items.length > 0 ? { items: shortened(items, bytes) } : null

const withoutDiscounts: Shrink = ({ discounts }, bytes) =>
  discounts && discounts.length > 0 ? { discounts: shortened(discounts, bytes) } : null

/** The largest entries go first: ids of your own objects are short. */
const withoutMetadata: Shrink = ({ metadata }, bytes) => {
  const entries = Object.entries(metadata ?? {})
  if (entries.length === 0) return null
  const sorted = entries.toSorted((a, b) => bytesOf(a) - bytesOf(b))
  const small = shortened(sorted, bytes, (entry) => bytesOf(entry) - '[]'.length)
  return { metadata: Object.fromEntries(entries.filter((entry) => small.includes(entry))) }
}

/** A list without its last members, at least so many bytes shorter if it has them. */
function shortened<T>(list: readonly T[], bytes: number, sizeOf: (member: T) => number = bytesOf): T[] {
  let left = bytes
  let length = list.length
  while (length > 0 && left > 0) {
    length -= 1
    left -= sizeOf(list[length] as T)
  }
  return list.slice(0, length)
}

/** Bytes of a value as JSON. */
function bytesOf(value: unknown): number {
  return utf8(JSON.stringify(value)).byteLength
}
