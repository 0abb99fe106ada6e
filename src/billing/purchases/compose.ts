import { PARTS, type PurchaseStatus, type SalePart, type SoldItem } from '../../vendors/purchase'
import { stored } from '../body'
import { type Candidate, isVersioned, nanoseconds } from '../reduce'
import {
  isAfter,
  type MoneyReturned,
  moneyReturnedIn,
  moneyStanding,
  type PartWinner,
  returnedOf,
  storedMoney,
} from './money'

/**
 * What the winners of all parts make together: a candidate without a part, of the newest of them. Its body is null where there is no sale, and
 * where the payment is that of an invoice: the purchase of the invoice then has the money.
 *
 * @param isCut whether the row has lost parts, or is about to
 */
export function composed(parts: ReadonlyMap<string, readonly Candidate[]>, isCut: boolean): Candidate {
  const sale = parts.get(PARTS.sale)?.[0]
  const intent = parts.get(PARTS.intent)?.[0]
  const isPlaced = (sale ?? intent) !== undefined && !parts.has(PARTS.link)
  const all = [...parts].flatMap(([part, [winner]]) => (winner ? [[part, winner] as const] : []))
  // A link shows nothing by itself, and an intent nothing where the sale says it.
  const shown = all.filter(([part]) => part !== PARTS.link && (part !== PARTS.intent || !sale))
  const [, { rank, vendor_event_id, event_id, after }] = newestOf(shown.length > 0 ? shown : all)
  const items = parts.get(PARTS.items)?.[0]
  const body = isPlaced ? bodyOf(sale ?? (intent as Candidate), intent?.body?.items ?? items?.body?.items, all) : null
  const usesItems = !(sale ?? intent)?.body?.items && !intent?.body?.items
  const isPartial = [sale ?? intent, usesItems ? items : undefined].some((one) => one?.incomplete === true)
  const incomplete = isPlaced && (isCut || isPartial)
  const money = isPlaced || parts.has(PARTS.link) ? undefined : storedMoney(moneyReturnedIn(all, {}))
  return {
    ...{ rank, vendor_event_id, event_id, before: null, after, body },
    ...(money && { money }),
    ...(incomplete && { incomplete }),
  }
}

/** The one with the latest time, whatever is final. Versions of different objects say nothing about that: their own times do. */
function newestOf(all: readonly PartWinner[]): PartWinner {
  const timeOf = ({ rank, body }: Candidate) =>
    isVersioned(rank)
      ? `|${nanoseconds((body?.updated_at as string | undefined) ?? null)}`
      : rank.slice(rank.indexOf('|'))
  const placeOf = ([part, winner]: PartWinner) => `${timeOf(winner)} ${part}`
  return all.reduce((newest, one) => (placeOf(one) > placeOf(newest) ? one : newest))
}

/** @param otherwise what was bought, where the sale does not say it */
function bodyOf(first: Candidate, otherwise: unknown, all: readonly PartWinner[]): Candidate['body'] {
  const sale = first.body as unknown as Partial<SalePart>
  const money = moneyReturnedIn(all, sale)
  const {
    status: _,
    refunded,
    paid_at,
    items = otherwise ?? null,
    erased: __,
    ...said
  } = sale as typeof sale & {
    erased?: boolean
  }
  const updated_at = all
    .filter(([part]) => part !== PARTS.link)
    .map(([, { body }]) => (body?.updated_at as string | undefined) ?? null)
    .reduce((latest, time) => (isAfter(time, latest) ? time : latest), null)
  const isPaid = sale.status === 'paid' || sale.status === 'refunded'
  // Only the event says when a checkout was paid. A fetched one does not.
  const paid = first.until === undefined ? sale.updated_at : sale.created_at
  const isErased = all.some(([, { body }]) => body?.erased === true)
  const body = stored({
    ...said,
    updated_at,
    status: isPaid ? statusOf(sale, money) : (sale.status ?? 'unknown'),
    paid_at: isPaid ? (paid_at ?? paid ?? null) : null,
    items:
      (items as Partial<SoldItem>[] | null)?.map((item) => ({ ...item, ...returnedOf(item, money.refunds) })) ?? null,
    items_missing: !items,
    ...money.shown,
    payment_method: sale.payment_method ?? money.first?.body.payment_method ?? null,
    receipt_url: sale.receipt_url ?? money.first?.body.receipt_url ?? null,
  } as never)
  return isErased ? { ...body, erased: true } : body
}

/** What is said of a payment that was made. */
function statusOf({ status, total = null }: Partial<SalePart>, { shown }: MoneyReturned): PurchaseStatus {
  const standing = moneyStanding(total, shown)
  return status === 'refunded' && standing !== 'charged_back' ? 'refunded' : standing
}
