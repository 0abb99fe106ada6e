import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, fittedBody, prose, word } from './lib/bounded'
import type { Json } from './lib/json'
import { required } from './lib/read'
import { isoTime } from './lib/time'
import { knownStatus } from './objects'
import { cards } from './paddle-cards'
import { adjustment, transactionSale } from './paddle-purchase'
import type { Paddle } from './paddle-shared'
import { subscription } from './paddle-subscription'
import { transaction } from './paddle-transaction'
import { partSnapshot } from './purchase-parts'
import { canonical, EVENT_STEPS, type EventStep, type Made, type Snapshot } from './snapshot'

/** Paddle Billing's entities as billing state. Paddle does not send what an entity was before. */
export function paddleSnapshots(event: Json, data: Json, kind: StateKind | 'purchase'): Snapshot[] {
  const cut: Cut = { any: false }
  const order = {
    occurred_at: isoTime(event.occurred_at),
    updated_at: isoTime(data.updated_at),
    step: stepOf(String(event.event_type)),
    after: canonical(data),
    before: null,
  }
  const base = { id: required(data.id, 'data.id'), version: null, ...order, reports: false }
  const common = {
    customer: word(data.customer_id),
    vendor_status: word(data.status),
    livemode: null,
    created_at: isoTime(data.created_at),
    updated_at: base.occurred_at,
    metadata: boundedMetadata(data.custom_data, cut),
  }
  const from = { type: String(event.event_type), data, common, cut }
  const parts = kind === 'purchase' ? adjustment(from) : kind === 'invoice' ? transactionSale(from) : []
  const bought = parts.map((one) => partSnapshot(order, one))
  if (kind === 'purchase') return bought
  const made = madeOf(kind, from)
  // The last step, because it may cut more.
  const body = fittedBody(made.body, cut)
  const snapshot = { ...base, ...made, body, incomplete: cut.any } as Snapshot
  return kind === 'invoice' ? [snapshot, ...cards(data, base.occurred_at), ...bought] : [snapshot]
}

function madeOf(kind: StateKind, from: Paddle) {
  if (kind === 'subscription') return { kind, ...subscription(from) }
  if (kind === 'invoice') return { kind, ...transaction(from) }
  return kind === 'customer' ? { kind, ...customer(from) } : { kind, ...paymentMethod(from) }
}

function stepOf(type: string): EventStep {
  const what = type.slice(type.lastIndexOf('.') + 1)
  if (what === 'created' || what === 'saved') return EVENT_STEPS.created
  return what === 'deleted' ? EVENT_STEPS.deleted : EVENT_STEPS.updated
}

/** Its card comes from payments: see {@link cards}. */
function paymentMethod({ type, data, common }: Paddle): Made<'payment_method'> {
  const body = {
    ...common,
    created_at: isoTime(data.saved_at),
    status: type === 'payment_method.deleted' ? ('detached' as const) : ('attached' as const),
    type: word(data.type),
    card: null,
    last4: null,
    bank: null,
    wallet: null,
    billing_details: null,
  }
  return { body, terminal: false }
}

const CUSTOMER = { active: 'active', archived: 'archived' } as const

function customer({ data, common }: Paddle): Made<'customer'> {
  const body = {
    ...common,
    customer: null, // it is the customer
    status: knownStatus(common.vendor_status, CUSTOMER),
    email: word(data.email),
    name: prose(data.name),
    phone: null,
    description: null,
    address: null,
    locale: word(data.locale),
    currency: null,
    balance: null,
    delinquent: null,
    tax_exempt: null,
    discounts: null,
    default_payment_method: null,
  }
  return { body, terminal: false }
}
