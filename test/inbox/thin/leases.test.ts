import { beforeEach, describe, expect, it } from 'vitest'
import { stripeInvoice, stripeSubscription } from '../../billing/payloads'
import { countingD1 } from '../../harness'
import { fail, MODES, stopClock, tamperedD1 } from '../pipeline'
import { expectSound } from './sound'
import { type ThinWorld, thinEvent, thinWorld } from './world'

beforeEach(() => {
  stopClock()
})

const objects = () => [stripeSubscription(), stripeInvoice()]

async function deliverSome(world: ThinWorld, all: ReturnType<typeof objects>) {
  for (const object of all) await world.send(thinEvent(object))
  await world.send(thinEvent(all[0] as object as never, 'active'))
  await world.queue.pump(world.bindings)
}

/** What the API shows of the state, without what depends on times and ids. */
async function stateOf(world: ThinWorld) {
  return (await world.objects()).map(({ kind, vendor_id, status, ambiguous, incomplete, customer }) => ({
    ...{ kind, vendor_id, status, ambiguous, incomplete, customer },
  }))
}

describe('a worker that is killed', () => {
  const TRIPS = ['claim', 'read keys', 'erased', 'record', 'claim records', 'read objects', 'finish records', 'finish']
  const cases = TRIPS.flatMap((name, trip) => MODES.map((mode) => ({ name, trip, mode })))

  it.each(cases)('$mode its trip to "$name" loses nothing, and does nothing twice', async ({ trip: at, mode }) => {
    const all = objects()
    const world = await thinWorld(all)
    await deliverSome(world, all)
    let dead = false
    const DB = tamperedD1(async (trip) => {
      if (dead) throw new Error('D1_ERROR: Network connection lost.')
      if (trip.index < at) return trip.run()
      dead = true
      return fail(trip, mode)
    })
    await world.fetches.pump({ ...world.bindings, DB }, { batches: 1, killed: () => dead })
    expect(dead).toBe(true)
    await world.settle()
    expect(await stateOf(world)).toEqual(
      [
        { kind: 'invoice', object: all[1], status: all[1]?.status },
        { kind: 'subscription', object: all[0], status: 'active' },
      ].map(({ kind, object, status }) => ({
        ...{ kind, vendor_id: object?.id, status, ambiguous: 0, incomplete: 0, customer: object?.customer },
      })),
    )
    const own = (await world.api('/webhooks')).body.data as { id: string; status: string }[]
    expect(own.map(({ status }) => status)).toEqual(['processed', 'processed', 'processed'])
    for (const [list, object] of [
      ['subscriptions', all[0]],
      ['invoices', all[1]],
    ] as const) {
      const changes = (await world.timeline(list, String(object?.id))).filter(({ change }) => change !== null)
      expect(changes).toHaveLength(1)
    }
    await expectSound(world)
  })
})

it('costs 8 trips a batch, however many objects of a connection it is about, and 3 if nothing is new', async () => {
  const all = Array.from({ length: 5 }, () => stripeSubscription())
  const world = await thinWorld(all)
  const costOf = async (events: object[]) => {
    for (const event of events) await world.send(event)
    const first = countingD1()
    await world.queue.pump({ ...world.bindings, DB: first.DB })
    const { DB, count } = countingD1()
    expect(await world.fetches.pump({ ...world.bindings, DB })).toBe(1)
    return { handed: first.count, trips: count.trips, rows: count.rows_written }
  }
  const fresh = await costOf(all.flatMap((one) => [thinEvent(one), thinEvent(one, 'active')]))
  expect(fresh.handed).toMatchObject({ rows_written: 0, trips: 2 })
  expect({ trips: fresh.trips, rows: fresh.rows }).toEqual({ trips: 8, rows: 114 })
  const known = await costOf(all.map((one) => thinEvent(one)))
  expect({ trips: known.trips, rows: known.rows }).toEqual({ trips: 3, rows: 18 })
})
