import { utf8 } from '../../lib/crypto'
import {
  MAX_KEPT_TEXT_BYTES,
  MAX_KEPT_WORD_BYTES,
  MAX_METADATA,
  MAX_METADATA_KEY,
  MAX_METADATA_VALUE,
  MAX_OBJECT_BYTES,
  MAX_URL_LENGTH,
} from '../limits'
import { at, idOf, isObject, type Json, objects, text, webUrl } from './read'

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
export function currencyOf(value: unknown): string | null {
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
  const [data, total] = [at(list, 'data'), at(list, 'total_count')]
  const short = Array.isArray(data) && typeof total === 'number' && total > data.length
  if (at(list, 'has_more') === true || short) cut.any = true
}

export type Metadata = Record<string, string | number | boolean>

/**
 * What the project's own server stored with an object. A value that is an object or a list is kept as its JSON text; null
 * says that there is none.
 */
export function metadataOf(value: unknown, cut: Cut): Metadata | null {
  if (!isObject(value)) return null
  const kept: [string, string | number | boolean][] = []
  for (const [key, sent] of Object.entries(value)) {
    if (sent === null) continue
    const plain = typeof sent === 'object' ? JSON.stringify(sent) : sent
    const fits =
      key.length <= MAX_METADATA_KEY &&
      kept.length < MAX_METADATA &&
      (typeof plain !== 'string' || plain.length <= MAX_METADATA_VALUE)
    if (fits) kept.push([key, plain as string | number | boolean])
    else cut.any = true
  }
  return Object.fromEntries(kept)
}

/** A postal address; null if no part of it is there. */
export function addressOf(value: unknown) {
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
  metadata?: Metadata | null
}

/** A body that fits into its row: lines go first, then items, the metadata and discounts. */
export function fitted<B extends object>(body: B, cut: Cut): B {
  let kept = body as B & Shrinkable
  while (bytesOf(kept) > MAX_OBJECT_BYTES) {
    const { lines, items, metadata, discounts } = kept
    if (lines && lines.data.length > 0) kept = { ...kept, lines: { data: half(lines.data), has_more: true } }
    else if (items && items.length > 0) kept = { ...kept, items: half(items) }
    else if (metadata) kept = { ...kept, metadata: null }
    else if (discounts && discounts.length > 0) kept = { ...kept, discounts: half(discounts) }
    else break
    cut.any = true
  }
  return kept
}

function half(list: unknown[]): unknown[] {
  return list.slice(0, Math.floor(list.length / 2))
}

/** Bytes of a value as JSON. */
function bytesOf(value: unknown): number {
  return utf8(JSON.stringify(value)).byteLength
}
