import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { stripeObjects, tamperedD1 } from '../../harness'
import { advance, fail, LOST, MODES, rows, settle, stopClock } from '../pipeline'
import { brief, importWorld, state } from './world'

beforeEach(() => {
  stopClock()
})

const OBJECTS = stripeObjects(120)
const ASKED = { kinds: ['subscriptions'] }
const ALL = { subscriptions: 'done 120 120 0' }
const TRIPS = ['take', 'known', 'record and cursor', 'claim', 'read objects', 'finish']

/** Everything that the project has of it: each object, each record and each body once. */
async function whole(project: string) {
  const count = async (sql: string) => (await rows<{ n: number }>(sql, project))[0]?.n
  return {
    state: await state(project),
    records: await rows(
      "SELECT event_type, status, count(*) AS n FROM events WHERE project_id = ? AND id >= 'ftc' GROUP BY 1, 2",
      project,
    ),
    bodies: await count('SELECT count(*) AS n FROM packed_bodies WHERE project_id = ?'),
  }
}

let usual: Awaited<ReturnType<typeof whole>> | undefined
async function expected() {
  if (usual) return usual
  const world = await importWorld(OBJECTS)
  await world.finish(await world.start(ASKED))
  usual = await whole(world.project)
  expect(usual).toMatchObject({
    records: [{ event_type: 'fetch.subscription', status: 'processed', n: 120 }],
    bodies: 120,
  })
  return usual
}

describe('a worker', () => {
  it('makes the calls at which it is killed below', async () => {
    const world = await importWorld(OBJECTS)
    await world.start(ASKED)
    const seen: string[] = []
    const DB = tamperedD1((trip) => {
      seen.push(trip.sql.slice(0, 80))
      return trip.run()
    })
    await world.page({ DB })
    expect(seen, seen.join('\n')).toHaveLength(TRIPS.length)
  })

  const KILLS = TRIPS.flatMap((trip, index) => MODES.map((mode) => ({ trip, index, mode })))

  it.each(KILLS)('that is killed at "$trip", $mode it was executed, does no row twice', async ({ index, mode }) => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    let dead = false
    const DB = tamperedD1((trip) => {
      if (dead) throw new Error(LOST)
      if (trip.index !== index) return trip.run()
      dead = true
      return fail(trip, mode)
    })
    // Dead workers ack nothing, and send nothing.
    await world.fetches.pump(
      { DB, EVENTS: world.queue.EVENTS, FETCHES: world.fetches.EVENTS },
      { batches: 1, killed: () => dead },
    )
    expect(dead).toBe(true)
    world.fetches.lose()
    advance(MINUTE + 5 * SECOND)
    const done = await world.finish(id)
    expect(done).toMatchObject({ state: 'done', error: null })
    expect(brief(done)).toEqual(ALL)
    await settle(world)
    expect(await whole(world.project)).toEqual(await expected())
  })

  it('whose D1 fails for a moment goes on by itself', async () => {
    for (const [index] of TRIPS.entries()) {
      const world = await importWorld(OBJECTS)
      const id = await world.start(ASKED)
      const DB = tamperedD1((trip) => (trip.index === index ? fail(trip, 'after') : trip.run()))
      await world.page({ DB })
      advance(65 * SECOND)
      expect(brief(await world.finish(id))).toEqual(ALL)
      await settle(world)
      expect(await whole(world.project)).toEqual(await expected())
    }
  })

  it('whose lease ran out while another one did the page writes nothing', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    const message = { what: 'import', project_id: world.project, import_id: id }
    let between = false
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 2 && !between) {
        between = true
        advance(2 * MINUTE)
        await world.fetches.EVENTS.send(message)
        await world.page()
      }
      return trip.run()
    })
    await world.page({ DB })
    expect(between).toBe(true)
    expect(brief(await world.read(id))).toEqual({ subscriptions: 'running 100 100 0' })
    await world.finish(id)
    await settle(world)
    expect(await whole(world.project)).toEqual(await expected())
  })
})
