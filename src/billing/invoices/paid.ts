import { and, eq, gte, isNotNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../../db/client'
import { fitsPage } from '../../db/sql'
import { DAY } from '../../lib/time'
import { saidBy } from '../overdue/overdue'
import { billingObjects } from '../schema'

/** The days that are added up, and the days before them that they are compared with. */
export const PAID_DAYS = 30

const o = alias(billingObjects, 'o')
const said = <T>(field: string) => sql<T | null>`iif(fits AND ${o.status} = 'paid', ${saidBy(o, field)}, NULL)`
const shown = {
  updated: sql<string>`${o.updated}`,
  /** Whether this row and those before it take no more than the bytes that may be read. */
  fits: sql<boolean>`fits`.mapWith(Boolean),
  livemode: sql<boolean>`coalesce(${said('livemode')}, 1)`.mapWith(Boolean),
  currency: said<string>('currency'),
  amount: said<number>('amount_paid'),
  paid_at: said<string>('paid_at'),
}

/** An invoice that changed lately. It has no currency if it is not paid, or was not read. */
type ChangedInvoice = ReturnType<typeof listChanged>['_']['result'][number]

type Limits = { rows: number; bytes: number }

/** Reads what {@link paidBy} adds up, the last change first: one row more than the limit, if there are so many. */
export function listChanged(db: Db, projectId: string, now: number, { rows, bytes }: Limits) {
  const since = new Date(now - 2 * PAID_DAYS * DAY).toISOString().slice(0, -1)
  const range = and(eq(o.project_id, projectId), eq(o.kind, 'invoice'), isNotNull(o.updated), gte(o.updated, since))
  const fits = fitsPage(sql`octet_length(${o.candidates})`, bytes, sql`${o.updated} DESC`)
  const found = sql`SELECT ${o.status}, ${o.updated}, ${o.candidates}, ${fits} AS fits
    FROM ${billingObjects} ${o} INDEXED BY billing_changed WHERE ${range} ORDER BY ${o.updated} DESC LIMIT ${rows + 1}`
  return raw(db, shown, (fields) => sql`SELECT ${fields} FROM (${found}) ${o}`)
}

/** What was paid in one currency, in minor units, and in how many invoices. `before`: in the same number of days before; null if that is not known. */
export type Paid = { currency: string; amount: number; n: number; before: number | null }

/**
 * What was paid in the last {@link PAID_DAYS} days, in each currency, the one with the most invoices first. Null if there are too many invoices.
 *
 * @param most the limit of rows that was given to {@link listChanged}
 * @param mode the mode; if undefined, live mode, or test mode if nothing was paid in live mode
 */
export function paidBy(changed: readonly ChangedInvoice[], now: number, most: number, mode: boolean | undefined) {
  const end = changed.findIndex(({ fits }, i) => !fits || i === most)
  const read = end < 0 ? changed : changed.slice(0, end)
  // A payment is a change, so what changed before an invoice was not paid after it.
  const isKnown = (since: number) => end < 0 || timeOf(changed[end]) < since
  const since = now - PAID_DAYS * DAY
  if (!isKnown(since)) return null
  const livemode = mode ?? read.some((row) => row.currency !== null && row.livemode)
  const sums = new Map<string, Paid>()
  const isAllKnown = isKnown(since - PAID_DAYS * DAY)
  for (const row of read) {
    if (row.currency === null || row.amount === null || row.livemode !== livemode) continue
    const sum = sums.get(row.currency) ?? { currency: row.currency, amount: 0, n: 0, before: isAllKnown ? 0 : null }
    sums.set(row.currency, sum)
    const at = timeOf({ updated: row.paid_at ?? row.updated })
    if (at >= since) Object.assign(sum, { amount: sum.amount + row.amount, n: sum.n + 1 })
    else if (sum.before !== null && at >= since - PAID_DAYS * DAY) sum.before += row.amount
  }
  return { livemode, sums: [...sums.values()].filter(({ n }) => n > 0).sort((a, b) => b.n - a.n) }
}

const timeOf = (row: Pick<ChangedInvoice, 'updated'> | undefined) =>
  Date.parse(`${(row?.updated ?? '').replace(/Z$/, '')}Z`)
