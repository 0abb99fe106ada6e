import { INVOICE_STATUSES } from '../../../vendors/objects'
import { amountIn, decimal } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The list of invoices. To add a column, add a line to `columns`. */
export const invoices: ObjectList<'invoice'> = {
  kind: 'invoice',
  path: 'invoices',
  title: 'Invoices',
  statuses: INVOICE_STATUSES,
  showsPlans: false,
  titleOf: ({ number }) => number,
  first: ['total', 'amount_remaining', 'due_at', 'paid_at'],
  columns: ({ id, status, customer, vendor, updated, time }) => [
    id,
    ['Number', ({ number }) => number],
    status,
    customer,
    ['Total', ({ total, currency }) => amountIn('total', total, currency), 'number'],
    [
      'Remaining',
      ({ amount_remaining, currency }) => amountIn('amount_remaining', amount_remaining, currency),
      'number spare',
    ],
    time('Due', ({ due_at }) => due_at, 'spare'),
    vendor,
    updated,
  ],
  file: [
    ['number', ({ number }) => number],
    ['subscription', ({ subscription }) => subscription],
    ['currency', ({ currency }) => currency],
    ['total', ({ total, currency }) => decimal(total, currency)],
    ['amount_paid', ({ amount_paid, currency }) => decimal(amount_paid, currency)],
    ['amount_remaining', ({ amount_remaining, currency }) => decimal(amount_remaining, currency)],
    ['refunded_amount', ({ refunded_amount, currency }) => decimal(refunded_amount, currency)],
    ['due_at', ({ due_at }) => due_at],
    ['paid_at', ({ paid_at }) => paid_at],
  ],
}
