import * as p from '../payloads-more'
import { type Line, type Said, sub } from './line'

const polar = (type: string, fields: p.Fields = {}) => p.polarEvent(type, p.polarSubscription(fields))
const ofPolar = sub('pol_sub_1', 'pol_cus_1', null)
const order = (status: string, fields: p.Fields = {}): Said[] => [
  { list: 'invoices', id: 'pol_ord_1', customer: 'pol_cus_1', livemode: null, status, fields },
]

const bought = (status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'purchases', id: 'pol_ord_1', customer: 'pol_cus_1', livemode: null, status, ...more },
]

export const POLAR: Line[] = [
  [
    'created',
    polar('subscription.created', { status: 'incomplete' }),
    ofPolar('incomplete', { items: [['pol_price_1', null, 'pol_prod_1', null]] }),
  ],
  [
    'on trial',
    polar('subscription.active', { status: 'trialing', seats: 4, trial_end: p.at(14) }),
    ofPolar('trialing', { items: [['pol_price_1', null, 'pol_prod_1', 4]], fields: { trial_end: p.at(14) } }),
  ],
  [
    'active',
    polar('subscription.active'),
    ofPolar('active', { fields: { current_period_end: p.at(31), currency: 'USD', cancel_at: null } }),
  ],
  [
    'to be canceled',
    polar('subscription.canceled', { cancel_at_period_end: true, ends_at: p.at(31) }),
    ofPolar('active', { fields: { cancel_at: p.at(31), cancel_at_period_end: true } }),
  ],
  ['past due', polar('subscription.past_due', { status: 'past_due' }), ofPolar('past_due')],
  ['unpaid', polar('subscription.updated', { status: 'unpaid' }), ofPolar('unpaid')],
  [
    'revoked',
    polar('subscription.revoked', { status: 'canceled', ended_at: p.at(31) }),
    ofPolar('canceled', { fields: { ended_at: p.at(31) } }),
  ],
  ['expired', polar('subscription.updated', { status: 'incomplete_expired' }), ofPolar('incomplete_expired')],
  ['a status of tomorrow', polar('subscription.updated', { status: 'frozen' }), ofPolar('unknown')],
  [
    'without prices',
    polar('subscription.updated', { prices: undefined }),
    ofPolar('active', { items: [[null, null, 'pol_prod_1', null]] }),
  ],
  [
    'a pending order',
    p.polarEvent('order.created', p.polarOrder({ status: 'pending' })),
    order('open', { amount_remaining: 2261 }),
  ],
  [
    'a paid order',
    p.polarEvent('order.paid', p.polarOrder()),
    order('paid', { subtotal: 2000, tax: 361, total: 2261, number: 'POLAR-1', subscription: 'pol_sub_1' }),
  ],
  ['a refunded order', p.polarEvent('order.refunded', p.polarOrder({ status: 'refunded' })), order('paid')],
  [
    'an order refunded in part',
    p.polarEvent('order.refunded', p.polarOrder({ status: 'partially_refunded' })),
    order('paid'),
  ],
  [
    'a purchase',
    p.polarEvent('order.paid', p.polarOrder({ billing_reason: 'purchase', subscription_id: null, seats: 3 })),
    [
      ...order('paid', { subscription: null }),
      ...bought('paid', {
        items: [['pol_price_1', null, 'pol_prod_1', 3]],
        fields: { total: 2261, number: 'POLAR-1' },
      }),
    ],
  ],
  [
    'a purchase refunded in part',
    p.polarEvent(
      'order.refunded',
      p.polarOrder({
        ...{ billing_reason: 'purchase', status: 'partially_refunded' },
        ...{ refunded_amount: 100, refunded_tax_amount: 19 },
      }),
    ),
    [...order('paid'), ...bought('partially_refunded', { fields: { refunded_amount: 119 } })],
  ],
  ['a void order', p.polarEvent('order.updated', p.polarOrder({ status: 'void' })), order('void')],
  [
    'a customer',
    p.polarEvent('customer.created', p.polarCustomer()),
    [
      {
        list: 'customers',
        id: 'pol_cus_1',
        status: 'active',
        livemode: null,
        fields: { email: 'polar@example.com', name: 'Ada Example' },
      },
    ],
  ],
  [
    'a deleted customer',
    p.polarEvent('customer.deleted', p.polarCustomer({ deleted_at: p.at(1) })),
    [{ list: 'customers', id: 'pol_cus_1', status: 'deleted' }],
  ],
  ['what a customer has', p.polarEvent('customer.state_changed', p.polarCustomer({ external_id: null })), []],
  ['a benefit', p.polarEvent('benefit_grant.created', { id: 'b', customer_id: 'pol_cus_1' }), []],
]
