import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ANSWER_TIMEOUT_MS } from '../../../src/db/answered'
import { openRuntime, type Runtime } from '../../../src/env'
import { groupCommit } from '../../../src/inbox/receive/group-commit'
import type { RecordedEvent } from '../../../src/inbox/receive/insert'
import { ALONE_AFTER, MAX_GROUP_BYTES, ROW_BYTES } from '../../../src/inbox/receive/limits'
import type { NewEvent } from '../../../src/inbox/receive/recording'
import { newId } from '../../../src/lib/ids'
import { bindingsWith, freshKey, STORE_NUMBER, stripeConnection } from '../../harness'
import { LOST, rows, tamperedD1 } from '../pipeline'
import { until } from './until'

/* Deliveries that come while the database is busy are recorded together. D1's trips are held here until they are let go. */

let project: string
let connection: string

beforeEach(async () => {
  const { project: made, owner } = await freshKey()
  project = made
  connection = (await stripeConnection(owner.token, project)).id
})
afterEach(() => {
  vi.useRealTimers()
})

type Held = { deliveries: number; letGo: () => void; fail: (message: string) => void }

/** A runtime whose database holds each trip until it is let go, or made to fail. */
function heldD1() {
  const trips: Held[] = []
  const DB = tamperedD1(async ({ sql, run }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const deliveries = sql.split('INSERT INTO "events"').length - 1
    trips.push({ deliveries, letGo: resolve, fail: (message) => reject(new Error(message)) })
    await promise
    return run()
  })
  /** What the requests keep themselves alive for. */
  const kept: Promise<unknown>[] = []
  return {
    rt: openRuntime(bindingsWith({ DB }), { waitUntil: (work) => void kept.push(work) }).at(STORE_NUMBER) as Runtime,
    trips,
    kept,
    /** How many deliveries each trip so far carries. */
    carried: () => trips.map(({ deliveries }) => deliveries),
    /** Waits until so many trips have left. */
    left: (n: number) => until(() => trips.length >= n),
    letAllGo: () => {
      for (const { letGo } of trips) letGo()
    },
  }
}

/** Commits a new delivery of one event. */
function commit(
  { rt }: { rt: Runtime },
  { vendor_event_id = `evt_${crypto.randomUUID()}`, size = 10, version = 1 } = {},
) {
  const now = Date.now()
  const event: NewEvent = {
    id: newId('evt', now),
    vendor_event_id,
    event_type: 'charge.refunded',
    occurred_at: null,
    content_digest: null,
  }
  const body = JSON.stringify({ id: vendor_event_id })
  const delivery = { payload_id: newId('pay', now), body, headers: {}, events: [event], received_at: now }
  const work = groupCommit(rt, { fence: { id: connection, version }, delivery }, size)
  work.catch(() => {})
  return { event, work }
}
const several = (n: number, d1: { rt: Runtime }) => Array.from({ length: n }, () => commit(d1))

/** Every commit was answered with its own event, which is stored once, with its own payload. */
async function expectRecorded(commits: { event: NewEvent; work: Promise<RecordedEvent[]> }[]) {
  for (const { event, work } of commits) {
    const { id, vendor_event_id } = event
    expect(await work).toEqual([{ id, vendor_event_id, status: 'received', deliveries: 1 }])
  }
  const stored = await rows<{ id: string }>(
    `SELECT e.id, e.vendor_event_id, e.deliveries, p.body FROM events e JOIN bodies p
      ON p.project_id = e.project_id AND p.id = e.payload_id WHERE e.project_id = ?`,
    project,
  )
  const expected = commits.map(({ event: { id, vendor_event_id } }) => ({
    id,
    vendor_event_id,
    deliveries: 1,
    body: JSON.stringify({ id: vendor_event_id }),
  }))
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  expect(stored.toSorted(byId)).toEqual(expected.toSorted(byId))
  expect(await counted()).toEqual({ received: commits.length, duplicates: 0 })
}

async function counted() {
  const [minute] = await rows(
    `SELECT (SELECT count(*) FROM events WHERE project_id = ?1) AS received, coalesce(sum(duplicates), 0) AS duplicates
      FROM minutes WHERE project_id = ?1`,
    project,
  )
  return minute
}

describe('deliveries that come together', () => {
  it('leave at once while fewer than four trips are out; a fifth waits for one to return', async () => {
    const d1 = heldD1()
    const commits = several(5, d1)
    expect(d1.carried()).toEqual([1, 1, 1, 1])
    d1.trips[2]?.letGo()
    await commits[2]?.work
    await d1.left(5)
    expect(d1.carried()).toEqual([1, 1, 1, 1, 1])
    // Four are out again.
    commits.push(...several(1, d1))
    expect(d1.carried()).toHaveLength(5)
    d1.letAllGo()
    await d1.left(6)
    d1.letAllGo()
    await expectRecorded(commits)
  })

  it('never wait where four trips have come and gone', async () => {
    const d1 = heldD1()
    const commits = []
    for (let round = 1; round <= 3; round++) {
      commits.push(...several(4, d1))
      expect(d1.carried()).toEqual(Array(4 * round).fill(1))
      d1.letAllGo()
      await Promise.all(commits.map(({ work }) => work))
    }
    await expectRecorded(commits)
  })

  it('leave together, eight at most, when a trip returns', async () => {
    const d1 = heldD1()
    const commits = several(4 + 20, d1)
    for (const [returned, carried] of [
      [0, 8],
      [1, 8],
      [2, 4],
    ] as const) {
      d1.trips[returned]?.letGo()
      await d1.left(5 + returned)
      expect(d1.carried().at(-1)).toBe(carried)
    }
    d1.letAllGo()
    await expectRecorded(commits)
    expect(d1.carried()).toEqual([1, 1, 1, 1, 8, 8, 4])
  })

  it('leave together up to 256 KB; what is larger goes alone', async () => {
    const d1 = heldD1()
    const third = MAX_GROUP_BYTES / 3 - ROW_BYTES
    const sizes = [third, third, third, 1, MAX_GROUP_BYTES, 1, 1]
    const commits = [...several(4, d1), ...sizes.map((size) => commit(d1, { size }))]
    for (const [returned, carried] of [
      [0, 3],
      [1, 1],
      [2, 1],
      [3, 2],
    ] as const) {
      d1.trips[returned]?.letGo()
      await d1.left(5 + returned)
      expect(d1.carried().at(-1)).toBe(carried)
    }
    d1.letAllGo()
    await expectRecorded(commits)
  })

  it('wait for trips to their own database alone', async () => {
    const [one, two] = [heldD1(), heldD1()]
    const commits = [...several(5, one), ...several(5, two)]
    expect([one.carried(), two.carried()]).toEqual([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ])
    two.letAllGo()
    await two.left(5)
    two.letAllGo()
    await Promise.all(commits.slice(5).map(({ work }) => work))
    expect(one.carried()).toHaveLength(4)
    one.letAllGo()
    await one.left(5)
    one.letAllGo()
    await expectRecorded(commits)
  })

  it('are counted as duplicates where they carry the same event', async () => {
    const d1 = heldD1()
    const commits = [...several(4, d1), ...Array.from({ length: 4 }, () => commit(d1, { vendor_event_id: 'evt_same' }))]
    d1.letAllGo()
    await d1.left(5)
    expect(d1.carried().at(-1)).toBe(4)
    d1.letAllGo()
    const [first, ...again] = await Promise.all(commits.slice(4).map(({ work }) => work))
    expect(first).toEqual([expect.objectContaining({ id: commits[4]?.event.id, deliveries: 1 })])
    for (const [i, rows] of again.entries()) {
      expect(rows).toEqual([expect.objectContaining({ id: commits[4]?.event.id, deliveries: i + 2 })])
    }
    expect(await counted()).toEqual({ received: 5, duplicates: 3 })
  })

  it('are each held to their own fence', async () => {
    const d1 = heldD1()
    const commits = several(6, d1)
    const late = commit(d1, { version: 2 })
    d1.letAllGo()
    await d1.left(5)
    expect(d1.carried().at(-1)).toBe(3)
    d1.letAllGo()
    expect(await late.work).toEqual([])
    await expectRecorded(commits)
  })

  it('are seen through by the request that leads them, even when its caller has hung up', async () => {
    const d1 = heldD1()
    const commits = several(6, d1)
    // Each request keeps itself alive for as long as its delivery is on its way.
    expect(d1.kept).toHaveLength(6)
    d1.letAllGo()
    await d1.left(5)
    d1.letAllGo()
    await Promise.all(d1.kept)
    await expectRecorded(commits)
  })
})

describe('where D1', () => {
  /** A trip of four deliveries, held. */
  const groupOf4 = async () => {
    const d1 = heldD1()
    const first = several(4, d1)
    const group = several(4, d1)
    d1.letAllGo()
    await d1.left(5)
    expect(d1.carried().at(-1)).toBe(4)
    return { d1, first, group, trip: d1.trips.at(-1) }
  }

  it('refuses a statement of a group, each delivery goes alone', async () => {
    const { d1, first, group, trip } = await groupOf4()
    trip?.fail('D1_ERROR: CHECK constraint failed: events: SQLITE_CONSTRAINT')
    await d1.left(9)
    expect(d1.carried().slice(5)).toEqual([1, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded([...first, ...group])
  })

  it('refuses a delivery that goes alone, that one fails, and no other', async () => {
    const { d1, first, group, trip } = await groupOf4()
    trip?.fail('D1_ERROR: CHECK constraint failed: events: SQLITE_CONSTRAINT')
    await d1.left(9)
    d1.trips[5]?.fail('D1_ERROR: CHECK constraint failed: events: SQLITE_CONSTRAINT')
    d1.letAllGo()
    const outcomes = await Promise.allSettled(group.map(({ work }) => work))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    await expectRecorded([...first, ...group.filter((_, i) => outcomes[i]?.status === 'fulfilled')])
  })

  it('does not answer, each delivery of the group is told so, and none goes again', async () => {
    const { d1, first, group, trip } = await groupOf4()
    trip?.fail('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
    for (const { work } of group) await expect(work).rejects.toMatchObject({ fault: 'database_unavailable' })
    expect(d1.trips).toHaveLength(5)
    // The trip makes room, and the next ones go at once.
    const after = several(4, d1)
    expect(d1.carried().slice(5)).toEqual([1, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded([...first, ...after])
  })

  it('is lost for a moment, the trip is made again with all that it carries', async () => {
    const { d1, first, group, trip } = await groupOf4()
    trip?.fail(LOST)
    await d1.left(6)
    expect(d1.carried().slice(4)).toEqual([4, 4])
    d1.letAllGo()
    await expectRecorded([...first, ...group])
  })
})

describe('a delivery that has waited for 1.5 s', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  })

  it('goes alone where no trip returns', async () => {
    const d1 = heldD1()
    const commits = several(6, d1)
    await vi.advanceTimersByTimeAsync(ALONE_AFTER - 1)
    expect(d1.carried()).toHaveLength(4)
    await vi.advanceTimersByTimeAsync(1)
    expect(d1.carried()).toEqual([1, 1, 1, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded(commits)
  })

  it('leads no trip once it has gone alone', async () => {
    const d1 = heldD1()
    const commits = several(5, d1)
    await vi.advanceTimersByTimeAsync(ALONE_AFTER)
    expect(d1.carried()).toHaveLength(5)
    vi.setSystemTime(Date.now() - 1) // timers and clocks need not agree to the millisecond
    for (const { letGo } of d1.trips.slice(0, 4)) letGo()
    await Promise.all(commits.slice(0, 4).map(({ work }) => work))
    commits.push(...several(3, d1))
    expect(d1.carried()).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded(commits)
  })

  it('goes alone where the trip that took it along does not return, and is recorded once', async () => {
    const d1 = heldD1()
    const commits = several(4 + 5, d1)
    d1.trips[0]?.letGo()
    await commits[0]?.work
    await d1.left(5)
    expect(d1.carried()).toEqual([1, 1, 1, 1, 5])
    await vi.advanceTimersByTimeAsync(ALONE_AFTER)
    // The four that went along; the one that leads the trip is still on it.
    expect(d1.carried()).toEqual([1, 1, 1, 1, 5, 1, 1, 1, 1])
    for (const { letGo } of d1.trips.slice(5)) letGo()
    await Promise.all(commits.slice(5).map(({ work }) => work))
    d1.letAllGo() // the trip comes back after all: it records the same again
    await expectRecorded(commits)
  })

  it('does not lead a trip that it is told of too late', async () => {
    const d1 = heldD1()
    const commits = several(5, d1)
    // Its request has ended: no timer of its will run any more.
    vi.clearAllTimers()
    vi.setSystemTime(Date.now() + ALONE_AFTER)
    d1.letAllGo()
    await Promise.all(commits.slice(0, 4).map(({ work }) => work))
    expect(d1.trips).toHaveLength(4)
    const after = several(4, d1)
    expect(d1.carried().slice(4)).toEqual([1, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded([...commits.slice(0, 4), ...after])
  })

  it('need not wait again for trips whose requests have ended', async () => {
    const d1 = heldD1()
    const lost = several(4, d1)
    // Aborted: neither an answer nor a timeout will reach them.
    vi.clearAllTimers()
    vi.setSystemTime(Date.now() + ANSWER_TIMEOUT_MS)
    const waiting = several(1, d1)
    expect(d1.trips).toHaveLength(4)
    vi.setSystemTime(Date.now() + 1)
    const after = several(4, d1)
    // The first of them takes along the one that waits.
    expect(d1.carried().slice(4)).toEqual([2, 1, 1, 1])
    d1.letAllGo()
    await expectRecorded([...waiting, ...after, ...lost])
  })
})
