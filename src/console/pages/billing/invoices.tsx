import type { Child } from 'hono/jsx'
import { isOverdueInvoice, remainingOf } from '../../../billing/invoices/debt'
import { moneyStanding } from '../../../billing/purchases/money'
import type { ShownObjects } from '../../../billing/read/present'
import { INVOICE_STATUSES } from '../../../vendors/objects'
import { amountIn, decimal } from '../../ui/format'
import type { ObjectList } from './object-list'

/** More than the status of an invoice says at a time (ms): that it is overdue, or what became of the money that was paid. Null: no more. */
export function invoiceStanding(row: ShownObjects['invoice'], now: number): string | null {
  if (row.status === 'paid') return moneyStanding(row.amount_paid || row.total, row)
  return isOverdueInvoice(row, now) ? 'overdue' : null
}

/** The total, and below it what came back of it. */
function totalOf({ total, refunded_amount, currency }: ShownObjects['invoice']): Child {
  const all = amountIn('total', total, currency)
  const back = amountIn('refunded_amount', refunded_amount || null, currency)
  if (back === null) return all
  return (
    <>
      {all} <span class="line quiet">{back} refunded</span>
    </>
  )
}

/** The list of invoices. To add a column, add a line to `columns`, and one to `file` for the CSV. */
export const invoices: ObjectList<'invoice'> = {
  kind: 'invoice',
  path: 'invoices',
  title: 'Invoices',
  statuses: INVOICE_STATUSES,
  showsPlans: false,
  standingAt: invoiceStanding,
  titleOf: ({ number }) => number,
  first: ({ refunded_amount }) => [
    'total',
    ...(refunded_amount > 0 ? (['refunded_amount'] as const) : []),
    ...(['amount_remaining', 'due_at', 'paid_at'] as const),
  ],
  columns: ({ id, status, customer, vendor, updated, time }) => [
    customer,
    ['Total', totalOf, 'number'],
    status(invoiceStanding),
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
