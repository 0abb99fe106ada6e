import type { StoredCause, StoredChange } from '../changes/schema'
import type { Walk, WalkCause } from '../followers/schema'
import { concerned, concernsAll, concernsStateless } from './concerns'
import { joined, moved } from './walk'

/** A change that was read, with its number in the project and its time (ms). */
export type ReadChange = StoredChange & { number: number; at: number }

/** What a step has to do, as it was read. */
export type ToDo = {
  /** The number of the last change that was read before. */
  position: number
  walk: Walk
  /** The changes behind that, in order. */
  page: readonly ReadChange[]
  /** The number of the last change that was read: those of the watcher itself are not on the page. */
  last: number
  /** Consumers whose time has come. */
  due: readonly string[]
  /** The next consumers of the walk. `isEnd`: whether there are none after them. */
  met: readonly string[]
  isEnd: boolean
}

/** What a step does. */
export type Plan = {
  /** The consumers that it looks at, with the changes on the page that concern each. */
  consumers: ReadonlyMap<string, readonly ReadChange[]>
  /** Those whose time has come. */
  due: ReadonlySet<string>
  /** The number of the last change that it reads. */
  position: number
  /** The walk before it, with the changes on the page that concern everybody, and after it. */
  before: Walk
  after: Walk
  /** Whether it does all that was read. */
  isAll: boolean
}

/**
 * Chooses what one step does: the feed first, then those whose time has come, to whom half of it is left, then the walk.
 *
 * @param most consumers that it may look at. A change that concerns two is read whole.
 */
export function planOf({ position, walk, page, last, due, met, isEnd }: ToDo, most: number): Plan {
  const consumers = new Map<string, ReadChange[]>()
  // A long backlog does not hold up those whose time has come.
  const forPage = due.length > 0 ? Math.ceil(most / 2) : most
  const forAll: Omit<WalkCause, 'from' | 'round'>[] = []
  let end = position
  let isRead = true
  for (const change of page) {
    const own = concerned(change)
    const more = own.filter((id) => !consumers.has(id)).length
    if (consumers.size > 0 && consumers.size + more > forPage) {
      isRead = false
      break
    }
    for (const id of own) consumers.set(id, [...(consumers.get(id) ?? []), change])
    if (concernsAll(change)) {
      const { number, at } = change
      forAll.push({ ...causeOf(change), number, at, all: concernsStateless(change) })
    }
    end = change.number
  }
  const take = (ids: readonly string[]) => {
    const taken = ids.slice(0, Math.max(0, most - consumers.size))
    for (const id of taken) consumers.set(id, consumers.get(id) ?? [])
    return taken
  }
  const dueNow = take(due)
  const metNow = take(met)
  const before = joined(walk, forAll)
  const isWalked = metNow.length === met.length
  return {
    consumers,
    due: new Set(dueNow),
    position: isRead ? last : end,
    before,
    after: walk.causes.length > 0 ? moved(before, metNow, isEnd && isWalked) : before,
    isAll: isRead && dueNow.length === due.length && isWalked,
  }
}

/** A change as a cause of others. */
export function causeOf({ type, number, cause }: Pick<ReadChange, 'type' | 'cause'> & { number: number | null }) {
  return { type, ...(number !== null && { number }), ...(cause !== undefined && { cause }) } satisfies StoredCause
}
