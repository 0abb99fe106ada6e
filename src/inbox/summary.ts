import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Effect } from '../billing/effect'
import { MIN_PACKED_CHANGES } from './limits'
import { packedPart, unpackedPart } from './summary-packing'

/** The decoded view of an event, as it is shown. Null if the payload has no such value. */
export type DecodedSummary = {
  vendor: string
  object: { type: string | null; id: string | null; status: string | null }
  customer: string | null
  subscription: string | null
  invoice: string | null
  amount: { value: number; currency: string } | null
  occurred_at: string | null
  livemode: boolean | null
  api_version: string | null
  refs: string[]
  /** What it did to billing objects and links. Empty for an event that affects none. */
  effects: Effect[]
}

/*
 * How a row keeps a summary, and back. `summary` has JSON, into which statements look. If the event changed much, the parts that no
 * statement reads are packed into `summary_rest`, and `summary` has `"rest":1`: a row of more than about 1,000 bytes takes a page of its
 * own. Nulls are not kept, because an event that makes an object changes each of its fields from null.
 *
 * Earlier rows read the same: some have nulls, and some have each long change packed as base64 in its effect.
 */

const NO_REST = { subscription: null, invoice: null, amount: null, occurred_at: null } satisfies Partial<DecodedSummary>
const EMPTY = { ...NO_REST, customer: null, livemode: null, api_version: null } satisfies Partial<DecodedSummary>
const NO_OBJECT = { type: null, id: null, status: null } satisfies DecodedSummary['object']

type StoredChange = Record<string, Record<string, unknown>>
/** `packed`: the JSON of the change, as {@link packedPart} makes it, in base64. Only earlier rows have it. */
type StoredEffect = Omit<Effect, 'change'> & { change?: StoredChange | null; packed?: string }
/** What is packed. `changes`: those of the effects, in their order. */
type Rest = Partial<Pick<DecodedSummary, keyof typeof NO_REST>> & { changes: (StoredChange | null)[] }

/** A summary as it is written. `rest`: of `summary_rest`, as hex; null if nothing is packed. */
export type StoredSummary = { summary: object; rest: string | null }

export function storedSummary({ effects, object, ...others }: DecodedSummary): StoredSummary {
  const { subscription, invoice, amount, occurred_at, ...read } = others
  const changes = effects.map(({ change }) => change && storedChange(change))
  const plain = { ...withoutNulls(read), object: withoutNulls(object) }
  const unread = withoutNulls({ subscription, invoice, amount, occurred_at })
  if (JSON.stringify(changes).length < MIN_PACKED_CHANGES) {
    const whole = effects.map((effect, i) => withoutNulls({ ...effect, change: changes[i] }))
    return { summary: { ...plain, ...unread, effects: whole }, rest: null }
  }
  const bare = effects.map(({ change: _, ...effect }) => effect)
  const rest = { ...unread, changes } satisfies Rest
  return { summary: { ...plain, effects: bare, rest: 1 }, rest: packedPart(JSON.stringify(rest)).toHex() }
}

function storedChange(change: NonNullable<Effect['change']>): StoredChange {
  return Object.fromEntries(Object.entries(change).map(([name, of]) => [name, withoutNulls(of)]))
}

/** Only the fields themselves: what is in them stays as it is. */
function withoutNulls(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null))
}

/** A summary, as {@link summaryIn} reads it. */
export function decodedSummary(text: string): DecodedSummary {
  // The earliest rows have no effects.
  const { vendor, object, effects = [], rest: hex, ...others } = JSON.parse(text)
  const { changes, ...unread }: Rest = hex ? JSON.parse(unpackedPart(Uint8Array.fromHex(hex))) : { changes: [] }
  const filled = effects.map((effect: StoredEffect, i: number) => filledEffect(effect, changes[i]))
  return { vendor, object: { ...NO_OBJECT, ...object }, ...EMPTY, ...others, ...unread, effects: filled }
}

function filledEffect(
  { change: plain, packed: base64, ...effect }: StoredEffect,
  unpacked?: StoredChange | null,
): Effect {
  const change = unpacked ?? (base64 ? JSON.parse(unpackedPart(Uint8Array.fromBase64(base64))) : plain)
  if (!change) return { ...effect, change: null }
  const fields = Object.entries(change as StoredChange).map(
    ([name, of]) => [name, { from: null, to: null, ...of }] as const,
  )
  return { ...effect, change: Object.fromEntries(fields) }
}

type Kept = Record<'summary' | 'summary_rest', Column>

/** The summary of an event, whole, as an expression; null until it has been processed. */
export function summaryIn({ summary, summary_rest }: Kept): SQL<DecodedSummary | null> {
  return sql`json_replace(${summary}, '$.rest', hex(${summary_rest}))`.mapWith(decodedSummary)
}

/** The effects in the summary of an event, as an expression. @param condition without it, those of every event */
export function effectsIn(event: Kept, condition?: SQL): SQL<Effect[] | null> {
  const summary = summaryIn(event)
  return sql`${condition ? sql`CASE WHEN ${condition} THEN ${summary} END` : summary}`.mapWith(
    (text: string) => decodedSummary(text).effects,
  )
}

/** What an UPDATE sets. @param stored a {@link StoredSummary} as JSON, as an expression */
export function summarySet(stored: SQL) {
  return { summary: sql`${stored}->>'$.summary'`, summary_rest: sql`unhex(${stored}->>'$.rest')` }
}
