import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import {
  type Fields,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from '../../billing/payloads'
import { changeAccount } from '../../harness'
import { stopClock } from '../pipeline'
import { CUSTOMER } from '../refresh/world'
import { expectSound } from './sound'
import { type ThinWorld, thinEvent, thinWorld } from './world'

/*
 * An account may send an event to two destinations: one with the object in it, and a thin one. The state must be the same with either, and with
 * both, in any order.
 */

beforeEach(() => {
  stopClock()
})

/** The objects of an account, what its event is called, and how each looks after each change. */
const OBJECTS: [type: string, states: () => Fields[]][] = [
  [
    'customer.subscription.updated',
    () => ['trialing', 'active', 'past_due'].map((status, i) => ({ ...SUBSCRIPTION, status, metadata: { i: `${i}` } })),
  ],
  ['invoice.updated', () => ['draft', 'open', 'open'].map((status, i) => ({ ...INVOICE, status, total: 900 + i }))],
  ['payment_method.updated', () => ['Ada', 'Bob', 'Cy'].map((name) => ({ ...METHOD, billing_details: { name } }))],
  ['customer.updated', () => ['a@acme.dev', 'b@acme.dev', 'c@acme.dev'].map((email) => ({ ...CUSTOMER, email }))],
]
const SUBSCRIPTION = stripeSubscription()
const INVOICE = stripeInvoice()
const METHOD = stripePaymentMethod()

/** The vendor's time of a change (s). Far more apart than the test takes, because the vendor's clock goes on meanwhile. */
const timeOf = (step: number) => T0 + 10_000 * step

/** A delivery of the event of a change: at which step it arrives, and whether it is thin. */
type Delivery = { of: number; at: number; thin: boolean }

/** Plays the changes of an object: after each, the account is as it then is, and the deliveries of that step arrive. */
async function play(type: string, states: readonly Fields[], deliveries: readonly Delivery[]): Promise<ThinWorld> {
  const world = await thinWorld()
  for (const [step, state] of states.entries()) {
    const date_skew_s = Math.round(timeOf(step) + 1000 - Date.now() / SECOND)
    await changeAccount(world.apiKey, { objects: { [String(state.id)]: state }, date_skew_s })
    const due = deliveries.filter(({ at }) => at === step)
    for (const { of, thin } of due) {
      const at = timeOf(of)
      const object = states[of] as Fields
      await world.deliver(thin ? thinEvent(object, 'updated', { at }) : stripeEventOf(type, object, { at }))
    }
  }
  await world.settle()
  await expectSound(world)
  return world
}

async function stateOf(world: ThinWorld) {
  return (await world.objects()).map(({ kind, vendor_id, status, customer, subscription, ambiguous, candidates }) => {
    const { updated_at: _, livemode: __, ...body } = JSON.parse(candidates)[0].body
    return { kind, vendor_id, status, customer, subscription, ambiguous, body }
  })
}

/** How many records of the project changed something. */
async function changesOf(world: ThinWorld): Promise<number> {
  const ids = [...(await world.fetched()), ...(await world.api('/webhooks?limit=100&view=summary')).body.data]
  const effects = await Promise.all(ids.map(({ id }: { id: string }) => world.effects(id)))
  return effects.flat().filter(({ change }) => change !== null).length
}

const STEPS = [0, 1, 2]
const inTime = (thin: boolean) => STEPS.map((step): Delivery => ({ of: step, at: step, thin }))
const WAYS: [name: string, deliveries: Delivery[]][] = [
  ['thin alone', inTime(true)],
  [
    'snapshots, then thin',
    STEPS.flatMap((step) => [...inTime(false), ...inTime(true)].filter(({ at }) => at === step)),
  ],
  [
    'thin, then snapshots',
    STEPS.flatMap((step) => [...inTime(true), ...inTime(false)].filter(({ at }) => at === step)),
  ],
]

describe.each(OBJECTS)('the changes of %s', (type, statesOf) => {
  it.each(WAYS)(
    'are the same with %s as with snapshots alone, and each changes the state once',
    async (_, deliveries) => {
      const states = statesOf()
      const alone = await play(type, states, inTime(false))
      const world = await play(type, states, deliveries)
      expect(await stateOf(world)).toEqual(await stateOf(alone))
      expect((await stateOf(world)).map(({ vendor_id }) => vendor_id)).toEqual([states[0]?.id])
      expect([await changesOf(alone), await changesOf(world)]).toEqual([3, 3])
    },
  )
})

it('end in the same state, however late and in whatever order the deliveries of both come', async () => {
  const [type, statesOf] = OBJECTS[0] as (typeof OBJECTS)[0]
  const states = statesOf()
  const last = await stateOf(await play(type, states, inTime(false)))
  const delivery = (of: number, thin: boolean) =>
    fc.integer({ min: of, max: 2 }).map((at): Delivery => ({ of, at, thin }))
  const all = STEPS.flatMap((step) => [delivery(step, true), delivery(step, false)])
  const histories = fc
    .tuple(...all)
    .chain((some) => fc.shuffledSubarray(some, { minLength: some.length, maxLength: some.length }))
  await fc.assert(
    fc.asyncProperty(histories, async (deliveries) => {
      const world = await play(type, states, deliveries)
      expect(await stateOf(world)).toEqual(last)
      expect(await changesOf(world)).toBeLessThanOrEqual(3)
    }),
    { numRuns: 25 },
  )
})
