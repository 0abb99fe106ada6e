import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../../src/lib/time'
import { type Answer, drain, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  D1_OUT,
  expectConsistent,
  fail,
  gocardlessConnection,
  MODES,
  newWorld,
  QUEUE_OUT,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** One of each fate: processed, ignored, and failed for good. */
const FATES = [
  [stripeEvent(), 'processed'],
  [stripeEvent('charge.refunded'), 'ignored'],
  ['{"id":"evt_unreadable","object":"list"}', 'failed'],
] as const

async function deliverFates({ send }: World): Promise<string[]> {
  const ids: string[] = []
  for (const [event] of FATES) ids.push((await send(event)).body.event_ids[0])
  return ids
}

async function expectFates({ event, project }: World, ids: string[]): Promise<void> {
  for (const [index, [, status]] of FATES.entries()) {
    expect((await event(ids[index] as string)).status).toBe(status)
  }
  expect(await stored(project)).toHaveLength(FATES.length)
  await expectConsistent(project)
}

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
  if (answer?.status === 200) expect(answer.body).toEqual({ event_ids: [own[0].id], duplicate: false })
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
const consumed: Path['act'] = async ({ queue }, DB) => {
  await queue.pump({ DB }, { batches: 1 })
  return undefined
}

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
      // A claim whose worker died is an attempt; one that never was, or whose end was written, is none the more.
      const tries = trip === 'read objects' || (trip === 'claim') === (mode === 'after') ? 2 : 1
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
    trips: ['take due', 'take dead', 'state', 'read state'],
    prepare: async (world) => {
      const ids = await lost(world)
      advance(MINUTE)
      return ids
    },
    act: async ({ queue }, DB) => {
      await cron({ DB, EVENTS: queue.EVENTS }).catch((error) => expect(String(error)).toContain('database_unavailable'))
      return undefined
    },
  },
  {
    name: 'sweep what kills its workers',
    trips: ['take due', 'take dead', 'read dead', 'finish', 'state', 'read state'],
    prepare: async (world) => {
      const ids = await died(world)
      await rows('UPDATE events SET tries = 8 WHERE project_id = ?', world.project)
      advance(2 * MINUTE)
      return ids
    },
    act: async ({ queue }, DB) => {
      await cron({ DB, EVENTS: queue.EVENTS }).catch((error) => expect(String(error)).toContain('database_unavailable'))
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
      seen.push(trip.sql.split('\n')[0] as string)
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

describe('the Queue fails', () => {
  it('loses nothing when it takes no message: the sweep finds them', async () => {
    const log = captureLog()
    const world = await newWorld()
    const { status, body } = await world.send(event, { bindings: { EVENTS: QUEUE_OUT } })
    expect([status, body.duplicate]).toEqual([200, false])
    expect(log.of('queue_send_failed')).toHaveLength(1)
    expect(world.queue.sent).toHaveLength(0)
    // It is out for the sweep too, at first: an event taken then is taken again five minutes later.
    advance(MINUTE)
    await cron({ EVENTS: QUEUE_OUT }).catch((error) => expect(String(error)).toContain('Queue is overloaded'))
    await settle(world)
    expect(await world.event(body.event_ids[0])).toMatchObject({ status: 'processed', processing_attempts: 1 })
    expect(await world.attempts(body.event_ids[0])).toMatchObject([{ trigger: 'sweep', outcome: 'processed' }])
    await expectConsistent(world.project)
  })

  it('loses nothing when it drops every message', async () => {
    const world = await newWorld()
    const ids = await deliverFates(world)
    world.queue.lose()
    await settle(world)
    await expectFates(world, ids)
  })

  it('answers 503 with Retry-After when D1 is out too, and the vendor sends again', async () => {
    const world = await newWorld()
    await world.send(event)
    const other = stripeEvent()
    const refused = await world.send(other, { bindings: { DB: D1_OUT, EVENTS: QUEUE_OUT } })
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } })
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await stored(world.project)).toHaveLength(1)
    expect((await world.send(other)).body).toMatchObject({ duplicate: false })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed' }, { status: 'processed' }])
    await expectConsistent(world.project)
  })

  it('counts a repeat, and runs once, when it was recorded but neither D1 nor the Queue said so', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    advance(1)
    const other = stripeEvent()
    const DB = tamperedD1((trip) => fail(trip, 'after'))
    expect((await world.send(other, { bindings: { DB, EVENTS: QUEUE_OUT } })).status).toBe(503)
    expect((await world.send(other)).body).toMatchObject({ duplicate: true })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([
      { status: 'processed', deliveries: 1 },
      { status: 'processed', deliveries: 2, attempts: 1 },
    ])
    await expectConsistent(world.project)
  })
})

describe('deliveries and messages that come more than once', () => {
  it('records twenty deliveries at once as one event', async () => {
    const world = await newWorld()
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send(event)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.event_ids[0])).size).toBe(1)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ deliveries: 20, attempts: 1, status: 'processed' }])
    expect(await rows('SELECT * FROM minutes WHERE project_id = ?', world.project)).toMatchObject([
      { received: 1, duplicates: 19, processed: 1 },
    ])
    await expectConsistent(world.project)
  })

  it.each([
    ['in two batches at once', (drained: any, body: unknown) => Promise.all([drained([body]), drained([body])])],
    ['five times in one batch', (drained: any, body: unknown) => drained([body, body, body, body, body])],
    [
      'one batch after the other',
      async (drained: any, body: unknown) => {
        await drained([body])
        await drained([body])
      },
    ],
  ])('runs once for the same message, %s', async (_, deliverTwice) => {
    const world = await newWorld()
    const ids = await deliverFates(world)
    for (const { body } of world.queue.sent) {
      await deliverTwice((bodies: unknown[]) => drain(bodies, { EVENTS: world.queue.EVENTS }), body)
    }
    for (const id of ids) expect((await world.event(id)).processing_attempts).toBe(1)
    await expectFates(world, ids)
  })

  it('does not skip an event that is not processed because it was delivered before', async () => {
    const world = await newWorld()
    await world.send(event, { bindings: { EVENTS: QUEUE_OUT } })
    expect((await world.send(event)).body.duplicate).toBe(true)
    await world.queue.pump()
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 2, attempts: 1 }])
    await expectConsistent(world.project)
  })
})

describe('messages that nothing can be done with', () => {
  const spooled = { spooled: 1, project_id: 'prj_x', connection_id: 'con_x', secret_id: 'sec_x', payload_id: 'pay_x' }
  it.each([
    ['null', null],
    ['a text', 'evt_1'],
    ['an empty object', {}],
    ['a list', []],
    ['an id that is a number', { project_id: 'prj_x', event_id: 1 }],
    ['a sender that nobody knows', { project_id: 'prj_x', event_id: 'evt_x', via: 'elsewhere' }],
    ['a spooled delivery without events', { ...spooled, received_at: 1, headers: {}, body: new Uint8Array(1) }],
    ['a spooled body that is text', { ...spooled, received_at: 1, headers: {}, events: [], body: 'text' }],
  ])('acks and logs %s, and does the rest of the batch', async (_, body) => {
    const log = captureLog()
    const world = await newWorld()
    await world.send(event)
    const { explicitAcks, retryMessages } = await drain([body, world.queue.sent[0]?.body, body])
    expect(explicitAcks.toSorted()).toEqual(['message-0', 'message-1', 'message-2'])
    expect(retryMessages).toEqual([])
    expect(log.of('malformed_message').map(({ message_id }) => message_id)).toEqual(['message-0', 'message-2'])
    expect(await stored(world.project)).toMatchObject([{ status: 'processed' }])
    await expectConsistent(world.project)
  })

  it('acks an id that no event has, and one of another project', async () => {
    const world = await newWorld()
    const other = await newWorld()
    await world.send(event)
    const { event_id } = world.queue.sent[0]?.body ?? {}
    const { explicitAcks } = await drain([
      { project_id: world.project, event_id: 'evt_00000000000000000000000000' },
      { project_id: other.project, event_id },
    ])
    expect(explicitAcks).toHaveLength(2)
    expect(await stored(world.project)).toMatchObject([{ status: 'received', attempts: 0 }])
    await settle(world)
    await expectConsistent(world.project)
  })
})

describe('a backlog', () => {
  it('of 5,000 under a slow consumer is not sent again more often than every five minutes, and is all done', async () => {
    const world = await newWorld()
    const { project, queue } = world
    const connection = await gocardlessConnection(world)
    for (let i = 0; i < 100; i++) {
      const ids = Array.from({ length: 50 }, (_, n) => `EV_${i}_${n}`)
      expect((await sendGocardless(world, connection, ids)).body.event_ids).toHaveLength(50)
    }
    expect(queue.sent).toHaveLength(5000)
    // A consumer that manages 200 a minute, for twelve minutes.
    for (let minute = 0; minute < 12; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump({}, { batches: 2 })
    }
    const resent = queue.sent.slice(5000).filter(({ body }) => body.project_id === project)
    expect(resent.length).toBeGreaterThan(1000)
    const times = Map.groupBy(resent, ({ body }) => body.event_id)
    const gaps = [...times.values()].flatMap((sent) => sent.slice(1).map(({ at }, i) => at - (sent[i]?.at ?? 0)))
    expect(gaps.every((gap) => gap >= 5 * MINUTE)).toBe(true)
    await queue.pump({}, { batches: 1000 })
    expect(
      await rows('SELECT status, attempts, count(*) AS n FROM events WHERE project_id = ? GROUP BY 1, 2', project),
    ).toEqual([{ status: 'ignored', attempts: 1, n: 5000 }])
    await expectConsistent(project)
  }, 60_000)

  it('that was lost altogether comes back, a bounded number a minute and project', async () => {
    const world = await newWorld()
    const { project, queue } = world
    const connection = await gocardlessConnection(world)
    await sendGocardless(
      world,
      connection,
      Array.from({ length: 250 }, (_, n) => `EV_${n}`),
    )
    queue.lose()
    const left: number[] = []
    for (let minute = 0; minute < 3; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump()
      const [row] = await rows('SELECT count(*) AS n FROM events WHERE project_id = ? AND due_at IS NOT NULL', project)
      left.push(row.n)
    }
    expect(left).toEqual([150, 50, 0])
    await expectConsistent(project)
  })
})
