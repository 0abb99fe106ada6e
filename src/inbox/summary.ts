import { type SQL, sql } from 'drizzle-orm'
import { customType } from 'drizzle-orm/sqlite-core'
import type { Effect } from '../billing/effect'
import { MIN_PACKED_CHANGE } from './limits'
import { packedChange, unpackedChange } from './packed-change'

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
 * What a row keeps of a summary, and back. Nulls are not kept: an event that makes an object changes each of its fields from null,
 * and a row of more than about 1,000 bytes takes a page of its own. Rows from before have them, and read the same. A long change
 * is packed. No statement looks into a change, only into the rest of an effect.
 */

type StoredChange = Record<string, Record<string, unknown>>
/** `packed`: the JSON of the change, as {@link packedChange} makes it. */
type StoredEffect = Omit<Effect, 'change'> & { change?: StoredChange | null; packed?: string }

const EMPTY = {
  customer: null,
  subscription: null,
  invoice: null,
  amount: null,
  occurred_at: null,
  livemode: null,
  api_version: null,
} satisfies Partial<DecodedSummary>
const NO_OBJECT = { type: null, id: null, status: null } satisfies DecodedSummary['object']

/** A summary as a row keeps it. */
export function storedSummary({ effects, object, ...rest }: DecodedSummary): object {
  return { ...withoutNulls(rest), object: withoutNulls(object), effects: effects.map(storedEffect) }
}

/** An effect as a row keeps it. */
export function storedEffect({ change, ...rest }: Effect): StoredEffect {
  if (change === null) return rest
  const stored = Object.fromEntries(Object.entries(change).map(([name, of]) => [name, withoutNulls(of)]))
  const text = JSON.stringify(stored)
  if (text.length < MIN_PACKED_CHANGE) return { ...rest, change: stored }
  return { ...rest, packed: packedChange(text) }
}

function filledEffect({ change: plain, packed: base64, ...rest }: StoredEffect): Effect {
  const change: StoredChange | null | undefined = base64 ? JSON.parse(unpackedChange(base64)) : plain
  if (!change) return { ...rest, change: null }
  const fields = Object.entries(change).map(([name, of]) => [name, { from: null, to: null, ...of }] as const)
  return { ...rest, change: Object.fromEntries(fields) }
}

/** Only the fields themselves: what is in them stays as it is. */
function withoutNulls(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null))
}

/** The column of a summary. */
export const summaryColumn = customType<{ data: DecodedSummary; driverData: string }>({
  dataType: () => 'text',
  toDriver: (summary) => JSON.stringify(storedSummary(summary)),
  fromDriver: (text) => {
    // The earliest rows have no effects.
    const { vendor, object, effects = [], ...rest } = JSON.parse(text)
    return { vendor, object: { ...NO_OBJECT, ...object }, ...EMPTY, ...rest, effects: effects.map(filledEffect) }
  },
})

/** The effects in a summary, as an expression; null without a summary. */
export function effectsIn(summary: SQL): SQL<Effect[] | null> {
  return sql`${summary}->'$.effects'`.mapWith((text: string): Effect[] => JSON.parse(text).map(filledEffect))
}

/** The effect that an expression selects, if there is one. */
export function effectIn(expression: SQL): SQL<Effect | null> {
  return expression.mapWith((text: string) => filledEffect(JSON.parse(text)))
}
