import { expect } from 'vitest'
import { FINAL_STATUSES, STATUSES } from '../../../src/inbox/lifecycle'
import { idTime } from '../../../src/lib/ids'
import { MINUTE } from '../../../src/lib/time'
import { type Rows, rows, stored } from './rows'

const FINAL: readonly string[] = FINAL_STATUSES
const SUCCESS = ['processed', 'ignored']

type Event = Rows['events']
type Attempt = Rows['attempts']
type Counts = Record<string, number>
/** Notes a difference between what is stored and what has to be. */
type Same = (what: string, actual: unknown, wanted: unknown) => void

/**
 * What has to hold of a project at any moment: rows, attempts, totals, rollups, refs and payloads tell the same story,
 * and no effect has happened twice.
 */
export async function expectConsistent(project: string): Promise<void> {
  const wrong: string[] = []
  const same: Same = (what, actual, wanted) => {
    const [is, was] = [JSON.stringify(actual), JSON.stringify(wanted)]
    if (is !== was) wrong.push(`${what}: ${is}, expected ${was}`)
  }
  const events = await stored(project)
  const attempts = await rows<Attempt>(
    'SELECT * FROM attempts WHERE event_id IN (SELECT id FROM events WHERE project_id = ?) ORDER BY event_id, number',
    project,
  )
  const rowless = events.filter(({ id, started_at }) => started_at !== null && !hasFirst(attempts, id))
  const attemptsOf = Map.groupBy([...rowless.map(firstOf), ...attempts], (row) => row.event_id)
  for (const event of events) checkEvent(event, attemptsOf.get(event.id) ?? [], same)
  await checkRows(project, events, same)
  await checkTotals(project, events, same)
  await checkMinutes(project, events, attemptsOf, same)
  expect(wrong).toEqual([])
}

const hasFirst = (attempts: Attempt[], id: string) => attempts.some((row) => row.event_id === id && row.number === 1)

/** The first attempt of an event that says itself what became of it. */
function firstOf({ id, started_at, processed_at, status }: Event): Attempt {
  const [started, finished] = [started_at ?? 0, processed_at ?? 0]
  const nothing = { actor: null, error: null }
  return {
    event_id: id,
    number: 1,
    trigger: 'ingest',
    started_at: started,
    finished_at: finished,
    outcome: status,
    ...nothing,
  }
}

/** An event agrees with its own attempts. */
function checkEvent(event: Event, attempts: Attempt[], same: Same): void {
  const of = `of ${event.id} (${event.status})`
  const last = attempts.at(-1)
  const final = FINAL.includes(event.status)
  const running = event.status === 'processing'
  same(`due_at null ${of}`, event.due_at === null, final)
  same(`lease ${of}`, [event.lease_token !== null, event.lease_until !== null], [running, running])
  if (final) same(`next_attempt_at ${of}`, event.next_attempt_at, null)
  if (event.status === 'retrying') same(`next_attempt_at set ${of}`, event.next_attempt_at !== null, true)
  // Every claim is an attempt; the one that is running has no row yet.
  const numbers = attempts.map((row) => row.number)
  const claims = running ? event.attempts - 1 : event.attempts
  same(
    `attempts ${of}`,
    numbers,
    Array.from({ length: claims }, (_, index) => index + 1),
  )
  if (!running) {
    const failed = last !== undefined && !SUCCESS.includes(last.outcome)
    same(`last_error set ${of}`, event.last_error !== null, failed)
    same(`last_error_code set ${of}`, event.last_error_code !== null, failed)
    if (last) same(`last_error ${of}`, event.last_error, last.error)
  }
  if (final) same(`last outcome ${of}`, last?.outcome, event.status)
  const done = attempts.filter((row) => SUCCESS.includes(row.outcome))
  same(`processed_at ${of}`, event.processed_at, done[0]?.finished_at ?? null)
  same(`summary set ${of}`, event.summary !== null, done.length > 0)
  if (event.replay_id === null) same(`one success at most ${of}`, done.length > 1, false)
}

/** A vendor's event is one row, with its payload and its refs, once. */
async function checkRows(project: string, events: Event[], same: Same): Promise<void> {
  const names = new Set(events.map((row) => `${row.connection_id} ${row.vendor_event_id}`))
  same('distinct events', names.size, events.length)
  const bodies = await rows<Rows['bodies']>(
    `SELECT id FROM bodies WHERE project_id = ?1
      UNION ALL SELECT CAST(key AS TEXT) FROM packed_bodies WHERE project_id = ?1`,
    project,
  )
  const payloadsOf = new Set(events.map((row) => row.payload_id))
  same('payloads', bodies.map(({ id }) => id).sort(), [...payloadsOf].sort())
  const refs = await rows<Rows['refs']>('SELECT ref, event_id FROM refs WHERE project_id = ?', project)
  const refsOf = Map.groupBy(refs, (row) => row.event_id)
  for (const { id, summary } of events) {
    const wanted: string[] = summary === null ? [] : JSON.parse(summary).refs
    same(`refs of ${id}`, (refsOf.get(id) ?? []).map((row) => row.ref).sort(), wanted.toSorted())
  }
  const ids = new Set(events.map(({ id }) => id))
  same(
    'refs of no event',
    refs.filter((row) => !ids.has(row.event_id)),
    [],
  )
}

/** Totals are the counts of final events, and of nothing else. */
async function checkTotals(project: string, events: Event[], same: Same): Promise<void> {
  const totals = await rows<Rows['totals']>('SELECT status, n FROM totals WHERE project_id = ?', project)
  for (const status of STATUSES) {
    const kept = totals.find((row) => row.status === status)?.n ?? 0
    const counted = FINAL.includes(status) ? events.filter((event) => event.status === status).length : 0
    same(`total of ${status}`, kept, counted)
  }
}

/** Rollups count what came in and what was completed first. A replay moves none. */
async function checkMinutes(
  project: string,
  events: Event[],
  attemptsOf: Map<string, Attempt[]>,
  same: Same,
): Promise<void> {
  const [from] = await rows<{ value: number }>("SELECT value FROM state WHERE name = 'fewer_rows_from'")
  const wanted = new Map<string, Counts>()
  for (const event of events) {
    const key = `${Math.floor(idTime(event.id) / MINUTE)} ${event.connection_id}`
    const counts = wanted.get(key) ?? { ...NO_MINUTE }
    wanted.set(key, counts)
    const first = attemptsOf.get(event.id)?.find((row) => FINAL.includes(row.outcome))
    // Before the previous version ran no more, an event was counted as received when it was recorded.
    if (first || idTime(event.id) < (from?.value ?? 0)) counts.received = (counts.received ?? 0) + 1
    countIn(counts, event, first)
  }
  const minutes = await rows<Rows['minutes']>('SELECT * FROM minutes WHERE project_id = ?', project)
  const kept = new Map<string, Counts>()
  for (const { minute, connection_id, received, processed, ignored, failed, lag, lag_sum, lag_max } of minutes) {
    const in_histogram = Object.values<number>(JSON.parse(lag)).reduce((sum, value) => sum + value, 0)
    const counts = { received, processed, ignored, failed, in_histogram, lag_sum, lag_max }
    // A minute may be there for its duplicates or refusals alone.
    if (Object.values(counts).some((value) => value !== 0)) kept.set(`${minute} ${connection_id}`, counts)
  }
  // Nor has one for events that are open.
  const some = [...wanted].filter(([, counts]) => Object.values(counts).some((value) => value !== 0))
  same('minutes', [...kept].sort(), some.sort())
  const sum = <T>(list: T[], pick: (row: T) => number) => list.reduce((total, row) => total + pick(row), 0)
  const duplicates = sum(minutes, (row) => row.duplicates)
  same(
    'duplicates',
    duplicates,
    sum(events, (row) => row.deliveries - 1),
  )
}

const NO_MINUTE: Counts = { received: 0, processed: 0, ignored: 0, failed: 0, in_histogram: 0, lag_sum: 0, lag_max: 0 }

/** Counts an event with its first completion, if it has one. */
function countIn(counts: Counts, event: Event, first: Attempt | undefined): void {
  const add = (name: string, n: number) => {
    counts[name] = (counts[name] ?? 0) + n
  }
  if (!first) return
  add(first.outcome, 1)
  if (!SUCCESS.includes(first.outcome)) return
  const lag = Math.max(0, first.finished_at - (event.released_at ?? idTime(event.id)))
  add('in_histogram', 1)
  add('lag_sum', lag)
  counts.lag_max = Math.max(counts.lag_max ?? 0, lag)
}
