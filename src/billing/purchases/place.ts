import type { Effect } from '../effect'
import type { Candidate, ResolvedState } from '../reduce'
import { addToPart, isMoneyPart, linkIn, partsIn, rowOfParts } from './parts'

/*
 * Where the parts of a payment are: in the row of the payment, or, of money that comes back from a payment of an invoice, in the row of the
 * invoice's purchase. The link moves what came before it, so it does not matter which comes first. A payment pays one invoice.
 */

type Row = { candidates: Candidate[]; ambiguous: boolean }

/** The id of the purchase that has the money of a payment, by its row and by what is added; null if it is the payment's own. */
export function linkedTo(candidates: readonly Candidate[], made: readonly Candidate[]): string | null {
  return linkIn(candidates) ?? linkIn(made)
}

/**
 * The rows after parts are added: that of the payment, and then, if it has a link, that of the invoice's purchase.
 *
 * @param rows the same rows before
 */
export function placedParts([payment, home]: readonly Row[], made: readonly Candidate[]): ResolvedState[] {
  const own = partsIn(payment?.candidates ?? [])
  if (!home) {
    for (const one of made) addToPart(own, one.part ?? '', [one])
    return [rowOfParts(own)]
  }
  const theirs = partsIn(home.candidates)
  for (const [part, candidates] of own) {
    if (!isMoneyPart(part)) continue
    addToPart(theirs, part, candidates)
    own.delete(part)
  }
  for (const one of made) addToPart(isMoneyPart(one.part ?? '') ? theirs : own, one.part ?? '', [one])
  return [rowOfParts(own), theirs.size === 0 ? home : rowOfParts(theirs)]
}

/**
 * What an event did to a row; null for a row that it is not about.
 *
 * @param made what it added, to this row or to the other one
 */
export function added(
  before: Row,
  after: ResolvedState,
  made: readonly Candidate[],
  { isHome, isLinked }: { isHome: boolean; isLinked: boolean },
): Effect['result'] | null {
  const own = made.filter(({ part = '' }) => !isLinked || isMoneyPart(part) === isHome)
  const isMoved = isHome && JSON.stringify(before.candidates) !== JSON.stringify(after.candidates)
  if (own.length === 0 && !isMoved) return null
  const winners = partsIn(after.candidates)
  const wins = own.some(({ part = '', vendor_event_id, after: state }) => {
    const winner = winners.get(part)?.[0]
    return winner?.vendor_event_id === vendor_event_id && winner.after === state
  })
  if (!wins && !isMoved) return 'superseded'
  const isShown = after.candidates[0]?.body != null
  // A link by itself shows nothing.
  if (!isShown && !isHome && isLinked && before.candidates[0]?.body == null) return null
  if (!isShown) return 'unplaced'
  return after.ambiguous ? 'ambiguous' : 'applied'
}
