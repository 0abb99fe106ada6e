import * as fc from 'fast-check'

/*
 * Lives of vendors' objects as fast-check makes them: the events that a vendor would send, oldest first, with many of
 * them in one second, and states that come back.
 */

export type Life = {
  vendor: 'stripe' | 'paddle'
  path: 'subscriptions' | 'invoices' | 'payment-methods'
  object: string
  events: { id: string; body: Record<string, unknown> }[]
}

/** One change: which fields, whether within the second of the event before, and whether it takes the last one back. */
type Change = { fields: number; tied: boolean; back: boolean; silent: boolean }
const change: fc.Arbitrary<Change> = fc.record({
  fields: fc.integer({ min: 1, max: 15 }),
  tied: fc.boolean(),
  back: fc.nat(4).map((n) => n === 0),
  /** An event that does not say what was before, as many of Stripe's. */
  silent: fc.nat(9).map((n) => n === 0),
})

const KINDS = [
  { kind: 'subscription', path: 'subscriptions', type: 'customer.subscription', open: 'active', last: 'canceled' },
  { kind: 'invoice', path: 'invoices', type: 'invoice', open: 'open', last: 'paid' },
] as const

const ids = fc.uniqueArray(fc.integer({ min: 100_000, max: 999_999 }), { minLength: 9, maxLength: 9 })

/** A subscription or an invoice of Stripe's: times in whole seconds, `previous_attributes` with what an update changed. */
export const stripeLife: fc.Arbitrary<Life> = fc
  .record({
    of: fc.constantFrom(...KINDS),
    changes: fc.array(change, { minLength: 1, maxLength: 6 }),
    ended: fc.boolean(),
    ids,
  })
  .map(({ of, changes, ended, ids }) => {
    let at = 1_750_000_000
    let state: Record<string, unknown> = {
      id: `${of.kind}_1`,
      object: of.kind,
      status: of.open,
      customer: 'cus_1',
      currency: 'usd',
      metadata: {},
      description: null,
      total: 1000,
      items: { object: 'list', data: [{ id: 'si_1', quantity: 1, price: { id: 'price_1', product: 'prod_1' } }] },
    }
    const past = [state]
    const events: Life['events'] = []
    const push = (what: string, previous: Record<string, unknown> | null) => {
      const id = `evt_${ids[events.length]}`
      const data = { object: state, ...(previous && { previous_attributes: previous }) }
      events.push({ id, body: { id, object: 'event', type: `${of.type}.${what}`, created: at, livemode: true, data } })
    }
    push('created', null)
    for (const [n, one] of changes.entries()) {
      if (!one.tied) at += 10
      const before = state
      state = one.back && past.length > 1 ? (past.at(-2) as typeof state) : changed(state, one.fields, n)
      past.push(state)
      push('updated', one.silent ? null : previousOf(before, state))
    }
    if (ended) {
      if (!changes.at(-1)?.tied) at += 10
      state = { ...state, status: of.last }
      push(of.kind === 'invoice' ? 'paid' : 'deleted', null)
    }
    return { vendor: 'stripe', path: of.path, object: `${of.kind}_1`, events }
  })

/** A subscription of Paddle's: times in microseconds, and no word of what was before. */
export const paddleLife: fc.Arbitrary<Life> = fc
  .record({ changes: fc.array(change, { minLength: 1, maxLength: 6 }), ended: fc.boolean(), ids })
  .map(({ changes, ended, ids }) => {
    let micros = 900_000
    let finer = micros
    const time = (at = micros) => `2025-06-15T12:00:00.${String(at).replace(/0+$/, '')}Z`
    const events: Life['events'] = []
    const push = (what: string, data: Record<string, unknown>) => {
      const id = `evt_${ids[events.length]}`
      const body = { event_id: id, event_type: `subscription.${what}`, occurred_at: time(), data }
      events.push({ id, body })
    }
    const base = { id: 'sub_1', status: 'active', customer_id: 'ctm_1', currency_code: 'USD' }
    push('created', { ...base, updated_at: time() })
    for (const [n, { tied, silent }] of changes.entries()) {
      // Tied events are told apart by the finer clock; a few by nothing.
      if (!tied) micros += 100
      finer = Math.max(micros, silent ? finer : finer + 3)
      push('updated', { ...base, items: [{ quantity: n, price: { id: 'pri_1' } }], updated_at: time(finer) })
    }
    if (ended) {
      micros += 100
      push('canceled', { ...base, status: 'canceled', updated_at: time() })
    }
    return { vendor: 'paddle', path: 'subscriptions', object: 'sub_1', events }
  })

/** A state with other values in some of its fields: plain, nested, and in a list. */
function changed(state: Record<string, unknown>, fields: number, n: number): Record<string, unknown> {
  const next: Record<string, unknown> = { ...state }
  if (fields & 1) next.description = next.description === null ? `change ${n}` : null
  if (fields & 2) next.metadata = { ...(state.metadata as object), [`key${n % 2}`]: String(n) }
  if (fields & 4) next.total = 1000 + n
  if (fields & 8) next.items = { object: 'list', data: [{ id: 'si_1', quantity: n + 2, price: { id: 'price_1' } }] }
  return next
}

/** What Stripe lists of an update: the old values of changed fields, of nested objects the changed fields alone. */
function previousOf(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const previous: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[key] ?? null, after[key] ?? null]
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    const nested =
      key === 'metadata' && typeof was === 'object' && was !== null && typeof is === 'object' && is !== null
    previous[key] = nested ? previousOf(was as Record<string, unknown>, is as Record<string, unknown>) : was
  }
  return previous
}

/** How a life's events come in: their order, in which batches, what is sent twice, what is replayed meanwhile. */
export type Course = { order: number[]; cuts: number[]; twice: number[]; replays: number[]; together: boolean }
export const course = (events: number): fc.Arbitrary<Course> => {
  const index = fc.nat(Math.max(0, events - 1))
  return fc.record({
    order: fc.shuffledSubarray(
      Array.from({ length: events }, (_, i) => i),
      { minLength: events, maxLength: events },
    ),
    cuts: fc.array(index, { maxLength: 3 }),
    twice: fc.array(index, { maxLength: 2 }),
    replays: fc.array(index, { maxLength: 2 }),
    together: fc.boolean(),
  })
}
