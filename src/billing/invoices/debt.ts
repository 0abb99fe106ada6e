import { type Column, type SQL, sql } from 'drizzle-orm'
import { DAY, SECOND } from '../../lib/time'

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

/** {@link isOverdueInvoice} as an expression over the columns of an invoice: 1 or 0. @param now milliseconds */
export function overdueInvoice({ candidates, status }: Record<'candidates' | 'status', Column>, now: number): SQL {
  const of = (field: string) => sql`(${candidates}->>${sql.raw(`'$[0].body.${field}'`)})`
  const due = sql`unixepoch(${of('due_at')})`
  const rest = sql`coalesce(${of('amount_remaining')}, ${of('amount_due')} - ${of('amount_paid')})`
  const day = sql.raw(String(DAY / SECOND))
  return sql`coalesce(${status} = 'open' AND ${rest} IS NOT 0
    AND ${due} + iif(${due} % ${day} = 0, ${day}, 0) <= ${Math.floor(now / SECOND)}, 0)`
}
