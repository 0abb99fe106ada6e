import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { batch, ConstraintError, type Db, type Queries, run } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { Fault } from '../../lib/fault'
import type { AttemptRow } from '../attempts'
import { eventExists } from '../events/events'
import { attempts, events, refs } from '../schema'
import { findArchived, type Pack } from './find'
import { asRows, type EventRecord, keysOf, packedRecords, refsOf } from './records'
import { archivedRefs, archives } from './schema'
import { addToTotals, isAsRead } from './store'

/**
 * The statements that put other records in place of those of a pack; without records, they delete it. They do nothing if the pack has
 * changed since it was read: then `changed` is empty. Statements that come before them can ask {@link isAsRead}.
 */
export function changePack(db: Db, pack: Pack, records: readonly EventRecord[]) {
  const own = and(eq(archives.number, pack.number), eq(archives.revision, pack.revision))
  const kept = keysOf(records)
  const gone = [...keysOf(pack.records)].filter((key) => !kept.has(key))
  const keys = db.delete(archivedRefs).where(
    sql`(${archivedRefs.key}, ${archivedRefs.archive}) IN (SELECT value, CAST(${pack.number} AS INTEGER)
        FROM json_each(${JSON.stringify(gone)})) AND ${isAsRead(pack)}`,
  )
  const set = { events: records.length, revision: pack.revision + 1, records: sql`unhex(${packedRecords(records)})` }
  const done = { number: archives.number }
  const changed =
    records.length === 0
      ? db.delete(archives).where(own).returning(done)
      : db.update(archives).set(set).where(own).returning(done)
  return { keys, changed }
}

/** Times that a pack is read again if it changes meanwhile. */
const READS = 3

/**
 * Brings an archived event back to the others, so that it can be processed again. A later pass archives it anew.
 *
 * @returns whether it is among the others now; if not, the project has no such event
 * @throws {Fault} `delivered_again`: the vendor has delivered it again since it was archived, and that delivery is an event of its own
 */
export async function bringBack(db: Db, projectId: string, id: string): Promise<boolean> {
  for (let i = 0; i < READS; i++) {
    const found = await findArchived(db, projectId, id)
    // Another call may have brought it back a moment ago.
    if (!found) return (await run(db, eventExists(db, projectId, id))).length > 0
    const { pack, record } = found
    const others = pack.records.filter((one) => one !== record)
    try {
      const { changed } = await batch(db, { ...puttingBack(db, pack, record), ...changePack(db, pack, others) })
      if (changed.length > 0) return true
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error
      throw (await deliveredAgain(db, record)) ?? error
    }
  }
  throw new Error(`the pack of the event ${id} changed ${READS} times while it was read`)
}

function puttingBack(db: Db, pack: Pack, record: EventRecord): Queries {
  const { columns, from } = asRows([record])
  const asRead = isAsRead(pack)
  const list = <T>(values: readonly T[]) => sql`FROM json_each(${JSON.stringify(values)}) j WHERE ${asRead}`
  const part = (name: string) => sql`j.value->>${sql.raw(`'$.${name}'`)}`
  const names = Object.keys(getTableColumns(attempts)) as (keyof AttemptRow)[]
  const attempt = Object.fromEntries(names.map((name) => [name, part(name)])) as Record<keyof AttemptRow, SQL>
  const ref = { project_id: sql`${record.project_id}`, ref: sql`j.value`, event_id: sql`${record.id}` }
  return {
    event: insertFrom(db, events, columns, sql`FROM ${from} WHERE ${asRead}`),
    refs: insertFrom(db, refs, ref, list(refsOf(record))),
    attempts: insertFrom(db, attempts, attempt, list(record.runs)),
    totals: addToTotals(db, [record], 1, asRead),
  }
}

async function deliveredAgain(db: Db, { connection_id, vendor_event_id }: EventRecord): Promise<Fault | null> {
  const isAgain = and(eq(events.connection_id, connection_id), eq(events.vendor_event_id, vendor_event_id))
  const [later] = await run(db, db.select({ id: events.id }).from(events).where(isAgain))
  if (!later) return null
  return new Fault('delivered_again', `The vendor has delivered this event again. Replay that delivery: ${later.id}.`)
}
