import {
  type ChargePart,
  type DisputePart,
  isBack,
  type RefundPart,
  type SalePart,
  type SoldItem,
} from '../../vendors/purchase'
import { stored } from '../body'
import { type Candidate, nanoseconds, type StoredBody } from '../reduce'

/*
 * The money of a payment that comes back, made of the parts about it. A function of the parts, so their order changes nothing.
 */

/** The winner of a part, with the name of the part. */
export type PartWinner = readonly [part: string, winner: Candidate]
/** A winner of a part. Fields that were null are not stored. */
type Winner<Part> = { id: string; event_id: string; body: Partial<Part> & { updated_at?: string | null } }
type Money = { charges: Winner<ChargePart>[]; refunds: Winner<RefundPart>[]; disputes: Winner<DisputePart>[] }
type Sale = Partial<SalePart>

/** `shown`: as purchases and invoices show it. `first`: the first charge. */
export type MoneyReturned = ReturnType<typeof moneyReturnedIn>

/** @param sale what the sale says of it, if there is one */
export function moneyReturnedIn(all: readonly PartWinner[], sale: Sale) {
  const money = moneyIn(all)
  const disputes = settled(money.disputes)
  const { known, unknown } = returned(money, sale)
  const lost = totalOf(disputes.filter(({ body }) => body.status === 'lost'))
  const shown = {
    refunded_amount: known + unknown + lost,
    refunds: money.refunds.map(shownRefund),
    disputes: disputes.map(shownDispute),
  }
  return { shown, refunds: money.refunds, first: money.charges[0] }
}

/** What became of the money of a payment that was made, the worst first. @param whole what was paid, in minor units; null if that is not known */
export function moneyStanding(
  whole: number | null,
  { refunded_amount, disputes }: { refunded_amount: number; disputes: readonly { state: string }[] },
) {
  if (disputes.some(({ state }) => state === 'lost')) return 'charged_back'
  if (whole !== null && whole > 0 && refunded_amount >= whole) return 'refunded'
  if (disputes.some(({ state }) => state === 'open')) return 'disputed'
  return refunded_amount > 0 ? 'partially_refunded' : 'paid'
}

const NONE: MoneyReturned['shown'] = { refunded_amount: 0, refunds: [], disputes: [] }

/** As a row keeps it that no purchase shows; undefined if no money came back, or is about to. */
export function storedMoney({ shown }: MoneyReturned): StoredBody | undefined {
  const { refunded_amount, refunds, disputes } = shown
  const isAny = refunded_amount > 0 || refunds.length > 0 || disputes.length > 0
  return isAny ? asBody(shown) : undefined
}

/** What came back of a payment that no purchase shows, in the form of a body. */
export function moneyOf({ candidates }: { candidates: readonly Candidate[] }): StoredBody {
  return candidates[0]?.money ?? asBody(NONE)
}

const asBody = (shown: MoneyReturned['shown']) => stored({ ...shown, status: 'unknown' } as never)

const shownRefund = ({ id, event_id, body }: Winner<RefundPart>) => ({
  id,
  amount: body.amount ?? null,
  status: body.status ?? 'unknown',
  reason: body.reason ?? null,
  revokes_access: body.revokes_access ?? null,
  created_at: body.created_at ?? null,
  event_id,
})
const shownDispute = ({ id, event_id, body }: Winner<DisputePart>) => ({
  id,
  amount: body.amount ?? null,
  state: body.status ?? 'unknown',
  vendor_status: body.vendor_status ?? null,
  reason: body.reason ?? null,
  created_at: body.created_at ?? null,
  due_at: body.due_at ?? null,
  event_id,
})

/** The parts about money, in the order in which they began. */
function moneyIn(all: readonly PartWinner[]): Money {
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

/** Whether a time is after another one. */
export const isAfter = (a: string | null, b: string | null) => nanoseconds(a) > nanoseconds(b)
const totalOf = (all: readonly { body: { amount?: number | null } }[]) =>
  all.reduce((sum, { body }) => sum + (body.amount ?? 0), 0)
const stands = ({ body: { status } }: Winner<RefundPart>) => isBack(status)
const isOver = ({ body: { status } }: Winner<RefundPart>) => status === 'failed' || status === 'canceled'

/**
 * What refunds have taken back: the known ones that stand, and what a charge counts beyond the known ones that it counted at its time. A charge
 * knows all refunds until its last event. Later ones, and those that failed later, are known by their own events.
 */
function returned({ charges, refunds }: Money, sale: Sale): { known: number; unknown: number } {
  const totals = charges.map(({ id, body }) => ({
    total: body.refunded ?? 0,
    at: body.updated_at ?? null,
    own: refunds.filter(({ body: { charge } }) => (charge ?? null) === null || charge === id),
  }))
  if (typeof sale.refunded === 'number')
    totals.push({ total: sale.refunded, at: sale.updated_at ?? null, own: refunds })
  const unknown = totals.map(({ total, at, own }) => {
    const counted = own.filter(
      (refund) =>
        !isAfter(refund.body.created_at ?? refund.body.updated_at ?? null, at) &&
        (stands(refund) || (isOver(refund) && !isAfter(at, refund.body.updated_at ?? null))),
    )
    return Math.max(0, total - totalOf(counted))
  })
  return { known: totalOf(refunds.filter(stands)), unknown: unknown.reduce((sum, one) => sum + one, 0) }
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

/** What of an item came back, where the vendor says it by item: all of it, as many, or an amount that may be all of it. */
export function returnedOf({ id, quantity, amount }: Partial<SoldItem>, refunds: readonly Winner<RefundPart>[]) {
  const itemized = refunds.filter((refund) => stands(refund) && refund.body.returned)
  if (itemized.length === 0) return { quantity_returned: null, refunded_amount: null }
  const own = itemized.flatMap(({ body }) => body.returned ?? []).filter(({ item }) => item === id)
  const refunded_amount = own.reduce((sum, one) => sum + (one.amount ?? 0), 0)
  const isPaidBack = (amount ?? 0) > 0 && refunded_amount >= (amount ?? 0)
  const isWhole = own.some(({ whole }) => whole ?? isPaidBack)
  const sold = quantity ?? 1
  const counted = own.reduce((sum, one) => sum + (one.quantity ?? 0), 0)
  return { quantity_returned: isWhole ? sold : Math.min(sold, counted), refunded_amount }
}
