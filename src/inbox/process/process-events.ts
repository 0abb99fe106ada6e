import { type Db, run } from '../../db/client'
import { newId } from '../../lib/ids'
import { type Claim, claim, claimExpired, type EventKey, findExpired } from './claim'
import { MAX_CLAIMED, MAX_QUEUE_WAIT_MS } from './limits'
import type { Task } from './read-message'
import { settle } from './settle'
import { judge, type Verdict } from './verdict'

type Tasks = ReadonlyMap<string, Task>

/**
 * Processes the events of a batch: claim → decide → apply → finish, normally in three D1 round trips. A batch of large
 * payloads takes several such passes, each over as many as fit into memory together: what a pass has not claimed, no
 * worker holds. A failure of one event affects no other.
 *
 * @returns event id → how long its message should wait (ms) before the next attempt. Others need no further message.
 * @throws {Fault} `database_unavailable`
 */
export async function processEvents(db: Db, list: readonly Task[]): Promise<Map<string, number>> {
  const tasks: Tasks = new Map(list.map((task) => [task.key.event_id, task]))
  const keys = [...tasks.values()].map(({ key }) => key)
  const waits = new Map<string, number>()
  const left: EventKey[][] = []
  for (let i = 0; i < keys.length; i += MAX_CLAIMED) {
    left.push(await processReady(db, keys.slice(i, i + MAX_CLAIMED), tasks, waits))
  }
  // What a dead worker left may be what killed it: such an event is claimed alone, once the others are safe.
  for (const rest of left) {
    if (rest.length === 0) continue
    for (const key of await run(db, findExpired(db, rest, Date.now()))) {
      await pass(db, { tasks, waits }, (lease) => claimExpired(db, key, lease, Date.now()))
    }
  }
  return waits
}

/** Processes the events that are ready. @returns those that are not */
async function processReady(
  db: Db,
  keys: readonly EventKey[],
  tasks: Tasks,
  waits: Map<string, number>,
): Promise<EventKey[]> {
  let rest = [...keys]
  while (rest.length > 0) {
    const done = await pass(db, { tasks, waits }, (lease) => claim(db, rest, lease, Date.now()))
    if (done.size === 0) break
    rest = rest.filter(({ event_id }) => !done.has(event_id))
  }
  return rest
}

/**
 * One attempt at each event of a claim. Adds to `waits`.
 *
 * @returns the ids of the events
 */
async function pass(
  db: Db,
  { tasks, waits }: { tasks: Tasks; waits: Map<string, number> },
  take: (lease: string) => Promise<Claim>,
): Promise<Set<string>> {
  const lease = newId('lse', Date.now())
  const verdicts = judgeAll(await take(lease), tasks)
  if (verdicts.length === 0) return new Set()
  for (const { event, due_at } of await settle(db, verdicts, lease)) {
    const wait = due_at === null ? null : due_at - Date.now()
    if (wait !== null && wait <= MAX_QUEUE_WAIT_MS) waits.set(event.id, Math.max(wait, 0))
  }
  return new Set(verdicts.map(({ event }) => event.id))
}

/** Decides on claimed events, delivery by delivery: each payload is decoded once, and let go of afterwards. */
function judgeAll({ events, payloads }: Claim, tasks: Tasks): Verdict[] {
  const deliveries = Map.groupBy(events, ({ payload_id }) => payload_id)
  return [...deliveries].flatMap(([id, ofDelivery]) =>
    judge(ofDelivery, payloads.get(id), (event) => tasks.get(event.id)?.via),
  )
}
