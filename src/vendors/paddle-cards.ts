import { word } from './lib/bounded'
import { at, integer, isObject, type Json, objects, text } from './lib/json'
import { isId } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_CARDS } from './limits'
import type { PaymentCardBody } from './objects'
import { canonical, EVENT_STEPS, type Snapshot } from './snapshot'

/** The cards that a transaction's payments were made with: the events of a payment method do not have them. */
export function cards(data: Json, occurred_at: string | null): Snapshot[] {
  const latest = new Map<string, Snapshot>()
  for (const payment of objects(data.payments)) {
    const id = text(payment.payment_method_id)
    // The second is of cards that are issued in South Korea only.
    const card = at(payment, 'method_details', 'card') ?? at(payment, 'method_details', 'south_korea_local_card')
    if (id === null || !isId(id) || !isObject(card)) continue
    const body: PaymentCardBody = {
      customer: null, // cards are not listed by customer: they are shown with the payment method
      status: 'seen',
      updated_at: occurred_at,
      brand: word(card.type),
      last4: word(card.last4),
      exp_month: integer(card.expiry_month),
      exp_year: integer(card.expiry_year),
      holder: word(card.cardholder_name),
    }
    const updated_at = isoTime(payment.created_at)
    const { updated_at: _, ...said } = body
    const known = latest.get(id)
    if (known && (known.updated_at ?? '') >= (updated_at ?? '')) continue
    const base = {
      version: null,
      occurred_at,
      updated_at,
      step: EVENT_STEPS.updated,
      after: canonical(said),
      before: null,
      reports: false,
    }
    latest.set(id, { kind: 'payment_card', id, body, incomplete: false, terminal: false, ...base })
  }
  const all = [...latest.values()]
  // No customer tries more cards than this, and the rows of all of them would be read at once.
  return all.length <= MAX_CARDS ? all : all.sort(byTime).slice(-MAX_CARDS)
}

const byTime = (a: Snapshot, b: Snapshot) => (a.updated_at ?? '').localeCompare(b.updated_at ?? '')
