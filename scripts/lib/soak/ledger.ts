import { randomBytes } from 'node:crypto'
import type { Inbox } from '../deliver.ts'

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
export type Tenant = {
  name: string
  token: string
  project: string
  inbox: Inbox
  /** API keys in use; replaced as they are rotated. */
  keys: { id: string; secret: string }[]
  deadKeys: string[]
  deadSigning: string[]
  sent: Sent[]
  versions: Map<string, number>
}

/** Objects of a tenant. Each gets many events. */
const OBJECTS = 25
/** The time of the first event of every object (s). Each later event is one second newer. */
const FIRST = 1_770_000_000

/** Makes the next event of a random object of a tenant. */
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
  const body = Buffer.from(JSON.stringify(event))
  const sent: Sent = { vendorId, object, kind, version, amount, body, receipts: [] }
  tenant.sent.push(sent)
  return sent
}

/** The newest event of each object, which decides its state at the end. */
export function lastOf(tenant: Tenant): Map<string, Sent> {
  const last = new Map<string, Sent>()
  for (const one of tenant.sent) if (one.version > (last.get(one.object)?.version ?? 0)) last.set(one.object, one)
  return last
}
