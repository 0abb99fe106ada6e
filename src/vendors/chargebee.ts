import { fromBase64 } from '../lib/crypto'
import { chargebeeClaims } from './chargebee-claims'
import { chargebeeEndpoints } from './chargebee-endpoints'
import { chargebeeObjects, chargebeeSnapshots } from './chargebee-objects'
import { refundableNotes } from './chargebee-purchase'
import { isObject, type Json, objects, text, without } from './lib/json'
import { cents } from './lib/money'
import { distinctIds, eventOf, parseObject, required, subjectOf } from './lib/read'
import { isoSeconds } from './lib/time'
import { refused, verifyShown } from './lib/verify'
import type { Vendor } from './vendor'

/**
 * Chargebee. It signs nothing: it sends the user and the password (Basic authentication) that the webhook was set up
 * with. The secret is `user:password`.
 * https://apidocs.chargebee.com/docs/api/events, https://www.chargebee.com/docs/2.0/webhook_settings.html
 */
export const chargebee: Vendor = {
  keptHeaders: [],
  takesCustomerIds: true,
  hasDefaultPaymentMethod: true,
  secretBegins: 'webhooks:',
  checkSecret: (secret) =>
    isPair(secret) ? null : 'a Chargebee secret is the user name and the password of the webhook, as user:password',

  async verify({ headers }, secrets) {
    const header = headers.get('authorization')
    if (!header) return refused('signature_missing')
    const [, encoded = ''] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header) ?? []
    const shown = fromBase64(encoded)
    if (!shown?.includes(0x3a)) return refused('signature_malformed')
    // A secret without a user or a password never passes. It keeps its place, because the index of the match is
    // returned.
    return verifyShown(
      shown,
      secrets.map((secret) => (isPair(secret) ? secret : '')),
    )
  },

  decode(body) {
    const event = parseObject(body)
    const event_type = required(event.event_type, 'event_type')
    const envelope = {
      vendor_event_id: required(event.id, 'id'),
      event_type,
      occurred_at: isoSeconds(event.occurred_at),
    }
    const content = subjectOf(event.content, 'content', envelope)
    const listed = objects(content.unbilled_charges)
    const state = chargebeeObjects(event)
    const [refunded] = refundableNotes(event)
    const type = listed.length > 0 ? 'unbilled_charge' : typeOf(event_type, content)
    // Unbilled charges come as a list. They belong to one subscription, so the first one stands for all.
    const object = listed[0] ?? objectOf(content, type)
    const id = text(object.id)
    const customer = type === 'customer' ? id : (text(object.customer_id) ?? text(objectOf(content, 'customer').id))
    const subscription =
      type === 'subscription' ? id : (text(object.subscription_id) ?? text(objectOf(content, 'subscription').id))
    const invoice =
      type === 'invoice'
        ? id
        : (text(object.invoice_id) ?? text(objectOf(content, 'invoice').id) ?? refunded?.id ?? null)
    return [
      eventOf({
        ...envelope,
        api_version: text(event.api_version),
        object: { type, id, status: text(object.status) },
        customer,
        subscription,
        invoice,
        // The unit "depends on the type of currency": cents, or the major unit where the currency has none. Currencies
        // with thousandths are not documented.
        amount: cents(object.total ?? object.amount, object.currency_code, [0, 2]),
        refs: distinctIds(
          id,
          customer,
          subscription,
          invoice,
          ...['transaction', 'credit_note', 'payment_source', 'card'].map((name) => text(objectOf(content, name).id)),
          ...listed.map((one) => text(one.id)),
          ...state.map((one) => one.id),
        ),
        // The first one stands for all.
        state: state[0]?.kind ?? (refunded ? 'purchase' : null),
        content: without(event, ...VARYING),
      }),
    ]
  },

  snapshots: chargebeeSnapshots,

  object(body, { kind, id }) {
    const event = parseObject(body)
    const named = kind === 'purchase' ? 'invoice' : kind
    const found = chargebeeObjects(event).find((one) => one.kind === named && one.id === id)
    const note = () => refundableNotes(event).find((one) => kind === 'purchase' && one.id === id)
    return (found ?? note())?.object ?? null
  },

  claims: chargebeeClaims,
  endpoints: chargebeeEndpoints,
}

/** They say how the deliveries of the event have gone so far. */
const VARYING = ['webhook_status', 'webhook_failure_reason', 'webhooks']

/** What the event is about: the object whose name its type starts with. In the payload, payments are transactions. */
function typeOf(eventType: string, content: Json): string | null {
  const names = Object.keys(content).filter((name) => name !== '' && isObject(content[name]))
  const named = names.filter((name) => eventType.startsWith(`${name}_`)).sort((a, b) => b.length - a.length)[0]
  return (
    named ?? (eventType.startsWith('payment_') && names.includes('transaction') ? 'transaction' : (names[0] ?? null))
  )
}

function objectOf(content: Json, name: string | null): Json {
  const object = name !== null && Object.hasOwn(content, name) ? content[name] : null
  return isObject(object) ? object : {}
}

function isPair(secret: string): boolean {
  return /^(?=.{8})[^:]+:.+$/s.test(secret)
}
