import { isOverdueInvoice, remainingOf } from '../../../billing/invoices/debt'
import { INVOICE_STATUSES } from '../../../vendors/objects'
import { amountIn, decimal } from '../../ui/format'
import type { ObjectList } from './object-list'

const standingAt: ObjectList<'invoice'>['standingAt'] = (row, now) => (isOverdueInvoice(row, now) ? 'overdue' : null)

/** The list of invoices. To add a column, add a line to `columns`, and one to `file` for the CSV. */
export const invoices: ObjectList<'invoice'> = {
  kind: 'invoice',
  path: 'invoices',
  title: 'Invoices',
  statuses: INVOICE_STATUSES,
  showsPlans: false,
  standingAt,
  titleOf: ({ number }) => number,
  first: () => ['total', 'amount_remaining', 'due_at', 'paid_at'],
  columns: ({ id, status, customer, vendor, updated, time }) => [
    customer,
    ['Total', ({ total, currency }) => amountIn('total', total, currency), 'number'],
    status(standingAt),
    ['Remaining', (row) => amountIn('amount_remaining', remainingOf(row), row.currency), 'number'],
    // Nobody waits for what has been paid.
    time('Due', (row) => (remainingOf(row) === null ? null : row.due_at)),
    ['Number', ({ number }) => number, 'unbroken'],
    id,
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
