import * as p from '../payloads-more'
import * as s from '../payloads-sold'

/*
 * Lives of a one-time payment as a vendor tells them: it is paid, refunds begin, succeed or fail, and it is disputed. A seed makes the same lives
 * again. No two changes of one object have the same version or time.
 */

/** An event. `headers`: what the vendor says beside the body. */
export type ToldEvent = { payload: p.Fields; headers?: Record<string, string> }
/** `truth`: what the events add up to. */
export type VendorLife = { told: ToldEvent[]; truth: { status: string; refunded_amount: number } }

type Refund = { id: string; amount: number; status: string }
const OF_WHOLE = ['paid', 'partially_refunded', 'refunded'] as const

/** What is said of a payment that was made and not disputed. */
function paidStatus(refunded: number, total: number): string {
  return OF_WHOLE[refunded === 0 ? 0 : refunded < total ? 1 : 2]
}

const chooser = (random: () => number) => {
  const int = (most: number) => Math.floor(random() * most)
  return { int, pick: <T>(all: readonly T[]) => all[int(all.length)] as T, chance: (of: number) => random() < of }
}

/** An invoice that may be unpaid again, and its credit notes. Some events have both. */
export function chargebeePurchaseLife(random: () => number): VendorLife {
  const { int, pick, chance } = chooser(random)
  const total = 100 * (1 + int(50))
  let clock = 0
  let status = 'payment_due'
  let invoice: p.Fields = {}
  const notes: (Refund & { refunded: number })[] = []
  const told: ToldEvent[] = []
  const at = () => ({ updated_at: p.START + clock, resource_version: (p.START + clock) * 1000 })
  const say = (type: string, content: p.Fields) => told.push({ payload: p.chargebeeEvent(type, content) })
  const billed = () => {
    invoice = s.chargebeeSold({ status, total, ...at() })
    say('invoice_updated', { invoice })
  }
  const noted = (note: (typeof notes)[number]) => {
    const { id, amount, status, refunded } = note
    const credit_note = s.chargebeeNote({ id, status, total: amount, amount_refunded: refunded, ...at() })
    // The invoice beside it is as it was.
    say('payment_refunded', { credit_note, ...(chance(0.3) && { invoice }) })
  }
  billed()
  for (let steps = 1 + int(8); steps > 0; steps--) {
    clock += 1 + int(50)
    const open = notes.filter((one) => one.status === 'refund_due')
    const room = total - notes.filter((one) => one.status !== 'voided').reduce((sum, { amount }) => sum + amount, 0)
    const step = pick(['bill', 'begin', 'begin', 'move', 'move'])
    if (step === 'bill') {
      status = status === 'paid' ? pick(['paid', 'paid', 'payment_due']) : 'paid'
      billed()
    } else if (step === 'begin' && room > 0) {
      const amount = chance(0.4) ? room : 1 + int(room)
      const note = { id: `cn_${notes.length}`, amount, status: 'refund_due', refunded: 0 }
      notes.push(note)
      noted(note)
    } else if (open.length > 0) {
      const note = pick(open)
      const next = pick(['refunded', 'refunded', 'voided', 'refund_due'])
      note.refunded = next === 'refunded' ? note.amount : next === 'voided' ? 0 : int(note.amount)
      note.status = next
      noted(note)
    }
  }
  const refunded_amount = notes.reduce((sum, { refunded }) => sum + refunded, 0)
  return {
    told,
    truth: { status: status === 'paid' ? paidStatus(refunded_amount, total) : 'pending', refunded_amount },
  }
}

const SHOPIFY_STATES: Record<string, string> = {
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
}
const decimals = (cents: number) => (cents / 100).toFixed(2)

/** An order, which repeats its refunds in each later event, and a dispute. A refund has an event of its own when it begins. */
export function shopifyPurchaseLife(random: () => number): VendorLife {
  const { int, pick, chance } = chooser(random)
  const total = 100 * (1 + int(50))
  let clock = 0
  const refunds: Refund[] = []
  const made: { id: string; at: string }[] = []
  let dispute = null as p.Fields | null
  const told: ToldEvent[] = []
  const now = () => p.at(clock / 86_400)
  const say = (topic: string, body: p.Fields) => {
    const { headers, body: payload } = s.shopifyEvent(topic, body, `${now().slice(0, -1)}.5Z`)
    told.push({ payload, headers })
  }
  const bodyOf = ({ id, amount, status }: Refund) => {
    const at = made.find((one) => one.id === id)?.at
    const transactions = [{ kind: 'refund', status, amount: decimals(amount), currency: 'USD' }]
    return s.shopifyRefund({
      id: Number(id),
      admin_graphql_api_id: undefined,
      transactions,
      created_at: at,
      processed_at: at,
    })
  }
  const standing = () =>
    refunds.filter(({ status }) => status !== 'failure').reduce((sum, { amount }) => sum + amount, 0)
  const ordered = () => {
    const financial_status = paidStatus(standing(), total)
    const fields = { total_price: decimals(total), financial_status, refunds: refunds.map(bodyOf), updated_at: now() }
    say('orders/updated', s.shopifyOrder(fields))
  }
  const disputed = () => {
    if (dispute) say('disputes/update', s.shopifyDispute({ amount: decimals(total), ...dispute }))
  }
  ordered()
  for (let steps = 1 + int(8); steps > 0; steps--) {
    clock += 1 + int(50)
    const step = pick(['begin', 'begin', 'move', 'dispute', 'note'])
    const pending = refunds.filter(({ status }) => status === 'pending')
    const room = total - standing()
    if (step === 'begin' && room > 0) {
      const refund = { id: String(9001 + refunds.length), amount: chance(0.4) ? room : 1 + int(room), status: '' }
      refund.status = pick(['success', 'success', 'pending'])
      refunds.push(refund)
      made.push({ id: refund.id, at: now() })
      say('refunds/create', bodyOf(refund))
    } else if (step === 'move' && pending.length > 0) pick(pending).status = pick(['success', 'failure'])
    if (step === 'dispute') {
      if (dispute === null) dispute = { status: 'needs_response', initiated_at: now() }
      else if (dispute.status === 'needs_response')
        dispute = { ...dispute, status: 'under_review', evidence_sent_on: now() }
      else if (dispute.status === 'under_review')
        dispute = { ...dispute, status: pick(['won', 'lost']), finalized_on: now() }
      disputed()
    } else ordered()
  }
  const state = SHOPIFY_STATES[String(dispute?.status)]
  const lost = state === 'lost' ? total : 0
  return {
    told,
    truth: { status: withDispute(paidStatus(standing(), total), state), refunded_amount: standing() + lost },
  }
}

/** A lost dispute outranks everything, and an open one all but a refund of the whole. */
function withDispute(status: string, state: string | undefined): string {
  if (state === 'lost') return 'charged_back'
  return state === 'open' && status !== 'refunded' ? 'disputed' : status
}

/** A payment that counts its refunds in later events, refunds with versions, and a dispute. */
export function squarePurchaseLife(random: () => number): VendorLife {
  const { int, pick, chance } = chooser(random)
  const total = 100 * (1 + int(50))
  let clock = 0
  const refunds: (Refund & { version: number; at: string })[] = []
  let dispute = null as p.Fields | null
  const told: ToldEvent[] = []
  const now = () => p.at(clock / 86_400)
  const say = (type: string, object: p.Fields) =>
    told.push({ payload: p.squareEvent(type, { ...object, updated_at: now() }, now()) })
  const money = (amount: number) => ({ amount, currency: 'USD' })
  const standing = () =>
    refunds.filter(({ status }) => status !== 'FAILED').reduce((sum, { amount }) => sum + amount, 0)
  const paid = () =>
    say('payment.updated', s.squarePayment({ total_money: money(total), refunded_money: money(standing()) }))
  const refunded = ({ id, amount, status, version, at }: (typeof refunds)[number]) =>
    say('refund.updated', s.squareRefund({ id, status, version, amount_money: money(amount), created_at: at }))
  paid()
  for (let steps = 1 + int(8); steps > 0; steps--) {
    clock += 1 + int(50)
    const step = pick(['begin', 'begin', 'move', 'move', 'dispute', 'note'])
    const pending = refunds.filter(({ status }) => status === 'PENDING')
    const room = total - standing()
    if (step === 'begin' && room > 0) {
      const refund = { id: `r${refunds.length}`, amount: chance(0.4) ? room : 1 + int(room), status: 'PENDING' }
      refunds.push({ ...refund, version: 1, at: now() })
      refunded(refunds.at(-1) as (typeof refunds)[number])
    } else if (step === 'move' && pending.length > 0) {
      const refund = pick(pending)
      refund.status = pick(['COMPLETED', 'COMPLETED', 'FAILED'])
      refund.version += 1
      refunded(refund)
    } else if (step === 'dispute') {
      const next = { EVIDENCE_REQUIRED: 'PROCESSING', PROCESSING: pick(['WON', 'LOST']) }
      const state = dispute === null ? 'EVIDENCE_REQUIRED' : next[dispute.state as keyof typeof next]
      if (state) dispute = { amount_money: money(total), state, version: Number(dispute?.version ?? 0) + 1 }
      if (dispute) say('dispute.state.updated', s.squareDispute(dispute))
    }
    // The payment often says what has been refunded, but not each time.
    if (chance(0.5)) paid()
  }
  const states: Record<string, string> = { EVIDENCE_REQUIRED: 'open', PROCESSING: 'open', WON: 'won', LOST: 'lost' }
  const state = states[String(dispute?.state)]
  const lost = state === 'lost' ? total : 0
  return {
    told,
    truth: { status: withDispute(paidStatus(standing(), total), state), refunded_amount: standing() + lost },
  }
}
