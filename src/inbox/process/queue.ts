import { notBound, type Runtime } from '../../env'
import { consume } from './consume'
import { resendDead } from './dead-letters'

/**
 * Handles a batch of a store's queue, or of the one queue for messages that ended as dead letters.
 *
 * @throws {Fault} `not_configured` if the queue belongs to a store that is not bound: its messages are tried again
 *   later
 */
export async function handleBatch(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  if (batch.queue.endsWith('-dead')) return resendDead(rt, batch)
  const store = storeOfQueue(batch.queue)
  const inside = rt.at(store)
  if (!inside) throw notBound(store)
  return consume(inside, batch)
}

/** The store whose queue this is: the number at the end of its name, or 0 if there is none. */
function storeOfQueue(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0)
}
