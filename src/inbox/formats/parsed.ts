import * as z from 'zod'
import { KINDS } from '../../lib/billing-kinds'
import type { StateKind } from '../../vendors/kinds'
import { isObject } from '../../vendors/lib/json'
import { BODIES } from '../../vendors/objects'
import type { Snapshot } from '../../vendors/snapshot'
import { MAX_FORMAT_WORD, MAX_UNKNOWN_WORDS } from './limits'

/*
 * The fields of billing objects as we read them, and not as vendors send them: a field that a vendor has moved, and that we read in its
 * new place, has not vanished.
 */

/** The kinds of objects whose fields are counted: those that an event describes whole. */
export const SHOWN_KINDS = KINDS.filter((kind): kind is StateKind => kind !== 'payment_card' && kind !== 'purchase')

/** The names of the fields of each kind. A field inside an object or a list has a name such as `items.price`. */
export const FIELDS = Object.fromEntries(SHOWN_KINDS.map((kind) => [kind, namesIn(BODIES[kind], '')])) as Record<
  StateKind,
  string[]
>

function namesIn(schema: unknown, name: string): string[] {
  if (schema instanceof z.ZodNullable) return namesIn(schema.unwrap(), name)
  if (schema instanceof z.ZodArray) return namesIn(schema.element, name)
  if (!(schema instanceof z.ZodObject)) return [name]
  return Object.entries(schema.shape).flatMap(([part, of]) => namesIn(of, name === '' ? part : `${name}.${part}`))
}

const PATHS = new Map(Object.values(FIELDS).flatMap((names) => names.map((name) => [name, name.split('.')] as const)))

/** The fields in which a state has a value. An unknown status is not a value. In a list, one part with a value is enough. */
export function fieldsIn({ kind, body }: ShownSnapshot): string[] {
  return FIELDS[kind].filter((name) =>
    name === 'status' ? body.status !== 'unknown' : hasValue(body, PATHS.get(name) ?? [], 0),
  )
}

/** @param at which part of the path to look for in this value */
function hasValue(value: unknown, path: readonly string[], at: number): boolean {
  if (Array.isArray(value)) return value.some((one) => hasValue(one, path, at))
  const part = path[at]
  if (part === undefined) return value !== null && value !== undefined
  return isObject(value) && hasValue(value[part], path, at + 1)
}

const INTERVALS: ReadonlySet<string> = new Set(['day', 'week', 'month', 'year'])

/** The unknown words of a state, as `field:word`. */
export function unknownWordsIn({ kind, body }: ShownSnapshot): string[] {
  const words = body.status === 'unknown' && body.vendor_status !== null ? [`status:${cut(body.vendor_status)}`] : []
  if (kind === 'subscription') {
    for (const { interval } of body.items) {
      if (interval !== null && !INTERVALS.has(interval)) words.push(`interval:${cut(interval)}`)
    }
  }
  return [...new Set(words)].slice(0, MAX_UNKNOWN_WORDS)
}

/** A snapshot of one of these kinds. */
export type ShownSnapshot = Extract<Snapshot, { kind: StateKind }>

export function isShown(snapshot: Snapshot): snapshot is ShownSnapshot {
  return snapshot.kind !== 'payment_card' && snapshot.kind !== 'purchase'
}

/** The beginning of a word of a vendor: whole characters of it, none that hides others. */
export function cut(word: string): string {
  const seen = word.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
  return [...seen].slice(0, MAX_FORMAT_WORD).join('')
}
