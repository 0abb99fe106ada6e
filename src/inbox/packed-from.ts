import { sql } from 'drizzle-orm'
import { state } from '../stores/schema'

/**
 * The time (ms) from which payloads are recorded packed, as an expression. The version before migration 0041 then no longer runs. It is 0
 * for a database that had no connections.
 */
export const packedFrom = sql<number>`coalesce((SELECT ${state.value} FROM ${state} WHERE ${state.name} = 'packed_from'), 0)`
