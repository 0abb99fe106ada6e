import { hmac, utf8 } from '../lib/crypto'
import { SECOND } from '../lib/time'
import type { FetchedKind, StateKind } from './kinds'
import { at, flag, idOf, isObject, type Json, text, without } from './lib/json'
import { moneyIn } from './lib/money'
import { distinctIds, eventOf, isId, parseObject, required, subjectOf } from './lib/read'
import { isoSeconds, isoTime } from './lib/time'
import { matchedAt, matchSecret, parseTimed, refused } from './lib/verify'
import { stripeApi } from './stripe-api'
import { stripeClaims } from './stripe-claims'
import { stripeEndpoints } from './stripe-endpoints'
import { stripeSnapshot } from './stripe-objects'
import { ITEMS_READ, stripeParts } from './stripe-purchase'
import { stripeSamples } from './stripe-samples'
import { THIN } from './stripe-thin'
import { type DecodedEvent, Undecodable, type Vendor } from './vendor'

const SIGNATURE = 'stripe-signature'

/**
 * Stripe. `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]`: HMAC-SHA256 of `t.body` under the whole `whsec_…`
 * string.
 * https://docs.stripe.com/webhooks#verify-manually
 */
export const stripe: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: [],
  hasDefaultPaymentMethod: true,
  secretBegins: 'whsec_',
  checkSecret: (secret) =>
    /^whsec_[\x21-\x7e]{8,}$/.test(secret) ? null : 'a Stripe signing secret starts with whsec_',

  async verify({ headers, bytes, now }, secrets) {
    const header = headers.get(SIGNATURE)
    if (!header) return refused('signature_missing')
    const signed = parseTimed(header)
    if (!signed) return refused('signature_malformed')
    const { timestamp, signatures } = signed
    const secret = await matchSecret(secrets, signatures, (key) => hmac('SHA-256', utf8(key), `${timestamp}.`, bytes))
    return matchedAt(secret, Number(timestamp) * 1000, now)
  },

  decode(body) {
    return [decodeEvent(parseObject(body))]
  },

  snapshots(event, _, itemKeys) {
    if (event.object === THIN) return []
    const object = at(event, 'data', 'object')
    const kind = stateOf(required(event.type, 'type'), object)
    if (!isObject(object)) return []
    return [...(kind ? [stripeSnapshot(event, object, kind)] : []), ...stripeParts(event, object, itemKeys)]
  },

  asEvent(id, { kind, object, at }) {
    const type = typeOf(kind, object)
    return {
      id,
      object: 'event',
      type,
      created: Math.floor(Date.parse(at) / SECOND),
      livemode: object.livemode,
      data: { object },
    }
  },

  object(body) {
    const object = at(parseObject(body), 'data', 'object')
    return isObject(object) ? object : null
  },

  before(body) {
    const previous = at(parseObject(body), 'data', 'previous_attributes')
    return isObject(previous) ? previous : null
  },

  claims: stripeClaims,
  api: stripeApi,
  endpoints: stripeEndpoints,
  samples: stripeSamples,
}

/** `pending_webhooks`: how many deliveries of the event have not been answered yet. */
const VARYING = ['pending_webhooks']

const NO_EVENT = 'the payload is not a Stripe event: its object is not "event"'

function decodeEvent(event: Record<string, unknown>): DecodedEvent {
  if (event.object !== 'event' && !(text(event.type) && text(event.id))) throw new Undecodable(NO_EVENT)
  const event_type = required(event.type, 'type')
  if (event.object === THIN) return thinEvent(event, event_type)
  const envelope = { vendor_event_id: required(event.id, 'id'), event_type, occurred_at: isoSeconds(event.created) }
  if (event.object !== 'event') throw new Undecodable(NO_EVENT, envelope)
  const object = subjectOf(at(event, 'data', 'object'), 'data.object', envelope)
  const type = text(object.object)
  const id = text(object.id)
  const customer = type === 'customer' ? id : idOf(object.customer)
  const subscription =
    type === 'subscription'
      ? id
      : (idOf(object.subscription) ?? idOf(at(object, 'parent', 'subscription_details', 'subscription')))
  const invoice = type === 'invoice' ? id : idOf(object.invoice)
  return {
    ...envelope,
    livemode: flag(event.livemode),
    api_version: text(event.api_version),
    object: { type, id, status: text(object.status) },
    customer,
    subscription,
    invoice,
    amount: moneyIn(object.total ?? object.amount_due ?? object.amount ?? object.unit_amount, object.currency),
    refs: distinctIds(
      id,
      customer,
      // A payment method that was detached names its customer only here.
      idOf(at(event, 'data', 'previous_attributes', 'customer')),
      subscription,
      invoice,
      idOf(object.payment_intent) ?? idOf(at(object, 'payment', 'payment_intent')),
      idOf(object.charge),
      idOf(object.payment_method) ?? idOf(object.default_payment_method),
      idOf(object.setup_intent) ?? idOf(object.latest_charge) ?? idOf(object.product),
      idOf(object.balance_transaction),
      idOf(object.latest_invoice),
      idOf(object.latest_attempt),
      idOf(object.released_subscription),
    ),
    state: stateOf(event_type, object),
    content: without(event, ...VARYING),
  }
}

/**
 * A thin event. Its object is to be fetched from Stripe, so by itself it changes no billing state.
 * https://docs.stripe.com/api/v2/core/events/event-types
 */
function thinEvent(event: Record<string, unknown>, event_type: string): DecodedEvent {
  const id = text(at(event, 'related_object', 'id'))
  return eventOf({
    vendor_event_id: required(event.id, 'id'),
    event_type,
    occurred_at: isoTime(event.created),
    livemode: flag(event.livemode),
    object: { type: text(at(event, 'related_object', 'type')), id, status: null },
    refs: distinctIds(id),
    content: event,
  })
}

/** The type of event that says what a fetched object says. The object shows whether it has ended, or was detached. */
function typeOf(kind: FetchedKind, object: Json): string {
  if (kind === 'checkout_items') return ITEMS_READ
  if (kind === 'checkout') return `checkout.session.${object.status === 'complete' ? 'completed' : 'expired'}`
  if (kind === 'subscription') return 'customer.subscription.updated'
  if (kind === 'customer') return object.deleted === true ? 'customer.deleted' : 'customer.updated'
  if (kind === 'payment_method') return object.customer ? 'payment_method.updated' : 'payment_method.detached'
  return object.deleted === true ? 'invoice.deleted' : 'invoice.updated'
}

function stateOf(eventType: string, object: unknown): StateKind | null {
  if (eventType.startsWith('customer.subscription.')) return 'subscription'
  // A preview of an upcoming invoice has no id: it is not an invoice yet.
  if (eventType.startsWith('invoice.') && eventType !== 'invoice.upcoming') return 'invoice'
  if (/^payment_method\.(attached|updated|automatically_updated|detached)$/.test(eventType)) return 'payment_method'
  // Other events that begin with `customer.` are about other objects.
  const isCustomer = /^customer\.(created|updated|deleted)$/.test(eventType) && at(object, 'object') === 'customer'
  return isCustomer && isId(at(object, 'id')) ? 'customer' : null
}
