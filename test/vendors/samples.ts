import type { VendorName } from '../../src/vendors'
import { utf8 } from './harness'

/** A payload of each vendor with every field that its decoder reads. */
export const SAMPLES: Record<VendorName, unknown> = {
  adyen: {
    live: 'true',
    notificationItems: [
      {
        NotificationRequestItem: {
          pspReference: 'p',
          originalReference: 'o',
          merchantReference: 'm',
          eventCode: 'CAPTURE',
          success: 'true',
          eventDate: '2026-01-01T00:00:00+01:00',
          amount: { value: 1, currency: 'EUR' },
          additionalData: { shopperReference: 's' },
        },
      },
    ],
  },
  apple: {
    notificationType: 'SUBSCRIBED',
    subtype: 'INITIAL_BUY',
    notificationUUID: 'n',
    data: {
      appAppleId: 1,
      bundleId: 'com.example.app',
      environment: 'Production',
      status: 1,
      signedTransactionInfo: {
        transactionId: 't',
        originalTransactionId: 'o',
        webOrderLineItemId: 'w',
        bundleId: 'com.example.app',
        productId: 'p',
        type: 'Auto-Renewable Subscription',
        appAccountToken: 'a',
        price: 9990,
        currency: 'USD',
      },
      signedRenewalInfo: { originalTransactionId: 'o', autoRenewStatus: 1, appAccountToken: 'a' },
    },
    version: '2.0',
    signedDate: 1,
  },
  braintree: null,
  chargebee: {
    id: 'e',
    event_type: 'invoice_updated',
    occurred_at: 1,
    api_version: 'v2',
    content: {
      invoice: { id: 'i', status: 'paid', total: 1, currency_code: 'USD', customer_id: 'c', subscription_id: 's' },
      customer: { id: 'c' },
      card: { id: 'k' },
    },
  },
  gocardless: {
    events: [
      {
        id: 'e',
        resource_type: 'payments',
        action: 'paid',
        created_at: '2026-01-01T00:00:00.000Z',
        links: { payment: 'p', customer: 'c', subscription: 's' },
      },
    ],
  },
  hmac: { id: 'h', type: 'a.b', created_at: '2026-01-01T00:00:00Z', live: true },
  lemonsqueezy: {
    meta: { event_name: 'order_created', test_mode: true },
    data: {
      type: 'orders',
      id: '1',
      attributes: {
        customer_id: 1,
        status: 'paid',
        total: 1,
        currency: 'USD',
        updated_at: '2026-01-01T00:00:00.000000Z',
        first_subscription_item: { subscription_id: 3 },
      },
    },
  },
  paddle: {
    event_id: 'e',
    event_type: 'transaction.paid',
    occurred_at: '2026-01-01T00:00:00.000001Z',
    data: {
      id: 't',
      status: 'paid',
      customer_id: 'c',
      subscription_id: 's',
      details: { totals: { total: '1', currency_code: 'USD' } },
      unit_price: { amount: '1', currency_code: 'USD' },
      amount: '1',
      currency_code: 'USD',
    },
  },
  paypal: {
    id: 'WH-1',
    create_time: '2026-01-01T00:00:00.000Z',
    event_type: 'BILLING.SUBSCRIPTION.ACTIVATED',
    resource_type: 'subscription',
    resource_version: '2.0',
    resource: {
      id: 'I-1',
      dispute_id: 'd',
      status: 'ACTIVE',
      state: 'active',
      plan_id: 'P-1',
      custom_id: 'u',
      invoice_id: 'i',
      billing_agreement_id: 'I-2',
      subscriber: { payer_id: 'c' },
      payer: { payer_id: 'c', payer_info: { payer_id: 'c' } },
      amount: { value: '1.00', currency_code: 'USD', total: '1.00', currency: 'USD' },
      purchase_units: [{ amount: { value: '1.00', currency_code: 'USD' } }],
      supplementary_data: { related_ids: { order_id: 'o' } },
      disputed_transactions: [{ seller_transaction_id: 't' }],
    },
  },
  polar: {
    type: 'order.paid',
    timestamp: '2026-01-01T00:00:00Z',
    data: {
      id: 'o',
      status: 'paid',
      customer_id: 'c',
      customer: { id: 'c' },
      subscription_id: 's',
      total_amount: 1,
      currency: 'usd',
    },
  },
  recurly: {
    id: 'i',
    object_type: 'charge_invoice',
    event_type: 'paid',
    event_time: '2026-01-01T00:00:00Z',
    uuid: 'u',
    account_code: 'a',
    invoice_number: 7,
  },
  revenuecat: {
    api_version: '1.0',
    event: {
      id: 'e',
      type: 'RENEWAL',
      event_timestamp_ms: 1,
      app_user_id: 'u',
      transaction_id: 't',
      original_transaction_id: 'o',
      environment: 'SANDBOX',
      price_in_purchased_currency: 1.5,
      currency: 'USD',
    },
  },
  shopify: {
    id: 1,
    admin_graphql_api_id: 'gid://1',
    customer: { id: 2 },
    total_price: '1.00',
    currency: 'USD',
    financial_status: 'paid',
    test: true,
    app_subscription: { id: 3 },
  },
  square: {
    event_id: 'e',
    type: 'payment.updated',
    created_at: '2026-01-01T00:00:00Z',
    data: {
      type: 'payment',
      id: 'p',
      object: {
        payment: {
          id: 'p',
          status: 'X',
          customer_id: 'c',
          total_money: { amount: 1, currency: 'USD' },
          primary_recipient: { customer_id: 'c' },
        },
      },
    },
  },
  standard: {
    type: 'a.b',
    timestamp: '2026-01-01T00:00:00Z',
    livemode: true,
    data: { id: 'i', object: 'x', status: 's', customer: { id: 'c' }, subscription: 's', invoice: 'i' },
  },
  stripe: {
    id: 'e',
    object: 'event',
    type: 'invoice.paid',
    created: 1,
    livemode: true,
    api_version: 'v',
    data: {
      object: {
        id: 'i',
        object: 'invoice',
        status: 'paid',
        customer: 'c',
        parent: { subscription_details: { subscription: 's' } },
        total: 1,
        currency: 'usd',
      },
    },
  },
}
export const XML =
  '<notification><timestamp type="datetime">2026-01-01T00:00:00Z</timestamp><kind>check</kind><subject><transaction><id>t</id><amount>1.00</amount><currency-iso-code>USD</currency-iso-code></transaction></subject></notification>'
export const form = (xml: string) =>
  new URLSearchParams({ bt_signature: 'a|b', bt_payload: utf8(xml).toBase64() }).toString()
/** The body of a notification of Apple's whose signatures are none. What is signed inside it is given as objects. */
export function appleBody(payload: unknown): string {
  const signed = (value: unknown) =>
    `e30.${utf8(JSON.stringify(value) ?? '').toBase64({ alphabet: 'base64url', omitPadding: true })}.e30`
  const inner = (key: string, value: unknown) =>
    /^signed\w+Info$/.test(key) && typeof value === 'object' && value !== null ? signed(value) : value
  return JSON.stringify({ signedPayload: signed(JSON.parse(JSON.stringify(payload, inner) ?? 'null')) })
}
/** The body of a delivery with a payload like the samples. */
export function bodyOf(name: VendorName, payload: unknown): string {
  if (name === 'braintree') return form(XML)
  return name === 'apple' ? appleBody(payload) : (JSON.stringify(payload) ?? '')
}
export const HEADERS = {
  'x-shopify-topic': 'orders/paid',
  'x-shopify-event-id': 'e',
  'x-shopify-triggered-at': '2026-01-01T00:00:00Z',
  'webhook-id': 'i',
  'webhook-timestamp': '1',
  'recurly-notification-id': 'n',
  'square-environment': 'Sandbox',
  'paypal-cert-url': 'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1',
  ':id': 'id',
  ':type': 'type',
  ':time': 'created_at',
  ':livemode': 'live',
}
