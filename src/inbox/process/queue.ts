import type { Runtime } from '../../env'
import { consume } from './consume'
import { resendDead } from './dead-letters'

/** Handles a batch of either queue: events to process, or messages that ended in the dead-letter queue. */
export function handleBatch(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  return batch.queue.endsWith('-dead') ? resendDead(rt, batch) : consume(rt, batch)
}
