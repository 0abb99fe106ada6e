import { eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type ErasureRow, isErasure } from '../../consumers/erasures'
import { erasures } from '../../consumers/schema'
import { batch, type Db, raw } from '../../db/client'
import { events, packedBodies, packedKeyOf } from '../schema'
import type { DecodedSummary } from '../summary'
import { changePack } from './change'
import { type Pack, packsWith, readPacks } from './find'
import { type EventRecord, refsOf, summaryOf, withSummary } from './records'
import { archives } from './schema'

const a = alias(archives, 'a')
/** Other events of the same delivery. */
const s = alias(events, 's')

/** A customer of an erasure. `reference`: the id by which events refer to it. */
type Customer = { vendor: string; reference: string }

/** An archived event that refers to a customer of an erasure. */
export type ArchivedMention = { record: EventRecord; vendor: string; summary: DecodedSummary }

/**
 * Finds the next pack of a project with events that refer to some customers, and these events: there may be none, if the pack only has the
 * same key.
 *
 * @param after the number of the pack before; 0 for the first
 */
export async function nextMentions(
  db: Db,
  projectId: string,
  customers: readonly Customer[],
  after: number,
): Promise<{ pack: Pack; mentions: ArchivedMention[] } | null> {
  const references = customers.map(({ reference }) => reference)
  const [pack] = await readPacks(
    db,
    sql`${packsWith(projectId, references)} WHERE ${a.number} > ${after} ORDER BY ${a.number} LIMIT 1`,
  )
  if (!pack) return null
  const mentions = pack.records.flatMap((record) => {
    const summary = summaryOf(record)
    const isOf = ({ vendor, reference }: Customer) => summary?.vendor === vendor && refsOf(record).includes(reference)
    return summary && customers.some(isOf) ? [{ record, vendor: summary.vendor, summary }] : []
  })
  return { pack, mentions }
}

/**
 * Deletes the payloads of archived events, counts them, and replaces summaries.
 *
 * @param forgotten a summary without what is about a person; null if it has nothing of that kind
 * @returns `left`: payloads that other events still need. Null if the pack has changed since it was read: then nothing was replaced
 */
export async function eraseMentions(
  db: Db,
  erasure: ErasureRow,
  { pack, mentions }: { pack: Pack; mentions: readonly ArchivedMention[] },
  forgotten: (summary: DecodedSummary) => DecodedSummary | null,
): Promise<{ left: number } | null> {
  const list = JSON.stringify(mentions.map(({ record: { id, payload_id } }) => ({ id, payload_id })))
  const [id, payload_id] = [sql`j.value->>'$.id'`, sql`j.value->>'$.payload_id'`]
  const isNeeded = hasOpenEvent(erasure.project_id, id, payload_id)
  const anew = new Map(
    mentions.flatMap(({ record, summary }) => {
      const other = forgotten(summary)
      return other ? [[record, withSummary(record, other)] as const] : []
    }),
  )
  const records = pack.records.map((record) => anew.get(record) ?? record)
  const { needed, changed } = await batch(db, {
    needed: raw(
      db,
      { id: sql<string>`${id}` },
      (fields) => sql`SELECT ${fields} FROM json_each(${list}) j WHERE ${isNeeded}`,
    ),
    payloads: db
      .delete(packedBodies)
      .where(
        sql`${packedBodies.key} IN (SELECT ${packedKeyOf(payload_id)} FROM json_each(${list}) j WHERE NOT ${isNeeded})`,
      ),
    // `changes()` counts the statement before.
    counted: db
      .update(erasures)
      .set({ removed: sql`${erasures.removed} + changes()` })
      .where(isErasure(erasure)),
    ...changePack(db, pack, records),
  })
  return changed.length > 0 ? { left: needed.length } : null
}

/** Whether an open event shares a payload. The events of a delivery have ids of the same time. */
function hasOpenEvent(projectId: string, id: SQL, payloadId: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM ${events} ${s} WHERE ${eq(s.project_id, projectId)}
    AND ${s.id} >= substr(${id}, 1, 14) AND ${s.id} < substr(${id}, 1, 14) || '~'
    AND ${s.payload_id} = ${payloadId} AND ${s.due_at} IS NOT NULL)`
}
