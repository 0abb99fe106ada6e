import * as p from '../payloads-more'
import * as s from '../payloads-sold'
import type { Line, Said } from './line'

const order = (topic: string, fields: p.Fields = {}) => s.shopifyEvent(topic, s.shopifyOrder(fields))
const bought = (status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'purchases', id: '5001', customer: '4001', livemode: true, status, ...more },
]
const refunded = (refund: p.Fields, fields: p.Fields = {}) =>
  order('orders/updated', { refunds: [s.shopifyRefund(refund)], ...fields })

export const SHOPIFY: Line[] = [
  [
    'paid',
    order('orders/paid'),
    bought('paid', {
      items: [['7001', null, '6001', 3]],
      fields: {
        ...{ currency: 'USD', subtotal: 2000, discount_amount: 100, tax: 361, total: 2361, number: '#1001' },
        ...{
          paid_at: p.at(0),
          refunded_amount: 0,
          customer_email: 'shopify@example.com',
          customer_name: 'Ada Example',
        },
        metadata: { consumer_external_id: 'user_shopify' },
      },
    }),
  ],
  ['created, and not paid', order('orders/create', { financial_status: 'pending' }), bought('pending')],
  ['authorized', order('orders/create', { financial_status: 'authorized' }), bought('pending')],
  ['paid in part', order('orders/updated', { financial_status: 'partially_paid' }), bought('pending')],
  ['voided', order('orders/updated', { financial_status: 'voided' }), bought('canceled')],
  [
    'canceled before it was paid',
    order('orders/cancelled', { financial_status: 'pending', cancelled_at: p.at(1) }),
    bought('canceled'),
  ],
  ['canceled, with its payment', order('orders/cancelled', { cancelled_at: p.at(1) }), bought('paid')],
  ['fulfilled', order('orders/fulfilled', { fulfillment_status: 'fulfilled' }), bought('paid')],
  ['a status of tomorrow', order('orders/updated', { financial_status: 'frozen' }), bought('unknown')],
  ['in test mode', order('orders/paid', { test: true }), bought('paid', { livemode: false })],
  ['without a customer', order('orders/paid', { customer: null }), bought('paid', { customer: null })],
  [
    'items of no product',
    order('orders/paid', { line_items: [s.shopifyLine({ variant_id: null, product_id: null })] }),
    bought('paid', { items: [[null, null, null, 3]] }),
  ],
  [
    'a test notification',
    order('orders/create', { id: 820982911946154500, admin_graphql_api_id: 'gid://shopify/Order/820982911946154508' }),
    bought('paid', { id: '820982911946154508' }),
  ],
  [
    'refunded in part',
    refunded({}, { financial_status: 'partially_refunded' }),
    [...bought('partially_refunded', { fields: { refunded_amount: 787, vendor_status: 'partially_refunded' } })],
  ],
  ['refunded in full', refunded({}, { financial_status: 'refunded' }), bought('refunded')],
  [
    'with a refund that failed',
    refunded({ transactions: [{ kind: 'refund', status: 'failure', amount: '7.87', currency: 'USD' }] }),
    bought('paid', { fields: { refunded_amount: 0 } }),
  ],
  ['a renewal', order('orders/paid', { source_name: 'subscription_contract_checkout_one', note_attributes: [] }), []],
  [
    'a checkout under the topic of an order',
    order('orders/paid', { admin_graphql_api_id: 'gid://shopify/DraftOrder/5001', note_attributes: [] }),
    [],
  ],
  ['an edit of an order', s.shopifyEvent('orders/edited', { order_edit: { id: 1, order_id: 5001 } }), []],
  ['a product', s.shopifyEvent('products/update', { id: 6001, title: 'Credits' }), []],
]
