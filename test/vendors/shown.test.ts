import { describe, expect, it } from 'vitest'
import { chargebee } from '../../src/vendors/chargebee'
import { revenuecat } from '../../src/vendors/revenuecat'
import { Undecodable } from '../../src/vendors/vendor'
import {
  bodyCases,
  type Case,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mac,
  mutations,
  now,
  rotation,
  TIME_CASES,
  twice,
  utf8,
} from './harness'

// Vendors that sign nothing and send the secret itself; from their documentation only. Nothing covers the body.

const H = 'authorization'
const basic = (pair: string) => `Basic ${utf8(pair).toBase64()}`
const unsigned: Record<string, Partial<Case>> = {}

const cb: Fixture = {
  vendor: chargebee,
  secret: 'hooks:correct-horse-ë',
  other: 'hooks:battery-staple',
  body: JSON.stringify({ id: 'ev_1', event_type: 'customer_created', content: {} }),
  sign: (body, secret) => ({ body, headers: new Headers({ [H]: basic(secret) }) }),
}
mutations('chargebee', cb, [
  ...bodyCases('accepted', unsigned),
  { name: 'as shown', expected: 'accepted' },
  { name: 'the header missing', expected: 'signature_missing', change: header(H, null) },
  { name: 'the header empty', expected: 'signature_missing', change: header(H, '') },
  {
    name: 'the pair in an x-signature',
    expected: 'signature_missing',
    change: (s) => header('x-signature', s.headers.get(H) ?? '')(header(H, null)(s)),
  },
  { name: 'a bearer token', expected: 'signature_malformed', change: header(H, 'Bearer abc') },
  { name: 'the scheme alone', expected: 'signature_malformed', change: header(H, 'Basic') },
  {
    name: 'the pair as it is, not in base64',
    expected: 'signature_malformed',
    change: header(H, 'Basic hooks:correct-horse'),
  },
  { name: 'a user without a colon', expected: 'signature_malformed', change: header(H, basic('hooks')) },
  { name: 'base64 cut by a character', expected: 'signature_malformed', change: header(H, (v) => v.slice(0, -1)) },
  {
    name: 'the scheme in lower case: RFC 9110 allows it',
    expected: 'accepted',
    change: header(H, (v) => v.replace('Basic', 'basic')),
  },
  { name: 'two spaces after the scheme', expected: 'accepted', change: header(H, (v) => v.replace(' ', '  ')) },
  { name: 'the header twice', expected: 'signature_malformed', change: twice(H) },
  { name: 'another password', expected: 'signature_mismatch', change: header(H, basic('hooks:correct-horse-e')) },
  { name: 'another user', expected: 'signature_mismatch', change: header(H, basic('hook:correct-horse-ë')) },
  {
    name: 'the password in upper case',
    expected: 'signature_mismatch',
    change: header(H, basic('hooks:CORRECT-HORSE-ë')),
  },
  {
    name: 'the password and a line feed',
    expected: 'signature_mismatch',
    change: header(H, basic(`${'hooks:correct-horse-ë'}\n`)),
  },
  { name: 'the password’s beginning', expected: 'signature_mismatch', change: header(H, basic('hooks:correct')) },
  {
    name: 'the pair in UTF-16',
    expected: 'signature_mismatch',
    change: header(
      H,
      `Basic ${new Uint8Array(Uint16Array.from('hooks:correct-horse-ë', (c) => c.charCodeAt(0)).buffer).toBase64()}`,
    ),
  },
  { name: 'no user and no password', expected: 'signature_mismatch', change: header(H, basic(':')) },
  {
    name: 'no password, and a secret without one',
    expected: 'signature_mismatch',
    change: header(H, basic('hooks:')),
    secrets: ['hooks:'],
  },
  {
    name: 'no user, and a secret without one',
    expected: 'signature_mismatch',
    change: header(H, basic(':word')),
    secrets: [':word'],
  },
  { name: 'another secret', expected: 'signature_mismatch', secrets: [cb.other] },
  { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
  { name: 'the secret third of three', expected: 'accepted', secrets: ['', cb.other, cb.secret] },
])

const rc: Fixture = {
  vendor: revenuecat,
  secret: 'Bearer a-long-static-value',
  other: 'Bearer another-static-value',
  body: JSON.stringify({ event: { id: 'E-1', type: 'RENEWAL' } }),
  sign: (body, secret) => ({ body, headers: new Headers({ [H]: secret }) }),
}
mutations('revenuecat', rc, [
  ...bodyCases('accepted', unsigned),
  { name: 'as shown', expected: 'accepted' },
  { name: 'spaces around the header', expected: 'accepted', change: header(H, (v) => ` ${v}  `) },
  { name: 'the header missing', expected: 'signature_missing', change: header(H, null) },
  { name: 'the header empty', expected: 'signature_missing', change: header(H, '') },
  {
    name: 'the value in an x-authorization',
    expected: 'signature_missing',
    change: (s) => header('x-authorization', s.headers.get(H) ?? '')(header(H, null)(s)),
  },
  { name: 'the scheme left out', expected: 'signature_mismatch', change: header(H, (v) => v.slice(7)) },
  {
    name: 'the scheme in lower case',
    expected: 'signature_mismatch',
    change: header(H, (v) => v.replace('Bearer', 'bearer')),
  },
  { name: 'upper case', expected: 'signature_mismatch', change: header(H, (v) => v.toUpperCase()) },
  { name: 'cut by a character', expected: 'signature_mismatch', change: header(H, (v) => v.slice(0, -1)) },
  { name: 'longer by a character', expected: 'signature_mismatch', change: header(H, (v) => `${v}e`) },
  { name: 'two spaces inside', expected: 'signature_mismatch', change: header(H, (v) => v.replace(' ', '  ')) },
  { name: 'in base64', expected: 'signature_mismatch', change: header(H, (v) => utf8(v).toBase64()) },
  { name: 'the header twice', expected: 'signature_mismatch', change: twice(H) },
  { name: 'Basic', expected: 'signature_mismatch', change: header(H, basic('a:b')) },
  { name: 'another secret', expected: 'signature_mismatch', secrets: [rc.other] },
  { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
  { name: 'the secret third of three', expected: 'accepted', secrets: ['', rc.other, rc.secret] },
])

// RevenueCat signs if that is switched on. No library of its own verifies; this is its documentation's example.
const S = 'x-revenuecat-webhook-signature'
const signing: Fixture = {
  vendor: revenuecat,
  secret: 'signing:a-signing-secret-of-the-webhook',
  other: 'signing:another-signing-secret',
  body: rc.body,
  sign: (body, secret, at) => ({
    body,
    headers: new Headers({
      [H]: rc.secret,
      [S]: `t=${at / 1000},v1=${mac('sha256', secret.slice(8), 'hex', `${at / 1000}.`, body)}`,
    }),
  }),
}
const wrong = `,v1=${'0'.repeat(64)}`
mutations('revenuecat, signed', signing, [
  ...bodyCases('signature_mismatch'),
  ...headerCases(signing, S, 'hex'),
  ...TIME_CASES,
  { name: 'without the Authorization header', expected: 'accepted', change: header(H, null) },
  { name: 'another Authorization header', expected: 'accepted', change: header(H, 'Bearer other') },
  {
    name: 'the Authorization header alone, though its value is live',
    expected: 'signature_missing',
    change: header(S, null),
    secrets: [rc.secret, signing.secret],
  },
  {
    name: 'the Authorization header with a wrong signature',
    expected: 'signature_mismatch',
    change: header(S, (v) => v.slice(0, -64) + '0'.repeat(64)),
    secrets: [rc.secret, signing.secret],
  },
  { name: 'both, with both secrets', expected: 'accepted', secrets: [rc.secret, signing.secret] },
  {
    name: 'signed with the value of the Authorization header',
    expected: 'signature_mismatch',
    change: ({ body }) => signing.sign(body, `signing:${rc.secret}`, now()),
    secrets: [rc.secret, signing.secret],
  },
  { name: 'the mark itself as the Authorization header', expected: 'signature_missing', change: header(S, null) },
  { name: 'a wrong signature beside it', expected: 'accepted', change: header(S, (v) => v + wrong) },
  { name: 'a wrong signature before it', expected: 'accepted', change: header(S, (v) => v.replace(',', `${wrong},`)) },
  { name: 'two times', expected: 'signature_malformed', change: header(S, (v) => `${v},t=1`) },
  { name: 'the time changed', expected: 'signature_mismatch', change: header(S, (v) => v.replace('t=', 't=0')) },
  { name: 'the time missing', expected: 'signature_malformed', change: header(S, (v) => v.replace(/t=\d+,/, '')) },
  { name: 'the time a word', expected: 'signature_malformed', change: header(S, (v) => v.replace(/t=\d+/, 't=now')) },
])

describe('vendors that send the secret', () => {
  rotation('revenuecat, signed', signing)
  rotation('chargebee', cb)
  rotation('revenuecat', rc)

  const invoice = {
    id: '42',
    object: 'invoice',
    status: 'paid',
    total: 6900,
    currency_code: 'USD',
    customer_id: 'cu_1',
    subscription_id: 'su_1',
  }
  const event = { id: 'ev_1', occurred_at: 1751000000, api_version: 'v2', object: 'event' }

  it('chargebee: the object that its type starts with', () => {
    const content = { subscription: { id: 'su_1', status: 'active' }, customer: { id: 'cu_1' }, invoice }
    expect(decodeOne(chargebee, { ...event, event_type: 'invoice_generated', content })).toEqual({
      vendor_event_id: 'ev_1',
      event_type: 'invoice_generated',
      occurred_at: '2025-06-27T04:53:20Z',
      livemode: null,
      api_version: 'v2',
      object: { type: 'invoice', id: '42', status: 'paid' },
      customer: 'cu_1',
      subscription: 'su_1',
      invoice: '42',
      amount: { value: 6900, currency: 'USD' },
      refs: ['42', 'cu_1', 'su_1'],
      state: 'invoice',
      content: { ...event, event_type: 'invoice_generated', content },
    })
    const payment = { ...content, transaction: { id: 'tx_1', status: 'success', amount: 500, currency_code: 'JPY' } }
    expect(decodeOne(chargebee, { ...event, event_type: 'payment_succeeded', content: payment })).toMatchObject({
      object: { type: 'transaction', id: 'tx_1' },
      amount: { value: 500, currency: 'JPY' },
      refs: ['tx_1', 'cu_1', 'su_1', '42'],
    })
    const note = { ...content, credit_note: { id: 'cn_1', total: 5 }, credit: { id: 'c' } }
    expect(decodeOne(chargebee, { ...event, event_type: 'credit_note_created', content: note }).object.id).toBe('cn_1')
    expect(
      decodeOne(chargebee, {
        ...event,
        event_type: 'invoice_updated',
        content: { invoice: { ...invoice, currency_code: 'KWD' } },
      }).amount,
    ).toBeNull()
    expect(decodeOne(chargebee, { ...event, event_type: 'something_new', content: {} }).object).toEqual({
      type: null,
      id: null,
      status: null,
    })
    const charge = { id: 'li_1', customer_id: 'cu_1', subscription_id: 'su_1', amount: 32400, currency_code: 'USD' }
    const unbilled_charges = [charge, { ...charge, id: 'li_2' }]
    expect(
      decodeOne(chargebee, { ...event, event_type: 'unbilled_charges_created', content: { unbilled_charges } }),
    ).toMatchObject({
      object: { type: 'unbilled_charge', id: 'li_1', status: null },
      customer: 'cu_1',
      subscription: 'su_1',
      refs: ['li_1', 'cu_1', 'su_1', 'li_2'],
    })
    for (const bad of [
      { ...event, content },
      { ...event, event_type: 'x', content: [] },
      { event_type: 'x', content },
    ]) {
      expect(() => chargebee.decode(JSON.stringify(bad), {})).toThrow(Undecodable)
    }
  })

  it('revenuecat: what was paid, not its estimate in dollars', () => {
    const renewal = {
      id: 'E-1',
      type: 'RENEWAL',
      event_timestamp_ms: 1658726378679,
      app_user_id: 'u-1',
      original_app_user_id: '$RC:1',
      product_id: 'weekly',
      transaction_id: 't-2',
      original_transaction_id: 't-1',
      environment: 'SANDBOX',
      price: 8.14,
      price_in_purchased_currency: 7.99,
      currency: 'EUR',
    }
    expect(decodeOne(revenuecat, { event: renewal, api_version: '1.0' })).toEqual({
      vendor_event_id: 'E-1',
      event_type: 'RENEWAL',
      occurred_at: '2022-07-25T05:19:38.679Z',
      livemode: false,
      api_version: '1.0',
      object: { type: 'transaction', id: 't-2', status: null },
      customer: 'u-1',
      subscription: 't-1',
      invoice: null,
      amount: { value: 799, currency: 'EUR' },
      refs: ['t-2', 't-1', 'u-1', '$RC:1', 'weekly'],
      state: null,
      content: renewal,
    })
    const amount = (price_in_purchased_currency: unknown, currency: unknown) =>
      decodeOne(revenuecat, { event: { ...renewal, price_in_purchased_currency, currency } }).amount
    expect(amount(-7.99, 'EUR')).toEqual({ value: -799, currency: 'EUR' })
    expect(amount(500, 'JPY')).toEqual({ value: 500, currency: 'JPY' })
    expect(amount(1.5, 'JPY')).toBeNull()
    expect(amount(2.345, 'KWD')).toEqual({ value: 2345, currency: 'KWD' })
    expect(amount(7.991, 'EUR')).toBeNull()
    expect(amount(null, 'EUR')).toBeNull()
    expect(decodeOne(revenuecat, { event: { id: 'E-2', type: 'TRANSFER', environment: 'PRODUCTION' } })).toMatchObject({
      livemode: true,
      object: { type: null, id: null },
      refs: [],
    })
    const transfer = { id: 'E-3', type: 'TRANSFER', transferred_from: ['u-1', '$RC:1'], transferred_to: ['u-2', 7] }
    expect(decodeOne(revenuecat, { event: transfer }).refs).toEqual(['u-2', 'u-1', '$RC:1'])
    expect(() => revenuecat.decode('{"event":{"type":"TEST"}}', {})).toThrow(Undecodable)
  })

  it('checks the form of secrets', () => {
    expect(chargebee.checkSecret('user:password')).toBeNull()
    for (const bad of ['', 'user', 'user:', ':password']) expect(chargebee.checkSecret(bad)).toMatch(/user:password/)
    expect(revenuecat.checkSecret(rc.secret)).toBeNull()
    for (const bad of ['', 'short', ' Bearer a-long-static-value', 'Bearer a\nlong-value'])
      expect(revenuecat.checkSecret(bad)).toMatch(/Authorization/)
    expect(revenuecat.checkSecret(signing.secret)).toBeNull()
    for (const bad of ['signing:', 'signing:short', 'signing:with a space in it'])
      expect(revenuecat.checkSecret(bad)).toMatch(/signing secret has 8 or more/)
    // No header that contains a secret is kept.
    for (const { vendor } of [cb, rc]) expect(vendor.keptHeaders).toEqual([])
  })
})
