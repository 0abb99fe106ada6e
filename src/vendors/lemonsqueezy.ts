import { fromHex } from '../lib/crypto'
import { cents } from './money'
import { at, eventOf, isObject, numericId, parseObject, refsOf, required, subjectOf, text } from './read'
import { isoTime } from './time'
import type { Vendor } from './vendor'
import { verifyBareMac } from './verify'

/**
 * Lemon Squeezy. `X-Signature`: HMAC-SHA256 of the body, hex. No time is signed and no event has an id: a repeated
 * delivery is known by the digest of its bytes alone.
 * https://docs.lemonsqueezy.com/help/webhooks/signing-requests, https://docs.lemonsqueezy.com/help/webhooks/webhook-requests
 */
export const lemonsqueezy: Vendor = {
  keptHeaders: [],
  // 6 to 40 characters that the merchant makes up: https://docs.lemonsqueezy.com/help/webhooks
  checkSecret: (secret) => (/^.{6,40}$/u.test(secret) ? null : 'a Lemon Squeezy signing secret has 6 to 40 characters'),
  verify: ({ headers, bytes }, secrets) => verifyBareMac(headers.get('x-signature'), fromHex, secrets, bytes),

  decode(body) {
    const payload = parseObject(body)
    const event_type = required(at(payload, 'meta', 'event_name'), 'meta.event_name')
    // Its time stands in the object.
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
    const test = at(payload, 'meta', 'test_mode') ?? attributes.test_mode
    return [
      eventOf({
        vendor_event_id: null,
        event_type,
        occurred_at: isoTime(attributes.updated_at),
        livemode: typeof test === 'boolean' ? !test : null,
        object: { type, id, status: text(attributes.status) },
        customer,
        subscription,
        invoice,
        // "In cents", of currencies without cents too: only what is certain is reported.
        amount: cents(attributes.total, attributes.currency),
        refs: refsOf(
          id,
          customer,
          subscription,
          numericId(attributes.order_id),
          numericId(attributes.order_item_id),
          numericId(attributes.product_id),
          numericId(attributes.variant_id),
        ),
      }),
    ]
  },
}
