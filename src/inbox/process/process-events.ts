import { type Db, run } from '../../db/client'
import { newId } from '../../lib/ids'
import { type Claimed, claim, claimExpired, findExpired } from './claim'
import { MAX_QUEUE_WAIT_MS } from './limits'
import type { Task } from './read-message'
import { settle } from './settle'
import { judge } from './verdict'

/**
 * Processes the events of a batch: claim → decide → apply → finish, normally in three D1 round trips. A failure of one event
 * affects no other.
 *
 * @returns event id → how long its message should wait (ms) before the next attempt. Others need no further message.
 * @throws {Fault} `database_unavailable`
 */
export async function processEvents(db: Db, tasks: readonly Task[]): Promise<Map<string, number>> {
  const byEvent = new Map(tasks.map((task) => [task.key.event_id, task]))
  const keys = [...byEvent.values()].map(({ key }) => key)
  if (keys.length === 0) return new Map()
  const lease = newId('lse', Date.now())
  const claimed = await claim(db, keys, lease, Date.now())
  const waits = await attempt(db, claimed, lease, byEvent)

  const ids = new Set(claimed.map(({ id }) => id))
  const rest = keys.filter(({ event_id }) => !ids.has(event_id))
  if (rest.length === 0) return new Map(waits)
  // What a dead worker left may be what killed it: such an event is claimed alone, once the others are safe.
  for (const key of await run(db, findExpired(db, rest, Date.now()))) {
    const own = newId('lse', Date.now())
    const event = await claimExpired(db, key, own, Date.now())
    if (event) waits.push(...(await attempt(db, [event], own, byEvent)))
  }
  return new Map(waits)
}

/** One attempt at each claimed event. @returns pairs of event id and wait (ms) */
async function attempt(
  db: Db,
  claimed: readonly Claimed[],
  lease: string,
  byEvent: ReadonlyMap<string, Task>,
): Promise<[string, number][]> {
  if (claimed.length === 0) return []
  const verdicts = claimed.map((event) => judge(event, byEvent.get(event.id)?.via))
  const waits: [string, number][] = []
  for (const { event, due_at } of await settle(db, verdicts, lease)) {
    const wait = due_at === null ? null : due_at - Date.now()
    if (wait !== null && wait <= MAX_QUEUE_WAIT_MS) waits.push([event.id, Math.max(wait, 0)])
  }
  return waits
}
