import type { Effect } from '../../billing/effect'
import { nanoseconds } from '../../billing/reduce'
import { vendorOf } from '../../vendors'
import type { ThinObject } from '../../vendors/calls'
import { unpacked } from '../payload'
import { eventOfDelivery } from '../process/decide'
import type { StoredPayload } from '../process/payloads'
import type { Verdict } from '../process/verdict'
import type { SourceKeyRow } from '../refresh/keys'

/** An event that only names an object, as it would end without an answer, and that object. */
export type Naming = { verdict: Verdict; named: ThinObject }

/** Events that name the same object of an account. One call answers for all of them. */
export type Group = { row: SourceKeyRow; named: ThinObject; namings: Naming[]; cause: string | null }

/** What an event names. Null if its object becomes no state, or if the event has failed. */
export function namedIn({ event, status }: Verdict, payload: StoredPayload | undefined): ThinObject | null {
  const vendor = vendorOf(event.vendor)
  if (status !== 'ignored' || !payload || !vendor?.api) return null
  const { text, headers } = unpacked(payload)
  // A delivery may have several events.
  const events = text === null ? [] : vendor.decode(text, headers ?? {})
  const content = eventOfDelivery(events, event.vendor_event_id)?.content
  return content ? vendor.api.calls.ofEvent(content) : null
}

/** What a replayed event had led to before: null if its object was not fetched. */
export function fetchedBefore({ event }: Verdict): Effect | null {
  return event.earlier?.find(({ result }) => result === 'fetched') ?? null
}

/** The effect of an event on an object that it names. @param event_id what the state of the object was learned from */
export function fetchedEffect({ call, list, id }: ThinObject, event_id: string): Effect {
  return { kind: list?.of ?? call.kind, id, result: 'fetched', change: null, event_id }
}

export function goneEffect({ call, list, id }: ThinObject): Effect {
  return { kind: list?.of ?? call.kind, id, result: 'gone', change: null }
}

/** Groups events by what they name, with the keys of their connections. An event whose connection has no key is in no group. */
export function grouped(namings: readonly Naming[], rows: readonly SourceKeyRow[]): Group[] {
  const groups = new Map<string, Group>()
  for (const naming of namings) {
    const { event, summary } = naming.verdict
    const { pattern, ids, headers = {} } = naming.named.call
    const row = rows.find(({ key }) => key.connection_id === event.connection_id)
    if (!row) continue
    const name = JSON.stringify([event.connection_id, pattern, ids, headers])
    const group = groups.get(name) ?? { row, named: naming.named, namings: [], cause: null }
    groups.set(name, group)
    group.namings.push(naming)
    const time = summary?.occurred_at ?? null
    if (time !== null && (group.cause === null || nanoseconds(time) > nanoseconds(group.cause))) group.cause = time
  }
  return [...groups.values()]
}
