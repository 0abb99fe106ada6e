import { describe, expect, it } from 'vitest'
import { vendorOf } from '../../src/vendors'
import type { Json } from '../../src/vendors/lib/json'

const KEYS = ['first', 'second']
const claims = (vendor: string, event: Json) => vendorOf(vendor)?.claims?.(event, KEYS)

const stripe = (type: string, object: object) =>
  claims('stripe', { id: 'evt_1', object: 'event', type, created: 1, data: { object } })
const paddle = (event_type: string, data: object) => claims('paddle', { event_id: 'evt_1', event_type, data })

const said = (...ids: string[]) => ids.map((external_id) => ({ customer: 'cus_1', external_id, by: 'customer' }))
const hint = (...ids: string[]) => ids.map((external_id) => ({ customer: 'cus_1', external_id, by: 'checkout' }))
const customer = (metadata: unknown) => ({ object: 'customer', id: 'cus_1', metadata })
const session = (fields: object) => ({ object: 'checkout.session', customer: 'cus_1', ...fields })
const subscription = (fields: object) => ({ object: 'subscription', id: 'sub_1', customer: 'cus_1', ...fields })

describe('the claims of Stripe', () => {
  it.each<[string, unknown, unknown]>([
    ['metadata of a customer', stripe('customer.updated', customer({ first: 'u1' })), said('u1')],
    ['of one that is deleted', stripe('customer.deleted', customer({ second: 'u1' })), said('u1')],
    ['the first key', stripe('customer.created', customer({ second: 'u2', first: 'u1' })), said('u1', 'u2')],
    ['the first key with a value', stripe('customer.created', customer({ second: 'u2', first: '' })), said('u2')],
    ['a key that was removed', stripe('customer.updated', customer({ other: 'u1' })), []],
    ['no metadata', stripe('customer.updated', customer(null)), []],
    ['a name of Object', stripe('customer.updated', customer([])), []],
    [
      'another object',
      stripe('customer.tax_id.created', { object: 'tax_id', customer: 'cus_1', metadata: { first: 'u1' } }),
      [],
    ],
    [
      'metadata of a checkout',
      stripe('checkout.session.completed', session({ metadata: { first: 'u1' } })),
      hint('u1'),
    ],
    ['its reference', stripe('checkout.session.completed', session({ client_reference_id: 'u1' })), hint('u1')],
    [
      'a checkout that is not paid yet',
      stripe('checkout.session.completed', session({ client_reference_id: 'u1', payment_status: 'unpaid' })),
      [],
    ],
    [
      'one that is paid later',
      stripe(
        'checkout.session.async_payment_succeeded',
        session({ client_reference_id: 'u1', payment_status: 'paid' }),
      ),
      hint('u1'),
    ],
    ['one that expired', stripe('checkout.session.expired', session({ client_reference_id: 'u1' })), []],
    [
      'metadata before the reference',
      stripe('checkout.session.completed', session({ client_reference_id: 'u2', metadata: { first: 'u1' } })),
      hint('u1', 'u2'),
    ],
    [
      'a checkout without a customer',
      stripe('checkout.session.completed', session({ customer: null, client_reference_id: 'u1' })),
      [],
    ],
    [
      'an expanded customer',
      stripe('checkout.session.completed', session({ customer: { id: 'cus_1' }, client_reference_id: 'u1' })),
      hint('u1'),
    ],
    [
      'metadata of a subscription',
      stripe('customer.subscription.updated', subscription({ metadata: { first: 'u1' } })),
      hint('u1'),
    ],
    ['a subscription without', stripe('customer.subscription.updated', subscription({ metadata: {} })), []],
    ['an invoice', stripe('invoice.paid', { object: 'invoice', customer: 'cus_1', metadata: { first: 'u1' } }), []],
    ['a thin event', claims('stripe', { id: 'evt_1', object: 'v2.core.event', type: 'v1.customer.updated' }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Paddle', () => {
  const data = (fields: object) => ({ id: 'sub_1', customer_id: 'cus_1', ...fields })
  it.each<[string, unknown, unknown]>([
    [
      'custom data of a customer',
      paddle('customer.imported', { id: 'cus_1', custom_data: { first: 'u1' } }),
      said('u1'),
    ],
    ['a number', paddle('customer.updated', { id: 'cus_1', custom_data: { first: 4711 } }), said('4711')],
    ['a number with a fraction', paddle('customer.updated', { id: 'cus_1', custom_data: { first: 4.5 } }), []],
    ['another value', paddle('customer.updated', { id: 'cus_1', custom_data: { first: { id: 'u1' } } }), []],
    ['none', paddle('customer.updated', { id: 'cus_1', custom_data: null }), []],
    ['of a subscription', paddle('subscription.created', data({ custom_data: { second: 'u1' } })), hint('u1')],
    [
      'of a transaction that is paid',
      paddle('transaction.paid', data({ status: 'paid', custom_data: { first: 'u1' } })),
      hint('u1'),
    ],
    [
      'of one that only was opened',
      paddle('transaction.created', data({ status: 'ready', custom_data: { first: 'u1' } })),
      [],
    ],
    [
      'of a transaction without a customer',
      paddle('transaction.paid', data({ status: 'paid', customer_id: null, custom_data: { first: 'u1' } })),
      [],
    ],
    ['of an address', paddle('address.created', data({ custom_data: { first: 'u1' } })), []],
    ['of a business', paddle('business.imported', data({ custom_data: { first: 'u1' } })), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Polar', () => {
  const polar = (type: string, data: object) => claims('polar', { type, data })
  it.each<[string, unknown, unknown]>([
    ['the external id of a customer', polar('customer.created', { id: 'cus_1', external_id: 'u1' }), said('u1')],
    [
      'then its metadata',
      polar('customer.updated', { id: 'cus_1', external_id: 'u1', metadata: { first: 'u2' } }),
      said('u1', 'u2'),
    ],
    ['what a customer has', polar('customer.state_changed', { id: 'cus_1', external_id: 'u1' }), said('u1')],
    [
      'the customer in a subscription, then the metadata of the subscription',
      polar('subscription.created', {
        customer_id: 'cus_1',
        customer: { external_id: 'u1' },
        metadata: { second: 'u2' },
      }),
      [...said('u1'), ...hint('u2')],
    ],
    [
      'metadata of a paid order',
      polar('order.paid', { status: 'paid', customer_id: 'cus_1', metadata: { first: 'u1' } }),
      hint('u1'),
    ],
    [
      'of an order that is not paid',
      polar('order.created', { status: 'pending', customer_id: 'cus_1', metadata: { first: 'u1' } }),
      [],
    ],
    ['of a checkout', polar('checkout.created', { customer_id: 'cus_1', metadata: { first: 'u1' } }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Lemon Squeezy', () => {
  const lemon = (event_name: string, attributes: object, custom_data: unknown = { first: 'u1' }) =>
    claims('lemonsqueezy', { meta: { event_name, custom_data }, data: { type: 'x', id: '1', attributes } })
  const of31 = (...ids: string[]) => ids.map((external_id) => ({ customer: '31', external_id, by: 'checkout' }))
  it.each<[string, unknown, unknown]>([
    ['custom data of a subscription', lemon('subscription_created', { customer_id: 31, status: 'active' }), of31('u1')],
    ['a number', lemon('subscription_updated', { customer_id: 31 }, { second: 25 }), of31('25')],
    ['of a paid order', lemon('order_created', { customer_id: 31, status: 'paid' }), of31('u1')],
    ['of an order that failed', lemon('order_created', { customer_id: 31, status: 'failed' }), []],
    ['of a payment', lemon('subscription_payment_success', { customer_id: 31, status: 'paid' }), of31('u1')],
    ['of a payment that failed', lemon('subscription_payment_failed', { customer_id: 31, status: 'pending' }), []],
    ['of a license key', lemon('license_key_created', { customer_id: 31, status: 'active' }), []],
    ['none', lemon('subscription_created', { customer_id: 31 }, null), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Chargebee', () => {
  const chargebee = (customer: object, event_type = 'customer_changed') =>
    claims('chargebee', {
      event_type,
      occurred_at: 9,
      content: { customer: { id: 'cus_1', resource_version: 5000, ...customer } },
    })
  // The customer's own time, because an event may have a customer that is older.
  const made = { at: '1970-01-01T00:00:05.000Z', id: 'cus_1' }
  const with_ = (claims: object[]) => claims.map((one) => ({ ...one, made }))
  it.each<[string, unknown, unknown]>([
    ['metadata of the customer', chargebee({ meta_data: { first: 'u1' } }), with_(said('u1'))],
    [
      'in an event of a subscription',
      chargebee({ meta_data: { second: 'u1' } }, 'subscription_created'),
      with_(said('u1')),
    ],
    ['a custom field, which a buyer may fill in', chargebee({ cf_first: 'u1' }), with_(hint('u1'))],
    ['both', chargebee({ cf_first: 'u2', meta_data: { first: 'u1' } }), with_([...said('u1'), ...hint('u2')])],
    ['another custom field', chargebee({ cf_other: 'u1' }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
  it('of an event without a customer', () => {
    expect(claims('chargebee', { event_type: 'coupon_created', content: { coupon: { id: 'x' } } })).toEqual([])
  })
})

describe('the claims of Square', () => {
  const square = (type: string, customer: object) =>
    claims('square', { type, data: { type: 'customer', id: 'cus_1', object: { customer } } })
  it.each<[string, unknown, unknown]>([
    ['the reference of a customer', square('customer.created', { id: 'cus_1', reference_id: 'u1' }), said('u1')],
    ['of a deleted one', square('customer.deleted', { reference_id: 'u1' }), said('u1')],
    ['an empty one', square('customer.updated', { reference_id: '' }), []],
    ['an attribute', square('customer.custom_attribute.owned.updated', { reference_id: 'u1' }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Shopify', () => {
  const shopify = (fields: object) => claims('shopify', { financial_status: 'paid', customer: { id: 31 }, ...fields })
  const of31 = (...ids: string[]) => ids.map((external_id) => ({ customer: '31', external_id, by: 'checkout' }))
  const noted = (name: string, value: unknown) => ({ note_attributes: [{ name, value }] })
  it.each<[string, unknown, unknown]>([
    ['an attribute of a paid order', shopify(noted('first', 'u1')), of31('u1')],
    ['of one that was refunded', shopify({ ...noted('second', 25), financial_status: 'refunded' }), of31('25')],
    ['of one that is not paid', shopify({ ...noted('first', 'u1'), financial_status: 'pending' }), []],
    ['of a checkout', shopify({ ...noted('first', 'u1'), financial_status: undefined }), []],
    ['of an order without a customer', shopify({ ...noted('first', 'u1'), customer: null }), []],
    ['another attribute', shopify(noted('__proto__', 'u1')), []],
    ['none', shopify({ note_attributes: null }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('the claims of Braintree', () => {
  const braintree = (transaction: unknown) =>
    claims('braintree', { kind: 'subscription_canceled', subject: { subscription: { transactions: { transaction } } } })
  it.each<[string, unknown, unknown]>([
    [
      'a custom field of the customer',
      braintree({ customer: { id: 'cus_1', 'custom-fields': { first: 'u1' } } }),
      said('u1'),
    ],
    [
      'a custom field of the payment',
      braintree({ customer: { id: 'cus_1' }, 'custom-fields': { second: 'u1' } }),
      hint('u1'),
    ],
    [
      'the first of several payments',
      braintree([{ customer: { id: 'cus_1', 'custom-fields': { first: 'u1' } } }, 7]),
      said('u1'),
    ],
    ['no customer', braintree({ 'custom-fields': { first: 'u1' } }), []],
    ['no payment', braintree(undefined), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

describe('claims of the App Store', () => {
  const apple = (transaction: object, renewal: object = {}) =>
    claims('apple', { data: { signedTransactionInfo: transaction, signedRenewalInfo: renewal } })
  it.each<[string, unknown, unknown]>([
    ['the token of the transaction', apple({ appAccountToken: 'cus_1' }, { appAccountToken: 'u2' }), hint('cus_1')],
    ['the token of the renewal', apple({}, { appAccountToken: 'cus_1' }), hint('cus_1')],
    ['no token', apple({ first: 'u1' }), []],
    ['an empty token', apple({ appAccountToken: '' }), []],
    ['no transaction', claims('apple', { summary: { appAccountToken: 'u1' } }), []],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})

it('other vendors make none yet', () => {
  expect(claims('recurly', { object_type: 'account', account_code: 'u1' })).toBeUndefined()
})
