import { fromHex, hmac, utf8 } from '../lib/crypto'
import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import type { FetchedKind, StateKind } from './kinds'
import { at, before, isObject, type Json, objects, text, without } from './lib/json'
import { moneyIn } from './lib/money'
import { distinctIds, eventOf, isId, parseObject, required, subjectOf } from './lib/read'
import { isoTime } from './lib/time'
import { isSeconds, matchedAt, matchSecret, refused } from './lib/verify'
import { paddleApi } from './paddle-api'
import { paddleEndpoints } from './paddle-endpoints'
import { paddleSnapshots } from './paddle-objects'
import { paddleSamples } from './paddle-samples'
import type { Vendor } from './vendor'

const SIGNATURE = 'paddle-signature'

/**
 * Paddle Billing. `Paddle-Signature: ts=<seconds>;h1=<hex>[;h1=<hex>…]`: HMAC-SHA256 of `ts:body` under the whole key;
 * several h1 while a key is rotated.
 * https://developer.paddle.com/webhooks/signature-verification
 *
 * Paddle's SDK reads only the last h1, and accepts times up to 5 s ago and any time in the future. Retries have a new
 * ts, but a slow delivery takes more than 5 s, so the tolerance is the same as for all vendors.
 */
export const paddle: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: [],
  secretBegins: 'pdl_ntfset_',
  checkSecret: (secret) =>
    /^pdl_ntfset_[\x21-\x7e]{8,}$/.test(secret)
      ? null
      : 'a Paddle endpoint secret key starts with pdl_ntfset_ (pdl_live_apikey_ and pdl_sdbx_apikey_ are API keys)',

  async verify({ headers, bytes, now }, secrets) {
    const header = headers.get(SIGNATURE)
    if (!header) return refused('signature_missing')
    const { timestamp, signatures } = parse(header)
    if (timestamp === null || signatures.length === 0) return refused('signature_malformed')
    const secret = await matchSecret(secrets, signatures, (key) => hmac('SHA-256', utf8(key), `${timestamp}:`, bytes))
    return matchedAt(secret, Number(timestamp) * 1000, now)
  },

  decode(body) {
    const event = parseObject(body)
    const event_type = required(event.event_type, 'event_type')
    const envelope = {
      vendor_event_id: required(event.event_id, 'event_id'),
      event_type,
      occurred_at: isoTime(event.occurred_at),
    }
    const data = subjectOf(event.data, 'data', envelope)
    const type = before(event_type, '.')
    const id = text(data.id)
    const customer = type === 'customer' ? id : text(data.customer_id)
    const subscription = type === 'subscription' ? id : text(data.subscription_id)
    const invoice = type === 'transaction' ? id : text(data.transaction_id)
    return [
      eventOf({
        ...envelope,
        object: { type, id, status: text(data.status) },
        customer,
        subscription,
        invoice,
        amount: totalOf(data),
        refs: distinctIds(
          id,
          customer,
          subscription,
          invoice,
          // All of them, because each one gets its card from here: see paddle-objects.ts.
          ...objects(data.payments).map((payment) => text(payment.payment_method_id)),
          text(data.address_id),
          text(data.business_id),
          text(data.product_id) ?? text(data.discount_id),
          text(data.invoice_id),
          text(data.api_key_id),
        ),
        state: stateOf(event_type, data),
        content: without(event, ...VARYING),
      }),
    ]
  },

  snapshots(event) {
    const kind = stateOf(required(event.event_type, 'event_type'), event.data)
    return kind && isObject(event.data) ? paddleSnapshots(event, event.data, kind) : []
  },

  asEvent(id, { kind, object, at }) {
    return { event_id: id, event_type: TYPES[kind], occurred_at: at, data: object }
  },

  object(body) {
    const { data } = parseObject(body)
    return isObject(data) ? data : null
  },

  claims: paddleClaims,
  api: paddleApi,
  endpoints: paddleEndpoints,
  samples: paddleSamples,
}

/**
 * `notification_id`: an event has one for each destination, and gets a new one for each replay.
 * https://developer.paddle.com/api-reference/notifications/replay-notification
 */
const VARYING = ['notification_id']

function parse(header: string): { timestamp: string | null; signatures: Uint8Array[] } {
  let timestamp: string | null = null
  const signatures: Uint8Array[] = []
  for (const part of header.split(';')) {
    const [key, value = ''] = part.split('=', 2)
    if (key === 'ts') {
      if (timestamp !== null || !isSeconds(value)) return { timestamp: null, signatures: [] }
      timestamp = value
    }
    const bytes = key === 'h1' ? fromHex(value) : null
    if (bytes?.byteLength === 32) signatures.push(bytes)
  }
  return { timestamp, signatures }
}

/** The amount of a transaction, adjustment, price, payout or flat discount: a string in the currency's minor unit. */
function totalOf(data: Record<string, unknown>) {
  const totals = at(data, 'details', 'totals') ?? data.totals
  return (
    moneyIn(at(totals, 'total'), at(totals, 'currency_code') ?? data.currency_code) ??
    moneyIn(at(data, 'unit_price', 'amount'), at(data, 'unit_price', 'currency_code')) ??
    // A percentage discount also has an amount, but no currency.
    moneyIn(data.amount, data.currency_code)
  )
}

/** The types of events that say what fetched objects say. */
const TYPES: Readonly<Record<FetchedKind, string>> = {
  // A checkout is a transaction, and always says what was bought.
  checkout: 'transaction.updated',
  checkout_items: 'transaction.updated',
  subscription: 'subscription.updated',
  invoice: 'transaction.updated',
  customer: 'customer.updated',
  payment_method: 'payment_method.saved',
}

function stateOf(eventType: string, data: unknown): StateKind | 'purchase' | null {
  if (eventType.startsWith('subscription.')) return 'subscription'
  if (eventType.startsWith('transaction.')) return 'invoice'
  if (eventType.startsWith('adjustment.')) return isId(at(data, 'transaction_id')) ? 'purchase' : null
  if (eventType.startsWith('customer.')) return isId(at(data, 'id')) ? 'customer' : null
  return eventType === 'payment_method.saved' || eventType === 'payment_method.deleted' ? 'payment_method' : null
}

/** The statuses of a transaction that is paid. Opening a checkout costs a buyer nothing, so anybody can do it for any address. */
const PAID = ['paid', 'completed']

/**
 * The claims of an event of Paddle's. Checkouts in a browser can set the custom data of transactions and subscriptions, but
 * not that of customers.
 * https://developer.paddle.com/build/transactions/custom-data
 */
export function paddleClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const values = claimedValues(at(event, 'data', 'custom_data'), keys)
  const type = before(text(event.event_type) ?? '', '.')
  if (type === 'customer') return claimsOf(text(at(event, 'data', 'id')), values, 'customer')
  if (type !== 'subscription' && type !== 'transaction') return []
  if (type === 'transaction' && !PAID.includes(text(at(event, 'data', 'status')) ?? '')) return []
  return claimsOf(text(at(event, 'data', 'customer_id')), values, 'checkout')
}
