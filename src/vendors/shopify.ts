import { fromBase64 } from '../lib/crypto'
import { at, before, numericId, text } from './lib/json'
import { decimal } from './lib/money'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, verifyBareMac } from './lib/verify'
import { shopifyClaims } from './shopify-claims'
import { aboutOrder, shopifySnapshots } from './shopify-purchase'
import { shopifyId, shopifyObject } from './shopify-shared'
import type { Vendor } from './vendor'

const SIGNATURE = 'x-shopify-hmac-sha256'

/**
 * Shopify. `X-Shopify-Hmac-Sha256`: HMAC-SHA256 of the body, base64. The event's type, time and id are in other
 * headers, which are not signed. No time is signed either.
 * https://shopify.dev/docs/apps/build/webhooks/subscribe/https, https://shopify.dev/docs/apps/build/webhooks/ignore-duplicates
 */
export const shopify: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: ['x-shopify-topic', 'x-shopify-event-id', 'x-shopify-triggered-at', 'x-shopify-api-version'],
  checkSecret: checkPlain('a Shopify client secret'),
  verify: ({ headers, bytes }, secrets) => verifyBareMac(headers.get(SIGNATURE), fromBase64, secrets, bytes),

  decode(body, headers) {
    const payload = parseObject(body)
    const topic = required(headers['x-shopify-topic'], 'X-Shopify-Topic')
    const object = shopifyObject(payload)
    const type = before(topic, '/')
    const gid = text(object.admin_graphql_api_id)
    const id = numericId(object.id) ?? gid
    const customer =
      type === 'customers' ? id : (numericId(at(object, 'customer', 'id')) ?? numericId(object.customer_id))
    const eventId = text(headers['x-shopify-event-id'])
    return [
      eventOf({
        // With the topic: one action of a merchant may raise several topics, and they may share an id.
        vendor_event_id: eventId && `${eventId}:${topic}`,
        event_type: topic,
        occurred_at: isoTime(headers['x-shopify-triggered-at']),
        livemode: typeof object.test === 'boolean' ? !object.test : null,
        api_version: text(headers['x-shopify-api-version']),
        object: { type, id, status: text(object.financial_status) ?? text(object.status) },
        customer,
        subscription: type === 'subscription_contracts' || type === 'app_subscriptions' ? id : null,
        // Decimal strings in the major unit.
        amount: decimal(object.total_price ?? object.amount ?? object.price, object.currency),
        refs: distinctIds(
          id,
          gid,
          shopifyId(object),
          customer,
          numericId(object.order_id),
          numericId(object.origin_order_id),
          numericId(object.parent_id),
          text(object.admin_graphql_api_subscription_contract_id),
          text(object.admin_graphql_api_shop_id),
        ),
        state: aboutOrder(topic, payload) === null ? null : 'purchase',
        content: payload,
      }),
    ]
  },

  // The topic is in a header.
  snapshots: (event, decoded) => (decoded ? shopifySnapshots(event, decoded) : []),
  object: (body) => shopifyObject(parseObject(body)),
  claims: shopifyClaims,
}
