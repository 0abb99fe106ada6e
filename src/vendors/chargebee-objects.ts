import { customer, paymentSource } from './chargebee-customer'
import { invoice } from './chargebee-invoice'
import { chargebeeSale, creditNoteRefund, refundableNotes } from './chargebee-purchase'
import { subscription } from './chargebee-subscription'
import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, word } from './lib/bounded'
import { isObject, type Json, objects, text } from './lib/json'
import { isoSeconds } from './lib/time'
import { versionOf } from './lib/version'
import { MAX_OBJECTS_OF_EVENT } from './limits'
import { partSnapshot } from './purchase-parts'
import { EVENT_STEPS, type Snapshot } from './snapshot'
import { type From, type When, wholeSnapshot } from './whole'

/** What an event's content calls the objects that become billing state. A list of them has a plural name. */
const NAMES = {
  subscription: 'subscription',
  invoice: 'invoice',
  payment_source: 'payment_method',
  customer: 'customer',
} as const satisfies Record<string, StateKind>
type Name = keyof typeof NAMES

/**
 * The objects that an event contains, the one that it is about first. Most events have two or three, and `customer_deleted` has a list of
 * subscriptions. An object without an id is left out.
 */
export function chargebeeObjects(event: Json): { kind: StateKind; id: string; object: Json }[] {
  const content = isObject(event.content) ? event.content : {}
  const type = text(event.event_type) ?? ''
  const names = (Object.keys(NAMES) as Name[]).sort((a, b) => Number(isAbout(type, b)) - Number(isAbout(type, a)))
  const own = (name: string) => (Object.hasOwn(content, name) ? content[name] : null)
  const found = names.flatMap((name) => {
    const one = own(name)
    const all = [...(isObject(one) ? [one] : []), ...objects(own(`${name}s`))]
    return all.map((object) => ({ kind: NAMES[name], id: text(object.id), object }))
  })
  const named = found.filter((one): one is (typeof found)[number] & { id: string } => one.id !== null)
  const distinct = new Map(named.toReversed().map((one) => [`${one.kind} ${one.id}`, one]))
  return [...distinct.values()].reverse().slice(0, MAX_OBJECTS_OF_EVENT)
}

function isAbout(type: string, name: Name): boolean {
  return type.startsWith(`${name}_`)
}

/** Chargebee's objects as billing state: those that an event contains, and what its invoices and credit notes say of purchases. */
export function chargebeeSnapshots(event: Json): Snapshot[] {
  const objects = chargebeeObjects(event).flatMap(({ kind, id, object }): Snapshot[] => {
    const { from, when } = readOf(event, object)
    if (kind !== 'invoice') return [made({ kind, id, when }, from)]
    const billed = invoice(from)
    const sold = chargebeeSale(from, billed.body).map((part) => partSnapshot(when, part))
    return [wholeSnapshot({ kind, id, when }, billed, from.cut), ...sold]
  })
  const refunds = refundableNotes(event).map(({ id, object }) => {
    const { from, when } = readOf(event, object)
    return partSnapshot(when, creditNoteRefund(id, from))
  })
  return [...objects, ...refunds].slice(0, MAX_OBJECTS_OF_EVENT)
}

function readOf(event: Json, object: Json): { from: From; when: When } {
  const cut: Cut = { any: false }
  // An event may have an object that has not changed for weeks: its own time says since when it is so.
  const changed = isoSeconds(object.updated_at) ?? isoSeconds(event.occurred_at)
  const common = {
    customer: word(object.customer_id),
    vendor_status: word(object.status),
    livemode: null,
    created_at: isoSeconds(object.created_at),
    updated_at: changed,
    metadata: boundedMetadata(object.meta_data, cut),
  }
  const when: When = {
    version: versionOf(object.resource_version),
    occurred_at: changed,
    updated_at: null,
    step: object.deleted === true ? EVENT_STEPS.deleted : EVENT_STEPS.updated,
  }
  return { from: { type: '', object, common, cut }, when }
}

function made(
  { kind, id, when }: { kind: Exclude<StateKind, 'invoice'>; id: string; when: When },
  from: From,
): Snapshot {
  if (kind === 'subscription') return wholeSnapshot({ kind, id, when }, subscription(from), from.cut)
  if (kind === 'customer') return wholeSnapshot({ kind, id, when }, customer(from), from.cut)
  return wholeSnapshot({ kind, id, when }, paymentSource(from), from.cut)
}
