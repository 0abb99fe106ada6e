import * as p from '../payloads-more'
import { type Line, type Said, sub } from './line'

const cb = (type: string, fields: p.Fields = {}) =>
  p.chargebeeEvent(type, { subscription: p.chargebeeSubscription(fields) })
const cbInvoice = (type: string, fields: p.Fields = {}) =>
  p.chargebeeEvent(type, { invoice: p.chargebeeInvoice(fields) })
const ofChargebee = sub('cb_sub_1', 'cb_cus_1', null)
const ofCbInvoice = (status: string, fields: p.Fields = {}): Said[] => [
  {
    list: 'invoices',
    id: 'cb_inv_1',
    customer: 'cb_cus_1',
    livemode: null,
    status,
    fields: { subscription: 'cb_sub_1', ...fields },
  },
]

export const CHARGEBEE: Line[] = [
  [
    'to begin later',
    cb('subscription_created', { status: 'future', current_term_end: undefined, current_term_start: undefined }),
    ofChargebee('scheduled', {
      items: [
        ['cb_price_1', null, null, 2],
        ['cb_addon_1', null, null, 5],
      ],
    }),
  ],
  [
    'on trial',
    cb('subscription_created', {
      status: 'in_trial',
      current_term_start: undefined,
      current_term_end: undefined,
      trial_start: p.START,
      trial_end: p.START + 86_400,
    }),
    ofChargebee('trialing', { fields: { trial_end: p.at(1), current_period_end: p.at(1) } }),
  ],
  [
    'active',
    cb('subscription_activated'),
    ofChargebee('active', { fields: { current_period_end: p.at(31), currency: 'USD' } }),
  ],
  [
    'of the older catalog',
    cb('subscription_changed', {
      subscription_items: undefined,
      plan_id: 'basic',
      plan_quantity: 3,
      plan_unit_price: 900,
      addons: [{ id: 'data', quantity: 2 }],
    }),
    ofChargebee('active', {
      items: [
        ['basic', null, null, 3],
        ['data', null, null, 2],
      ],
    }),
  ],
  [
    'to be canceled',
    cb('subscription_cancellation_scheduled', { status: 'non_renewing', cancelled_at: p.START + 31 * 86_400 }),
    ofChargebee('active', { fields: { cancel_at: p.at(31), cancel_at_period_end: true } }),
  ],
  [
    'paused',
    cb('subscription_paused', { status: 'paused', pause_date: p.START }),
    ofChargebee('paused', { fields: { paused_at: p.at(0) } }),
  ],
  [
    'canceled',
    cb('subscription_cancelled', { status: 'cancelled', cancelled_at: p.START, cancel_reason: 'not_paid' }),
    ofChargebee('canceled', { fields: { ended_at: p.at(0), cancel_at: null } }),
  ],
  ['transferred', cb('subscription_moved_out', { status: 'transferred' }), ofChargebee('canceled')],
  ['deleted on trial', cb('subscription_deleted', { status: 'in_trial', deleted: true }), ofChargebee('canceled')],
  ['a pending invoice', cbInvoice('pending_invoice_created', { status: 'pending' }), ofCbInvoice('draft')],
  ['a posted invoice', cbInvoice('invoice_generated', { status: 'posted' }), ofCbInvoice('open')],
  [
    'an invoice that is due',
    cbInvoice('invoice_generated'),
    ofCbInvoice('open', { total: 2261, tax: 361, amount_remaining: 2261, number: 'cb_inv_1' }),
  ],
  [
    'a paid invoice',
    cbInvoice('invoice_updated', { status: 'paid', amount_paid: 2261, amount_due: 0, paid_at: p.START }),
    ofCbInvoice('paid', { paid_at: p.at(0) }),
  ],
  ['an invoice without a hope', cbInvoice('invoice_updated', { status: 'not_paid' }), ofCbInvoice('uncollectible')],
  ['a voided invoice', cbInvoice('invoice_updated', { status: 'voided' }), ofCbInvoice('void')],
  ['a deleted invoice', cbInvoice('invoice_deleted', { deleted: true }), ofCbInvoice('deleted')],
  [
    'a failed payment, with all that it is about',
    p.chargebeeEvent('payment_failed', {
      transaction: { id: 't', customer_id: 'cb_cus_1' },
      invoice: p.chargebeeInvoice(),
      customer: p.chargebeeCustomer(),
      subscription: p.chargebeeSubscription(),
    }),
    [
      ...ofChargebee('active'),
      ...ofCbInvoice('open'),
      {
        list: 'customers',
        id: 'cb_cus_1',
        status: 'active',
        livemode: null,
        fields: { email: 'chargebee@example.com', default_payment_method: 'pm_cb_1' },
      },
    ],
  ],
  [
    'a payment source',
    p.chargebeeEvent('payment_source_added', {
      payment_source: p.chargebeeSource(),
      customer: p.chargebeeCustomer(),
    }),
    [
      {
        list: 'payment-methods',
        id: 'pm_cb_1',
        status: 'attached',
        customer: 'cb_cus_1',
        fields: { last4: '4242', type: 'card', is_default: true },
      },
      { list: 'customers', id: 'cb_cus_1', status: 'active', fields: { default_payment_method: 'pm_cb_1' } },
    ],
  ],
  [
    'a deleted payment source',
    p.chargebeeEvent('payment_source_deleted', { payment_source: p.chargebeeSource({ deleted: true }) }),
    [{ list: 'payment-methods', id: 'pm_cb_1', status: 'detached', customer: 'cb_cus_1' }],
  ],
  [
    'a deleted customer, with a list of subscriptions',
    p.chargebeeEvent('customer_deleted', {
      customer: p.chargebeeCustomer({ deleted: true }),
      subscriptions: [
        p.chargebeeSubscription({ deleted: true }),
        p.chargebeeSubscription({ id: 'cb_sub_2', deleted: true }),
      ],
    }),
    [
      { list: 'customers', id: 'cb_cus_1', status: 'deleted' },
      ...ofChargebee('canceled'),
      ...ofChargebee('canceled', { id: 'cb_sub_2' }),
    ],
  ],
  ['a coupon', p.chargebeeEvent('coupon_created', { coupon: { id: 'offer' } }), []],
]
