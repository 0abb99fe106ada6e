import { type Attempted, attempt, isGone, isTaken, type Target } from './attempt'
import type { Item } from './items'
import { ATTEMPT_WITHIN_MS, FAILURES_TO_OPEN, RUN_MS } from './limits'
import type { Message } from './message'
import type { Endpoint } from './work'

/** Something that was sent, or that was begun and given up because the endpoint is too slow for its queue. */
export type Sent = { item: Item; id: string; type: string; made: Attempted; isGivenUp: boolean }

/**
 * Sends items in their order, some at once, until the time is up or the endpoint is not to get more: it fails one after the other, has gone,
 * or asks us to wait. If it is ordered, one at a time, up to the first that fails.
 *
 * @param messageFor an item as it is sent
 * @returns what was begun: the items from the first on, in no order
 */
export async function sendAll(
  endpoint: Endpoint,
  target: Target,
  items: readonly Item[],
  { until, messageFor }: { until: number; messageFor: (item: Item) => Message },
): Promise<Sent[]> {
  const { ordered, slow, at_once, failures, state } = endpoint
  const sent: Sent[] = []
  let streak = state === 'active' ? failures : 0
  let next = 0
  let isOver = false
  let running = 0
  // What is under way may fail too: no more is begun than may fail in a row.
  const mayBegin = () => !isOver && (streak === 0 || streak + running < FAILURES_TO_OPEN)
  const within = slow ? ATTEMPT_WITHIN_MS : RUN_MS.fast
  const work = async () => {
    while (next < items.length && mayBegin() && (next === 0 || Date.now() < until)) {
      const item = items[next++] as Item
      const message = messageFor(item)
      const { id, type } = message
      running += 1
      const made = await attempt(target, message, within)
      running -= 1
      const isGivenUp = !slow && made.error === 'time'
      sent.push({ item, id, type, made, isGivenUp })
      if (isGone(made)) continue
      if (isTaken(made.status)) streak = 0
      else {
        if (item.kind !== 'due') streak += 1
        if (streak >= FAILURES_TO_OPEN || isGivenUp || made.status === 410 || made.hold > 0) isOver = true
        if (ordered && item.kind !== 'due') isOver = true
      }
    }
  }
  await Promise.all(Array.from({ length: ordered ? 1 : at_once }, work))
  return sent
}
