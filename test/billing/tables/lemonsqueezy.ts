import * as p from '../payloads-more'
import { type Line, type Said, sub } from './line'

const lemon = (name: string, fields: p.Fields = {}) =>
  p.lemonEvent(name, p.LEMON_SUBSCRIPTION, p.lemonSubscription(fields))
const paid = (name: string, fields: p.Fields = {}) => p.lemonEvent(name, p.LEMON_INVOICE, p.lemonInvoice(fields))
const ofLemon = sub('21', '31', true)
const lemonPaid = (status: string, fields: p.Fields = {}): Said[] => [
  { list: 'invoices', id: '22', customer: '31', livemode: true, status, fields: { subscription: '21', ...fields } },
]

const bought = (status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'purchases', id: '41', customer: '31', livemode: true, status, ...more },
]

export const LEMONSQUEEZY: Line[] = [
  [
    'on trial',
    lemon('subscription_created', { status: 'on_trial', trial_ends_at: p.at(14, 6) }),
    ofLemon('trialing', { items: [['91', '71', '61', 3]], fields: { trial_end: p.at(14, 6) } }),
  ],
  [
    'active',
    lemon('subscription_updated'),
    ofLemon('active', { fields: { current_period_end: p.at(31, 6), cancel_at: null } }),
  ],
  [
    'canceled until it ends',
    lemon('subscription_cancelled', { status: 'cancelled', cancelled: true, ends_at: p.at(31, 6) }),
    ofLemon('active', { fields: { cancel_at: p.at(31, 6), cancel_at_period_end: true } }),
  ],
  [
    'paused',
    lemon('subscription_paused', { status: 'paused', pause: { mode: 'void', resumes_at: null } }),
    ofLemon('paused', { fields: { pause_collection: { behavior: 'void', resumes_at: null } } }),
  ],
  ['past due', lemon('subscription_updated', { status: 'past_due' }), ofLemon('past_due')],
  ['unpaid', lemon('subscription_updated', { status: 'unpaid' }), ofLemon('unpaid')],
  [
    'expired',
    lemon('subscription_expired', { status: 'expired', cancelled: true, ends_at: p.at(31, 6) }),
    ofLemon('canceled', { fields: { ended_at: p.at(31, 6), cancel_at: null } }),
  ],
  ['in test mode', lemon('subscription_created', { test_mode: true }), ofLemon('active', { livemode: false })],
  ['paid', paid('subscription_payment_success'), lemonPaid('paid', { total: 2261, tax: 361, amount_paid: 2261 })],
  [
    'not paid yet',
    paid('subscription_payment_failed', { status: 'pending' }),
    lemonPaid('open', { amount_remaining: 2261 }),
  ],
  ['refunded', paid('subscription_payment_refunded', { status: 'refunded', refunded: true }), lemonPaid('paid')],
  ['void', paid('subscription_payment_failed', { status: 'void' }), lemonPaid('void')],
  [
    'an order',
    p.lemonEvent('order_created', p.LEMON_ORDER, p.lemonOrder()),
    bought('paid', {
      items: [['91', '71', null, 1]],
      fields: {
        total: 2261,
        refunded_amount: 0,
        number: '1001',
        paid_at: p.at(0, 6),
        customer_email: 'ada@example.com',
      },
    }),
  ],
  [
    'an order refunded in part, which stays paid',
    p.lemonEvent('order_refunded', p.LEMON_ORDER, p.lemonOrder({ refunded_amount: 500 })),
    bought('partially_refunded', { fields: { refunded_amount: 500, vendor_status: 'paid' } }),
  ],
  [
    'a refunded order',
    p.lemonEvent('order_refunded', p.LEMON_ORDER, p.lemonOrder({ status: 'refunded', refunded_amount: 2261 })),
    bought('refunded', { fields: { refunded_amount: 2261 } }),
  ],
  [
    'an order that failed',
    p.lemonEvent('order_created', p.LEMON_ORDER, p.lemonOrder({ status: 'failed' })),
    bought('failed'),
  ],
  [
    'an order as real ones are: without a price and a quantity',
    p.lemonEvent(
      'order_created',
      p.LEMON_ORDER,
      p.lemonOrder({ first_order_item: { id: 51, variant_id: 71, product_id: 61 } }),
    ),
    bought('paid', { items: [[null, '71', null, 1]] }),
  ],
  [
    'an order marked as fraud',
    p.lemonEvent('order_created', p.LEMON_ORDER, p.lemonOrder({ status: 'fraudulent' })),
    bought('unknown'),
  ],
  ['a license key', p.lemonEvent('license_key_created', ['license-keys', '1'], { customer_id: 31 }), []],
]
