import { MONEY_ON_INVOICES } from '../../vendors/purchase'
import type { Effect } from '../effect'

/*
 * The row of a purchase with an invoice's id has the money that comes back for the invoice, whether anything else was bought or not. The
 * effects of events are on that row, and people look at the invoice.
 */

/** An effect on the money of a payment as one on the invoice that was paid. */
export function onInvoice(effect: Effect): Effect {
  return { ...effect, kind: 'invoice', result: effect.result === 'unplaced' ? 'applied' : effect.result }
}

/**
 * The ids of invoices that the effects of an event may be on: those of payments that show no purchase. An event that a later one superseded
 * does not say whether they do.
 */
export function invoicesIn(vendor: string, effects: readonly Effect[]): string[] {
  if (!MONEY_ON_INVOICES.includes(vendor)) return []
  const named = effects.filter(({ kind }) => kind === 'invoice').map(({ id }) => id)
  return effects
    .filter(({ kind, result, id }) => kind === 'purchase' && SHOWING_NONE.includes(result) && !named.includes(id))
    .map(({ id }) => id)
    .slice(0, MOST_INVOICES)
}
/** One statement looks for them. An event is about one payment, or a few. */
const MOST_INVOICES = 5
const SHOWING_NONE: readonly Effect['result'][] = ['unplaced', 'superseded']

/** The effects of an event, with the kind `invoice` where they are on one. @param known the objects of {@link invoicesIn} that are known */
export function withInvoices(
  vendor: string,
  effects: readonly Effect[],
  known: readonly { kind: string; vendor_id: string }[],
): readonly Effect[] {
  const ids = invoicesIn(vendor, effects).filter((id) =>
    known.some(({ kind, vendor_id }) => kind === 'invoice' && vendor_id === id),
  )
  return effects.map((effect) => (effect.kind === 'purchase' && ids.includes(effect.id) ? onInvoice(effect) : effect))
}
