import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { newId } from '../../lib/ids'
import type { FetchEventMessage } from '../messages'
import { type ClaimedBatch, claim, claimExpired, type EventKey, findExpired, hold } from '../process/claim'
import { handBack } from '../process/hand-back'
import { MAX_QUEUE_WAIT_MS } from '../process/limits'
import { judgeAll } from '../process/process-events'
import type { Verdict } from '../process/verdict'
import { writeVerdicts } from '../process/write-verdicts'
import { processAgain } from './again'
import { endNamings } from './answers'
import { CALLS_WITHIN_MS, CLAIMED_AT_ONCE, HANDED_BACK_WAIT_S } from './limits'
import { fetchedBefore, type Naming, namedIn } from './named'
import { sharesOf } from './shares'

/** What a batch is about, and after how long (s) the message of an event comes again, if it does. */
type Work = {
  tasks: ReadonlyMap<string, { key: EventKey; via: 'sweep' | undefined }>
  waits: Map<string, number>
  until: number
}

/**
 * Processes events that name an object without containing it: claims them, asks the vendor for the objects, records what is new and
 * processes it, and finishes the events. One call answers for all events of an object. Projects take turns, and one with very many events
 * has a share of the batch. Events for which there is no time are handed back, without using up an attempt.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 * @throws {Fault} `database_unavailable`
 */
export async function fetchForEvents(rt: Runtime, messages: readonly FetchEventMessage[]): Promise<(number | null)[]> {
  const tasks = new Map(
    messages.map(({ project_id, event_id, via }) => [event_id, { key: { project_id, event_id }, via }]),
  )
  const keys = [...tasks.values()].map(({ key }) => key)
  const { now, waits } = await sharesOf(rt.db, keys)
  const work: Work = { tasks, waits, until: Date.now() + CALLS_WITHIN_MS }
  for (let i = 0; i < now.length; i += CLAIMED_AT_ONCE) {
    const some = now.slice(i, i + CLAIMED_AT_ONCE)
    if (i === 0 || Date.now() < work.until) await processSome(rt, work, some)
    else for (const { event_id } of some) waits.set(event_id, HANDED_BACK_WAIT_S)
  }
  return messages.map(({ event_id }) => work.waits.get(event_id) ?? null)
}

async function processSome(rt: Runtime, work: Work, keys: readonly EventKey[]): Promise<void> {
  let rest = [...keys]
  while (rest.length > 0) {
    const done = await pass(rt, work, false, (lease) => claim(rt.db, rest, { lease, now: Date.now(), apart: true }))
    if (done.size === 0) break
    rest = rest.filter(({ event_id }) => !done.has(event_id))
  }
  // An event that a dead worker left may be what killed it, so it is claimed alone, once the others are safe.
  if (rest.length > 0) {
    const at = Date.now()
    const { expired } = await batch(rt.db, {
      held: hold(rt.db, rest, at),
      expired: findExpired(rt.db, rest, { now: at, apart: true }),
    })
    for (const key of expired) await pass(rt, work, true, (lease) => claimExpired(rt.db, key, lease, Date.now()))
  }
}

/**
 * One attempt at each event of a claim.
 *
 * @param died whether the claim takes over from a worker that died
 * @returns the ids of the events
 */
async function pass(
  rt: Runtime,
  { tasks, waits, until }: Work,
  died: boolean,
  take: (lease: string) => Promise<ClaimedBatch>,
): Promise<Set<string>> {
  const lease = newId('lse', Date.now())
  const claimed = await take(lease)
  const judged = await judgeAll(claimed, tasks)
  const namings: Naming[] = []
  const others: Verdict[] = []
  const again: EventKey[] = []
  for (const verdict of judged) {
    const named = namedIn(verdict, claimed.payloads.get(verdict.event.payload_id))
    const before = named && fetchedBefore(verdict)
    if (before) {
      others.push({ ...verdict, status: 'processed', fetched: before })
      again.push({ project_id: verdict.event.project_id, event_id: before.event_id ?? '' })
    } else if (named) namings.push({ verdict, named })
    else others.push(verdict)
  }
  await processAgain(rt, again, Date.now())
  const { verdicts, unreached } = await endNamings(rt, namings, until)
  const ended = [...others, ...verdicts]
  if (ended.length > 0) {
    for (const { event, due_at } of await writeVerdicts(rt, ended, lease)) {
      const wait = due_at === null ? null : Math.max(due_at - Date.now(), 0)
      if (wait !== null && wait <= MAX_QUEUE_WAIT_MS) waits.set(event.id, Math.ceil(wait / 1000))
    }
  }
  for (const { event } of unreached) waits.set(event.id, HANDED_BACK_WAIT_S)
  const back = unreached.map(({ event }) => ({ project_id: event.project_id, event_id: event.id }))
  await handBack(rt.db, back, { lease, died }, Date.now())
  return new Set(judged.map(({ event }) => event.id))
}
