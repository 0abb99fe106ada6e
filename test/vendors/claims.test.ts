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

it('other vendors make none yet', () => {
  expect(claims('polar', { type: 'customer.created', data: { external_id: 'u1' } })).toBeUndefined()
})
