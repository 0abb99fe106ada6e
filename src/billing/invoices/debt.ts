import { DAY } from '../../lib/time'

type Debt = {
  status: string
  amount_due: number | null
  amount_paid: number | null
  amount_remaining: number | null
  due_at: string | null
}

/** What is still to be paid of an open invoice, in minor units; null if nothing is, or if that is not known. */
export function remainingOf({ status, amount_due, amount_paid, amount_remaining }: Debt): number | null {
  if (status !== 'open') return null
  const rest = amount_due === null || amount_paid === null ? null : amount_due - amount_paid
  return amount_remaining ?? rest
}

/**
 * Whether an invoice is open after the time at which it was due. It is not stored, because it depends on when one asks. An
 * invoice that is due on a day, without a time, can be paid until that day ends.
 *
 * @param now milliseconds
 */
export function isOverdueInvoice(invoice: Debt, now: number): boolean {
  const due = invoice.due_at === null ? Number.NaN : Date.parse(invoice.due_at)
  if (invoice.status !== 'open' || Number.isNaN(due) || remainingOf(invoice) === 0) return false
  return now >= (due % DAY === 0 ? due + DAY : due)
}
