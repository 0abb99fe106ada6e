import { fromHex, hmac, utf8 } from '../lib/crypto'
import { numericId, text } from './lib/json'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, matchedAt, matchSecret, refused } from './lib/verify'
import type { Vendor } from './vendor'

const SIGNATURE = 'recurly-signature'

/**
 * Recurly, JSON endpoints (its XML is not signed). `recurly-signature: <time>,<hex>[,<hex>…]`: HMAC-SHA256 of
 * `time.body`; several for 24 hours after a key was regenerated. The documentation says that the time is in
 * milliseconds, but its example is in seconds; both are accepted.
 * https://docs.recurly.com/recurly-subscriptions/docs/signature-verification
 *
 * The payload's `id` is the id of the object, the same in all of its events ("Fetch an External Subscription … with
 * the id provided in the webhook"), not the id of the event. That is the header recurly-notification-id, "identical
 * across retries of the same notification"; without it, the digest of the bytes is used.
 * https://docs.recurly.com/recurly-subscriptions/docs/webhook-payloads-json-vs-xml
 */
export const recurly: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: ['recurly-notification-id'],
  checkSecret: checkPlain('a Recurly endpoint’s secret key'),

  async verify({ headers, bytes, now }, secrets) {
    const header = headers.get(SIGNATURE)
    if (!header) return refused('signature_missing')
    const [timestamp = '', ...rest] = header.split(',').map((part) => part.trim())
    const signatures = rest.map(fromHex).filter((signature) => signature?.byteLength === 32) as Uint8Array[]
    if (!/^\d{1,15}$/.test(timestamp) || signatures.length === 0) return refused('signature_malformed')
    const secret = await matchSecret(secrets, signatures, (key) => hmac('SHA-256', utf8(key), `${timestamp}.`, bytes))
    // Seconds get their twelfth digit after the year 5138; milliseconds have had twelve or more since 1973.
    return matchedAt(secret, Number(timestamp) * (timestamp.length < 12 ? 1000 : 1), now)
  },

  decode(body, headers) {
    const event = parseObject(body)
    const type = required(event.object_type, 'object_type')
    const id = text(event.id)
    const account = text(event.account_id) ?? text(event.account_code)
    const customer = type === 'account' ? id : account
    const subscription = type === 'subscription' ? id : text(event.subscription_id)
    const invoice = /^(charge_|credit_|legacy_)?invoice$/.test(type) ? id : text(event.invoice_id)
    return [
      eventOf({
        vendor_event_id: text(headers['recurly-notification-id']),
        event_type: `${type}.${required(event.event_type, 'event_type')}`,
        occurred_at: isoTime(event.event_time),
        // Thin on purpose: no status and no amount, only the id of what to fetch.
        object: { type, id, status: null },
        customer,
        subscription,
        invoice,
        refs: distinctIds(
          id,
          text(event.uuid),
          customer,
          text(event.account_code),
          subscription,
          invoice,
          numericId(event.invoice_number),
          text(event.transaction_id),
        ),
        content: event,
      }),
    ]
  },
}
