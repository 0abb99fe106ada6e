import * as p from '../payloads-more'
import * as s from '../payloads-sold'
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
/** An invoice with what was charged once, and its purchase. */
const cbSold = (fields: p.Fields = {}, type = 'invoice_generated') =>
  p.chargebeeEvent(type, { invoice: s.chargebeeSold(fields) })
const ofCbSale = (invoice: string, status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'invoices', id: 'cb_inv_1', customer: 'cb_cus_1', livemode: null, status: invoice },
  { list: 'purchases', id: 'cb_inv_1', customer: 'cb_cus_1', livemode: null, status, ...more },
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
  [
    'what is charged once',
    cbSold(),
    ofCbSale('paid', 'paid', {
      items: [['cb_charge_1', null, null, 3]],
      fields: {
        ...{ subtotal: 2100, discount_amount: 100, tax: 361, total: 2361, currency: 'USD', number: 'cb_inv_1' },
        ...{ invoice: 'cb_inv_1', subscription: null, paid_at: p.at(0), refunded_amount: 0, items_missing: false },
      },
    }),
  ],
  [
    'beside a subscription',
    cbSold({
      subscription_id: 'cb_sub_1',
      line_items: [
        { id: 'li_1', entity_id: 'cb_price_1', entity_type: 'plan_item_price', quantity: 2, amount: 2000 },
        { id: 'li_2', entity_id: 'cb_addon_1', entity_type: 'addon_item_price', quantity: 5, amount: 500 },
        s.chargebeeCharge({ id: 'li_credit', amount: -100 }),
        s.chargebeeCharge(),
      ],
    }),
    ofCbSale('paid', 'paid', { items: [['cb_charge_1', null, null, 3]], fields: { subscription: 'cb_sub_1' } }),
  ],
  [
    'an addon of the older catalog that is charged once',
    cbSold({ line_items: [s.chargebeeCharge({ entity_type: 'addon', entity_id: 'prepaid', quantity: 5000 })] }),
    ofCbSale('paid', 'paid', { items: [['prepaid', null, null, 5000]] }),
  ],
  [
    'an addon of the older catalog that is charged in each term, and a setup fee',
    cbSold({
      line_items: [
        s.chargebeeCharge({ entity_type: 'addon', date_to: p.START + 86_400 }),
        s.chargebeeCharge({ entity_type: 'addon', date_from: undefined, date_to: undefined }),
        s.chargebeeCharge({ entity_type: 'plan_setup' }),
      ],
    }),
    ofCbInvoice('paid', { subscription: null }),
  ],
  [
    'a charge without a price',
    cbSold({ line_items: [s.chargebeeCharge({ entity_type: 'adhoc', entity_id: undefined, quantity: 1 })] }),
    ofCbSale('paid', 'paid', { items: [[null, null, null, 1]] }),
  ],
  ['a draft of it', cbSold({ status: 'pending' }), ofCbInvoice('draft', { subscription: null })],
  [
    'due',
    cbSold({ status: 'payment_due', paid_at: undefined }),
    ofCbSale('open', 'pending', { fields: { paid_at: null } }),
  ],
  ['never paid', cbSold({ status: 'not_paid', paid_at: undefined }), ofCbSale('uncollectible', 'failed')],
  ['voided', cbSold({ status: 'voided' }), ofCbSale('void', 'canceled')],
  ['deleted', cbSold({ deleted: true }), ofCbSale('deleted', 'canceled')],
  ['written off, which is paid', cbSold({ write_off_amount: 2361 }), ofCbSale('paid', 'canceled')],
  ['adjusted in part', cbSold({ amount_adjusted: 361 }), ofCbSale('paid', 'paid')],
  [
    'refunded in part, in one event',
    p.chargebeeEvent('payment_refunded', { invoice: s.chargebeeSold(), credit_note: s.chargebeeNote() }),
    ofCbSale('paid', 'partially_refunded', { fields: { refunded_amount: 500, total: 2361 } }),
  ],
  [
    'an adjustment, which gives no money back',
    p.chargebeeEvent('credit_note_created', {
      credit_note: s.chargebeeNote({ type: 'adjustment', status: 'adjusted' }),
    }),
    [],
  ],
  ['a coupon', p.chargebeeEvent('coupon_created', { coupon: { id: 'offer' } }), []],
]
