import { beforeEach, describe, expect, it } from 'vitest'
import { LEASE_MS, MAX_TRIES } from '../../../src/inbox/process/limits'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { drain, STORE, stripeEvent } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  expectConsistent,
  LOST,
  newWorld,
  rows,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})

/** A worker that dies once it has been handed a certain event: nothing of it reaches D1 from then on. */
function killedBy(id: string) {
  let dead = false
  const DB = tamperedD1(async (trip) => {
    if (dead) throw new Error(LOST)
    const results = await trip.run()
    dead = results.some(({ results }) =>
      (results as Record<string, unknown>[]).some((row) => row.id === id && 'payload_id' in row),
    )
    if (dead) throw new Error(LOST)
    return results
  })
  return { DB, killed: () => dead }
}

async function deliverMany({ send }: World, n: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) ids.push((await send(stripeEvent())).body.event_ids[0])
  return ids
}

describe('a lease', () => {
  it('that ran out under a slow worker is taken over, and the slow one then writes nothing', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const ids = await deliverMany(world, 3)
    let before: unknown
    const dump = async () => [
      await stored(project),
      await rows('SELECT * FROM attempts ORDER BY 1, 2'),
      await rows('SELECT * FROM totals WHERE project_id = ?', project),
      await rows('SELECT * FROM minutes WHERE project_id = ?', project),
    ]
    const DB = tamperedD1(async (trip) => {
      if (trip.index !== 1) return trip.run()
      // While this worker sleeps before its finish, another one does everything.
      advance(LEASE_MS + SECOND)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump()
      before = await dump()
      return trip.run()
    })
    await queue.pump({ DB }, { batches: 1 })
    expect(before).toBeDefined()
    expect(await dump()).toEqual(before)
    for (const id of ids) {
      expect(await world.attempts(id)).toMatchObject([
        { outcome: 'died', trigger: 'ingest' },
        { outcome: 'processed', trigger: 'retry' },
      ])
    }
    await settle(world)
    await expectConsistent(project)
  })

  it('that still runs is left alone, by the sweep and by whoever has a message', async () => {
    const world = await newWorld()
    const [id] = await deliverMany(world, 1)
    let others = 0
    const DB = tamperedD1(async (trip) => {
      if (trip.index !== 1) return trip.run()
      advance(LEASE_MS - SECOND)
      await cron({ EVENTS: world.queue.EVENTS })
      others = world.queue.waiting().length
      await drain([{ project_id: world.project, event_id: id }])
      return trip.run()
    })
    await world.queue.pump({ DB }, { batches: 1 })
    expect(others).toBe(0)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1 }])
    await expectConsistent(world.project)
  })

  it('that runs out unnoticed costs nothing: the one who holds it may still finish', async () => {
    const world = await newWorld()
    await deliverMany(world, 1)
    const DB = tamperedD1((trip) => {
      if (trip.index === 1) advance(10 * MINUTE)
      return trip.run()
    })
    await world.queue.pump({ DB }, { batches: 1 })
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1 }])
    await expectConsistent(world.project)
  })

  it('is taken over by one of many at once', async () => {
    const world = await newWorld()
    const [id] = await deliverMany(world, 1)
    await world.queue.pump(killedBy(id as string))
    world.queue.lose()
    advance(LEASE_MS + SECOND)
    const message = { project_id: world.project, event_id: id }
    await Promise.all(Array.from({ length: 10 }, () => drain([message])))
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
    await expectConsistent(world.project)
  })
})

describe('clocks that differ', () => {
  it.each([
    ['a minute and a half ahead', 90 * SECOND],
    ['ten minutes ahead', 10 * MINUTE],
    ['ten seconds behind', -10 * SECOND],
  ])('of an isolate %s: a running lease may be taken over early, and is finished once', async (_, skew) => {
    const world = await newWorld()
    const [id] = await deliverMany(world, 1)
    const DB = tamperedD1(async (trip) => {
      if (trip.index !== 1) return trip.run()
      advance(skew)
      await drain([{ project_id: world.project, event_id: id }])
      advance(-skew)
      return trip.run()
    })
    await world.queue.pump({ DB }, { batches: 1 })
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: skew > LEASE_MS ? 2 : 1 }])
    await settle(world)
    await expectConsistent(world.project)
  })

  it('of the consumer behind that of ingest: no lag below zero', async () => {
    const world = await newWorld()
    await deliverMany(world, 2)
    advance(-5 * SECOND)
    await drain(world.queue.sent.map(({ body }) => body))
    expect(await rows('SELECT lag, lag_sum, lag_max FROM minutes WHERE project_id = ?', world.project)).toEqual([
      { lag: '{"0":2}', lag_sum: 0, lag_max: 0 },
    ])
    await expectConsistent(world.project)
  })

  it('of the consumer behind that of the one who set the retry: the sweep brings it back', async () => {
    const world = await newWorld()
    const [id] = await deliverMany(world, 1)
    const trigger = await refusing('refs', 'NEW.event_id', id as string)
    await world.queue.pump()
    await trigger.drop()
    const [message] = world.queue.waiting()
    expect(message?.dueAt).toBeGreaterThan(Date.now())
    // Delivered when it is due, to an isolate that thinks it is early: acked, as nothing is to be done yet.
    const { explicitAcks } = await drain([message?.body])
    expect(explicitAcks).toHaveLength(1)
    world.queue.lose()
    expect(await stored(world.project)).toMatchObject([{ status: 'retrying', attempts: 1 }])
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
    await expectConsistent(world.project)
  })
})

describe('an event that kills its worker', () => {
  it.each(['first', 'last'])('fails alone after its tries, delivered %s of its batch', async (place) => {
    const log = captureLog()
    const world = await newWorld()
    const { queue, project } = world
    const ids = await deliverMany(world, 10)
    const killer = (place === 'first' ? ids[0] : ids.at(-1)) as string
    const others = ids.filter((id) => id !== killer)
    const count = async (status: string) =>
      (await stored(project)).filter((row) => others.includes(row.id) && row.status === status).length
    const round = async () => {
      const worker = killedBy(killer)
      await queue.pump({ DB: worker.DB }, { batches: 1, killed: worker.killed })
      return worker.killed()
    }
    expect(await round()).toBe(true)
    expect(await count('processing')).toBe(9)
    // The Queue delivers the batch again at once: its leases still run, so there is nothing to do.
    expect(await round()).toBe(false)
    // As soon as they have run out, the others are done, whether the killer strikes again or not.
    advance(LEASE_MS)
    await cron({ EVENTS: queue.EVENTS })
    await round()
    await round()
    expect(await count('processed')).toBe(9)
    for (let minute = 0; minute < 90; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
      await round()
    }
    const event = await world.event(killer)
    expect(event).toMatchObject({ status: 'failed', processing_attempts: MAX_TRIES, processed_at: null })
    expect(event.last_error).toMatch(/^worker_died: 8 workers in a row/)
    expect(event.last_error_code).toBe('worker_died')
    expect((await world.attempts(killer)).map(({ outcome, trigger }) => [outcome, trigger])).toEqual([
      ['died', 'ingest'],
      ...Array(MAX_TRIES - 2).fill(['died', 'retry']),
      ['failed', 'retry'],
    ])
    for (const id of others) expect((await world.event(id)).processing_attempts).toBe(2)
    expect(queue.waiting()).toEqual([])
    expect(log.of('sweep').filter(({ given_up }) => given_up === 1)).toHaveLength(1)
    await expectConsistent(project)
    // A replay renews its tries; a version that survives it does it.
    expect((await world.replay(killer)).status).toBe(202)
    await settle(world)
    expect(await world.event(killer)).toMatchObject({ status: 'processed', last_error: null })
    await expectConsistent(project)
  })

  it('does not hold up the others when it dies by its database calls alone, round after round', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const [killer, ...others] = await deliverMany(world, 5)
    // The worker lives, and asks for its messages 65 s later: when every lease has run out, the killer's too.
    for (let round = 0; round < 3; round++) {
      await queue.pump(killedBy(killer as string))
      advance(LEASE_MS + 5 * SECOND)
    }
    const done = (await stored(project)).filter((row) => others.includes(row.id))
    expect(done.map(({ status }) => status)).toEqual(Array(4).fill('processed'))
    await settle(world)
    await expectConsistent(project)
  })
})

/** A constraint that the database has for one event alone. */
async function refusing(table: string, column: string, id: string, when = 'true', event = 'INSERT') {
  const name = `refuse_${id}`
  await STORE.prepare(
    `CREATE TRIGGER ${name} BEFORE ${event} ON ${table} WHEN ${column} = '${id}' AND ${when}
     BEGIN SELECT RAISE(ABORT, 'not this one'); END`,
  ).run()
  return { drop: () => STORE.prepare(`DROP TRIGGER ${name}`).run() }
}

describe('a constraint that refuses one event of a batch', () => {
  it.each([
    ['its refs', 'refs', 'NEW.event_id', undefined, 'INSERT'],
    ['its attempt', 'attempts', 'NEW.event_id', "NEW.outcome = 'processed'", 'INSERT'],
    ['its row', 'events', 'NEW.id', "NEW.status = 'processed'", 'UPDATE'],
  ])('for %s: the others finish, that one is retried and fails in the end', async (_, table, column, when, event) => {
    const world = await newWorld()
    // While the previous version may run, every attempt is a row.
    if (table === 'attempts') await rows("INSERT INTO state VALUES ('fewer_rows_from', ?)", Number.MAX_SAFE_INTEGER)
    const ids = await deliverMany(world, 5)
    const bad = ids[2] as string
    const trigger = await refusing(table, column, bad, when, event)
    await world.queue.pump()
    for (const id of ids) {
      expect((await world.event(id)).status).toBe(id === bad ? 'retrying' : 'processed')
      expect((await world.event(id)).processing_attempts).toBe(1)
    }
    await expectConsistent(world.project)
    await settle(world)
    const failed = await world.event(bad)
    expect(failed).toMatchObject({ status: 'failed', processing_attempts: MAX_TRIES, processed_at: null })
    expect(failed.last_error).toMatch(/^the database rejected its effects: .*not this one/)
    expect(failed.last_error_code).toBe('effects_rejected')
    const attempts = await world.attempts(bad)
    expect(attempts.map(({ outcome }) => outcome)).toEqual([...Array(MAX_TRIES - 1).fill('retrying'), 'failed'])
    expect(await rows('SELECT * FROM refs WHERE event_id = ?', bad)).toEqual([])
    await expectConsistent(world.project)
    await trigger.drop()
    await world.replay(bad)
    await settle(world)
    expect(await world.event(bad)).toMatchObject({ status: 'processed', last_error: null })
    await expectConsistent(world.project)
    await rows("DELETE FROM state WHERE name = 'fewer_rows_from'")
  })
})
