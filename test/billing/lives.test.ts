import { expect, it } from 'vitest'
import { stored } from '../../src/billing/body'
import { type Candidate, eventRank, mergedState } from '../../src/billing/reduce'
import { stripe } from '../../src/vendors/stripe'
import { cases } from '../harness'
import { bodyOf, type LifeEvent, livesOf, randomFrom, type StripeLife, shuffled } from './lives'
import { billingWorld } from './world'

/* Lives in six orders each, with duplicates: which of their states ends wrong, and which is flagged. */

const LIVES = cases(600)
const ORDERS = 6
const DELIVERED = cases(60)

/** The events of a life, some of them twice, in an order of their own. */
function received({ events }: StripeLife, random: () => number): LifeEvent[] {
  return shuffled([...events, ...events.filter(() => random() < 0.2)], random)
}

function candidateOf(event: LifeEvent): Candidate {
  const [snapshot] = stripe.snapshots?.(bodyOf(event)) ?? []
  if (!snapshot) throw new Error(`${event.type} describes nothing`)
  const { before, after, body, reports } = snapshot
  const names = { vendor_event_id: event.id, event_id: event.id }
  return { rank: eventRank(snapshot), ...names, before, after, body: stored(body), ...(reports && { reports }) }
}

/** The state, without links that are signed again for each event, and without their times: equal states differ in both. */
function stateOf({ body }: Pick<Candidate, 'body'>) {
  const { hosted_url: _, pdf_url: __, updated_at: ___, version: ____, ...state } = body as Record<string, unknown>
  return state
}

it(`of ${LIVES} lives in ${ORDERS} orders, none ends wrong, and none is flagged`, () => {
  const random = randomFrom(7)
  let ties = 0
  for (const life of livesOf(1, LIVES)) {
    const last = life.events.at(-1) as LifeEvent
    ties += Number(life.events.filter(({ created }) => created === last.created).length > 1)
    const ends = Array.from({ length: ORDERS }, () => {
      let candidates: Candidate[] = []
      let ambiguous = false
      for (const event of received(life, random))
        ({ candidates, ambiguous } = mergedState(candidates, candidateOf(event)))
      return { candidates, ambiguous }
    })
    const what = JSON.stringify(life.events.map(({ type, created, object }) => [type, created, object.status]))
    for (const { candidates, ambiguous } of ends) {
      expect(ambiguous, what).toBe(false)
      expect(stateOf(candidates[0] as Candidate), what).toEqual(stateOf(candidateOf(last)))
      expect(candidates).toEqual(ends[0]?.candidates)
    }
  }
  // The point of it: in most lives, several events are in the last second.
  expect(ties).toBeGreaterThan(LIVES / 3)
})

it(`${DELIVERED} lives through the whole pipeline, all at once and in no order, end as their last events say`, async () => {
  const world = await billingWorld()
  const random = randomFrom(11)
  const lives = livesOf(2, DELIVERED)
  await world.deliverTogether(
    shuffled(
      lives.flatMap(({ events }) => events),
      random,
    ).map(bodyOf),
  )
  for (const { kind, id, events } of lives) {
    const last = events.at(-1) as LifeEvent
    const shown = await world.one(kind === 'invoice' ? 'invoices' : 'subscriptions', id)
    expect(shown, id).toMatchObject({ ambiguous: false, incomplete: false, vendor_status: last.object.status })
    expect(stateOf({ body: shown as never }), id).toMatchObject(stateOf(candidateOf(last)))
  }
  expect((await world.api('/webhooks/health')).body).toMatchObject({ ambiguous_objects: 0, incomplete_objects: 0 })
})
