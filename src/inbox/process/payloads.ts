import { lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { type Body, isJoined, payloadHeaders, textBytes, textColumns, withPayload } from '../payload'
import { events } from '../schema'
import { MAX_CLAIMED_BYTES } from './limits'

/** A payload, as processing decodes it. `text` is null where the bytes are not UTF-8: those are never decoded. */
export type Payload = { text: string | null; headers: Record<string, string> | null }
/** The same as it is stored. */
export type StoredPayload = Payload & Body

/**
 * The keys of the payloads that events need, as many as fit into memory together: the oldest first, each counted once,
 * however many events share it. Packed ones count with the bytes that they take unpacked. There is at least one key, because a
 * delivery is smaller than {@link MAX_CLAIMED_BYTES}.
 *
 * @param list a list of events, as a table
 * @param condition which of them
 */
export function fittingPayloads(db: Db, list: SQL, condition: SQL | undefined) {
  const needed = neededBy(db, list, condition)
  const total = sql<number>`sum(coalesce(${textBytes}, 0)) OVER (ORDER BY ${needed.project_id}, ${needed.payload_id})`
  const { project_id, payload_id } = needed
  const sized = withPayload(
    db
      .select({ project_id, payload_id, total: total.as('total') })
      .from(needed)
      .$dynamic(),
    needed,
  ).as('sized')
  return db
    .select({ project_id: sized.project_id, payload_id: sized.payload_id })
    .from(sized)
    .where(lte(sized.total, MAX_CLAIMED_BYTES))
}

/** Reads the payloads of the listed events that meet a condition, each once. */
export function selectPayloads(db: Db, list: SQL, condition: SQL | undefined) {
  const needed = neededBy(db, list, condition)
  const columns = { id: needed.payload_id, ...textColumns, headers: payloadHeaders.as('headers') }
  return withPayload(db.select(columns).from(needed).$dynamic(), needed).where(isJoined)
}

function neededBy(db: Db, list: SQL, condition: SQL | undefined) {
  return db
    .selectDistinct({ project_id: events.project_id, payload_id: events.payload_id })
    .from(list)
    .crossJoin(events)
    .where(condition)
    .as('needed')
}
