import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { MOVED_BYTES, MOVED_PAYLOADS } from '../../src/inbox/limits'
import { movePayloads } from '../../src/inbox/move-payloads'
import { DAY, HOUR } from '../../src/lib/time'
import { type Answer, countingD1, deliverBytes, STORE, STORE_NUMBER, stripeEvent } from '../harness'
import {
  advance,
  captureLog,
  cron,
  expectConsistent,
  keepHouse,
  newWorld,
  only,
  rows,
  settle,
  stopClock,
  stored,
  type World,
} from './pipeline'

/*
 * Payloads that were recorded before `bodies` was there, in a deployment that has been migrated. From there they are packed: see
 * pack-bodies.test.ts.
 */

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')

beforeEach(async () => {
  stopClock(NIGHT)
  for (const table of ['payloads', 'bodies', 'progress']) await rows(`DELETE FROM ${table}`)
  await rows("DELETE FROM state WHERE name = 'payloads_move_from'")
  await rows("INSERT INTO state VALUES ('packed_from', ?) ON CONFLICT DO NOTHING", NIGHT + 10_000 * DAY)
})

/** Puts every payload where the version before this one had it. */
async function asBefore(): Promise<void> {
  await rows('INSERT INTO payloads (project_id, id, body, headers) SELECT project_id, id, body, headers FROM bodies')
  await rows('DELETE FROM bodies')
}
const isUnderWay = () => rows("INSERT INTO state VALUES ('payloads_move_from', ?)", NIGHT + HOUR)
const inBodies = () => rows<{ id: string }>('SELECT id FROM bodies ORDER BY id')
const inPayloads = () => rows<{ id: string }>('SELECT id FROM payloads ORDER BY id')
const counts = async () => [(await inPayloads()).length, (await inBodies()).length]

async function events({ api }: World): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: Answer = await api(`/webhooks?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    seen.push(...body.data)
    cursor = body.next_cursor
  }
  return seen
}

/** A world with a text, bytes that are not UTF-8, and headers that a payload is decoded with. */
async function worldOfBefore(n = 3): Promise<World> {
  const world = await newWorld()
  for (let i = 0; i < n; i++) await world.send(stripeEvent())
  const { EVENTS } = world.queue
  await deliverBytes(
    world.connection.id,
    Uint8Array.from({ length: 600 }, (_, i) => i & 255),
    { bindings: { EVENTS } },
  )
  await settle(world)
  await asBefore()
  return world
}

describe('payloads of the version before', () => {
  it('are read, replayed and previewed, before, during and after the move', async () => {
    const world = await worldOfBefore(MOVED_PAYLOADS)
    const all = await rows(
      'SELECT project_id, id, typeof(body) AS type, hex(body) AS hex, headers FROM payloads ORDER BY id',
    )
    await rows("INSERT INTO state VALUES ('payloads_move_from', ?)", NIGHT + DAY) // so that the cron moves none
    const total = MOVED_PAYLOADS + 1
    const found = await stored(world.project)
    const broken = await only(found.filter(({ status }) => status === 'failed'))
    // Events of one millisecond have no order, so the broken one may be any of them.
    const good = found.filter(({ id }) => id !== broken.id)
    const [first, last] = [good.at(0), good.at(-1)]
    for (const [payloads, bodies] of [
      [total, 0],
      [1, MOVED_PAYLOADS],
      [0, total],
    ]) {
      const read = await events(world)
      if (payloads !== total) await movePayloads(openDb<Db>(STORE), NIGHT + DAY)
      expect(await counts()).toEqual([payloads, bodies])
      expect(await events(world)).toEqual(read)
      for (const one of [first, last]) {
        const path = `/webhooks/${one?.id}/replay?dry_run=true`
        expect((await world.api(path, { method: 'POST' })).body).toMatchObject({ status: 'processed', error: null })
        expect(await world.replay(`${one?.id}`)).toMatchObject({ status: 202 })
      }
      await settle(world)
      const { body } = await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
      expect(body).toMatchObject({ matched: total, queued: total })
      await settle(world)
      expect((await stored(world.project)).filter(({ status }) => status === 'processed')).toHaveLength(MOVED_PAYLOADS)
      expect((await world.event(broken.id)).last_error).toBe('the payload is not UTF-8 text')
    }
    const moved = await rows(
      'SELECT project_id, id, typeof(body) AS type, hex(body) AS hex, headers FROM bodies ORDER BY id',
    )
    expect(moved).toEqual(all)
    await expectConsistent(world.project)
  })

  it('move in steps of a few MiB, one at least', async () => {
    const world = await newWorld()
    for (let i = 0; i < 7; i++) {
      await world.send(stripeEvent('charge.succeeded', { object: 'charge', note: 'x'.repeat(1_000_000) }))
      advance(1)
    }
    await asBefore()
    await rows(
      'UPDATE payloads SET body = CAST(zeroblob(?) AS BLOB) WHERE id = (SELECT min(id) FROM payloads)',
      1_900_000,
    )
    const steps: number[] = []
    for (let left = 7; left > 0; left = (await inPayloads()).length) {
      const { done } = await movePayloads(openDb<Db>(STORE), Date.now())
      steps.push(done)
    }
    expect(MOVED_BYTES).toBe(4 * 1024 * 1024)
    expect(steps).toEqual([3, 4])
  })

  it('move by the cron, until none is left; from then on that costs two statements an hour, and writes nothing', async () => {
    const world = await worldOfBefore(2 * MOVED_PAYLOADS)
    const log = captureLog()
    await keepHouse()
    expect(await counts()).toEqual([0, 2 * MOVED_PAYLOADS + 1])
    const ours = log.of('housekeeping').filter(({ store }) => store === STORE_NUMBER)
    expect(ours).toMatchObject([{ moved_payloads: 2 * MOVED_PAYLOADS + 1 }])
    await expectConsistent(world.project)
    const { DB, count } = countingD1()
    expect(await movePayloads(openDb(DB), Date.now())).toEqual({ done: 0, after: null })
    expect(count).toMatchObject({ trips: 1, statements: 2, rows_written: 0 })
    expect(count.rows_read).toBeLessThan(10)
  })

  it('are processed where they are: an event that was open at the deploy', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await asBefore()
    await settle(world)
    expect(await only(stored(world.project))).toMatchObject({ status: 'processed', attempts: 1 })
  })

  it.each(['payloads', 'bodies'])('go when their days are over: from %s', async (table) => {
    const world = await worldOfBefore(2)
    if (table === 'payloads') await rows("INSERT INTO state VALUES ('payloads_move_from', ?)", NIGHT + 365 * DAY)
    await keepHouse({ EVENTS: world.queue.EVENTS })
    expect(await counts()).toEqual(table === 'payloads' ? [3, 0] : [0, 3])
    advance(91 * DAY)
    await keepHouse({ EVENTS: world.queue.EVENTS })
    expect(await counts()).toEqual([0, 0])
    const { id } = (await stored(world.project)).find(({ status }) => status === 'processed') ?? {}
    expect(await world.event(`${id}`)).toMatchObject({ status: 'processed', raw_payload_b64: null })
    expect(await world.replay(`${id}`)).toMatchObject({ status: 409, body: { code: 'payload_gone' } })
    const { body } = await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
    expect(body).toMatchObject({ matched: 3, queued: 0, replay_id: null })
  })
})

describe('while the deploy may be under way', () => {
  it('nothing moves, and the version before finds what is recorded: whole, and once', async () => {
    const world = await worldOfBefore()
    await isUnderWay()
    await keepHouse()
    expect(await counts()).toEqual([4, 0])
    const large = stripeEvent('charge.succeeded', { object: 'charge', note: 'x'.repeat(1_000_000) })
    for (const event of [large, large, stripeEvent()]) await world.send(event)
    await settle(world)
    expect(await counts()).toEqual([6, 2])
    const [differing] = await rows<{ n: number }>(
      `SELECT count(*) AS n FROM bodies b JOIN payloads p USING (project_id, id)
        WHERE p.body <> b.body OR p.headers IS NOT b.headers`,
    )
    expect(differing?.n).toBe(0)
    const before = await events(world)
    advance(2 * HOUR)
    await world.send(stripeEvent()) // not copied any more
    expect(await counts()).toEqual([6, 3])
    await settle(world)
    await keepHouse()
    expect(await counts()).toEqual([0, 7])
    expect((await events(world)).slice(1)).toEqual(before)
    await expectConsistent(world.project)
  })

  it('goes on by itself an hour later, by the cron of each minute', async () => {
    await worldOfBefore()
    await isUnderWay()
    for (let minute = 0; minute < 59; minute++) {
      await cron()
      advance(HOUR / 60)
    }
    expect(await counts()).toEqual([4, 0])
    advance((2 * HOUR) / 60)
    await cron()
    expect(await counts()).toEqual([0, 4])
  })
})
