import { describe, expect, it } from 'vitest'
import { stored } from '../../../src/billing/body'
import { placedParts } from '../../../src/billing/purchases/place'
import { type Candidate, eventRank, type ResolvedState } from '../../../src/billing/reduce'
import { stripe } from '../../../src/vendors/stripe'
import { cases } from '../../harness'
import { randomFrom, shuffled } from '../lives'
import { billingWorld } from '../world'
import { type PurchaseEvent, type PurchaseLife, purchaseBody, purchaseLife, worstOf } from './lives'

/*
 * Lives of payments in six orders each, with duplicates: which of them end wrong, and which are flagged. Beside it, what two simpler ways would
 * make of the first order: to take each event as it arrives, and to take it unless it is older than the last one.
 */

const LIVES = cases(1000)
const ORDERS = 6
const DELIVERED = cases(60)

const isRefund = ({ type }: PurchaseEvent) => /^refund\./.test(type)
const isCharge = ({ type }: PurchaseEvent) => /^charge\.(refunded|updated)$/.test(type)

/** What is sent of a life, and how many lives of a thousand may end wrong without being flagged. */
type Cell = { of: string; most: number; sent: (life: PurchaseLife, random: () => number) => PurchaseEvent[] }
const CELLS: Cell[] = [
  { of: 'all events', most: 0, sent: ({ events }) => events },
  { of: 'only refund.*', most: 0, sent: ({ events }) => events.filter((one) => !isCharge(one)) },
  {
    of: 'half the refunds unknown',
    most: 40,
    sent: ({ events }, random) => {
      const ids = new Set(events.filter(isRefund).map(({ object }) => object.id))
      const unknown = new Set([...ids].filter(() => random() < 0.5))
      return events.filter((one) => !isRefund(one) || !unknown.has(one.object.id))
    },
  },
  { of: 'no refund.*', most: 75, sent: ({ events }) => events.filter((one) => !isRefund(one)) },
]

function candidatesOf(event: PurchaseEvent): Candidate[] {
  const snapshots = stripe.snapshots?.(purchaseBody(event)) ?? []
  return snapshots.flatMap((snapshot) => {
    if (snapshot.kind !== 'purchase') return []
    const { part, before, after, body, reports } = snapshot
    const names = { vendor_event_id: event.id, event_id: event.id }
    return [
      { part, rank: eventRank(snapshot), ...names, before, after, body: stored(body), ...(reports && { reports }) },
    ]
  })
}

function endOf(events: readonly PurchaseEvent[]): ResolvedState {
  let row: ResolvedState = { candidates: [], ambiguous: false }
  for (const event of events) {
    const made = candidatesOf(event)
    if (made.length > 0) [row] = placedParts([row], made) as [ResolvedState]
  }
  return row
}

/** What a row says, in the words of the truth. A lost dispute is money back too. */
function saidBy({ candidates: [whole] }: ResolvedState) {
  type Said = { refunded_amount: number; disputes: { state: string; amount: number }[] }
  const { refunded_amount, disputes } = (whole as Candidate).body as unknown as Said
  const lost = disputes.filter(({ state }) => state === 'lost').reduce((sum, { amount }) => sum + amount, 0)
  return { refunded: refunded_amount - lost, dispute: worstOf(disputes.map(({ state }) => state)) }
}

/** The state that each event sets as it arrives. @param gated unless it is older than the one before */
function folded(events: readonly PurchaseEvent[], gated: boolean) {
  let [refunded, dispute, charged, disputed] = [0, 'none', 0, 0]
  for (const event of events) {
    const [{ body } = { body: null }] = candidatesOf(event)
    if (isCharge(event) && (!gated || event.created >= charged))
      [refunded, charged] = [Number(body?.refunded ?? 0), event.created]
    if (event.type.startsWith('charge.dispute.') && (!gated || event.created >= disputed))
      [dispute, disputed] = [body?.status ?? 'none', event.created]
  }
  return { refunded, dispute }
}

const isRight = (said: PurchaseLife['truth'], { truth }: PurchaseLife) =>
  said.refunded === truth.refunded && said.dispute === truth.dispute

describe.each(CELLS)('$of', ({ of, most, sent }) => {
  it.each([0.1, 0.4])(`of ${LIVES} lives in ${ORDERS} orders, with %f ties, no row depends on the order`, (ties) => {
    const random = randomFrom(5)
    const count = { arrival: 0, gate: 0, wrong: 0, flagged: 0, loud: 0 }
    for (let n = 0; n < LIVES; n++) {
      const life = purchaseLife(random, ties)
      const events = sent(life, random)
      const orders = Array.from({ length: ORDERS }, () =>
        shuffled([...events, ...events.filter(() => random() < 0.2)], random),
      )
      const rows = orders.map(endOf)
      const [first] = rows as [ResolvedState]
      for (const row of rows) expect(row, JSON.stringify(life.events)).toEqual(first)
      count.arrival += Number(!isRight(folded(orders[0] ?? [], false), life))
      count.gate += Number(!isRight(folded(orders[0] ?? [], true), life))
      if (isRight(saidBy(first), life)) continue
      if (first.ambiguous) count.flagged += 1
      else count.wrong += 1
      if (!first.ambiguous && !life.silent) count.loud += 1
    }
    console.log(`${of}, ${ties} ties, of ${LIVES}: ${JSON.stringify(count)}`)
    expect(count.wrong).toBeLessThanOrEqual((most * LIVES) / 1000)
    // What is missed is a refund that failed in silence. Where half of them are unknown, one in two hundred lives is another case.
    expect(count.loud).toBeLessThanOrEqual(of === 'half the refunds unknown' ? LIVES / 200 : 0)
  })
})

it(`${DELIVERED} lives through the whole pipeline, all at once and in no order, end as they say`, async () => {
  const world = await billingWorld()
  const random = randomFrom(13)
  const lives = Array.from({ length: DELIVERED }, () => purchaseLife(random, 0.4))
  const own = (n: number, value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(/"((?:pi|ch|re|dp|cs)_\d+)"/g, `"$1_${n}"`)
        .replaceAll('evt_', `evt_${n}_`),
    )
  const events = lives.flatMap((life, n) => life.events.map((event) => own(n, purchaseBody(event)) as object))
  await world.deliverTogether(shuffled(events, random))
  for (const [n, life] of lives.entries()) {
    const shown = await world.one('purchases', `pi_1_${n}`)
    expect(shown, JSON.stringify(life.events)).toMatchObject({ ambiguous: false, customer: 'cus_1', currency: 'USD' })
    expect(saidBy({ candidates: [{ body: shown } as never], ambiguous: false })).toEqual(life.truth)
  }
})
