import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { events, payloads } from '../schema'
import { MAX_CLAIMED_BYTES } from './limits'

/** A stored payload, as processing reads it. `text` is null where the bytes are not UTF-8: those are never decoded. */
export type Payload = { text: string | null; headers: Record<string, string> | null }

/** The text of a payload. Bytes that are not UTF-8 stay where they are: processing has no use for them. */
export const payloadText = sql<string | null>`CASE typeof(${payloads.body}) WHEN 'text' THEN ${payloads.body} END`
/** How many bytes {@link payloadText} reads. */
const textBytes = sql`CASE typeof(${payloads.body}) WHEN 'text' THEN octet_length(${payloads.body}) ELSE 0 END`

/**
 * The keys of payloads that fit into memory together, of those that events need: the oldest first, each counted once,
 * however many events share it. It holds at least one, because a delivery is smaller than {@link MAX_CLAIMED_BYTES}.
 *
 * @param list a list of events, as a table
 * @param condition which of them
 */
export function fitting(db: Db, list: SQL, condition: SQL | undefined) {
  const needed = neededBy(db, list, condition)
  const total = sql<number>`sum(${textBytes}) OVER (ORDER BY ${needed.project_id}, ${needed.payload_id})`
  const sized = db
    .select({ project_id: needed.project_id, payload_id: needed.payload_id, total: total.as('total') })
    .from(needed)
    .leftJoin(payloads, and(eq(payloads.project_id, needed.project_id), eq(payloads.id, needed.payload_id)))
    .as('sized')
  return db
    .select({ project_id: sized.project_id, payload_id: sized.payload_id })
    .from(sized)
    .where(lte(sized.total, MAX_CLAIMED_BYTES))
}

/** Reads the payloads of the listed events that meet a condition, each once. */
export function selectPayloads(db: Db, list: SQL, condition: SQL | undefined) {
  const needed = neededBy(db, list, condition)
  return db
    .select({ id: payloads.id, text: payloadText.as('text'), headers: payloads.headers })
    .from(needed)
    .crossJoin(payloads)
    .where(and(eq(payloads.project_id, needed.project_id), eq(payloads.id, needed.payload_id)))
}

function neededBy(db: Db, list: SQL, condition: SQL | undefined) {
  return db
    .selectDistinct({ project_id: events.project_id, payload_id: events.payload_id })
    .from(list)
    .crossJoin(events)
    .where(condition)
    .as('needed')
}
