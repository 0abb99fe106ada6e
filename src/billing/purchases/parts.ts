import { PARTS } from '../../vendors/purchase'
import { MAX_PARTS } from '../limits'
import { type Candidate, mergedState, type ResolvedState } from '../reduce'
import { composed } from './compose'

/*
 * The row of a purchase. No event describes all of a purchase, so each part of it has candidates of its own, which are merged as those of other
 * objects are. The first candidate of the row is made of the winners of the parts. It is a function of them, and so of the set of events: their
 * order, repetitions and replays change nothing.
 */

export type PurchaseParts = Map<string, Candidate[]>

/** The candidates of a row by their parts. */
export function partsIn(candidates: readonly Candidate[]): PurchaseParts {
  const parts: PurchaseParts = new Map()
  for (const one of candidates) {
    if (one.part === undefined) continue
    const own = parts.get(one.part)
    if (own) own.push(one)
    else parts.set(one.part, [one])
  }
  return parts
}

/** Adds events, or what was kept of them in another row, to a part. */
export function addToPart(parts: PurchaseParts, part: string, added: readonly Candidate[]): void {
  let own = parts.get(part) ?? []
  for (const one of added) own = mergedState(own, { ...one, part }).candidates
  parts.set(part, own)
}

/** The row that these parts make. Beyond {@link MAX_PARTS}, those of the lowest ranks are dropped. */
export function rowOfParts(all: PurchaseParts): ResolvedState {
  const kept = keptOf(all)
  const whole = composed(kept, all.size > MAX_PARTS)
  const doubtful = [...kept.values()].some((own) => own.length > 1 && mergedState(own, own[0] as Candidate).ambiguous)
  const parts = [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, own]) => own)
  return { candidates: [whole, ...parts], ambiguous: whole.body !== null && doubtful }
}

/** One more than are shown stays, so that a row whose parts were cut is known by their number. */
function keptOf(all: PurchaseParts): PurchaseParts {
  if (all.size <= MAX_PARTS + 1) return all
  const ranked = [...all].sort(([a, [one]], [b, [other]]) => {
    const [left, right] = [placeOf(a, one), placeOf(b, other)]
    return left < right ? 1 : -1
  })
  return new Map(ranked.slice(0, MAX_PARTS + 1))
}

/** Without its sale or its link, a row would be something else: these stay. */
function placeOf(part: string, winner: Candidate | undefined): string {
  return `${Object.hasOwn(PARTS, part) ? 1 : 0} ${winner?.rank} ${part}`
}

/** Whether a part is about money that comes back. */
export function isMoneyPart(part: string): boolean {
  return !Object.hasOwn(PARTS, part)
}

/** The invoice whose purchase has the money of this row; null if the row has its own. */
export function linkIn(candidates: readonly Candidate[]): string | null {
  const link = candidates.find(({ part, body }) => part === PARTS.link && body !== null)
  return (link?.body?.to as string | undefined) ?? null
}
