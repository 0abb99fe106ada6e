import { fromBase64, fromHex, hmac } from '../lib/crypto'
import { at, isObject, type Json, text, without } from './lib/json'
import { moneyIn } from './lib/money'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoTime } from './lib/time'
import { firstSecret, matched, matchSecret, refused, utf8Text } from './lib/verify'
import { Undecodable, type Vendor } from './vendor'

/** Items of a delivery. Adyen sends one, at most six; more would let strangers make us compute MACs. */
const MAX_ITEMS = 100

/**
 * Adyen's standard (payment) webhooks. Each item has its own `additionalData.hmacSignature`: HMAC-SHA256, base64,
 * keyed by the **hex** key, of eight of its fields joined by colons. Only those fields are authentic: not `live`, not
 * `eventDate`, not the bytes. No time is signed.
 * https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures
 */
export const adyen: Vendor = {
  keptHeaders: [],
  checkSecret: (secret) =>
    (fromHex(secret)?.byteLength ?? 0) >= 16 ? null : 'an Adyen HMAC key is 32 or more hexadecimal digits',

  async verify({ bytes }, secrets) {
    const items = parseItems(bytes)
    if (!items || items.length === 0) return refused('signature_missing')
    const signed: { signature: Uint8Array; content: string }[] = []
    for (const item of items.slice(0, MAX_ITEMS + 1)) {
      const given = at(item, 'additionalData', 'hmacSignature')
      if (given === undefined) return refused('signature_missing')
      const signature = typeof given === 'string' ? fromBase64(given) : null
      const content = signedText(item)
      if (signature?.byteLength !== 32 || content === null) return refused('signature_malformed')
      signed.push({ signature, content })
    }
    if (items.length > MAX_ITEMS) return refused('signature_malformed')
    // The same secret must verify every item: an unverified item must not get in with a verified one.
    return matched(
      await firstSecret(secrets, async (secret) => {
        const key = fromHex(secret)
        if (!key) return false
        let all = true
        for (const { signature, content } of signed) {
          if ((await matchSecret([secret], [signature], () => hmac('SHA-256', key, content))) !== 0) all = false
        }
        return all
      }),
    )
  },

  decode(body) {
    const notification = parseObject(body)
    const items = itemsOf(notification)
    if (!items || items.length === 0) throw new Undecodable('the payload has no notificationItems')
    return items.map((item) => decodeItem(item, notification.live))
  },
}

function decodeItem(item: Json, live: unknown) {
  const id = required(item.pspReference, 'pspReference')
  const event_type = required(item.eventCode, 'eventCode')
  const success = signable(item.success)
  const occurred_at = isoTime(item.eventDate)
  // All events of a dispute have its reference, and a new status may come under the same code: CHARGEBACK, first
  // undefended, then lost. Their time tells them apart. For payments it must not: duplicates may differ in it.
  const dispute = text(at(item, 'additionalData', 'disputeStatus')) === null ? '' : `:${occurred_at ?? ''}`
  return eventOf({
    // With the success: a refused AUTHORISATION may be followed by a successful one with the same reference, which is
    // not a duplicate (https://github.com/Adyen/adyen-commercetools/issues/1324).
    vendor_event_id: `${id}:${event_type}:${success ?? ''}${dispute}`,
    event_type,
    occurred_at,
    livemode: live === 'true' || live === true ? true : live === 'false' || live === false ? false : null,
    object: { type: null, id, status: success === 'true' ? 'success' : success === 'false' ? 'failure' : null },
    customer: text(at(item, 'additionalData', 'shopperReference')),
    amount: moneyIn(at(item, 'amount', 'value'), at(item, 'amount', 'currency')),
    refs: distinctIds(id, text(item.originalReference), text(item.merchantReference)),
    content: contentOf(item),
  })
}

/** Duplicates may have another time, and another signature after the key was changed. */
function contentOf(item: Json): Json {
  const { additionalData: more } = item
  const rest = without(item, 'eventDate')
  return isObject(more) ? { ...rest, additionalData: without(more, 'hmacSignature') } : rest
}

/** The items of a body, unwrapped; null where it does not have Adyen's form. */
function itemsOf(notification: Json): Json[] | null {
  const list = notification.notificationItems
  if (!Array.isArray(list)) return null
  const items = list.map((entry: unknown) => at(entry, 'NotificationRequestItem'))
  return items.every(isObject) ? items : null
}

function parseItems(bytes: Uint8Array): Json[] | null {
  const text = utf8Text(bytes)
  try {
    return text === null ? null : itemsOf(parseObject(text))
  } catch {
    return null // not JSON: it cannot contain a signature
  }
}

/**
 * The signed fields, joined as Adyen's own library does: nothing is escaped, a missing field is empty. Only the
 * merchant's own reference may contain a colon. Otherwise the same text could be split elsewhere: a captured item would
 * keep its signature with another amount, event or success.
 */
function signedText(item: Json): string | null {
  const fields = [
    item.pspReference,
    item.originalReference ?? '',
    item.merchantAccountCode,
    item.merchantReference,
    at(item, 'amount', 'value'),
    at(item, 'amount', 'currency'),
    item.eventCode,
    item.success,
  ].map(signable)
  const ambiguous = fields.some((field, index) => index !== MERCHANT_REFERENCE && field?.includes(':'))
  return fields.includes(null) || ambiguous ? null : fields.join(':')
}

/** The place of the merchant's own reference among the signed fields. */
const MERCHANT_REFERENCE = 3

function signable(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}
