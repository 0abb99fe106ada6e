import type { Runtime } from '../env'
import { type Figures, readFigures } from '../health/deployment'
import { measure } from '../http/measure'

/**
 * Writes the figures of a store to Analytics Engine, once a minute. An unknown number is -1, because a data point has
 * no empty column.
 */
export async function observe(rt: Runtime): Promise<Figures> {
  const numbers = await readFigures(rt)
  measure(rt, 'state', {
    store: String(rt.store),
    open: numbers.open,
    oldest_pending_ms: numbers.oldest_pending_age_ms ?? 0,
    expired_leases: numbers.expired_leases,
    queue_backlog: numbers.queue_backlog ?? -1,
    database_bytes: numbers.database_bytes ?? -1,
  })
  return numbers
}
