import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { cases, countingD1, D1_LOST, lossyQueue, STORE_NUMBER, STORES, stripeEvent } from '../harness'
import {
  advance,
  captureLog,
  cron,
  failingAt,
  keepHouse,
  newWorld,
  only,
  rows,
  rowsOfAll,
  stopClock,
  tamperedD1,
} from '../inbox/pipeline'
import { freshReader, insertConnection, insertEvents, insertMinutes, insertPayload, seedEvent } from '../inbox/seeding'

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')
/** A sweep needs up to 400 of the 1,000 queries that D1 takes in an invocation. */
const MOST_STATEMENTS = 600
const { EVENTS } = lossyQueue()

beforeEach(() => {
  stopClock(NIGHT)
})

/** A project with an event, its payload and its rollup of 450 days ago, and a rollup of three days ago. */
async function oldProject() {
  const { project } = await freshReader()
  const connection = await insertConnection(project, 'stripe')
  const event = seedEvent({ connection, received_at: NIGHT - 450 * DAY, refs: ['cus_1'] })
  await insertEvents(project, [event])
  await insertPayload(project, event, '{}')
  const minute = (at: number) => ({ minute: at / MINUTE, connection, received: 1, processed: 1 })
  await insertMinutes(project, [minute(NIGHT - 450 * DAY), minute(NIGHT - 3 * DAY + 7 * MINUTE)])
  return project
}

/** How many rows are left that housekeeping has to deal with. */
async function left(project: string): Promise<Record<string, number>> {
  const found = rows<Record<string, number>>(
    `SELECT (SELECT count(*) FROM events WHERE project_id = ?1) AS events,
      (SELECT count(*) FROM bodies WHERE project_id = ?1) AS bodies,
      (SELECT count(*) FROM minutes WHERE project_id = ?1 AND minute < ?2) AS rollups,
      (SELECT count(*) FROM minutes WHERE project_id = ?1 AND minute >= ?2 AND minute % 60 <> 0) AS minutes`,
    project,
    (NIGHT - 400 * DAY) / MINUTE,
  )
  return only(found)
}
const ALL = { events: 1, bodies: 1, rollups: 1, minutes: 1 }
const NONE = { events: 0, bodies: 0, rollups: 0, minutes: 0 }

describe('a thousand projects, or a fifth of them', () => {
  const PROJECTS = cases(1000)
  const PER_PROJECT = 20
  /** The day that ended two days ago: each project had events in every fourth of its minutes. */
  const ROLLUPS = 360
  const day = NIGHT - 3 * DAY - (NIGHT % DAY)
  const of = "project_id LIKE 'prj_busy%'"

  it('that were active all day are dealt with in a few runs, each within what D1 takes', async () => {
    await keepHouse()
    const numbers = (n: number) => `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${n})`
    await rows(
      `${numbers(PROJECTS)} INSERT INTO projects (id, name, created_by, created_at, store)
        SELECT printf('prj_busy%018d', i), 'Busy', 'usr_x', 0, ? FROM n`,
      STORE_NUMBER,
    )
    for (let from = 0; from < ROLLUPS; from += 90) {
      await rows(
        `${numbers(90)} INSERT INTO minutes (project_id, minute, connection_id, received, processed, lag, lag_sum, lag_max)
          SELECT p.id, ?1 + 4 * n.i, 'con_' || p.id, 2, 2, json_object(CAST(n.i % 7 AS TEXT), 1, '9', 1), 30, n.i FROM projects p, n
          WHERE p.id LIKE 'prj_busy%'`,
        day / MINUTE + 4 * from,
      )
    }
    const stems = ['evt', 'pay'].map((prefix) =>
      seedEvent({ connection: 'con', received_at: NIGHT - 401 * DAY })
        .id.replace('evt', prefix)
        .slice(0, 14),
    )
    await rows(
      `${numbers(PER_PROJECT)} INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status,
          last_delivered_at, summary)
        SELECT p.id, printf('${stems[0]}%016d', n.i), 'con_' || p.id, n.i, 'a', printf('${stems[1]}%016d', n.i), 'processed', 0,
          '{"refs":["cus_1","sub_1"]}' FROM projects p, n WHERE p.id LIKE 'prj_busy%'`,
    )
    await rows(`INSERT INTO bodies (project_id, id, body) SELECT project_id, payload_id, '{}' FROM events WHERE ${of}`)
    await rows(
      `INSERT INTO refs SELECT project_id, j.value, events.id FROM events, json_each(summary, '$.refs') j WHERE ${of}`,
    )
    await rows(`INSERT INTO totals SELECT project_id, 'processed', count(*) + 5 FROM events WHERE ${of} GROUP BY 1`)

    advance(HOUR)
    const statements: number[] = []
    for (let open = 1; open > 0 && statements.length < 20; ) {
      const { DB, count } = countingD1()
      await cron({ EVENTS, DB })
      statements.push(count.statements)
      open = (await rows("SELECT 1 FROM progress WHERE after <> ''")).length
      advance(MINUTE)
    }
    expect(Math.max(...statements)).toBeLessThanOrEqual(MOST_STATEMENTS)
    expect(statements.length).toBeLessThanOrEqual(8)
    const [minutes] = await rows(
      `SELECT count(*) AS n, sum(minute % 60 <> 0) AS unfolded, sum(received) AS received, sum(processed) AS processed,
        sum(lag_sum) AS lag_sum, max(lag_max) AS lag_max FROM minutes WHERE ${of}`,
    )
    expect(minutes).toEqual({
      n: PROJECTS * 24,
      unfolded: 0,
      received: PROJECTS * ROLLUPS * 2,
      processed: PROJECTS * ROLLUPS * 2,
      lag_sum: PROJECTS * ROLLUPS * 30,
      lag_max: 89,
    })
    for (const table of ['events', 'bodies', 'refs']) {
      expect(await rows(`SELECT count(*) AS n FROM ${table} WHERE ${of}`)).toEqual([{ n: 0 }])
    }
    expect(await rows(`SELECT DISTINCT n FROM totals WHERE ${of}`)).toEqual([{ n: 5 }])
  })

  it('that have nothing to do cost one round trip a run, and a few an hour', async () => {
    await keepHouse()
    await cron({ EVENTS })
    const costs = async () => {
      const { DB, count } = countingD1()
      await cron({ EVENTS, DB })
      return count
    }
    const quiet = (await costs()).trips
    // Where there are several, also whose turn it is; what was seen of them is noted; and domains may be due.
    expect(quiet).toBe(7 * STORES.length + (STORES.length > 1 ? 3 : 2))
    advance(HOUR)
    // One or two of each task, of which each store has some twenty.
    expect((await costs()).statements).toBeLessThan(50 + 84 * STORES.length)
  })
})

describe('what fails', () => {
  it.each([
    ['the sweep', /update "events"/i, {}],
    ['the look at sealed secrets', /"connections"/i, {}],
    ['the payloads', /delete from "bodies"/i, { bodies: 1 }],
    ['the records', /delete from "events"/i, { events: 1 }],
    ['the rollups of long ago', /delete from "minutes"(?!.*% )/is, { rollups: 1 }],
    ['the rollups of minutes', /insert into "minutes"/i, { minutes: 1 }],
    ['the codes of sign-in', /delete from "sign_in_codes"/i, {}],
  ])('stops nothing else, and is made up for by the next run: %s', async (_, statement, kept) => {
    const log = captureLog()
    const project = await oldProject()
    await rowsOfAll('DELETE FROM progress')
    await rowsOfAll("DELETE FROM state WHERE name = 'sealed_under'")
    const DB = failingAt(({ sql }) => statement.test(sql), 'before')
    await expect(cron({ EVENTS, DB })).rejects.toThrow('database_unavailable')
    expect(await left(project)).toEqual({ ...NONE, ...kept })
    expect(log.of('upkeep_failed')).toContainEqual(
      expect.objectContaining({ level: 'error', store: expect.any(Number) }),
    )
    await cron({ EVENTS })
    expect(await left(project)).toEqual(NONE)
  })

  it('does not stop the day’s work: a sweep whose Queue is out', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    const project = await oldProject()
    await rowsOfAll('DELETE FROM progress')
    advance(HOUR)
    const out = async () => {
      throw new Error('Queue is overloaded')
    }
    const refusing = { send: out, sendBatch: out } as unknown as Queue<unknown>
    await expect(cron({ EVENTS: refusing })).rejects.toThrow('Queue is overloaded')
    expect(await left(project)).toEqual(NONE)
  })

  it('loses nothing where the progress of a run cannot be noted', async () => {
    const project = await oldProject()
    await rowsOfAll('DELETE FROM progress')
    const DB = tamperedD1(({ sql, run }) => {
      if (/insert into "progress"/i.test(sql)) throw new Error(D1_LOST)
      return run()
    })
    await expect(cron({ EVENTS, DB })).rejects.toThrow('database_unavailable')
    expect(await left(project)).toEqual(NONE)
    await keepHouse()
    expect(await left(project)).toEqual(NONE)
  })
})

describe('a pass', () => {
  it('is made each hour, and not twice', async () => {
    await keepHouse()
    const project = await oldProject()
    await cron({ EVENTS })
    expect(await left(project)).toEqual(ALL)
    advance(HOUR)
    await cron({ EVENTS })
    expect(await left(project)).toEqual(NONE)
  })

  it('keeps up with a project of 12,000 events an hour', async () => {
    const { project } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const events = Array.from({ length: cases(12_000) }, (_, i) =>
      seedEvent({ connection, received_at: NIGHT - 450 * DAY + i }),
    )
    await insertEvents(project, events)
    await rows(
      "INSERT INTO bodies (project_id, id, body) SELECT project_id, payload_id, '{}' FROM events WHERE project_id = ?",
      project,
    )
    expect(await keepHouse()).toBeLessThanOrEqual(2)
    expect(await left(project)).toMatchObject({ events: 0, bodies: 0 })
  })

  it('folds what was written late, and reads no hour that was folded long ago', async () => {
    const { project } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const hours = Array.from({ length: 60_000 }, (_, i) => ({
      minute: Math.floor((NIGHT - 20 * DAY) / HOUR - (i % 7200)) * 60,
      connection: `${connection}_${Math.floor(i / 7200)}`,
      received: 1,
    }))
    await insertMinutes(project, hours)
    await keepHouse()
    await insertMinutes(project, [{ minute: (NIGHT - 5 * DAY) / MINUTE + 9, connection, received: 1 }])
    advance(HOUR)
    const { DB, count } = countingD1()
    await cron({ EVENTS, DB })
    expect(await left(project)).toMatchObject({ minutes: 0 })
    const { n: projects } = await only(rows<{ n: number }>('SELECT count(*) AS n FROM projects'))
    expect(count.rows_read).toBeLessThan(130 * projects) // however many hours each has
  })
})
