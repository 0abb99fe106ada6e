import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { STATUSES, type Status } from '../../src/inbox/lifecycle'
import { MAX_SWEPT_PROJECTS } from '../../src/inbox/limits'
import { newKey } from '../../src/inbox/packing'
import { purgePacked, purgePayloads } from '../../src/inbox/retention'
import { bodies } from '../../src/inbox/schema'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { STORE, STORE_NUMBER, stripeEvent } from '../harness'
import { happen, lagSeries } from '../inbox/history'
import {
  advance,
  captureLog,
  expectConsistent,
  gocardlessConnection,
  keepHouse,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  type World,
} from '../inbox/pipeline'
import { freshReader, insertConnection, insertEvents, insertPayload, seedEvent } from '../inbox/seeding'

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')

beforeEach(() => {
  stopClock(NIGHT)
})

/** Lets days pass, and the cron do its work. */
async function nightAfter(world: Pick<World, 'queue'>, days: number, bindings = {}): Promise<void> {
  advance(days * DAY)
  await keepHouse({ EVENTS: world.queue.EVENTS, ...bindings })
}

/** Every table in which something hangs on a project's events. */
async function left(project: string): Promise<Record<string, Record<string, unknown>[]>> {
  const tables = ['events', 'packed_bodies', 'refs', 'totals', 'minutes', 'replays'] as const
  const found = await Promise.all(tables.map((table) => rows(`SELECT * FROM ${table} WHERE project_id = ?`, project)))
  const attempts = await rows(
    'SELECT * FROM attempts WHERE event_id IN (SELECT id FROM events WHERE project_id = ?)',
    project,
  )
  return { ...Object.fromEntries(tables.map((table, i) => [table, found[i] ?? []])), attempts }
}
const sizes = (of: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(of).map(([name, list]) => [name, list.length]))

describe('a move of a customer', () => {
  it('goes when records of its time do', async () => {
    const { project, queue } = await newWorld()
    const insert = `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 2500)
      INSERT INTO customer_moves (project_id, ref, moved_at, customer, vendor) SELECT ?1, 'u', ?2, 'cus_' || v, 'stripe' FROM n`
    for (const at of [NIGHT, NIGHT + 2 * DAY]) await rows(insert, project, at)
    const kept = () =>
      rows('SELECT moved_at, count(*) AS n FROM customer_moves WHERE project_id = ? GROUP BY 1', project)
    await nightAfter({ queue }, 400)
    expect(await kept()).toHaveLength(2)
    await nightAfter({ queue }, 1)
    expect(await kept()).toEqual([{ moved_at: NIGHT + 2 * DAY, n: 2500 }])
  })
})

describe('a payload', () => {
  it('goes when its days are over, and not a day before; the record stays', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    await settle(world)
    const before = await world.event(id)
    await nightAfter(world, 90)
    expect(await world.event(id)).toEqual(before)
    await nightAfter(world, 1)
    expect(await world.event(id)).toEqual({ ...before, raw_payload_b64: null })
    expect((await world.api('/webhooks?view=full')).body.data).toEqual([{ ...before, raw_payload_b64: null }])
    expect(await world.attempts(id)).toHaveLength(1)
    expect((await world.api('/webhooks/search?ref=cus_1')).body.data).toHaveLength(1)
    expect(sizes(await left(world.project))).toMatchObject({ events: 1, packed_bodies: 0, refs: 2, attempts: 0 })
  })

  it('that is gone cannot be processed again: a replay is refused, and what was decoded stays', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    await settle(world)
    await nightAfter(world, 91)
    const before = await world.event(id)
    const answer = await world.replay(id)
    expect([answer.status, answer.body.code]).toEqual([409, 'payload_gone'])
    const all = await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
    expect(all.body).toMatchObject({ matched: 1, queued: 0, replay_id: null })
    await settle(world)
    expect(await world.event(id)).toEqual(before)
    expect(await world.attempts(id)).toHaveLength(1)
    expect((await world.api(`/webhooks/${id}/replay?dry_run=true`, { method: 'POST' })).body).toMatchObject({
      status: 'failed',
      error: 'the payload is no longer kept: its retention period has ended, or its consumer was erased',
    })
  })

  it.each(STATUSES)('of an event that is %s goes if the event is final, however old it is', async (status) => {
    const { project } = await freshReader()
    const event = seedEvent({
      connection: await insertConnection(project, 'stripe'),
      received_at: NIGHT - 300 * DAY,
      status,
    })
    await insertEvents(project, [event])
    await insertPayload(project, event, '{}')
    await keepHouse()
    const final: Status[] = ['processed', 'ignored', 'failed']
    expect((await left(project)).packed_bodies).toHaveLength(final.includes(status) ? 0 : 1)
  })

  it('of an open event stays, however many projects have open events', async () => {
    const { project } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const event = seedEvent({ connection, received_at: NIGHT - 300 * DAY, status: 'received' })
    await insertEvents(project, [event])
    const key = newKey(event.received_at)
    await rows("INSERT INTO packed_bodies (key, project_id, bytes, body) VALUES (?, ?, 2, '{}')", key, project)
    await rows('UPDATE events SET payload_id = ? WHERE project_id = ?', String(key), project)
    // The event again, as that of projects which come before this one.
    const { results } = await STORE.prepare("SELECT name FROM pragma_table_info('events')").all<{ name: string }>()
    const columns = results.map(({ name }) => name).join()
    const theirs = { project_id: "'prj_' || printf('%026d', n)", vendor_event_id: 'n', payload_id: "'1'" }
    const values = columns.replace(
      /\b(project_id|vendor_event_id|payload_id)\b/g,
      (name) => theirs[name as 'project_id'],
    )
    await STORE.prepare(
      `INSERT INTO events (${columns}) WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < ?)
       SELECT ${values} FROM k, events WHERE project_id = ?`,
    )
      .bind(MAX_SWEPT_PROJECTS, project)
      .run()
    expect(await purgePacked(openDb<Db>(STORE), NIGHT - 90 * DAY)).toEqual({ done: 0, after: null })
    expect((await left(project)).packed_bodies).toHaveLength(1)
  })

  it('of several events goes when the last of them may', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    const { event_ids } = (await sendGocardless(world, connection, ['EV1', 'EV2', 'EV3'])).body
    await settle(world)
    await world.replay(event_ids[1] ?? '')
    world.queue.lose()
    await nightAfter(world, 91, { PAYLOAD_RETENTION_DAYS: '90' })
    expect(sizes(await left(world.project))).toMatchObject({ events: 3, packed_bodies: 1 })
    expect((await world.event(event_ids[0])).raw_payload_b64).not.toBeNull()
    await settle(world) // the replay, found by the sweep, is done with the payload that was kept for it
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(['ignored', 'ignored', 'ignored'])
    await nightAfter(world, 1)
    expect(sizes(await left(world.project))).toMatchObject({ events: 3, packed_bodies: 0 })
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(['ignored', 'ignored', 'ignored'])
  })

  it('of a held event stays, and housekeeping reads none of the held events that are younger', async () => {
    const world = await newWorld()
    const { project, connection, api, send } = world
    const payload = async () => sizes(await left(project)).packed_bodies
    const read = async () => {
      const db = openDb<Db>(STORE)
      await purgePacked(db, Date.now() - 90 * DAY)
      await purgePayloads(db, bodies, { store: STORE_NUMBER, after: '' }, Date.now() - 90 * DAY)
      return db.meter.rows_read
    }
    const pause = async (status: string) =>
      (await api(`/connections/${connection.id}`, { method: 'PATCH', json: { status } })).status
    expect(await pause('paused')).toBe(200)
    await send(stripeEvent())
    await nightAfter(world, 91)
    expect(await payload()).toBe(1)
    const before = await read()
    const young = () => seedEvent({ connection: connection.id, received_at: Date.now(), status: 'received' })
    await insertEvents(project, Array.from({ length: 1000 }, young))
    await rows(
      'UPDATE events SET due_at = (SELECT held_as FROM connections WHERE id = ?1) WHERE connection_id = ?1',
      connection.id,
    )
    // One more: the first that is not old ends the range.
    expect(await read()).toBeLessThanOrEqual(before + 1)
    expect(await payload()).toBe(1)
    // Once the event is released and processed, its payload is not needed.
    await rows('DELETE FROM events WHERE project_id = ? AND payload_id LIKE ?', project, 'pay_%')
    expect(await pause('active')).toBe(200)
    await nightAfter(world, 0)
    await settle(world)
    await nightAfter(world, 1)
    expect(await payload()).toBe(0)
  })

  it('does not outlive its record', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await settle(world)
    await nightAfter(world, 31, { PAYLOAD_RETENTION_DAYS: '90', RECORD_RETENTION_DAYS: '30' })
    expect(sizes(await left(world.project))).toMatchObject({ events: 0, packed_bodies: 0 })
  })
})

describe('a record', () => {
  it('goes when its days are over, with all that hangs on it', async () => {
    const world = await newWorld()
    const [first, second] = [await world.send(stripeEvent()), await world.send({ ...stripeEvent(), data: {} })]
    await settle(world)
    await world.replay(first.body.event_ids[0])
    await settle(world)
    await nightAfter(world, 400)
    expect(sizes(await left(world.project))).toMatchObject({ events: 2, attempts: 3, refs: 2, replays: 1 })
    await nightAfter(world, 1)
    const after = await left(world.project)
    expect(after.totals?.map(({ status, n }) => [status, n])).toEqual([
      ['failed', 0],
      ['processed', 0],
    ])
    expect(sizes(after)).toMatchObject({ events: 0, packed_bodies: 0, attempts: 0, refs: 0, replays: 0, minutes: 0 })
    for (const { body } of [first, second]) {
      const orphans = await rows('SELECT * FROM attempts WHERE event_id = ?', body.event_ids[0])
      expect([orphans, (await world.event(body.event_ids[0])).code]).toEqual([[], 'not_found'])
    }
    await expectConsistent(world.project)
  })

  it('of a fetch goes too, and leaves the totals, which are of deliveries', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    await settle(world)
    const fetched = id.replace('evt_', 'ftc_')
    for (const [table, column] of Object.entries({ events: 'id', attempts: 'event_id', refs: 'event_id' })) {
      await rows(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`, fetched, id)
    }
    await rows('UPDATE totals SET n = 0 WHERE project_id = ?', world.project)
    advance(10 * DAY)
    await world.send(stripeEvent())
    await settle(world)
    await nightAfter(world, 391)
    const { events = [], totals } = await left(world.project)
    expect(events.map(({ id }) => String(id).slice(0, 4))).toEqual(['evt_'])
    expect(totals?.map(({ status, n }) => [status, n])).toEqual([['processed', 1]])
  })

  it('that is open stays, however old it is, and is brought to its end', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    world.queue.lose()
    await nightAfter(world, 500)
    expect((await world.event(id)).status).toBe('received')
    await settle(world)
    expect((await world.event(id)).status).toBe('processed')
    await nightAfter(world, 1)
    expect(sizes(await left(world.project))).toMatchObject({ events: 0, packed_bodies: 0, refs: 0, minutes: 0 })
  })

  it('may come in again afterwards, as a new one', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    const id = (await world.send(event)).body.event_ids[0]
    await settle(world)
    await nightAfter(world, 401)
    const again = (await world.send(event)).body
    expect([again.duplicate, again.event_ids[0] === id]).toEqual([false, false])
  })

  it('on the edge goes with its rollup: what is left is consistent to the hour', async () => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const edge = NIGHT - 400 * DAY
    const times = [-2 * HOUR, -HOUR, -1, 0, 1, 17 * MINUTE, HOUR - 1, HOUR, 2 * HOUR].map((ms) => edge + ms)
    await happen(
      project,
      connection,
      times.map((received_at) => ({ received_at, lag: 10 })),
    )
    for (const late of [0, 17 * MINUTE + 4321, 59 * MINUTE]) {
      stopClock(NIGHT + late)
      await keepHouse()
      const kept = await rows<{ at: number }>(
        'SELECT last_delivered_at AS at FROM events WHERE project_id = ? ORDER BY id',
        project,
      )
      const { data } = await lagSeries(read, { from: edge - 4 * HOUR, to: edge + 4 * HOUR, bucket: '1h' })
      const points = data.map((point) => [point.received, point.processed])
      const counted = data.map(({ bucket_start }) => {
        const start = Date.parse(bucket_start)
        const n = kept.filter(({ at }) => at >= start && at < start + HOUR).length
        return [n, n]
      })
      expect([iso(edge + late), points]).toEqual([iso(edge + late), counted])
      expect(await rows('SELECT status, n FROM totals WHERE project_id = ?', project)).toEqual([
        { status: 'processed', n: kept.length },
      ])
    }
  })
})

describe('a pass', () => {
  const COUNT = 210

  it('takes what is old from each project, leaves the rest, and then finds nothing more', async () => {
    const projects = await Promise.all(
      [0, 1].map(async () => {
        const { project } = await freshReader()
        const connection = await insertConnection(project, 'stripe')
        // All of them finished at one time, in one batch: one after the other would take a slow machine half a minute.
        const received = (received_at: number, finished_at: number) => ({ received_at, lag: finished_at - received_at })
        const old = Array.from({ length: COUNT }, (_, i) => received(NIGHT - 450 * DAY + i * HOUR, NIGHT - 441 * DAY))
        const recent = Array.from({ length: 3 }, (_, i) => received(NIGHT - DAY - i * HOUR, NIGHT - DAY))
        await happen(project, connection, [...old, ...recent, { received_at: NIGHT - 440 * DAY }])
        return project
      }),
    )
    const { of } = captureLog()
    await keepHouse()
    const after = await Promise.all(projects.map(left))
    for (const one of after) {
      expect(sizes(one)).toMatchObject({ events: 4, packed_bodies: 4, attempts: 0 })
      expect(one.totals).toMatchObject([{ status: 'processed', n: 3 }])
    }
    await keepHouse()
    // The line of each pass over our store.
    const passes = of('housekeeping').filter(({ store }) => store === STORE_NUMBER)
    expect(passes[1]).toMatchObject({
      payloads: 0,
      records: 0,
      replays: 0,
      rollups: 0,
      minutes: 0,
      left: 0,
    })
    expect(await Promise.all(projects.map(left))).toEqual(after)
  })
})
