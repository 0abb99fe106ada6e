import { type Db, run } from '../../db/client'
import type { Kind } from '../../lib/billing-kinds'
import { type JsonDifference, jsonDifferences } from '../../lib/json-differences'
import { vendorOf } from '../../vendors'
import { Undecodable } from '../../vendors/vendor'
import { objectIn } from '../objects/object-in'
import { unpacked } from '../payload'
import { findBefore } from './before'
import type { EventRow } from './events'

type Before = { id: string; event_type: string }

/**
 * What of the vendor's own object is different from before an event. `reported`: the vendor says so in the event. `compared`: with the
 * last event about the object before this one. `gone`: that event's payload is not kept, or too large to be compared. `unknown`: no event before this one was found.
 */
export type ObjectChange =
  | { how: 'reported'; differences: JsonDifference[] }
  | { how: 'compared'; differences: JsonDifference[]; before: Before }
  | { how: 'gone'; before: Before }
  | { how: 'unknown' }

/**
 * Finds out what an event changed of the vendor's object: without a read where the vendor says it, else in one round trip.
 *
 * @param row with its text
 * @returns null if the event has no object, its vendor's events contain none, or it is nested too deeply to be compared
 */
export async function readObjectChange(db: Db, row: EventRow): Promise<ObjectChange | null> {
  const { summary, vendor, text } = row
  const { id = null, type = null } = summary?.object ?? {}
  if (id === null || text === null) return null
  const kind = (summary?.effects.find((one) => one.id === id)?.kind ?? type) as Kind
  // An earlier version may have read a payload that this one cannot.
  const objectOf = (event: string, payload: string) =>
    unless(Undecodable, () => objectIn(event, vendor, payload, { kind, id }))
  // Objects may be nested too deeply to be written as JSON again.
  const compared = (from: unknown, isPart = false) => unless(RangeError, () => jsonDifferences(from, object, isPart))
  const object = objectOf(row.id, text)
  if (object === null) return null
  const reported = unless(Undecodable, () => vendorOf(vendor)?.before?.(text) ?? null)
  if (reported) {
    const differences = compared(reported, true)
    return differences && { how: 'reported', differences }
  }
  const [found] = await run(db, findBefore(db, row, { type, id }))
  if (!found) return { how: 'unknown' }
  const { text: earlier, ...rest } = unpacked(found)
  const before = { id: rest.id, event_type: rest.event_type }
  const was = earlier === null ? null : objectOf(before.id, earlier)
  if (was === null) return { how: 'gone', before }
  const differences = compared(was)
  return differences && { how: 'compared', before, differences }
}

/** Null if an error of this class is thrown. */
function unless<T>(refused: abstract new (...args: never[]) => Error, read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof refused) return null
    throw error
  }
}
