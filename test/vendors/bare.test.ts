import { verifySignature } from 'gocardless-nodejs/webhooks'
import { WebhooksHelper } from 'square'
import { describe, expect, it } from 'vitest'
import { gocardless } from '../../src/vendors/gocardless'
import { lemonsqueezy } from '../../src/vendors/lemonsqueezy'
import { shopify } from '../../src/vendors/shopify'
import { square } from '../../src/vendors/square'
import { Undecodable } from '../../src/vendors/vendor'
import {
  bodyCases,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mac,
  mutations,
  rotation,
  textOf,
  twice,
  URL_,
} from './harness'

// Vendors whose header consists of the MAC of the body.

const hour = { late: 3_600_000, expected: 'accepted' as const }

const gc: Fixture = {
  vendor: gocardless,
  secret: 'ED7D658C-D8EB-4941-948B-3973214F2D49',
  other: 'ED7D658C-D8EB-4941-948B-3973214F2D50',
  body: JSON.stringify({ events: [{ id: 'EV123', resource_type: 'mandates', action: 'cancelled', note: 'Zoë ✓' }] }),
  sign: (body, secret) => ({ body, headers: new Headers({ 'webhook-signature': mac('sha256', secret, 'hex', body) }) }),
  // The SDK verifies only: what we sign by the documentation, it accepts.
  sdk: ({ headers, body }, secret) => {
    try {
      verifySignature(Buffer.from(body), secret, headers.get('webhook-signature') ?? '')
      return true
    } catch {
      return false
    }
  },
}
mutations('gocardless', gc, [
  ...headerCases(gc, 'webhook-signature', 'hex', {
    'no signature in the header': { expected: 'signature_missing' },
  }),
  ...bodyCases('signature_mismatch'),
  {
    name: 'the header twice',
    expected: 'signature_malformed',
    change: twice('webhook-signature'),
    sdkDiffers: 'it reads the hex that the text begins with',
  },
  {
    name: 'a scheme before it',
    expected: 'signature_malformed',
    change: header('webhook-signature', (v) => `sha256=${v}`),
  },
  { name: 'an hour late: no time is signed', ...hour },
])

const ls: Fixture = {
  vendor: lemonsqueezy,
  secret: 'a made up secret',
  other: 'another secret',
  body: JSON.stringify({
    meta: { event_name: 'order_created' },
    data: { type: 'orders', id: '1', attributes: { user_name: 'Zoë ✓' } },
  }),
  // By the vendor's documentation only: Node's HMAC signs.
  sign: (body, secret) => ({ body, headers: new Headers({ 'x-signature': mac('sha256', secret, 'hex', body) }) }),
}
mutations('lemonsqueezy', ls, [
  ...headerCases(ls, 'x-signature', 'hex', { 'no signature in the header': { expected: 'signature_missing' } }),
  ...bodyCases('signature_mismatch'),
  { name: 'the header twice', expected: 'signature_malformed', change: twice('x-signature') },
  { name: 'a scheme before it', expected: 'signature_malformed', change: header('x-signature', (v) => `sha256=${v}`) },
  { name: 'an hour late: no time is signed', ...hour },
])

const sp: Fixture = {
  vendor: shopify,
  secret: 'shpss_0123456789abcdef0123456789abcdef',
  other: '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',
  body: JSON.stringify({ id: 820982911946154500, note: 'Zoë ✓' }),
  // By the vendor's documentation only: Node's HMAC signs.
  sign: (body, secret) => ({
    body,
    headers: new Headers({
      'x-shopify-hmac-sha256': mac('sha256', secret, 'base64', body),
      'x-shopify-topic': 'orders/paid',
    }),
  }),
}
mutations('shopify', sp, [
  ...headerCases(sp, 'x-shopify-hmac-sha256', 'base64', {
    'no signature in the header': { expected: 'signature_missing' },
  }),
  ...bodyCases('signature_mismatch'),
  { name: 'the header twice', expected: 'signature_malformed', change: twice('x-shopify-hmac-sha256') },
  {
    name: 'the topic changed: it is not signed',
    expected: 'accepted',
    change: header('x-shopify-topic', 'orders/cancelled'),
  },
  { name: 'an hour late: no time is signed', ...hour },
])

const sq: Fixture = {
  vendor: square,
  secret: 'asdfjkl-signature-key-01',
  other: 'asdfjkl-signature-key-02',
  body: JSON.stringify({
    event_id: 'e-1',
    type: 'payment.updated',
    data: { type: 'payment', id: 'p-1', note: 'Zoë ✓' },
  }),
  sign: (body, secret) => ({
    body,
    headers: new Headers({ 'x-square-hmacsha256-signature': mac('sha256', secret, 'base64', URL_, body) }),
  }),
  // The SDK verifies only: what we sign by the documentation, it accepts.
  sdk: async ({ headers, body }, secret, url) => {
    try {
      return await WebhooksHelper.verifySignature({
        requestBody: textOf(body),
        signatureHeader: headers.get('x-square-hmacsha256-signature') ?? '',
        signatureKey: secret,
        notificationUrl: url,
      })
    } catch {
      return false
    }
  },
}
mutations('square', sq, [
  ...headerCases(sq, 'x-square-hmacsha256-signature', 'base64', {
    'no signature in the header': { expected: 'signature_missing' },
  }),
  ...bodyCases('signature_mismatch'),
  { name: 'the header twice', expected: 'signature_malformed', change: twice('x-square-hmacsha256-signature') },
  { name: 'sent to another path', expected: 'signature_mismatch', url: URL_.replace('con_1', 'con_2') },
  { name: 'sent to another host', expected: 'signature_mismatch', url: URL_.replace('hooks', 'hook') },
  { name: 'sent to http', expected: 'signature_mismatch', url: URL_.replace('https', 'http') },
  { name: 'sent with a slash after it', expected: 'signature_mismatch', url: `${URL_}/` },
  { name: 'an hour late: no time is signed', ...hour },
])

describe('vendors whose header is the MAC alone', () => {
  rotation('gocardless', gc)
  rotation('lemonsqueezy', ls)
  rotation('shopify', sp)
  rotation('square', sq)

  it('gocardless: one delivery, several events', () => {
    const payment = {
      id: 'EV1',
      created_at: '2026-05-06T07:08:09.123Z',
      resource_type: 'payments',
      action: 'confirmed',
      links: { payment: 'PM1', subscription: 'SB1', parent_event: 'EV0' },
    }
    const mandate = {
      id: 'EV2',
      created_at: '2026-05-06T07:08:10.000Z',
      resource_type: 'mandates',
      action: 'cancelled',
      links: { mandate: 'MD1', customer: 'CU1', customer_bank_account: 'BA1', organisation: 'OR1' },
    }
    const [first, second, ...more] = gocardless.decode(
      JSON.stringify({ events: [payment, mandate], meta: { webhook_id: 'WB1' } }),
      {},
    )
    expect(more).toEqual([])
    expect(first).toEqual({
      vendor_event_id: 'EV1',
      event_type: 'payments.confirmed',
      occurred_at: '2026-05-06T07:08:09.123Z',
      livemode: null,
      api_version: null,
      object: { type: 'payments', id: 'PM1', status: null },
      customer: null,
      subscription: 'SB1',
      invoice: null,
      amount: null,
      refs: ['PM1', 'SB1'],
      state: null,
      content: payment,
    })
    expect(second).toMatchObject({
      vendor_event_id: 'EV2',
      event_type: 'mandates.cancelled',
      customer: 'CU1',
      refs: ['MD1', 'CU1', 'BA1'],
    })
  })

  it('gocardless: one bad event makes the delivery undecodable, no events do too', () => {
    const good = { id: 'EV1', resource_type: 'payments', action: 'confirmed' }
    for (const events of [[], [good, null], [good, { ...good, id: undefined }], [{ ...good, action: 1 }], {}, 'x']) {
      expect(() => gocardless.decode(JSON.stringify({ events }), {})).toThrow(Undecodable)
    }
    expect(decodeOne(gocardless, { events: [{ ...good, links: { payment: 7 } }] }).object.id).toBeNull()
  })

  it('lemonsqueezy: a subscription invoice', () => {
    const attributes = {
      store_id: 3,
      customer_id: 2,
      subscription_id: 9,
      status: 'paid',
      total: 1199,
      currency: 'USD',
      test_mode: false,
      updated_at: '2026-01-17T12:43:51.000000Z',
    }
    const payload = {
      meta: { event_name: 'subscription_payment_success', test_mode: true },
      data: { type: 'subscription-invoices', id: '7', attributes },
    }
    expect(decodeOne(lemonsqueezy, payload)).toEqual({
      vendor_event_id: null,
      event_type: 'subscription_payment_success',
      occurred_at: '2026-01-17T12:43:51.000000Z',
      livemode: false,
      api_version: null,
      object: { type: 'subscription-invoices', id: '7', status: 'paid' },
      customer: '2',
      subscription: '9',
      invoice: '7',
      amount: { value: 1199, currency: 'USD' },
      refs: ['7', '2', '9'],
      state: 'invoice',
      content: payload,
    })
    for (const currency of ['JPY', 'KWD']) {
      expect(
        decodeOne(lemonsqueezy, { ...payload, data: { ...payload.data, attributes: { ...attributes, currency } } })
          .amount,
      ).toBeNull()
    }
    const { object, subscription } = decodeOne(lemonsqueezy, {
      meta: { event_name: 'subscription_updated' },
      data: { type: 'subscriptions', id: '9' },
    })
    expect({ object, subscription }).toEqual({
      object: { type: 'subscriptions', id: '9', status: null },
      subscription: '9',
    })
    expect(() => lemonsqueezy.decode('{"data":{}}', {})).toThrow(Undecodable)
  })

  it('shopify: topic, time and id are in the headers', () => {
    const headers = {
      'x-shopify-topic': 'orders/paid',
      'x-shopify-event-id': 'c3b2',
      'x-shopify-triggered-at': '2026-02-03T04:05:06.123456789Z',
      'x-shopify-api-version': '2026-07',
    }
    const order = {
      id: 450789469,
      admin_graphql_api_id: 'gid://shopify/Order/450789469',
      customer: { id: 207119551 },
      total_price: '409.94',
      currency: 'USD',
      financial_status: 'paid',
      test: false,
    }
    expect(decodeOne(shopify, order, headers)).toEqual({
      vendor_event_id: 'c3b2:orders/paid',
      event_type: 'orders/paid',
      occurred_at: '2026-02-03T04:05:06.123456789Z',
      livemode: true,
      api_version: '2026-07',
      object: { type: 'orders', id: '450789469', status: 'paid' },
      customer: '207119551',
      subscription: null,
      invoice: null,
      amount: { value: 40994, currency: 'USD' },
      refs: ['450789469', 'gid://shopify/Order/450789469', '207119551'],
      state: 'purchase',
      content: order,
    })
    const amount = (total_price: unknown, currency: unknown) =>
      decodeOne(shopify, { total_price, currency }, headers).amount
    expect(amount('500', 'JPY')).toEqual({ value: 500, currency: 'JPY' })
    expect(amount('500.00', 'JPY')).toEqual({ value: 500, currency: 'JPY' })
    expect(amount('500.5', 'JPY')).toBeNull()
    expect(amount('1.234', 'KWD')).toEqual({ value: 1234, currency: 'KWD' })
    expect(amount('1.234', 'USD')).toBeNull()
    // An id too large for a JSON number: the string beside it is exact.
    expect(
      decodeOne(
        shopify,
        '{"id":9007199254740993,"admin_graphql_api_id":"gid://shopify/Order/9007199254740993"}',
        headers,
      ).object.id,
    ).toBe('gid://shopify/Order/9007199254740993')
    expect(
      decodeOne(
        shopify,
        { app_subscription: { admin_graphql_api_id: 'gid://1', status: 'ACTIVE' } },
        { 'x-shopify-topic': 'app_subscriptions/update' },
      ),
    ).toMatchObject({ vendor_event_id: null, subscription: 'gid://1', object: { status: 'ACTIVE' } })
    expect(() => shopify.decode('{}', {})).toThrow(Undecodable)
    expect(shopify.keptHeaders).not.toContain('x-shopify-hmac-sha256')
  })

  it('square: the object under its own name', () => {
    const payment = {
      id: 'p-1',
      status: 'COMPLETED',
      customer_id: 'c-1',
      order_id: 'o-1',
      location_id: 'l-1',
      amount_money: { amount: 900, currency: 'JPY' },
      total_money: { amount: 1000, currency: 'JPY' },
    }
    const event = {
      merchant_id: 'm-1',
      type: 'payment.updated',
      event_id: 'e-1',
      created_at: '2026-02-06T21:27:30.792Z',
      data: { type: 'payment', id: 'p-1', object: { payment } },
    }
    expect(decodeOne(square, event, { 'square-environment': 'Sandbox' })).toEqual({
      vendor_event_id: 'e-1',
      event_type: 'payment.updated',
      occurred_at: '2026-02-06T21:27:30.792Z',
      livemode: false,
      api_version: null,
      object: { type: 'payment', id: 'p-1', status: 'COMPLETED' },
      customer: 'c-1',
      subscription: null,
      invoice: null,
      amount: { value: 1000, currency: 'JPY' },
      refs: ['p-1', 'c-1', 'o-1', 'l-1'],
      state: 'purchase',
      content: event,
    })
    expect(decodeOne(square, event, { 'square-environment': 'Production' }).livemode).toBe(true)
    const invoice = { id: 'inv-1', status: 'PAID', subscription_id: 's-1', primary_recipient: { customer_id: 'c-2' } }
    expect(decodeOne(square, { ...event, data: { type: 'invoice', id: 'inv-1', object: { invoice } } })).toMatchObject({
      invoice: 'inv-1',
      subscription: 's-1',
      customer: 'c-2',
      amount: null,
      livemode: null,
    })
    expect(decodeOne(square, { ...event, data: { type: 'customer', id: 'c-9', deleted: true } })).toMatchObject({
      customer: 'c-9',
      object: { type: 'customer', id: 'c-9', status: null },
    })
    expect(decodeOne(square, { ...event, data: { type: 'constructor', id: 'x', object: {} } }).object.id).toBe('x')
  })

  it('checks the form of secrets', () => {
    for (const { vendor, secret } of [gc, ls, sp, sq]) {
      expect(vendor.checkSecret(secret)).toBeNull()
      expect(vendor.checkSecret('')).toMatch(/^an? /)
      expect(vendor.checkSecret('short')).toMatch(/^an? /)
    }
  })
})
