import { isObject, text } from './lib/json'
import { decimal } from './lib/money'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoMillis } from './lib/time'
import { checkPlain, refused, verifyShown } from './lib/verify'
import { Undecodable, type Vendor } from './vendor'

/**
 * RevenueCat. It signs nothing: it sends the Authorization header that was entered in its dashboard. The secret is the
 * whole value, including `Bearer ` where it starts with that.
 * https://www.revenuecat.com/docs/integrations/webhooks#authorization,
 * https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
 */
export const revenuecat: Vendor = {
  keptHeaders: [],
  checkSecret: (secret) =>
    // Spaces around a header's value are dropped in transit: a secret with them would never match.
    checkPlain('')(secret.replaceAll(' ', '_')) || secret !== secret.trim()
      ? 'a RevenueCat secret is the whole value of the Authorization header: 8 or more characters, not starting or ending with a space'
      : null,

  async verify({ headers }, secrets) {
    const header = headers.get('authorization')
    if (!header) return refused('signature_missing')
    return verifyShown(header, secrets)
  },

  decode(body) {
    const payload = parseObject(body)
    const event = payload.event
    if (!isObject(event)) throw new Undecodable('the payload has no event')
    const id = text(event.transaction_id)
    const customer = text(event.app_user_id)
    const subscription = text(event.original_transaction_id)
    const environment = text(event.environment)
    return [
      eventOf({
        vendor_event_id: required(event.id, 'event.id'),
        event_type: required(event.type, 'event.type'),
        occurred_at: isoMillis(event.event_timestamp_ms),
        livemode: environment === 'PRODUCTION' ? true : environment === 'SANDBOX' ? false : null,
        api_version: text(payload.api_version),
        // A transfer between users has no transaction, only the users' ids before and after.
        object: { type: id && 'transaction', id, status: null },
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
}
