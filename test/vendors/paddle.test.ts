import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { describe, expect, it } from 'vitest'
import { paddle } from '../../src/vendors/paddle'
import {
  bodyCases,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mac,
  mutations,
  rotation,
  TIME_CASES,
  textOf,
  twice,
} from './harness'

const sdk = new Paddle('pdl_sdbx_apikey_x', { environment: Environment.sandbox })
const H = 'paddle-signature'

const event = (event_type: string, data: Record<string, unknown>) => ({
  event_id: 'evt_01a',
  event_type,
  occurred_at: '2026-03-04T05:06:07.123456Z',
  notification_id: 'ntf_01a',
  data,
})

const fixture: Fixture = {
  vendor: paddle,
  secret: 'pdl_ntfset_01aaaaaaaaaaaaaaaaaaaaaaaa_Q2xvdWRzQXJlV2hpdGU',
  other: 'pdl_ntfset_01bbbbbbbbbbbbbbbbbbbbbbbb_R3Jhc3NJc0dyZWVu',
  body: JSON.stringify(event('customer.updated', { id: 'ctm_01a', name: 'Zoë ✓' })),
  sign: (body, secret, at) => ({
    body,
    headers: new Headers({ [H]: `ts=${at / 1000};h1=${mac('sha256', secret, 'hex', `${at / 1000}:`, body)}` }),
  }),
  // The SDK verifies only: what we sign by the documentation, it accepts.
  sdk: async ({ headers, body }, secret) => {
    try {
      return await sdk.webhooks.isSignatureValid(textOf(body), secret, headers.get(H) ?? '')
    } catch {
      return false
    }
  },
}

const time = (change: (seconds: number) => string | number) =>
  header(H, (value) => value.replace(/ts=(\d+)/, (_, seconds) => `ts=${change(Number(seconds))}`))

mutations('paddle', fixture, [
  ...headerCases(fixture, H, 'hex', {
    'the signature in upper case': { sdkDiffers: 'it compares texts, not bytes' },
  }),
  ...bodyCases('signature_mismatch'),
  ...TIME_CASES,
  { name: 'the time changed', expected: 'signature_mismatch', change: time((t) => t + 1) },
  {
    name: 'the time with a zero before it',
    expected: 'signature_mismatch',
    change: time((t) => `0${t}`),
    sdkDiffers: 'it signs the number, not the text',
  },
  { name: 'the time a word', expected: 'signature_malformed', change: time(() => 'now') },
  { name: 'no time', expected: 'signature_malformed', change: header(H, (v) => v.replace(/ts=\d+;/, '')) },
  {
    name: 'two times',
    expected: 'signature_malformed',
    change: header(H, (v) => `ts=1;${v}`),
    sdkDiffers: 'it takes the last',
  },
  {
    name: 'the signature first, then the time',
    expected: 'accepted',
    change: header(H, (v) => v.split(';').reverse().join(';')),
  },
  { name: 'an unknown scheme beside it', expected: 'accepted', change: header(H, (v) => `${v};h2=${'0'.repeat(64)}`) },
  {
    name: 'only an unknown scheme',
    expected: 'signature_malformed',
    change: header(H, (v) => v.replace('h1=', 'h2=')),
  },
  {
    name: 'a wrong signature first',
    expected: 'accepted',
    change: header(H, (v) => v.replace('h1=', `h1=${'0'.repeat(64)};h1=`)),
  },
  {
    name: 'a wrong signature last',
    expected: 'accepted',
    change: header(H, (v) => `${v};h1=${'0'.repeat(64)}`),
    sdkDiffers: 'it looks only at the last h1',
  },
  { name: 'commas for semicolons', expected: 'signature_malformed', change: header(H, (v) => v.replaceAll(';', ',')) },
  { name: 'the header twice', expected: 'accepted', change: twice(H) },
])

describe('paddle', () => {
  rotation('paddle', fixture)

  it('decodes a transaction: its own precision of time, its total in minor units', () => {
    const data = {
      id: 'txn_01a',
      status: 'past_due',
      customer_id: 'ctm_01a',
      address_id: 'add_01a',
      business_id: null,
      subscription_id: 'sub_01a',
      invoice_id: 'inv_01a',
      discount_id: 'dsc_01a',
      currency_code: 'USD',
      details: { totals: { total: '4351', grand_total: '4000', currency_code: 'USD' } },
    }
    expect(decodeOne(paddle, event('transaction.past_due', data))).toEqual({
      vendor_event_id: 'evt_01a',
      event_type: 'transaction.past_due',
      occurred_at: '2026-03-04T05:06:07.123456Z',
      livemode: null,
      api_version: null,
      object: { type: 'transaction', id: 'txn_01a', status: 'past_due' },
      customer: 'ctm_01a',
      subscription: 'sub_01a',
      invoice: 'txn_01a',
      amount: { value: 4351, currency: 'USD' },
      refs: ['txn_01a', 'ctm_01a', 'sub_01a', 'add_01a', 'dsc_01a', 'inv_01a'],
      state: 'invoice',
      content: {
        event_id: 'evt_01a',
        event_type: 'transaction.past_due',
        occurred_at: '2026-03-04T05:06:07.123456Z',
        data,
      },
    })
  })

  it.each([
    ['subscription.imported', 'subscription'],
    ['subscription.past_due', 'subscription'],
    ['transaction.payment_failed', 'invoice'],
    ['payment_method.saved', 'payment_method'],
    ['payment_method.deleted', 'payment_method'],
    ['customer.updated', 'customer'],
    ['adjustment.created', null],
    ['something.new', null],
  ])('finds that %s describes %s', (type, state) => {
    expect(decodeOne(paddle, event(type, { id: 'x_1' })).state).toBe(state)
  })

  it.each([
    [
      'a yen has no minor unit',
      { details: { totals: { total: '500', currency_code: 'JPY' } } },
      { value: 500, currency: 'JPY' },
    ],
    [
      'an adjustment',
      { totals: { total: '100', currency_code: 'EUR' }, transaction_id: 'txn_1' },
      { value: 100, currency: 'EUR' },
    ],
    ['a price', { unit_price: { amount: '999', currency_code: 'KWD' } }, { value: 999, currency: 'KWD' }],
    ['a payout', { amount: '10000', currency_code: 'USD' }, { value: 10000, currency: 'USD' }],
    ['a percentage is no amount', { amount: '10', currency_code: null }, null],
    ['a decimal is no minor unit', { amount: '10.5', currency_code: 'USD' }, null],
    ['too large to be exact', { amount: '9007199254740993', currency_code: 'USD' }, null],
  ])('amounts: %s', (_, data, amount) => {
    expect(decodeOne(paddle, event('x.y', data)).amount).toEqual(amount)
  })

  it('takes the object’s type from the event, and lists what it refers to', () => {
    const { object, customer, invoice, subscription } = decodeOne(
      paddle,
      event('adjustment.updated', {
        id: 'adj_1',
        transaction_id: 'txn_1',
        customer_id: 'ctm_1',
        subscription_id: 'sub_1',
        status: 'approved',
      }),
    )
    expect({ object, customer, invoice, subscription }).toEqual({
      object: { type: 'adjustment', id: 'adj_1', status: 'approved' },
      customer: 'ctm_1',
      invoice: 'txn_1',
      subscription: 'sub_1',
    })
    expect(decodeOne(paddle, event('customer.created', { id: 'ctm_9' })).customer).toBe('ctm_9')
    expect(decodeOne(paddle, event('subscription.created', { id: 'sub_9', transaction_id: 'txn_9' }))).toMatchObject({
      subscription: 'sub_9',
      invoice: 'txn_9',
    })
    expect(decodeOne(paddle, event('api_key_exposure.created', { id: 'expo_1', api_key_id: 'apikey_1' })).refs).toEqual(
      ['expo_1', 'apikey_1'],
    )
  })

  it('distinguishes an endpoint secret from an API key', () => {
    expect(paddle.checkSecret(fixture.secret)).toBeNull()
    for (const bad of ['', 'pdl_live_apikey_01abc', 'pdl_ntfset_'])
      expect(paddle.checkSecret(bad)).toMatch(/pdl_ntfset_/)
  })
})
