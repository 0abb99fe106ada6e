/*
 * Lives of a payment as Stripe tells them: a checkout, refunds that succeed, fail or are canceled, and disputes that are decided and appealed.
 * Several events in a second, and reports beside the change that they report. A seed makes the same lives again.
 */

export type PurchaseEvent = { id: string; type: string; created: number; object: Fields; previous: Fields | null }
type Fields = Record<string, unknown>
type Refund = Fields & { id: string; amount: number; status: string }
type Dispute = Fields & { id: string; status: string }
/** `truth`: what the events add up to. `silent`: whether refunds that fail leave their charge as it is. */
export type PurchaseLife = { events: PurchaseEvent[]; truth: { refunded: number; dispute: string }; silent: boolean }

const OVER = ['failed', 'canceled']
const DECIDED = ['won', 'lost', 'warning_closed']
/** What can follow each status of a dispute; itself: nothing more. */
const NEXT: Record<string, string[]> = {
  warning_needs_response: ['warning_closed', 'needs_response'],
  needs_response: ['under_review', 'lost'],
  under_review: ['won', 'lost', 'lost'],
  lost: ['appeal_under_review', 'lost'],
  appeal_under_review: ['won', 'lost'],
  won: ['won'],
  warning_closed: ['warning_closed'],
}

/** @param ties the share of changes in the second of the change before */
export function purchaseLife(random: () => number, ties: number): PurchaseLife {
  const int = (most: number) => Math.floor(random() * most)
  const pick = <T>(all: readonly T[]) => all[int(all.length)] as T
  const amount = 100 * (1 + int(50))
  const silent = random() < 0.5
  let created = 1_767_225_600
  const events: PurchaseEvent[] = []
  // Event ids say nothing about the order.
  const say = (type: string, object: Fields, previous: Fields | null = null) =>
    events.push({
      id: `evt_${int(1e9)}_${events.length}`,
      type,
      created,
      object: structuredClone(object),
      previous: structuredClone(previous),
    })
  const charge = {
    ...{ id: 'ch_1', object: 'charge', payment_intent: 'pi_1', customer: 'cus_1', currency: 'usd' },
    ...{ amount, amount_refunded: 0, metadata: {} as Fields },
  }
  const session = {
    ...{ id: 'cs_1', object: 'checkout.session', mode: 'payment', status: 'complete', payment_status: 'paid' },
    ...{ payment_intent: 'pi_1', customer: 'cus_1', currency: 'usd', amount_total: amount, created },
  }
  const refunds: Refund[] = []
  const disputes: Dispute[] = []
  say('checkout.session.completed', session)
  const counted = (by: number) => {
    const previous = { amount_refunded: charge.amount_refunded }
    charge.amount_refunded += by
    say(by > 0 ? 'charge.refunded' : 'charge.updated', charge, previous)
  }
  const live = () => refunds.filter(({ status }) => !OVER.includes(status))
  const standing = () => live().reduce((sum, one) => sum + one.amount, 0)
  const begin = () => {
    const room = amount - standing()
    if (room === 0) return
    const refund: Refund = {
      ...{ id: `re_${refunds.length}`, object: 'refund', charge: 'ch_1', payment_intent: 'pi_1', currency: 'usd' },
      ...{ amount: random() < 0.4 ? room : 1 + int(room), status: pick(['pending', 'succeeded']), created },
    }
    refunds.push(refund)
    say('refund.created', refund)
    counted(refund.amount)
  }
  const move = () => {
    if (live().length === 0) return
    const refund = pick(live())
    const { status } = refund
    const next = status === 'pending' ? pick(['succeeded', 'succeeded', ...OVER]) : random() < 0.4 ? 'failed' : status
    if (next === status) return
    refund.status = next
    say('refund.updated', refund, { status })
    if (next === 'failed') say('refund.failed', refund)
    if (OVER.includes(next) && !silent) counted(-refund.amount)
    else if (OVER.includes(next)) charge.amount_refunded -= refund.amount
  }
  const contest = () => {
    if (disputes.length === 2 || disputes.some(({ status }) => !DECIDED.includes(status))) return
    const dispute: Dispute = {
      ...{ id: `dp_${disputes.length}`, object: 'dispute', charge: 'ch_1', payment_intent: 'pi_1', currency: 'usd' },
      ...{ amount, status: pick(['warning_needs_response', 'needs_response', 'needs_response']), created },
    }
    disputes.push(dispute)
    say('charge.dispute.created', dispute)
    if (dispute.status === 'needs_response') say('charge.dispute.funds_withdrawn', dispute)
  }
  const decide = () => {
    if (disputes.length === 0) return
    const dispute = pick(disputes)
    const { status } = dispute
    const next = pick(NEXT[status] ?? [status])
    if (next === status) return
    dispute.status = next
    say('charge.dispute.updated', dispute, { status })
    if (DECIDED.includes(next)) say('charge.dispute.closed', dispute)
  }
  const note = () => {
    const previous = { metadata: charge.metadata }
    charge.metadata = { note: String(int(1e6)) }
    say('charge.updated', charge, previous)
  }
  for (let steps = int(9); steps > 0; steps--) {
    if (random() >= ties) created += 1 + int(50)
    pick([begin, begin, move, move, contest, decide, decide, note])()
  }
  return { events, silent, truth: { refunded: standing(), dispute: worst(disputes.map(({ status }) => status)) } }
}

const WORST = ['none', 'won', 'inquiry', 'open', 'lost']
const STATES: Record<string, string> = {
  warning_needs_response: 'inquiry',
  warning_closed: 'none',
  needs_response: 'open',
  under_review: 'open',
  appeal_under_review: 'lost',
}

function worst(statuses: readonly string[]): string {
  return worstOf(statuses.map((status) => STATES[status] ?? status))
}

export function worstOf(states: readonly string[]): string {
  return states.toSorted((a, b) => WORST.indexOf(b) - WORST.indexOf(a))[0] ?? 'none'
}

/** An event as Stripe sends it. */
export function purchaseBody({ id, type, created, object, previous }: PurchaseEvent) {
  const data = { object, ...(previous && { previous_attributes: previous }) }
  return { id, object: 'event', api_version: '2026-10-28.endive', created, livemode: true, type, data }
}
