import { fromHex } from '../lib/crypto'
import type { StateKind } from './kinds'
import { lemonsqueezyClaims } from './lemonsqueezy-claims'
import { lemonsqueezyEndpoints } from './lemonsqueezy-endpoints'
import { lemonsqueezySnapshot } from './lemonsqueezy-objects'
import { at, isObject, type Json, numericId, text } from './lib/json'
import { cents } from './lib/money'
import { distinctIds, eventOf, parseObject, required, subjectOf } from './lib/read'
import { isoTime } from './lib/time'
import { verifyBareMac } from './lib/verify'
import type { Vendor } from './vendor'

const SIGNATURE = 'x-signature'

/**
 * Lemon Squeezy. `X-Signature`: HMAC-SHA256 of the body, hex. No time is signed and no event has an id: only the
 * digest of its bytes identifies a repeated delivery.
 * https://docs.lemonsqueezy.com/help/webhooks/signing-requests, https://docs.lemonsqueezy.com/help/webhooks/webhook-requests
 */
export const lemonsqueezy: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: [],
  // 6 to 40 characters, chosen by the merchant: https://docs.lemonsqueezy.com/help/webhooks
  checkSecret: (secret) => (/^.{6,40}$/u.test(secret) ? null : 'a Lemon Squeezy signing secret has 6 to 40 characters'),
  verify: ({ headers, bytes }, secrets) => verifyBareMac(headers.get(SIGNATURE), fromHex, secrets, bytes),

  decode(body) {
    const payload = parseObject(body)
    const event_type = required(at(payload, 'meta', 'event_name'), 'meta.event_name')
    // The event's time is in the object.
    const data = subjectOf(payload.data, 'data', { vendor_event_id: null, event_type, occurred_at: null })
    const attributes = isObject(data.attributes) ? data.attributes : {}
    const type = text(data.type)
    const id = numericId(data.id)
    const customer = type === 'customers' ? id : numericId(attributes.customer_id)
    const subscription =
      type === 'subscriptions'
        ? id
        : (numericId(attributes.subscription_id) ??
          numericId(at(attributes, 'first_subscription_item', 'subscription_id')))
    const invoice = type === 'subscription-invoices' ? id : null
    return [
      eventOf({
        vendor_event_id: null,
        event_type,
        occurred_at: isoTime(attributes.updated_at),
        livemode: livemodeOf(payload),
        object: { type, id, status: text(attributes.status) },
        customer,
        subscription,
        invoice,
        // "In cents", even for currencies without cents: only amounts that are certain are reported.
        amount: cents(attributes.total, attributes.currency),
        refs: distinctIds(
          id,
          customer,
          subscription,
          numericId(attributes.order_id),
          numericId(attributes.order_item_id),
          numericId(attributes.product_id),
          numericId(attributes.variant_id),
        ),
        state: stateOf(event_type, type),
        content: payload,
      }),
    ]
  },

  snapshots(event) {
    const { data } = event
    const name = required(at(event, 'meta', 'event_name'), 'meta.event_name')
    const kind = stateOf(name, at(data, 'type'))
    return kind && isObject(data) ? [lemonsqueezySnapshot(name, data, kind, livemodeOf(event))] : []
  },

  object(body) {
    const { data } = parseObject(body)
    return isObject(data) ? data : null
  },

  claims: lemonsqueezyClaims,
  endpoints: lemonsqueezyEndpoints,
}

function livemodeOf(payload: Json): boolean | null {
  const test = at(payload, 'meta', 'test_mode') ?? at(payload, 'data', 'attributes', 'test_mode')
  return typeof test === 'boolean' ? !test : null
}

/** The names of two kinds begin with `subscription_`; the object tells them apart. */
function stateOf(eventName: string, type: unknown): StateKind | 'purchase' | null {
  if (eventName.startsWith('order_') && type === 'orders') return 'purchase'
  if (!eventName.startsWith('subscription_')) return null
  if (type === 'subscriptions') return 'subscription'
  return type === 'subscription-invoices' ? 'invoice' : null
}
