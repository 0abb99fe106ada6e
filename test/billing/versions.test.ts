import { describe, expect, it } from 'vitest'
import { candidateOf } from '../../src/billing/apply'
import { type Candidate, mergedState, type ResolvedState } from '../../src/billing/reduce'
import { chargebee } from '../../src/vendors/chargebee'
import { square } from '../../src/vendors/square'
import type { Vendor } from '../../src/vendors/vendor'
import { randomFrom, shuffled } from './lives'
import { chargebeeEvent, chargebeeSubscription, type Fields, START, squareEvent, squareInvoice } from './payloads-more'

/* States with a version: it decides, whatever the times of their events are. */

let made = 0
async function candidatesOf(vendor: Vendor, event: Fields): Promise<Candidate[]> {
  made += 1
  const names = { vendor_event_id: `evt_${String(made).padStart(4, '0')}`, event_id: `id_${made}` }
  return Promise.all((vendor.snapshots?.(event) ?? []).map((snapshot) => candidateOf(names, snapshot)))
}
const merged = (candidates: readonly Candidate[]): ResolvedState =>
  candidates.reduce<ResolvedState>((state, one) => mergedState(state.candidates, one), {
    candidates: [],
    ambiguous: false,
  })

const chargebeeState = (version: number, status: string, occurred_at = START) =>
  candidatesOf(
    chargebee,
    chargebeeEvent(
      'subscription_changed',
      {
        subscription: chargebeeSubscription({
          status,
          resource_version: version,
          updated_at: Math.floor(version / 1000),
        }),
      },
      occurred_at,
    ),
  )
const squareState = (type: string, fields: Fields) => candidatesOf(square, squareEvent(type, squareInvoice(fields)))

describe('a state with a version', () => {
  it('loses to a higher one, however late its event is', async () => {
    const all = [
      ...(await chargebeeState(START * 1000 + 1, 'active')),
      ...(await chargebeeState(START * 1000, 'in_trial', START + 1_000_000)),
    ]
    for (const order of [all, all.toReversed()]) {
      const { candidates, ambiguous } = merged(order)
      expect([candidates[0]?.body?.vendor_status, ambiguous]).toEqual(['active', false])
    }
  })

  it('is never final: a refund comes after the payment, and a subscription may start again', async () => {
    const states = await Promise.all([
      squareState('invoice.payment_made', { status: 'PAID', version: 3 }),
      squareState('invoice.refunded', { status: 'REFUNDED', version: 4 }),
      squareState('invoice.updated', { status: 'CANCELED', version: 2 }),
    ])
    expect(merged(states.flat()).candidates[0]?.body).toMatchObject({ status: 'paid', vendor_status: 'REFUNDED' })
    const back = [...(await chargebeeState(2, 'cancelled')), ...(await chargebeeState(3, 'active'))]
    expect(merged(back).candidates[0]?.body?.status).toBe('active')
  })

  it('loses to a final state without one: an event that only says that an invoice is deleted', async () => {
    const gone = squareEvent('invoice.deleted', { id: 'inv:1' }, undefined, { object: undefined, deleted: true })
    const all = [
      ...(await candidatesOf(square, gone)),
      ...(await squareState('invoice.updated', { status: 'DRAFT', version: 9 })),
    ]
    for (const order of [all, all.toReversed()])
      expect(merged(order).candidates[0]?.body).toMatchObject({ status: 'deleted' })
  })

  it('outranks a state without a version', async () => {
    const without = await candidatesOf(
      chargebee,
      chargebeeEvent('subscription_changed', {
        subscription: chargebeeSubscription({
          status: 'paused',
          resource_version: null,
          updated_at: START + 9_999_999,
        }),
      }),
    )
    const all = [...without, ...(await chargebeeState(1, 'active'))]
    for (const order of [all, all.toReversed()]) expect(merged(order).candidates[0]?.body?.status).toBe('active')
  })

  it('is ambiguous beside another state of the same version, and is one with a state that is the same', async () => {
    const [a, b, c] = await Promise.all([
      chargebeeState(5000, 'active', START),
      chargebeeState(5000, 'paused', START + 60),
      chargebeeState(5000, 'active', START + 120),
    ])
    expect(merged([...a, ...b].flat()).ambiguous).toBe(true)
    const ends = [
      [a, b, c],
      [c, b, a],
      [b, a, c],
    ].map((order) => merged(order.flat()))
    for (const end of ends) expect(end).toEqual(ends[0])
    expect(merged([...a, ...c]).ambiguous).toBe(false)
  })

  it('is kept once, however many events carry it', async () => {
    const same = await Promise.all(Array.from({ length: 40 }, (_, n) => chargebeeState(5000, 'active', START + n)))
    const forth = merged(same.flat())
    expect([forth.candidates.length, forth.ambiguous]).toEqual([1, false])
    expect(merged(same.flat().toReversed())).toEqual(forth)
  })

  it.each([-1, 1.5, '7', null, Number.MAX_SAFE_INTEGER + 2])('has no version if that is %j', async (version) => {
    const [candidate] = await squareState('invoice.updated', { version })
    expect(candidate?.rank).toMatch(/^0\|/)
  })
})

it("of 1,000 Chargebee subscriptions with reminders, none ends wrong by version. By the events' times many would", async () => {
  const random = randomFrom(20_260_101)
  let wrong = 0
  let wrongByTime = 0
  for (let life = 0; life < 1000; life++) {
    const changes = 2 + Math.floor(random() * 4)
    const events: { time: number; version: number }[] = []
    let time = START
    for (let n = 1; n <= changes; n++) {
      time += 1 + Math.floor(random() * 86_400)
      events.push({ time, version: time * 1000 + n })
    }
    const newest = events.at(-1) as (typeof events)[number]
    // A reminder is made from what was known when it was planned.
    for (const { version } of [...events])
      if (random() < 0.3) events.push({ time: time + Math.floor(random() * 2_000_000), version })
    const states = await Promise.all(
      events.map(({ time, version }) =>
        chargebeeState(version, version === newest.version ? 'paused' : 'active', time),
      ),
    )
    const ends = [0, 1, 2].map(() => merged(shuffled(states.flat(), random)))
    for (const end of ends) expect(end).toEqual(ends[0])
    if (ends[0]?.candidates[0]?.body?.status !== 'paused' || ends[0]?.ambiguous) wrong += 1
    const last = events.toSorted((a, b) => a.time - b.time).at(-1)
    if (last?.version !== newest.version) wrongByTime += 1
  }
  console.log(`Chargebee with reminders: ${wrong} of 1,000 wrong by version, ${wrongByTime} by the time of the event`)
  expect(wrong).toBe(0)
  expect(wrongByTime).toBeGreaterThan(100)
})
