let made = 0

/** Seconds since the epoch, at a moment of a test's story. */
const at = (moment: number) => 1_780_000_000 + moment

/** What else a test sets of an event: Stripe's id of it, and what happened to the customer. */
type More = { event?: string; happened?: 'created' | 'updated' | 'deleted'; metadata?: object }

function stripe(type: string, moment: number, object: object, id?: string) {
  made += 1
  return {
    id: id ?? `evt_${Date.now()}_${made}`,
    object: 'event',
    api_version: '2026-03-25.dahlia',
    created: at(moment),
    livemode: true,
    type,
    data: { object },
  }
}
const pairs = (externalId: string | null) => (externalId === null ? {} : { consumer_external_id: externalId })

/** An event of Stripe's about a customer, whose metadata names a consumer. */
export function ofCustomer(id: string, externalId: string | null, moment = 0, { event, happened }: More = {}) {
  const object = { id, object: 'customer', metadata: pairs(externalId) }
  return stripe(`customer.${happened ?? 'updated'}`, moment, object, event)
}

/** An event of Stripe's about a checkout, whose reference names a consumer. */
export function checkout(customer: string, externalId: string | null, moment = 0, { event, metadata }: More = {}) {
  const object = { id: 'cs_1', object: 'checkout.session', customer, client_reference_id: externalId, metadata }
  return stripe('checkout.session.completed', moment, object, event)
}

/** An event of Stripe's about a subscription, whose metadata names a consumer. */
export function ofSubscription(customer: string, externalId: string | null = null, moment = 0) {
  const object = {
    id: `sub_${customer}`,
    object: 'subscription',
    customer,
    status: 'active',
    metadata: pairs(externalId),
  }
  return stripe('customer.subscription.updated', moment, object)
}

/** An event of Paddle's about a transaction, whose custom data names a consumer. */
export function ofPaddle(customer_id: string, externalId: string | null, moment = 0) {
  made += 1
  return {
    event_id: `evt_${Date.now()}_${made}`,
    event_type: 'transaction.completed',
    occurred_at: new Date(at(moment) * 1000).toISOString(),
    notification_id: `ntf_${made}`,
    data: { id: `txn_${made}`, status: 'completed', customer_id, custom_data: pairs(externalId) },
  }
}
