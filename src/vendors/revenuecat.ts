import { hmac, utf8 } from '../lib/crypto'
import { isObject, text } from './lib/json'
import { decimal } from './lib/money'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoMillis } from './lib/time'
import { checkPlain, matchedAt, matchSecret, parseTimed, refused, verifyShown } from './lib/verify'
import { revenuecatApi } from './revenuecat-api'
import { livemodeIn, revenuecatClaims, revenuecatSnapshot } from './revenuecat-objects'
import { type SignatureVerification, Undecodable, type Vendor, type VendorDelivery } from './vendor'

const SIGNATURE = 'x-revenuecat-webhook-signature'

/** Marks a secret that signs, among those that are values of the Authorization header. */
const SIGNING = 'signing:'

/**
 * RevenueCat. It sends the Authorization header that was entered in its dashboard: that secret is the whole value,
 * including `Bearer ` where it starts with that. If signing is switched on, it also sends
 * `X-RevenueCat-Webhook-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]`, the HMAC-SHA256 of `t.body`, with a new time for
 * each attempt: that secret is entered as `signing:` and the signing secret. Once a connection has one, the
 * Authorization header alone verifies nothing.
 * https://www.revenuecat.com/docs/integrations/webhooks#authorization,
 * https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
 *
 * Its events tell what has changed, not how the subscription is now, and RevenueCat advises to fetch that. What was fetched is in `data`, which
 * no delivery has.
 */
export const revenuecat: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: [],
  needsEverySecret: true,
  checkSecret(secret) {
    if (secret.startsWith(SIGNING)) return checkPlain('a RevenueCat signing secret')(secret.slice(SIGNING.length))
    // Spaces around a header's value are dropped in transit: a secret with them would never match.
    return checkPlain('')(secret.replaceAll(' ', '_')) || secret !== secret.trim()
      ? 'a RevenueCat secret is the whole value of the Authorization header, or signing: followed by the signing secret: 8 or more characters, not starting or ending with a space'
      : null
  },

  async verify(delivery, secrets) {
    if (secrets.some((secret) => secret.startsWith(SIGNING))) return verifySigned(delivery, secrets)
    const header = delivery.headers.get('authorization')
    if (!header) return refused('signature_missing')
    return verifyShown(header, secrets)
  },

  decode(body) {
    const payload = parseObject(body)
    const event = payload.event
    if (!isObject(event)) throw new Undecodable('the payload has no event')
    const id = text(event.transaction_id)
    const data = isObject(event.data) ? event.data : null
    const customer = text(data ? data.customer_id : event.app_user_id)
    const subscription = data ? text(data.id) : text(event.original_transaction_id)
    return [
      eventOf({
        vendor_event_id: required(event.id, 'event.id'),
        event_type: required(event.type, 'event.type'),
        occurred_at: isoMillis(event.event_timestamp_ms),
        livemode: livemodeIn(event.environment),
        api_version: text(payload.api_version),
        // A transfer between users has no transaction, only the users' ids before and after.
        object: data
          ? { type: 'subscription', id: subscription, status: text(data.status) }
          : { type: id && 'transaction', id, status: null },
        state: data && 'subscription',
        customer,
        subscription,
        // `price` is an estimate in US dollars; this is what was paid.
        amount: decimal(event.price_in_purchased_currency, event.currency),
        refs: distinctIds(
          id,
          subscription,
          customer,
          text(event.original_app_user_id),
          text(event.product_id),
          ...[event.transferred_to, event.transferred_from].flatMap((ids) => (Array.isArray(ids) ? ids.map(text) : [])),
        ),
        content: event,
      }),
    ]
  },

  snapshots: ({ data, event_timestamp_ms }) =>
    isObject(data) ? [revenuecatSnapshot(data, isoMillis(event_timestamp_ms))] : [],

  asEvent: (id, { object, at }) => ({
    event: {
      id,
      type: 'FETCHED',
      event_timestamp_ms: Date.parse(at),
      app_user_id: object.app_user_id,
      environment: object.environment,
      data: object,
    },
  }),

  claims: revenuecatClaims,
  api: revenuecatApi,
}

async function verifySigned(
  { headers, bytes, now }: VendorDelivery,
  secrets: readonly string[],
): Promise<SignatureVerification> {
  const header = headers.get(SIGNATURE)
  if (!header) return refused('signature_missing')
  const signed = parseTimed(header)
  if (!signed) return refused('signature_malformed')
  const { timestamp, signatures } = signed
  const secret = await matchSecret(secrets, signatures, async (secret) => {
    // A value of the Authorization header is shown with every delivery: it must never serve as the key of an HMAC.
    const key = secret.startsWith(SIGNING) ? utf8(secret.slice(SIGNING.length)) : null
    return key ? hmac('SHA-256', key, `${timestamp}.`, bytes) : []
  })
  return matchedAt(secret, Number(timestamp) * 1000, now)
}
