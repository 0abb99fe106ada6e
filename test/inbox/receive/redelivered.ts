import { SECOND } from '../../../src/lib/time'
import type { VendorName } from '../../../src/vendors'
import { notificationBody, sharedChain, trustRootOf } from '../../vendors/apple-chain'
import { mac } from '../../vendors/harness'
import { paypalHeaders, publish, sharedSigner } from '../../vendors/paypal-signed'
import { SAMPLES } from '../../vendors/samples'

type Json = Record<string, unknown>
type Signed = { body: string; headers: Record<string, string> }

/** How a vendor's event is delivered. */
export type Redelivered = {
  secret: string
  /** The event, as it comes first. */
  event: Json
  /** The event as the vendor sends it again: it differs in what says nothing about the event. */
  again: Json
  /** Other content under the same id. */
  other: Json
  /** Signs a body. `attempt` counts the deliveries of the event, from 1. */
  sign: (body: string, secret: string, delivery: { url: string; attempt: number }) => Signed | Promise<Signed>
  /** The verification of a connection of the vendor `hmac`. */
  verification?: object
}

const seconds = () => Math.floor(Date.now() / SECOND)
const withHeaders = (body: string, headers: Record<string, string>): Signed => ({ body, headers })
/** The sample of a vendor, with some fields changed. */
const sample = (vendor: VendorName, change: Json = {}): Json => ({ ...(SAMPLES[vendor] as Json), ...change })

const STANDARD_KEY = 'c3RhbmRhcmQtd2ViaG9va3Mta2V5LW9mLTMyLWJ5dGVz'
function standard(body: string, secret: string): Signed {
  const timestamp = String(seconds())
  const key = Uint8Array.fromBase64(secret.slice('whsec_'.length))
  const signature = `v1,${mac('sha256', key, 'base64', `msg_1.${timestamp}.`, body)}`
  return withHeaders(body, { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature })
}

const stripeSign: Redelivered['sign'] = (body, secret) => {
  const at = seconds()
  return withHeaders(body, { 'stripe-signature': `t=${at},v1=${mac('sha256', secret, 'hex', `${at}.`, body)}` })
}

type AdyenItem = Json & { amount: Json; additionalData: Json }
const adyenItem: AdyenItem = {
  pspReference: '7914073381342284',
  merchantAccountCode: 'Shop',
  merchantReference: 'order-1',
  amount: { value: 1130, currency: 'EUR' },
  eventCode: 'AUTHORISATION',
  success: 'true',
  eventDate: '2026-05-06T17:15:34+02:00',
  reason: '1234:0737:10/2030',
  additionalData: { shopperReference: 'shopper-1' },
}
const adyen = (change: Json = {}) => ({
  live: 'true',
  notificationItems: [{ NotificationRequestItem: { ...adyenItem, ...change } }],
})
const adyenSign: Redelivered['sign'] = (body, secret) => {
  const { notificationItems, ...rest } = JSON.parse(body) as ReturnType<typeof adyen>
  const items = notificationItems.map(({ NotificationRequestItem: item }) => {
    const { pspReference, merchantAccountCode, merchantReference, amount, eventCode, success } = item
    const { value, currency } = amount
    const fields = [pspReference, '', merchantAccountCode, merchantReference, value, currency, eventCode, success]
    const hmacSignature = mac('sha256', Uint8Array.fromHex(secret), 'base64', fields.join(':'))
    return { NotificationRequestItem: { ...item, additionalData: { ...item.additionalData, hmacSignature } } }
  })
  return withHeaders(JSON.stringify({ ...rest, notificationItems: items }), {})
}

const apple = (change: Json = {}) => sample('apple', { signedDate: Date.parse('2026-01-01'), ...change })
const chargebee = (change: Json = {}) => sample('chargebee', { webhook_status: 'scheduled', webhooks: [], ...change })
const paddle = (change: Json = {}) => sample('paddle', { notification_id: 'ntf_1', ...change })
const stripe = (change: Json = {}) => sample('stripe', { pending_webhooks: 2, ...change })
const thin = (change: Json = {}) => ({
  id: 'evt_thin',
  object: 'v2.core.event',
  type: 'v1.billing.meter.error_report_triggered',
  created: '2026-01-01T00:00:00.000Z',
  related_object: { id: 'mtr_1', type: 'billing.meter' },
  ...change,
})
const gocardless = (change: Json = {}) => {
  const [event] = (SAMPLES.gocardless as { events: Json[] }).events
  return [
    { ...event, id: 'EV_other' },
    { ...event, ...change },
  ]
}
const revenuecat = (change: Json = {}) =>
  sample('revenuecat', { event: { ...(SAMPLES.revenuecat as { event: Json }).event, ...change } })

/** Every vendor whose events have ids. The others' are told apart by their bytes: other bytes are another event. */
export const REDELIVERED: Record<string, Redelivered> = {
  adyen: {
    secret: '44782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba056',
    event: adyen(),
    again: adyen({ eventDate: '2026-05-06T18:00:00+02:00' }),
    other: adyen({ reason: 'refused' }),
    sign: adyenSign,
  },
  apple: {
    secret: 'com.example.app:1',
    event: apple(),
    again: apple(),
    other: apple({ subtype: 'RESUBSCRIBE' }),
    async sign(body) {
      const chain = await sharedChain()
      trustRootOf(chain)
      return withHeaders(await notificationBody(JSON.parse(body), chain), {})
    },
  },
  chargebee: {
    secret: 'chargebee:long-password',
    event: chargebee(),
    again: chargebee({ webhook_status: 're_scheduled', webhooks: [{ id: 'wh_1', webhook_status: 're_scheduled' }] }),
    other: chargebee({ content: { invoice: { id: 'i', status: 'voided' } } }),
    sign: (body, secret) => withHeaders(body, { authorization: `Basic ${btoa(secret)}` }),
  },
  gocardless: {
    secret: 'a-gocardless-endpoint-secret',
    event: { events: gocardless() },
    // Beside other events, and in another place.
    again: { events: gocardless().toReversed(), meta: { webhook_id: 'WB_2' } },
    other: { events: gocardless({ details: { cause: 'other' } }) },
    sign: (body, secret) => withHeaders(body, { 'webhook-signature': mac('sha256', secret, 'hex', body) }),
  },
  paddle: {
    secret: 'pdl_ntfset_a_secret_of_the_tests',
    event: paddle(),
    again: paddle({ notification_id: 'ntf_2' }),
    other: paddle({ data: { id: 't', status: 'canceled' } }),
    sign: (body, secret) => {
      const ts = seconds()
      return withHeaders(body, { 'paddle-signature': `ts=${ts};h1=${mac('sha256', secret, 'hex', `${ts}:`, body)}` })
    },
  },
  paypal: {
    secret: '9XL90610J3647323C',
    event: sample('paypal'),
    again: sample('paypal'),
    other: sample('paypal', { resource: { id: 'I-1', status: 'CANCELLED' } }),
    async sign(body, webhook) {
      const signer = await sharedSigner()
      const address = await publish(signer, 'CERT-REDELIVERED')
      return withHeaders(body, await paypalHeaders({ body, webhook, signer, address }))
    },
  },
  polar: {
    secret: `whsec_${STANDARD_KEY}`,
    event: sample('polar'),
    again: sample('polar'),
    other: sample('polar', { data: { id: 'o', status: 'refunded' } }),
    sign: standard,
  },
  recurly: {
    secret: 'a-recurly-secret-key',
    event: sample('recurly'),
    again: sample('recurly'),
    other: sample('recurly', { invoice_number: 8 }),
    sign: (body, secret) => {
      const signature = `${Date.now()},${mac('sha256', secret, 'hex', `${Date.now()}.`, body)}`
      return withHeaders(body, { 'recurly-signature': signature, 'recurly-notification-id': 'n_1' })
    },
  },
  revenuecat: {
    secret: 'Bearer of-revenuecat',
    event: revenuecat(),
    again: revenuecat(),
    other: revenuecat({ environment: 'PRODUCTION' }),
    sign: (body, secret) => withHeaders(body, { authorization: secret }),
  },
  shopify: {
    secret: 'a-shopify-client-secret',
    event: sample('shopify'),
    again: sample('shopify'),
    other: sample('shopify', { total_price: '2.00' }),
    sign: (body, secret, { attempt }) =>
      withHeaders(body, {
        'x-shopify-hmac-sha256': mac('sha256', secret, 'base64', body),
        'x-shopify-topic': 'orders/paid',
        'x-shopify-event-id': 'e_1',
        'x-shopify-webhook-id': `w_${attempt}`,
        'x-shopify-triggered-at': '2026-01-01T00:00:00Z',
      }),
  },
  hmac: {
    secret: 'the-secret-of-the-sender',
    verification: {
      algorithm: 'sha256',
      header: 'x-sender-mac',
      encoding: 'hex',
      signed: '{body}',
      id: 'id',
      type: 'type',
    },
    event: sample('hmac'),
    again: sample('hmac'),
    other: sample('hmac', { live: false }),
    sign: (body, secret) => withHeaders(body, { 'x-sender-mac': mac('sha256', secret, 'hex', body) }),
  },
  square: {
    secret: 'a-square-signature-key',
    event: sample('square'),
    again: sample('square'),
    other: sample('square', { data: { type: 'payment', id: 'p', object: { payment: { id: 'p', status: 'FAILED' } } } }),
    sign: (body, secret, { url, attempt }) =>
      withHeaders(body, {
        'x-square-hmacsha256-signature': mac('sha256', secret, 'base64', url, body),
        'square-retry-number': String(attempt - 1),
      }),
  },
  standard: {
    secret: `whsec_${STANDARD_KEY}`,
    event: sample('standard'),
    again: sample('standard'),
    other: sample('standard', { data: { id: 'i', object: 'x', status: 't' } }),
    sign: standard,
  },
  stripe: {
    secret: 'whsec_of_the_endpoint',
    event: stripe(),
    again: stripe({ pending_webhooks: 0 }),
    other: stripe({ data: { object: { id: 'i', object: 'invoice', status: 'void' } } }),
    sign: stripeSign,
  },
  'stripe (thin)': {
    secret: 'whsec_of_the_endpoint',
    event: thin(),
    again: thin(),
    other: thin({ related_object: { id: 'mtr_2', type: 'billing.meter' } }),
    sign: stripeSign,
  },
}

/** The same JSON with its fields in the opposite order, and indented. */
export function rearranged(value: unknown): string {
  const turn = (_: string, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toReversed())
      : inner
  return JSON.stringify(value, turn, 2)
}
