import { beforeEach, describe, expect, it } from 'vitest'
import { stripeSubscription } from '../../billing/payloads'
import { countingD1 } from '../../harness'
import { rows, stopClock } from '../pipeline'
import { expectSound } from './sound'
import { type ThinWorld, thinEvent, thinWorld } from './world'

/* The thin events of one project must not hold up those of another. */

beforeEach(() => {
  stopClock()
})

/** Delivers thin events of as many subscriptions, which are then handed over. */
async function flood(world: ThinWorld, n: number): Promise<void> {
  for (let i = 0; i < n; i += 50) {
    const some = Array.from({ length: Math.min(50, n - i) }, () => thinEvent(stripeSubscription()))
    await Promise.all(some.map((event) => world.send(event)))
    await world.queue.pump(world.bindings)
  }
}

const openOf = async ({ project }: ThinWorld) =>
  (await rows('SELECT id FROM events WHERE project_id = ? AND due_at IS NOT NULL', project)).length

describe('behind 300 events of one project', () => {
  it('the event of another one waits for no more than 30 of their calls, and all are done in the end', async () => {
    const [many, one] = [await thinWorld(), await thinWorld([stripeSubscription({ id: 'sub_other' })])]
    await flood(many, 300)
    await one.send(thinEvent({ object: 'subscription', id: 'sub_other' }))
    await one.queue.pump({ ...one.bindings, FETCHES: many.fetches.EVENTS })
    expect(many.fetches.waiting()).toHaveLength(301)
    await many.fetches.pump(many.bindings)
    expect(await one.asked()).toHaveLength(1)
    expect(await openOf(one)).toBe(0)
    // Ten of each batch that was before it.
    expect(300 - (await openOf(many))).toBe(30)
    const waits = many.fetches.waiting().map(({ dueAt }) => (dueAt - Date.now()) / 1000)
    expect([Math.min(...waits) >= 5, Math.max(...waits) <= 36]).toEqual([true, true])
    await many.settle()
    expect(await openOf(many)).toBe(0)
    await expectSound(many)
  })

  it('those that come again are not claimed, and keep their tries', async () => {
    const many = await thinWorld()
    await flood(many, 250)
    const { DB, count } = countingD1()
    await many.fetches.pump({ ...many.bindings, DB }, { batches: 1 })
    // To count them, claim, read keys, finish.
    expect(count.trips).toBe(4)
    expect(await rows('SELECT id FROM events WHERE project_id = ? AND attempts > 0', many.project)).toHaveLength(10)
  })
})

it('a project with 100 events has all of them done at once', async () => {
  const world = await thinWorld()
  await flood(world, 100)
  await world.fetches.pump(world.bindings, { batches: 1 })
  expect([await openOf(world), world.fetches.waiting().length]).toEqual([0, 0])
})
