import { createHash, randomBytes } from 'node:crypto'
import type { Inbox } from '../../../scripts/lib/deliver.ts'
import type { Feed } from './feed.ts'

/** One event as the vendor sent it. `version` counts the changes of its object; the highest is its last state. */
export type Sent = {
  vendorId: string
  object: string
  kind: 'subscription' | 'invoice'
  version: number
  amount: number
  body: Buffer<ArrayBuffer>
  /** The event id in each 2xx response. */
  receipts: string[]
}
/** A delivery of many events, none of which changes an object. Each 2xx response names all of them. */
export type Bulk = { vendorIds: string[]; body: Buffer<ArrayBuffer>; receipts: string[][] }
export type Tenant = {
  name: string
  token: string
  project: string
  inbox: Inbox
  /** Of a vendor that sends many events in one delivery. Its secret stays. */
  bulkInbox: Inbox
  /** API keys in use; replaced as they are rotated. */
  keys: { id: string; secret: string }[]
  deadKeys: string[]
  deadSigning: string[]
  sent: Sent[]
  bulks: Bulk[]
  versions: Map<string, number>
  /** What a reader of the feed has seen. */
  feed: Feed
  /** The consumers that were created with an Idempotency-Key. */
  consumers: string[]
}

/** Objects of a tenant. Each gets many events. */
const OBJECTS = 25
/** The time of the first event of every object (s). Each later event is one second newer. */
const FIRST = 1_770_000_000

/** The share of events that are filled up to the largest delivery, and its size (bytes). */
const LARGE = 0.02
const LARGE_BYTES = 1024 * 1024
/** Events of a bulk delivery, and the size of each (bytes). */
const BULK_EVENTS = 100
const BULK_EVENT_BYTES = 1000

/** Makes the next event of a random object of a tenant. Some are as large as a delivery may be. */
export function nextEvent(tenant: Tenant): Sent {
  const n = Math.floor(Math.random() * OBJECTS)
  const kind = n % 3 === 0 ? 'invoice' : 'subscription'
  const object = `${kind === 'invoice' ? 'in' : 'sub'}_soak${tenant.name}${n}`
  const version = (tenant.versions.get(object) ?? 0) + 1
  tenant.versions.set(object, version)
  const amount = 100 * version + n
  const vendorId = `evt_soak${randomBytes(10).toString('hex')}`
  const common = { id: object, object: kind, customer: `cus_${tenant.name}${n % 5}`, currency: 'eur' }
  const item = { id: `si_${n}`, object: 'subscription_item', quantity: version, price: { id: 'price_soak' } }
  const state =
    kind === 'invoice'
      ? { ...common, status: 'open', number: `N-${version}`, total: amount, amount_due: amount, amount_paid: 0 }
      : { ...common, status: 'active', items: { object: 'list', data: [item] } }
  const type = kind === 'invoice' ? 'invoice.updated' : 'customer.subscription.updated'
  const event = {
    id: vendorId,
    object: 'event',
    created: FIRST + version,
    livemode: false,
    type,
    data: { object: state },
  }
  const room = LARGE_BYTES - Buffer.byteLength(JSON.stringify({ ...event, note: '' }))
  const note = Math.random() < LARGE ? 'x'.repeat(room) : ''
  const body = Buffer.from(JSON.stringify({ ...event, note }))
  const sent: Sent = { vendorId, object, kind, version, amount, body, receipts: [] }
  tenant.sent.push(sent)
  return sent
}

/** Makes the next delivery of many events. */
export function nextBulk(tenant: Tenant): Bulk {
  const vendorIds = Array.from({ length: BULK_EVENTS }, () => `EV${randomBytes(10).toString('hex')}`)
  const events = vendorIds.map((id) => ({
    id,
    created_at: new Date(FIRST * 1000).toISOString(),
    resource_type: 'payments',
    action: 'confirmed',
    links: { payment: `PM_${id}` },
    note: 'x'.repeat(BULK_EVENT_BYTES),
  }))
  const bulk: Bulk = { vendorIds, body: Buffer.from(JSON.stringify({ events })), receipts: [] }
  tenant.bulks.push(bulk)
  return bulk
}

/** Tells bodies apart, without keeping those that are read. */
export function digest(body: Buffer<ArrayBuffer>): string {
  return createHash('sha256').update(body).digest('hex')
}

/** The newest event of each object, which decides its state at the end. */
export function lastOf(tenant: Tenant): Map<string, Sent> {
  const last = new Map<string, Sent>()
  for (const one of tenant.sent) if (one.version > (last.get(one.object)?.version ?? 0)) last.set(one.object, one)
  return last
}
