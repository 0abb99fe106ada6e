import { hmac, utf8 } from '../lib/crypto'
import type { StateKind } from './kinds'
import { at, before, idOf, isObject, text } from './lib/json'
import { cents } from './lib/money'
import { distinctIds, eventOf, isId, parseObject, required, subjectOf } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, matchedAt, matchSecret } from './lib/verify'
import { polarClaims } from './polar-claims'
import { polarEndpoints } from './polar-endpoints'
import { polarSnapshots } from './polar-objects'
import { attemptedAt, macOf, readSigned, STANDARD_HEADERS } from './standard'
import type { Vendor } from './vendor'

/**
 * Polar. The headers and the content of Standard Webhooks, but two ways to derive the key from the secret, and a
 * delivery does not tell which one was used: secrets from before September 2026 sign with the UTF-8 of the whole
 * string, newer ones as the standard says, with the base64 after `whsec_`. Both are tried.
 * https://docs.polar.sh/integrate/webhooks/delivery,
 * https://github.com/polarsource/polar/blob/main/server/polar/webhook/tasks.py (sign_webhook)
 */
export const polar: Vendor = {
  signatureHeaders: ['webhook-signature'],
  keptHeaders: [...STANDARD_HEADERS, 'webhook-api-version'],
  checkSecret: checkPlain('a Polar webhook secret'),

  async verify(delivery, secrets) {
    const signed = readSigned(delivery, ['webhook'])
    if ('ok' in signed) return signed
    const { content, v1, signedAt } = signed
    const standard = macOf(content)
    const secret = await matchSecret(secrets, v1, async (secret) => [
      await hmac('SHA-256', utf8(secret), content),
      ...(await standard(secret)),
    ])
    return matchedAt(secret, signedAt, delivery.now)
  },

  decode(body, headers) {
    const event = parseObject(body)
    const event_type = required(event.type, 'type')
    const envelope = {
      vendor_event_id: text(headers['webhook-id']),
      event_type,
      occurred_at: isoTime(event.timestamp) ?? attemptedAt(headers),
    }
    const data = subjectOf(event.data, 'data', envelope)
    const type = before(event_type, '.')
    const id = text(data.id)
    const customer = type === 'customer' ? id : (text(data.customer_id) ?? idOf(data.customer))
    const subscription = type === 'subscription' ? id : (text(data.subscription_id) ?? idOf(data.subscription))
    const invoice = type === 'order' ? id : text(data.order_id)
    return [
      eventOf({
        ...envelope,
        api_version: text(headers['webhook-api-version']),
        object: { type, id, status: text(data.status) },
        customer,
        subscription,
        invoice,
        // "In cents": what that means for a currency without cents is not documented.
        amount: cents(data.total_amount ?? data.amount, data.currency),
        refs: distinctIds(
          id,
          customer,
          subscription,
          invoice,
          text(data.checkout_id),
          text(data.product_id),
          text(data.discount_id),
        ),
        state: stateOf(event_type, data),
        content: event,
      }),
    ]
  },

  snapshots(event) {
    const kind = stateOf(required(event.type, 'type'), event.data)
    return kind && isObject(event.data) ? polarSnapshots(event, event.data, kind) : []
  },

  object(body) {
    const { data } = parseObject(body)
    return isObject(data) ? data : null
  },

  claims: polarClaims,
  endpoints: polarEndpoints,
}

function stateOf(eventType: string, data: unknown): StateKind | 'purchase' | null {
  if (eventType.startsWith('subscription.')) return 'subscription'
  if (eventType.startsWith('order.')) return 'invoice'
  if (eventType.startsWith('refund.')) return isId(at(data, 'order_id')) ? 'purchase' : null
  // `customer.state_changed` is about what the customer has, with a customer's fields.
  return /^customer\.(created|updated|deleted)$/.test(eventType) && isId(at(data, 'id')) ? 'customer' : null
}
