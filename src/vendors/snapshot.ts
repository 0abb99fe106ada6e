import type { Kind } from '../lib/billing-kinds'
import { isObject } from './lib/json'
import type { Bodies } from './objects'
import type { PurchasePart } from './purchase'

/** One object as one event describes it: the whole object, as it was after the event. Made by the vendors' files. */
export type Snapshot = WholeSnapshot | PartSnapshot
/** Of an object that an event describes whole. */
export type WholeSnapshot = { [K in Exclude<Kind, 'purchase'>]: SnapshotOf<K, Bodies[K]> }[Exclude<Kind, 'purchase'>]
/** Of a purchase, of which an event describes a part. `part`: its name, see purchase.ts. */
export type PartSnapshot = SnapshotOf<'purchase', PurchasePart> & { part: string }

type SnapshotOf<K extends Kind, Body> = {
  kind: K
  /** The vendor's id of the object. Of a part: of the payment. */
  id: string
  body: Body
  /** Whether a list in it was cut off: by the vendor in the event, or by us. */
  incomplete: boolean
  /** Whether the state is final: it outranks every state that is not, because objects do not leave it. */
  terminal: boolean
  /**
   * The vendor's own number of this state of the object, which goes up with each change; null if the vendor has none. It orders
   * states instead of the times, and a state that has one is never final: see {@link eventRank} in billing/reduce.ts.
   */
  version: number | null
  /** When the event occurred, in ISO 8601 UTC; null ranks below every time. */
  occurred_at: string | null
  /** A second, finer time that orders events of the same `occurred_at`, where the vendor has one. */
  updated_at: string | null
  /** Orders events of the same time: created < updated < deleted. */
  step: EventStep
  /**
   * The vendor's object as sent, in canonical form and without what differs between events though nothing has changed:
   * tied events are put in order by it.
   */
  after: string
  /**
   * The vendor's object before the event, in the same form; null if the vendor does not say. That of an event which only
   * announces something is the same as `after`.
   */
  before: string | null
  /**
   * Whether the event reports a change that another event of the same instant makes, where there is one: `invoice.paid`
   * beside `invoice.updated`. It then comes after that one, and changes nothing itself.
   */
  reports: boolean
  /** Set if the object was fetched from the vendor's API, and not sent with an event. `before` is then null. */
  read?: Read
}

/**
 * When the vendor read an object that we fetched, and what the answer is known to contain. All times are ISO 8601 UTC. Made
 * by `readOf` in billing/fetched.ts.
 */
export type Read = {
  /**
   * The earliest time, by the vendor's clock, at which the answer can have been made; or the time of the object's own
   * version, where the vendor gives one. It takes the place of `occurred_at` in the order of states.
   */
  at: string
  /** The latest time, by the vendor's clock, at which the answer can have been made. */
  until: string
  /**
   * The rank of the object's winner when the request began: the answer contains what we had processed by then. Null if the
   * object had no row, if the answer may be older than the winner, or if the snapshot is of another object than the one
   * that was asked for, such as a card of a transaction.
   */
  over: string | null
  /**
   * The vendor's time of the event for which the object was fetched; of several, the latest. Null if no event caused the
   * fetch. Then the fetch does not say since when the state holds, only that it does.
   */
  cause: string | null
}

/** What the functions of a vendor's file make of one kind of object. */
export type Made<K extends Kind> = { body: Bodies[K]; terminal: boolean }

export const EVENT_STEPS = { created: 0, updated: 1, deleted: 2 } as const
export type EventStep = (typeof EVENT_STEPS)[keyof typeof EVENT_STEPS]

/** JSON with sorted keys and without nulls: the same for equal objects, whether a field is null or missing. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part)
            .filter(([, inner]) => inner !== null)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : part,
  )
}

/**
 * An object as it was before a change, from the values that the change replaced. Objects among them are merged;
 * anything else, arrays included, replaces the current value.
 */
export function undo(object: unknown, previous: unknown): unknown {
  if (!isObject(object) || !isObject(previous)) return previous
  const before: Record<string, unknown> = { ...object }
  for (const [key, value] of Object.entries(previous)) before[key] = undo(before[key], value)
  return before
}
