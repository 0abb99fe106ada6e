import {
  type ChargePart,
  type DisputePart,
  isBack,
  PARTS,
  type PurchaseStatus,
  type RefundPart,
  type SalePart,
  type SoldItem,
} from '../../vendors/purchase'
import { stored } from '../body'
import { type Candidate, nanoseconds } from '../reduce'

/** A winner of a part. Fields that were null are not stored. */
type Winner<Part> = { id: string; event_id: string; body: Partial<Part> & { updated_at?: string | null } }
type Money = { charges: Winner<ChargePart>[]; refunds: Winner<RefundPart>[]; disputes: Winner<DisputePart>[] }

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
  const isPartial = [sale ?? intent, items].some((one) => one?.incomplete === true)
  const incomplete = isPlaced && (isCut || isPartial)
  return { rank, vendor_event_id, event_id, before: null, after, body, ...(incomplete && { incomplete }) }
}

type Named = readonly [part: string, winner: Candidate]

/** The one with the latest time, whatever is final. */
function newestOf(all: readonly Named[]): Named {
  const placeOf = ([part, { rank }]: Named) => `${rank.slice(rank.indexOf('|'))} ${part}`
  return all.reduce((newest, one) => (placeOf(one) > placeOf(newest) ? one : newest))
}

/** @param otherwise what was bought, where the sale does not say it */
function bodyOf(first: Candidate, otherwise: unknown, all: readonly Named[]): Candidate['body'] {
  const money = moneyIn(all)
  const sale = first.body as unknown as Partial<SalePart>
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
  const [charge] = money.charges
  const disputes = settled(money.disputes)
  const back = returned(money, sale)
  const lost = totalOf(disputes.filter(({ body }) => body.status === 'lost'))
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
    status: isPaid ? statusOf(sale, { back, lost }, disputes) : (sale.status ?? 'unknown'),
    paid_at: isPaid ? (paid_at ?? paid ?? null) : null,
    items:
      (items as Partial<SoldItem>[] | null)?.map((item) => ({ ...item, ...returnedOf(item, money.refunds) })) ?? null,
    items_missing: !items,
    refunded_amount: back + lost,
    refunds: money.refunds.map(({ id, event_id, body }) => ({
      id,
      amount: body.amount ?? null,
      status: body.status ?? 'unknown',
      reason: body.reason ?? null,
      revokes_access: body.revokes_access ?? null,
      created_at: body.created_at ?? null,
      event_id,
    })),
    disputes: disputes.map(({ id, event_id, body }) => ({
      id,
      amount: body.amount ?? null,
      state: body.status ?? 'unknown',
      vendor_status: body.vendor_status ?? null,
      reason: body.reason ?? null,
      created_at: body.created_at ?? null,
      due_at: body.due_at ?? null,
      event_id,
    })),
    payment_method: sale.payment_method ?? charge?.body.payment_method ?? null,
    receipt_url: sale.receipt_url ?? charge?.body.receipt_url ?? null,
  } as never)
  return isErased ? { ...body, erased: true } : body
}

/** The parts about money, in the order in which they began. */
function moneyIn(all: readonly Named[]): Money {
  const of = <Part>(what: string) =>
    all
      .filter(([part, { body }]) => part.startsWith(`${what}:`) && body !== null)
      .map(
        ([part, { event_id, body }]): Winner<Part> => ({
          id: part.slice(what.length + 1),
          event_id,
          body: body as unknown as Winner<Part>['body'],
        }),
      )
  const begun = (a: Winner<RefundPart | DisputePart>, b: Winner<RefundPart | DisputePart>) =>
    `${nanoseconds(a.body.created_at ?? null)} ${a.id}` < `${nanoseconds(b.body.created_at ?? null)} ${b.id}` ? -1 : 1
  return {
    charges: of<ChargePart>('charge').sort((a, b) => (a.id < b.id ? -1 : 1)),
    refunds: of<RefundPart>('refund').sort(begun),
    disputes: of<DisputePart>('dispute').sort(begun),
  }
}

const isAfter = (a: string | null, b: string | null) => nanoseconds(a) > nanoseconds(b)
const totalOf = (all: readonly { body: { amount?: number | null } }[]) =>
  all.reduce((sum, { body }) => sum + (body.amount ?? 0), 0)
const stands = ({ body: { status } }: Winner<RefundPart>) => isBack(status)
const isOver = ({ body: { status } }: Winner<RefundPart>) => status === 'failed' || status === 'canceled'

/**
 * What refunds have taken back: the known ones that stand, and what a charge counts beyond the known ones that it counted at its time. A charge
 * knows all refunds until its last event. Later ones, and those that failed later, are known by their own events.
 */
function returned({ charges, refunds }: Money, sale: Partial<SalePart>): number {
  const totals = charges.map(({ id, body }) => ({
    total: body.refunded ?? 0,
    at: body.updated_at ?? null,
    own: refunds.filter(({ body: { charge } }) => (charge ?? null) === null || charge === id),
  }))
  if (typeof sale.refunded === 'number')
    totals.push({ total: sale.refunded, at: sale.updated_at ?? null, own: refunds })
  return totals.reduce(
    (sum, { total, at, own }) => {
      const counted = own.filter(
        (refund) =>
          !isAfter(refund.body.created_at ?? refund.body.updated_at ?? null, at) &&
          (stands(refund) || (isOver(refund) && !isAfter(at, refund.body.updated_at ?? null))),
      )
      return sum + Math.max(0, total - totalOf(counted))
    },
    totalOf(refunds.filter(stands)),
  )
}

/** The disputes, each as won if a later one gives back what it took. */
function settled(all: readonly Winner<DisputePart>[]): Winner<DisputePart>[] {
  const disputes = all.filter(({ body }) => !body.reverses)
  for (const reversal of all.filter(({ body }) => body.reverses && body.status === 'won')) {
    const index = disputes.findLastIndex(
      ({ body }) => body.status === 'lost' && !isAfter(body.created_at ?? null, reversal.body.created_at ?? null),
    )
    const found = disputes[index]
    if (found) disputes[index] = { ...found, event_id: reversal.event_id, body: { ...found.body, status: 'won' } }
  }
  return disputes
}

/** What is said of a payment that was made, the worst first. */
function statusOf(
  { status, total = null }: Partial<SalePart>,
  { back, lost }: { back: number; lost: number },
  disputes: readonly Winner<DisputePart>[],
): PurchaseStatus {
  if (disputes.some(({ body }) => body.status === 'lost')) return 'charged_back'
  if (status === 'refunded' || (total !== null && total > 0 && back >= total)) return 'refunded'
  if (disputes.some(({ body }) => body.status === 'open')) return 'disputed'
  return back + lost > 0 ? 'partially_refunded' : 'paid'
}

/** What of an item came back, where the vendor says it by item. */
function returnedOf({ id, quantity }: Partial<SoldItem>, refunds: readonly Winner<RefundPart>[]) {
  const itemized = refunds.filter((refund) => stands(refund) && refund.body.returned)
  if (itemized.length === 0) return { quantity_returned: null, refunded_amount: null }
  const own = itemized.flatMap(({ body }) => body.returned ?? []).filter(({ item }) => item === id)
  return {
    quantity_returned: own.some(({ whole }) => whole) ? (quantity ?? 1) : 0,
    refunded_amount: own.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
  }
}
