import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { idTime, newId } from '../../lib/ids'
import { countFormat } from '../formats/count'
import { writeFormats } from '../formats/write'
import { sourceOfId } from '../sources'
import {
  type ClaimedBatch,
  claim,
  claimExpired,
  countDropped,
  type EventKey,
  findApart,
  findExpired,
  hold,
} from './claim'
import { MAX_CLAIMED, MAX_QUEUE_WAIT_MS } from './limits'
import { judge, type Verdict, type Via } from './verdict'
import { writeVerdicts } from './write-verdicts'

/** An event to be processed, and what asks for it. */
type Asked = { key: EventKey; via?: Via | undefined }
/** What a batch is about, by the ids of its events, and what becomes of it. `seen` is told how each attempt ended. */
type Work = { tasks: ReadonlyMap<string, Asked>; outcome: BatchOutcome; seen: (verdict: Verdict) => void }

/**
 * What became of a batch. `waits`: event id → how long its message should wait (ms) before the next attempt; others need no
 * further message. `finished`: how many events became final. `lags`: the time from receipt, or release, to completion (ms) of events that
 * were processed or ignored and never replayed, as in the lag series. `dropped`: how many events of deleted projects were not
 * processed. `apart`: events whose object is to be fetched; none of them was claimed. `doubtful`: projects with objects that came into
 * doubt.
 */
export type BatchOutcome = {
  waits: Map<string, number>
  finished: number
  lags: number[]
  dropped: number
  apart: EventKey[]
  doubtful: Set<string>
}

/**
 * Processes the events of a batch: claim → decide → apply → finish, normally in three D1 round trips. A batch of large
 * payloads takes several such passes, each over as many as fit into memory together: a worker holds only what its pass
 * has claimed. A failure of one event does not affect the others.
 *
 * @param seen is told how each attempt ended, once that is written
 * @throws {Fault} `database_unavailable`
 */
export async function processEvents(
  rt: Runtime,
  list: readonly Asked[],
  seen: (verdict: Verdict) => void = () => {},
): Promise<BatchOutcome> {
  const { db } = rt
  const tasks = new Map(list.map((task) => [task.key.event_id, task]))
  const keys = [...tasks.values()].map(({ key }) => key)
  const outcome: BatchOutcome = { waits: new Map(), finished: 0, lags: [], dropped: 0, apart: [], doubtful: new Set() }
  const work: Work = { tasks, outcome, seen }
  const left: EventKey[][] = []
  for (let i = 0; i < keys.length; i += MAX_CLAIMED) {
    left.push(await processReady(rt, keys.slice(i, i + MAX_CLAIMED), work))
  }
  // An event that a dead worker left may be what killed it, so it is claimed alone, once the others are safe.
  for (const rest of left) {
    if (rest.length === 0) continue
    const now = Date.now()
    const { expired, dropped, apart } = await batch(db, {
      held: hold(db, rest, now),
      expired: findExpired(db, rest, { now, apart: false }),
      dropped: countDropped(db, rest),
      apart: findApart(db, rest, now),
    })
    outcome.apart.push(...apart)
    outcome.dropped += dropped[0]?.n ?? 0
    for (const key of expired) {
      await pass(rt, work, (lease) => claimExpired(db, key, lease, Date.now()))
    }
  }
  writeFormats(rt)
  return outcome
}

/** Processes the events that are ready. @returns the others */
async function processReady(rt: Runtime, keys: readonly EventKey[], work: Work): Promise<EventKey[]> {
  const { db } = rt
  let rest = [...keys]
  while (rest.length > 0) {
    const done = await pass(rt, work, (lease) => claim(db, rest, { lease, now: Date.now(), apart: false }))
    if (done.size === 0) break
    rest = rest.filter(({ event_id }) => !done.has(event_id))
    // There is more to do if payloads are large. Without a pause, an isolate that has one pass after another answers nobody
    // else: during a batch of 100 payloads of 1 MiB, another request waited up to 2.2 s; with it, 0.2 s.
    if (rest.length > 0) await scheduler.wait(1)
  }
  return rest
}

/**
 * One attempt at each event of a claim. Adds to the outcome.
 *
 * @returns the ids of the events
 */
async function pass(
  rt: Runtime,
  { tasks, outcome, seen }: Work,
  take: (lease: string) => Promise<ClaimedBatch>,
): Promise<Set<string>> {
  const lease = newId('lse', Date.now())
  const verdicts = await judgeAll(await take(lease), tasks)
  if (verdicts.length === 0) return new Set()
  for (const verdict of await writeVerdicts(rt, verdicts, lease)) {
    note(outcome, verdict)
    countFormat(rt.store, verdict)
    seen(verdict)
  }
  return new Set(verdicts.map(({ event }) => event.id))
}

function note(outcome: BatchOutcome, { event, status, due_at, noted }: Verdict): void {
  if (noted) outcome.doubtful.add(event.project_id)
  if (due_at === null) {
    outcome.finished += 1
    if (status !== 'failed' && event.replay_id === null && sourceOfId(event.id) === 'delivery')
      outcome.lags.push(Math.max(0, Date.now() - (event.released_at ?? idTime(event.id))))
    return
  }
  const wait = due_at - Date.now()
  if (wait <= MAX_QUEUE_WAIT_MS) outcome.waits.set(event.id, Math.max(wait, 0))
}

/** Decides on claimed events, delivery by delivery: each payload is unpacked and decoded once, and released afterwards. */
export async function judgeAll({ events, payloads }: ClaimedBatch, tasks: Work['tasks']): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const [id, ofDelivery] of Map.groupBy(events, ({ payload_id }) => payload_id)) {
    verdicts.push(...(await judge(ofDelivery, payloads.get(id), (event) => tasks.get(event.id)?.via)))
  }
  return verdicts
}
