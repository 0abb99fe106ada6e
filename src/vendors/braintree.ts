import { fromBase64, fromHex, hmac, utf8 } from '../lib/crypto'
import { braintreeClaims } from './braintree-claims'
import { braintreeSnapshot, customerOf, toJson } from './braintree-objects'
import { at, isObject, type Json } from './lib/json'
import { decimal } from './lib/money'
import { distinctIds, eventOf } from './lib/read'
import { isoTime } from './lib/time'
import { firstSecret, matched, matchSecret, refused, utf8Text } from './lib/verify'
import { childAt, type Element, parseXml, textAt } from './lib/xml'
import { Undecodable, type Vendor } from './vendor'

/**
 * Braintree. It posts a form: `bt_payload`, base64 of XML, and `bt_signature`, pairs of `public_key|hex` joined by `&`,
 * each the HMAC-SHA1 of the payload under the SHA-1 of the private key. The secret is `public_key:private_key`. No time
 * is signed and no notification has an id.
 * https://developer.paypal.com/braintree/docs/guides/webhooks/parse, https://github.com/braintree/braintree_node
 * (webhook_notification_gateway.js)
 */
export const braintree: Vendor = {
  keptHeaders: [],
  takesCustomerIds: true,
  checkSecret: (secret) =>
    keysOf(secret)
      ? null
      : 'a Braintree secret is the public key and the private key of the API, as public_key:private_key',

  async verify({ bytes }, secrets) {
    const { signatures, payload } = readForm(utf8Text(bytes) ?? '')
    if (signatures.length === 0) return refused('signature_missing')
    const pairs = signatures
      .flatMap((pair) => pair.split('&'))
      .map((pair) => pair.split('|'))
      .filter((pair) => pair.length === 2 && fromHex(pair[1] ?? '')?.byteLength === 20) as [string, string][]
    if (pairs.length === 0 || signatures.length > 1 || payload === null) return refused('signature_malformed')
    // The base64 ends in a line feed, which some forms lose: Braintree's own libraries try both.
    const messages = payload.endsWith('\n') ? [payload] : [payload, `${payload}\n`]
    return matched(
      await firstSecret(secrets, async (secret) => {
        const keys = keysOf(secret)
        if (!keys) return false
        // A signature counts only for the public key that it is listed with.
        const own = pairs.filter(([name]) => name === keys.publicKey).map(([, mac]) => fromHex(mac) as Uint8Array)
        const key = new Uint8Array(await crypto.subtle.digest('SHA-1', utf8(keys.privateKey)))
        return (await matchSecret([secret], own, () => Promise.all(messages.map((it) => hmac('SHA-1', key, it))))) === 0
      }),
    )
  },

  decode(body) {
    const notification = notificationIn(body)
    const kind = textAt(notification, 'kind')
    if (notification.name !== 'notification' || !kind) throw new Undecodable('the payload is not a notification')
    const content = kind.startsWith('subscription_') ? toJson(notification) : null
    const subject = childAt(notification, 'subject')
    const object = (childAt(subject, 'api-error-response') ?? subject)?.children[0]
    const type = object?.name.replaceAll('-', '_') ?? null
    // Payment methods have a token; objects about a merchant have the merchant's id.
    const id = textAt(object, 'id') ?? textAt(object, 'token') ?? textAt(object, 'merchant-id')
    const customer =
      type === 'customer'
        ? id
        : (textAt(object, 'customer-id') ??
          textAt(object, 'customer', 'id') ??
          customerOf(at(content, 'subject', 'subscription')))
    const subscription = type === 'subscription' ? id : textAt(object, 'subscription-id')
    const transactions = childAt(object, 'transactions')?.children ?? []
    return [
      eventOf({
        vendor_event_id: null,
        event_type: kind,
        occurred_at: isoTime(textAt(notification, 'timestamp')),
        object: { type, id, status: textAt(object, 'status') },
        customer,
        subscription,
        // A subscription's price names no currency.
        amount: decimal(textAt(object, 'amount'), textAt(object, 'currency-iso-code')),
        refs: distinctIds(
          id,
          customer,
          subscription,
          textAt(object, 'transaction', 'id'),
          textAt(object, 'payment-method-token'),
          textAt(object, 'plan-id'),
          ...transactions.map((transaction) => textAt(transaction, 'id')),
        ),
        state: stateIn(content) ? 'subscription' : null,
        content: stateIn(content) && isObject(content) ? content : null,
      }),
    ]
  },

  snapshots(event) {
    const object = stateIn(event)
    return object ? [braintreeSnapshot(event, object)] : []
  },

  object(body) {
    return stateIn(toJson(notificationIn(body)))
  },

  claims: braintreeClaims,
}

/** @throws {Undecodable} */
function notificationIn(body: string): Element {
  const { payload } = readForm(body)
  const bytes = payload === null ? null : fromBase64(payload)
  if (!bytes) throw new Undecodable('the form has no bt_payload in base64')
  return parseXml(new TextDecoder().decode(bytes))
}

/** The subscription of a notification that is about one; else null. */
function stateIn(notification: Json | string | null): Json | null {
  const subscription = at(notification, 'subject', 'subscription')
  const kind = at(notification, 'kind')
  return typeof kind === 'string' && kind.startsWith('subscription_') && isObject(subscription) ? subscription : null
}

/** The two fields of the form. The payload is null unless it occurs exactly once and is strictly base64. */
function readForm(body: string): { signatures: string[]; payload: string | null } {
  const form = new URLSearchParams(body)
  const [payload = '', ...more] = form.getAll('bt_payload')
  const whole = more.length === 0 && /^[A-Za-z0-9+=/\n]+$/.test(payload)
  return { signatures: form.getAll('bt_signature').filter((it) => it !== ''), payload: whole ? payload : null }
}

function keysOf(secret: string): { publicKey: string; privateKey: string } | null {
  const [, publicKey, privateKey] = /^(?=.{8})([^:|&\s]+):([^\s]+)$/.exec(secret) ?? []
  return publicKey && privateKey ? { publicKey, privateKey } : null
}
