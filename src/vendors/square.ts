import { fromBase64 } from '../lib/crypto'
import type { StateKind } from './kinds'
import { at, isObject, type Json, text } from './lib/json'
import { moneyIn } from './lib/money'
import { distinctIds, eventOf, isId, parseObject, required, subjectOf } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, verifyBareMac } from './lib/verify'
import { squareClaims } from './square-claims'
import { squareSnapshot } from './square-objects'
import { squarePart, squarePayment } from './square-purchase'
import type { Vendor } from './vendor'

const SIGNATURE = 'x-square-hmacsha256-signature'

/**
 * Square. `x-square-hmacsha256-signature`: HMAC-SHA256 of the notification URL and the body, base64. The URL is
 * exactly the one that the subscription was created with. No time is signed.
 * https://developer.squareup.com/docs/webhooks/step3validate
 */
export const square: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: ['square-environment'],
  checkSecret: checkPlain('a Square signature key'),
  verify: ({ headers, bytes, url }, secrets) => verifyBareMac(headers.get(SIGNATURE), fromBase64, secrets, url, bytes),

  decode(body, headers) {
    const event = parseObject(body)
    const envelope = {
      vendor_event_id: required(event.event_id, 'event_id'),
      event_type: required(event.type, 'type'),
      occurred_at: isoTime(event.created_at),
    }
    const data = subjectOf(event.data, 'data', envelope)
    const type = text(data.type)
    const object = objectOf(data, type)
    const id = text(data.id) ?? text(object.id)
    const customer =
      type === 'customer' ? id : (text(object.customer_id) ?? text(at(object, 'primary_recipient', 'customer_id')))
    const subscription = type === 'subscription' ? id : text(object.subscription_id)
    const invoice = type === 'invoice' ? id : text(object.invoice_id)
    const total = object.total_money ?? object.amount_money
    const environment = headers['square-environment']
    return [
      eventOf({
        ...envelope,
        livemode: environment ? environment.toLowerCase() === 'production' : null,
        object: { type, id, status: text(object.status) ?? text(object.state) },
        customer,
        subscription,
        invoice,
        // Money is "in the smallest denomination of the currency":
        // https://developer.squareup.com/docs/build-basics/working-with-monetary-amounts
        amount: moneyIn(at(total, 'amount'), at(total, 'currency')),
        refs: distinctIds(
          id,
          customer,
          subscription,
          invoice,
          text(object.order_id),
          text(object.payment_id) ?? text(at(object, 'disputed_payment', 'payment_id')),
          text(object.card_id),
          text(object.location_id),
        ),
        state:
          stateOf(envelope.event_type, id) ?? (squarePayment(envelope.event_type, object) === null ? null : 'purchase'),
        content: event,
      }),
    ]
  },

  snapshots(event, decoded) {
    const { data } = event
    const type = required(event.type, 'type')
    if (!isObject(data)) return []
    const object = objectOf(data, text(data.type))
    const id = text(data.id) ?? text(object.id)
    const kind = stateOf(type, id)
    const livemode = decoded?.livemode ?? null
    if (kind) return [squareSnapshot(event, { id, object, kind, livemode })]
    const payment = squarePayment(type, object)
    return payment === null ? [] : [squarePart(payment, event, object, livemode)]
  },

  object(body) {
    const { data } = parseObject(body)
    return isObject(data) ? objectOf(data, text(data.type)) : null
  },

  claims: squareClaims,
}

const KINDS: Readonly<Record<string, StateKind>> = {
  subscription: 'subscription',
  invoice: 'invoice',
  card: 'payment_method',
  customer: 'customer',
}

/** Names of other events begin with `customer.` or `card.` too, such as those of custom attributes. */
function stateOf(eventType: string, id: unknown): StateKind | null {
  const [, name = ''] = /^(subscription|invoice|card|customer)\.[a-z_]+$/.exec(eventType) ?? []
  return isId(id) ? (KINDS[name] ?? null) : null
}

/** The event's object is under its own name. Deletion events have no object. */
function objectOf(data: Json, type: string | null): Json {
  const objects = isObject(data.object) ? data.object : {}
  const named = type !== null && Object.hasOwn(objects, type) ? objects[type] : Object.values(objects)[0]
  return isObject(named) ? named : {}
}
