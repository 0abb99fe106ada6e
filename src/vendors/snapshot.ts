import type { Kind } from '../lib/billing-kinds'
import type { Bodies } from './objects'

/**
 * What one event says of one object: the whole of it, as it was after the event. Vendors' files make these; nothing
 * here knows a vendor's field names.
 */
export type Snapshot = { [K in Kind]: SnapshotOf<K> }[Kind]

type SnapshotOf<K extends Kind> = {
  kind: K
  /** The vendor's id of the object. */
  id: string
  body: Bodies[K]
  /** A final state does not come back: it outranks every state that is not final. */
  terminal: boolean
  /** When the event occurred, ISO 8601 UTC; null ranks below any time. */
  occurred_at: string | null
  /** A second, finer clock for events of one time, where the vendor has one. */
  updated_at: string | null
  /** What happened, for events of one time: created < updated < deleted. */
  step: Step
  /** The vendor's object as sent, in canonical form: what ties are chained by. */
  after: string
  /** The same before the event; null where the vendor does not tell. */
  before: string | null
}

export const STEPS = { created: 0, updated: 1, deleted: 2 } as const
export type Step = (typeof STEPS)[keyof typeof STEPS]

/** JSON with sorted keys and without nulls: equal for equal objects, whether a field is null or left out. */
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
 * An object as it was before a change that lists what it replaced: listed objects are merged into, anything else
 * (arrays, too) is put back whole.
 */
export function undo(object: unknown, previous: unknown): unknown {
  if (!isRecord(object) || !isRecord(previous)) return previous
  const before = { ...object }
  for (const [key, value] of Object.entries(previous)) before[key] = undo(before[key], value)
  return before
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
