import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/time'
import { type Answer, BESIDE, inStore, lossyQueue, stripeEvent } from '../../harness'
import {
  advance,
  cron,
  expectConsistent,
  fail,
  keepHouse,
  MODES,
  newWorld,
  rows,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'
import { deliverFates, expectFates, FATES } from './fates'

beforeEach(() => {
  // In the middle of an hour: housekeeping makes its passes when one begins.
  stopClock(Math.floor(Date.now() / HOUR) * HOUR + 10 * MINUTE)
})

/** A way through the pipeline, and the calls of D1 that it makes. */
type Path = {
  name: string
  trips: readonly string[]
  /** What has to be there before. */
  prepare: (world: World) => Promise<string[]>
  /** What is done while D1 fails once. */
  act: (world: World, DB: D1Database, ids: string[]) => Promise<Answer | undefined>
  /** Checks beyond that nothing is lost and nothing is done twice. */
  check?: (world: World, ids: string[], failed: { trip: string; mode: string }, answer: Answer | undefined) => unknown
}

const event = stripeEvent()
const ingested: Path['act'] = async ({ send, queue }, DB) => {
  const answer = await send(event, { bindings: { DB, EVENTS: queue.EVENTS } })
  // What was not answered with 2xx, the vendor sends again.
  if (answer.status === 200) return answer
  expect(answer.status).toBe(503)
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect((await send(event)).status).toBe(200)
  return answer
}
const expectOne: NonNullable<Path['check']> = async ({ project }, _, __, answer) => {
  const own = (await stored(project)).filter((row) => row.vendor_event_id === event.id)
  expect(own).toMatchObject([{ status: 'processed', attempts: 1, deliveries: 1 }])
  if (answer?.status === 200) expect(answer.body).toEqual({ event_ids: [own[0]?.id], duplicate: false })
}
/** The connection is in the isolate's memory. */
const known = async (world: World) => {
  await world.send(stripeEvent())
  await settle(world)
  return []
}
const lost = async (world: World) => {
  const ids = await deliverFates(world)
  world.queue.lose()
  return ids
}
const died = async (world: World) => {
  const ids = await deliverFates(world)
  // All of them claimed by a worker that then died; the Queue has given their messages up.
  await world.queue.pump({ DB: tamperedD1((trip) => (trip.index === 0 ? fail(trip, 'after') : trip.run())) })
  world.queue.lose()
  return ids
}
/** This hour's housekeeping is done, and the look at every secret that comes of it. */
const kept = async () => {
  await keepHouse()
  await cron({ EVENTS: lossyQueue().EVENTS })
}
const consumed: Path['act'] = async ({ queue }, DB) => {
  await queue.pump({ DB }, { batches: 1 })
  return undefined
}

/** The cron looks for domains that are due in the directory, and notes there what it saw of the store. */
const NOTED = BESIDE ? [] : ['domains', 'note']

const PATHS: Path[] = [
  {
    name: 'ingest, its connection not known yet',
    trips: ['find connection', 'record', 'touch secret'],
    prepare: async () => [],
    act: ingested,
    check: expectOne,
  },
  {
    name: 'ingest, its connection known',
    trips: ['record'],
    prepare: known,
    act: ingested,
    check: expectOne,
  },
  {
    name: 'ingest, its connection changed since it was known',
    trips: ['record', 'find connection', 'record'],
    prepare: async (world) => {
      await known(world)
      await world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: { name: 'Renamed' } })
      return []
    },
    act: ingested,
    check: expectOne,
  },
  {
    name: 'consume',
    trips: ['claim', 'read objects', 'finish'],
    prepare: deliverFates,
    act: consumed,
    check: async (world, ids, { trip, mode }) => {
      // A claim whose worker died is an attempt; one that never was, or whose end was written, is none the more. What only
      // reads is made again.
      const tries = trip !== 'read objects' && (trip === 'claim') === (mode === 'after') ? 2 : 1
      for (const id of ids) {
        const outcomes = (await world.attempts(id)).map(({ outcome }) => outcome)
        expect(outcomes).toHaveLength(tries)
        if (tries === 2) expect(outcomes[0]).toBe('died')
      }
    },
  },
  {
    name: 'consume what a dead worker has left',
    trips: [
      'claim',
      'find expired',
      ...FATES.flatMap(([, fate]) => ['claim one', ...(fate === 'processed' ? ['read objects'] : []), 'finish one']),
    ],
    prepare: async (world) => {
      const ids = await died(world)
      advance(2 * MINUTE)
      await cron({ EVENTS: world.queue.EVENTS })
      return ids
    },
    act: consumed,
  },
  {
    name: 'sweep what was lost',
    trips: ['take due', 'take dead', 'state', 'due messages', 'read state', 'metrics', 'progress', ...NOTED],
    prepare: async (world) => {
      await kept()
      const ids = await lost(world)
      advance(MINUTE)
      return ids
    },
    act: async ({ queue }, DB) => {
      await cron({ ...inStore(DB), EVENTS: queue.EVENTS }).catch((error) =>
        expect(String(error)).toContain('database_unavailable'),
      )
      return undefined
    },
  },
  {
    name: 'sweep what kills its workers',
    trips: [
      'take due',
      'take dead',
      'read dead',
      'finish',
      'state',
      'due messages',
      'read state',
      'metrics',
      'progress',
      ...NOTED,
    ],
    prepare: async (world) => {
      await kept()
      const ids = await died(world)
      await rows('UPDATE events SET tries = 8 WHERE project_id = ?', world.project)
      advance(2 * MINUTE)
      return ids
    },
    act: async ({ queue }, DB) => {
      await cron({ ...inStore(DB), EVENTS: queue.EVENTS }).catch((error) =>
        expect(String(error)).toContain('database_unavailable'),
      )
      return undefined
    },
    check: async (world, ids) => {
      for (const id of ids) {
        expect(await world.event(id)).toMatchObject({ status: 'failed', processing_attempts: 1 })
        expect((await world.event(id)).last_error).toMatch(/^worker_died/)
      }
    },
  },
]

describe.each(PATHS)('D1 fails once: $name', ({ trips, prepare, act, check }) => {
  it('makes the calls that are failed below', async () => {
    const world = await newWorld()
    const ids = await prepare(world)
    const seen: string[] = []
    const DB = tamperedD1((trip) => {
      // Counts of fields are written beside, once a minute.
      if (!trip.sql.includes('"formats"')) seen.push(trip.sql.split('\n')[0] as string)
      return trip.run()
    })
    await act(world, DB, ids)
    expect(seen, seen.join('\n')).toHaveLength(trips.length)
    await settle(world)
    await expectConsistent(world.project)
  })

  it.each(trips.flatMap((trip, index) => MODES.map((mode) => ({ trip, index, mode }))))(
    'at "$trip" ($index), $mode it was executed',
    async ({ trip, index, mode }) => {
      const world = await newWorld()
      const ids = await prepare(world)
      let hit = false
      const DB = tamperedD1((call) => {
        if (call.index !== index) return call.run()
        hit = true
        return fail(call, mode)
      })
      const answer = await act(world, DB, ids)
      expect(hit).toBe(true)
      await settle(world)
      await check?.(world, ids, { trip, mode }, answer)
      if (ids.length === 0 || trips.includes('take dead')) await expectConsistent(world.project)
      else await expectFates(world, ids)
    },
  )
})

describe('a replay asked for while D1 fails', () => {
  it.each(MODES)('is refused or runs, once (%s)', async (mode) => {
    const world = await newWorld()
    const [id] = await deliverFates(world)
    await settle(world)
    const DB = tamperedD1((trip) => (/insert into "replays"/i.test(trip.sql) ? fail(trip, mode) : trip.run()))
    const answer = await world.replay(id as string, { bindings: { DB } })
    expect(answer.status).toBe(503)
    await settle(world)
    expect((await world.event(id as string)).processing_attempts).toBe(mode === 'after' ? 2 : 1)
    await expectConsistent(world.project)
  })
})
