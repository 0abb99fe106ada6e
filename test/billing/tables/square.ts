import * as p from '../payloads-more'
import * as s from '../payloads-sold'
import { type Line, type Said, sub } from './line'

const sq = (type: string, fields: p.Fields = {}) => p.squareEvent(type, p.squareSubscription(fields))
const sqInvoice = (type: string, fields: p.Fields = {}) => p.squareEvent(type, p.squareInvoice(fields))
const ofSquare = sub('sq-sub-1', 'SQCUS1', true)
const ofSqInvoice = (status: string, fields: p.Fields = {}): Said[] => [
  {
    list: 'invoices',
    id: 'inv:1',
    customer: 'SQCUS1',
    livemode: true,
    status,
    fields: { subscription: 'sq-sub-1', ...fields },
  },
]

const sqSold = (status: string, more: Partial<Said> = {}): Said[] => [
  { list: 'purchases', id: 'SQPAY1', customer: 'SQCUS1', livemode: true, status, ...more },
]

export const SQUARE: Line[] = [
  [
    'to begin later',
    sq('subscription.created', { status: 'PENDING' }),
    ofSquare('scheduled', { items: [['SQPLAN1', null, null, 1]] }),
  ],
  [
    'active',
    sq('subscription.updated'),
    ofSquare('active', { fields: { current_period_end: p.at(31), default_payment_method: 'ccof:1' } }),
  ],
  [
    'to be canceled',
    sq('subscription.updated', { canceled_date: p.day(30) }),
    ofSquare('active', { fields: { cancel_at: p.at(31), cancel_at_period_end: true } }),
  ],
  ['paused', sq('subscription.updated', { status: 'PAUSED' }), ofSquare('paused')],
  ['deactivated', sq('subscription.updated', { status: 'DEACTIVATED' }), ofSquare('canceled')],
  ['completed', sq('subscription.updated', { status: 'COMPLETED' }), ofSquare('canceled')],
  [
    'canceled',
    sq('subscription.updated', { status: 'CANCELED', canceled_date: p.day(30) }),
    ofSquare('canceled', { fields: { ended_at: p.at(31) } }),
  ],
  ['in the sandbox', sq('subscription.created'), ofSquare('active', { livemode: false }), 'Sandbox'],
  ['a draft', sqInvoice('invoice.created', { status: 'DRAFT' }), ofSqInvoice('draft')],
  [
    'an unpaid invoice',
    sqInvoice('invoice.published'),
    ofSqInvoice('open', { total: 2261, amount_remaining: 2261, due_at: p.at(11) }),
  ],
  ['a scheduled one', sqInvoice('invoice.updated', { status: 'SCHEDULED' }), ofSqInvoice('open')],
  ['one paid in part', sqInvoice('invoice.payment_made', { status: 'PARTIALLY_PAID' }), ofSqInvoice('open')],
  ['one whose payment is on its way', sqInvoice('invoice.updated', { status: 'PAYMENT_PENDING' }), ofSqInvoice('open')],
  ['a paid one', sqInvoice('invoice.payment_made', { status: 'PAID' }), ofSqInvoice('paid')],
  ['a refunded one', sqInvoice('invoice.refunded', { status: 'REFUNDED' }), ofSqInvoice('paid')],
  ['one refunded in part', sqInvoice('invoice.refunded', { status: 'PARTIALLY_REFUNDED' }), ofSqInvoice('paid')],
  ['a canceled one', sqInvoice('invoice.canceled', { status: 'CANCELED' }), ofSqInvoice('void')],
  ['a failed one', sqInvoice('invoice.scheduled_charge_failed', { status: 'FAILED' }), ofSqInvoice('void')],
  [
    'a deleted one, of which only the id is left',
    {
      event_id: 'sq_gone',
      type: 'invoice.deleted',
      created_at: p.at(0),
      data: { type: 'invoice', id: 'inv:1', deleted: true },
    },
    [{ list: 'invoices', id: 'inv:1', status: 'deleted', customer: null }],
  ],
  [
    'a card',
    p.squareEvent('card.created', p.squareCard()),
    [
      {
        list: 'payment-methods',
        id: 'ccof:1',
        status: 'attached',
        customer: 'SQCUS1',
        livemode: true,
        fields: { last4: '1111' },
      },
    ],
  ],
  [
    'a disabled card',
    p.squareEvent('card.disabled', p.squareCard({ enabled: false })),
    [{ list: 'payment-methods', id: 'ccof:1', status: 'detached' }],
  ],
  [
    'a customer',
    p.squareEvent('customer.created', p.squareCustomer()),
    [
      {
        list: 'customers',
        id: 'SQCUS1',
        status: 'active',
        livemode: true,
        fields: { email: 'square@example.com', name: 'Ada Example' },
      },
    ],
  ],
  [
    'a deleted customer',
    p.squareEvent('customer.deleted', p.squareCustomer()),
    [{ list: 'customers', id: 'SQCUS1', status: 'deleted' }],
  ],
  ['an attribute of a customer', p.squareEvent('customer.custom_attribute.owned.updated', { id: 'a' }), []],
  [
    'a payment',
    p.squareEvent('payment.created', s.squarePayment()),
    sqSold('paid', {
      items: [['credits_100', null, null, null]],
      fields: {
        ...{ currency: 'USD', subtotal: 2000, total: 2361, number: 'SQP1', description: 'Credits', paid_at: p.at(0) },
        ...{ payment_method: 'ccof:1', customer_email: 'ada@example.com', refunded_amount: 0 },
      },
    }),
  ],
  [
    'one that does not say for what',
    p.squareEvent('payment.updated', s.squarePayment({ reference_id: undefined, customer_id: undefined })),
    sqSold('paid', { customer: null, fields: { items: null, items_missing: true } }),
  ],
  [
    'one in the sandbox',
    p.squareEvent('payment.updated', s.squarePayment()),
    sqSold('paid', { livemode: false }),
    'Sandbox',
  ],
  [
    'one that was refunded in part',
    p.squareEvent('payment.updated', s.squarePayment({ refunded_money: { amount: 500, currency: 'USD' } })),
    sqSold('partially_refunded', { fields: { refunded_amount: 500, refunds: [] } }),
  ],
  [
    'one that was refunded in full',
    p.squareEvent('payment.updated', s.squarePayment({ refunded_money: { amount: 2361, currency: 'USD' } })),
    sqSold('refunded', { fields: { refunded_amount: 2361 } }),
  ],
  ['one that is approved', p.squareEvent('payment.created', s.squarePayment({ status: 'APPROVED' })), []],
  ['one that failed', p.squareEvent('payment.updated', s.squarePayment({ status: 'FAILED' })), []],
  [
    'one of an invoice',
    p.squareEvent('payment.updated', s.squarePayment({ application_details: { square_product: 'INVOICES' } })),
    [],
  ],
  [
    'a refund of no payment',
    p.squareEvent('refund.created', s.squareRefund({ payment_id: undefined, unlinked: true })),
    [],
  ],
]
