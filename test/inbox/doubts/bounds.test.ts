import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { stripeSubscription } from '../../billing/payloads'
import { changeAccount, countingD1, stripeEvent } from '../../harness'
import { advance, cron, fail, isOf, MODES, newWorld, rows, stopClock, tamperedD1 } from '../pipeline'
import { expectSound } from '../thin/sound'
import { type DoubtWorld, doubtWorld, tied } from './world'

/* What doubt costs, in D1's own figures, and how much of it there can be at once. */

beforeEach(() => {
  stopClock()
})

const FIRST = 6 * SECOND
const subscriptions = (n: number) => Array.from({ length: n }, () => stripeSubscription())

/** Delivers what brings these objects into doubt. @returns the rows that processing them writes */
async function doubting(world: DoubtWorld, all: readonly ReturnType<typeof stripeSubscription>[]): Promise<number> {
  for (const event of all.flatMap((one) => tied(one))) await world.send(event)
  const { DB, count } = countingD1()
  await world.queue.pump({ ...world.bindings, DB })
  return count.rows_written
}

/** Lets the counts of formats be written, which is done once a minute, with whatever is processed then. */
async function formatsWritten() {
  const world = await newWorld()
  await world.send(stripeEvent())
  await world.queue.pump()
}

describe('doubt costs', () => {
  it('two rows an object, in the batch that finishes its event; none without a key', async () => {
    await formatsWritten()
    const all = subscriptions(3)
    const without = await doubting(await doubtWorld([], { key: false }), all)
    expect((await doubting(await doubtWorld([]), all)) - without).toBe(6)
  })

  it('eight trips for ten objects that are settled, three if the vendor has nothing new', async () => {
    const all = subscriptions(10)
    const world = await doubtWorld(all)
    await doubting(world, all)
    const cost = async () => {
      const { DB, count } = countingD1()
      await world.fetches.pump({ ...world.bindings, DB }, { batches: 1 })
      const { trips, rows_written } = count
      return { trips, rows_written }
    }
    await changeAccount(world.apiKey, { objects: Object.fromEntries(all.map(({ id }) => [id, null])) })
    advance(FIRST)
    expect(await cost()).toEqual({ trips: 3, rows_written: 30 })
    await changeAccount(world.apiKey, { objects: Object.fromEntries(all.map((one) => [one.id, one])) as never })
    advance(MINUTE)
    await formatsWritten()
    await world.fetches.EVENTS.send({ what: 'doubt', project_id: world.project })
    // Each of the ten objects is in test mode, so it has a row in the index of such objects too.
    expect(await cost()).toEqual({ trips: 8, rows_written: 161 })
    expect(await world.doubts()).toEqual([])
  })
})

describe('however many objects one project has in doubt', () => {
  it('a message asks for ten of them, several messages for no more, and another project comes at once', async () => {
    const [many, one] = [await doubtWorld([]), await doubtWorld([])]
    await doubting(many, subscriptions(25))
    await doubting(many, subscriptions(1))
    await doubting(one, subscriptions(1))
    advance(FIRST)
    for (const { body } of one.fetches.waiting()) await many.fetches.EVENTS.send(body)
    expect(many.fetches.waiting()).toHaveLength(3)
    await many.fetches.pump(many.bindings, { batches: 1 })
    expect((await many.asked()).length).toBe(10)
    expect((await one.asked()).length).toBe(1)
    // One message goes on.
    expect(many.fetches.waiting()).toMatchObject([{ body: { what: 'doubt', project_id: many.project } }])
    for (let i = 0; i < 5; i++) {
      advance(2 * SECOND)
      await many.fetches.pump(many.bindings)
    }
    expect((await many.asked()).length).toBe(26)
  })

  it('a key that cannot be opened keeps no other project waiting, and its objects are asked for once it can', async () => {
    const [broken, one] = [await doubtWorld([]), await doubtWorld([])]
    await doubting(broken, subscriptions(1))
    await doubting(one, subscriptions(1))
    const [{ box } = { box: '' }] = await rows<{ box: string }>(
      'SELECT box FROM vendor_keys WHERE project_id = ?',
      broken.project,
    )
    const other = 'UPDATE vendor_keys SET box = ? WHERE project_id = ?'
    await rows(other, 'AAAA', broken.project)
    advance(FIRST)
    for (const { body } of one.fetches.waiting()) await broken.fetches.EVENTS.send(body)
    await broken.fetches.pump(broken.bindings, { batches: 1 })
    expect((await one.asked()).length).toBe(1)
    expect(await one.doubts()).toMatchObject([{ tries: 1 }])
    // It is put off, and no try is spent.
    expect(await broken.doubts()).toMatchObject([{ tries: 0, due_in: MINUTE }])
    await rows(other, box, broken.project)
    await broken.pass(MINUTE + SECOND)
    expect((await broken.asked()).length).toBe(1)
  })

  it('a run of the cron sends one message of it', async () => {
    const [many, one] = [await doubtWorld([]), await doubtWorld([])]
    await doubting(many, subscriptions(25))
    await doubting(one, subscriptions(1))
    many.fetches.lose()
    advance(FIRST)
    await cron(many.bindings)
    const doubts = many.fetches.waiting().filter(isOf('doubt'))
    const sent = doubts.map(({ body }) => body.project_id)
    expect(sent.filter((project) => project === many.project)).toHaveLength(1)
    expect(sent.filter((project) => project === one.project)).toHaveLength(1)
  })
})

describe('a worker that is killed', () => {
  const TRIPS = ['take', 'known', 'erased', 'record', 'claim', 'read objects', 'finish', 'end']
  const cases = TRIPS.flatMap((name, index) => MODES.map((mode) => ({ name, index, mode })))

  it.each(cases)('at "$name", $mode it was executed, leaves the same rows', async ({ index, mode }) => {
    const all = subscriptions(2)
    const world = await doubtWorld(all)
    await doubting(world, all)
    advance(FIRST)
    let dead = false
    const DB = tamperedD1((trip) => {
      if (dead) throw new Error('D1_ERROR: Network connection lost.')
      if (trip.index !== index) return trip.run()
      dead = true
      return fail(trip, mode)
    })
    await world.fetches.pump({ ...world.bindings, DB }, { batches: 1, killed: () => dead })
    expect(dead).toBe(true)
    world.fetches.lose()
    await world.pass(MINUTE + SECOND)
    await world.pass(MINUTE + SECOND)
    await world.settle()
    expect(await world.doubts()).toEqual([])
    expect((await world.objects()).map(({ status, ambiguous }) => `${status} ${ambiguous}`)).toEqual([
      'active 0',
      'active 0',
    ])
    await expectSound(world)
  })

  it('makes these calls', async () => {
    const all = subscriptions(2)
    const world = await doubtWorld(all)
    await doubting(world, all)
    advance(FIRST)
    const seen: string[] = []
    const DB = tamperedD1((trip) => {
      seen.push(trip.sql.slice(0, 60))
      return trip.run()
    })
    await world.fetches.pump({ ...world.bindings, DB }, { batches: 1 })
    expect(seen, seen.join('\n')).toHaveLength(TRIPS.length)
  })
})

it('two workers ask once', async () => {
  const all = subscriptions(1)
  const world = await doubtWorld(all, { latency_ms: 100 })
  await doubting(world, all)
  advance(FIRST)
  const [message] = world.fetches.waiting()
  await world.fetches.EVENTS.send(message?.body)
  await Promise.all([
    world.fetches.pump(world.bindings, { batches: 1 }),
    world.fetches.EVENTS.send(message?.body).then(() => world.fetches.pump(world.bindings, { batches: 1 })),
  ])
  expect(await world.asked()).toHaveLength(1)
  expect(await rows('SELECT 1 FROM vendor_doubts WHERE project_id = ?', world.project)).toEqual([])
})
