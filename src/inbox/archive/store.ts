import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { erasures } from '../../consumers/schema'
import { batch, type Db, noticed, type Queries, raw, rawWrite } from '../../db/client'
import { bare, fitsPage, literals, valuesOf } from '../../db/sql'
import { writeLog } from '../../http/log'
import { utf8 } from '../../lib/crypto'
import { idFloor, idRange, idTime } from '../../lib/ids'
import { type PassStart, type PassStep, passStep } from '../../tenancy/pass'
import type { AttemptRow } from '../attempts'
import type { FinalStatus } from '../lifecycle'
import { attempts, bodies, events, payloads, refs, totals } from '../schema'
import { PREFIX_OF, type Source, sourceOfId } from '../sources'
import type { Pack } from './find'
import { ARCHIVED_AT_ONCE, ARCHIVED_BYTES, MAX_PACK_BYTES, PACKED_PERIOD_MS, PACKS_AT_ONCE } from './limits'
import {
  archivedColumns,
  type EventRecord,
  type EventToArchive,
  keysOf,
  packedRecords,
  recordOf,
  refsOf,
} from './records'
import { archivedRefs, archives } from './schema'

const e = alias(events, 'e')
const t = alias(attempts, 't')

/** The projects with an erasure whose first pass is not over: it would not see events that are packed after it has looked at the packs. */
const beingErased = sql`SELECT ${erasures.project_id} FROM ${erasures} INDEXED BY erasures_first
  WHERE ${erasures.finished_at} IS NULL`

/** The statuses of events that are archived. */
const COMPLETED = ['processed', 'ignored'] as const satisfies FinalStatus[]

/** An event as it was read, with its record. */
type Archived = { row: EventToArchive; record: EventRecord }

/**
 * One step of a pass over all projects: packs completed events of a source that were received before `before` (ms), the end of a period.
 * Failed ones stay where lists show them. If an event of a pack has changed since it was read, the whole pack waits for the next pass.
 *
 * @param start where the step before ended: `after` is a project, or what that step returned
 */
export async function archiveEvents(db: Db, start: PassStart, before: number, source: Source): Promise<PassStep> {
  // Within a project, a step continues after the last event that was packed, so that what stays is not read again.
  const [reached = '', project = '', event = ''] = start.after.split(' ')
  let rows: EventToArchive[] = []
  let runs: AttemptRow[] = []
  let number = 0
  const step = await passStep(db, { ...start, after: reached }, ARCHIVED_AT_ONCE, (slice) => {
    const { newest, events, attempts } = readNext(db, slice, { before, source, project, event })
    return {
      newest: noticed(newest, ([row]) => (number = row?.number ?? 0)),
      attempts: noticed(attempts, (found) => (runs = found)),
      gone: noticed(events, (found) => (rows = found)),
    }
  })
  if (rows.length === 0) return step
  const runsOf = Map.groupBy(runs, ({ event_id }) => event_id)
  const read = rows.flatMap((row) => archivedOf(row, runsOf.get(row.id) ?? []) ?? [])
  const packs = packsOf(read).slice(0, PACKS_AT_ONCE)
  for (const pack of packs) await batch(db, packing(db, ++number, pack))
  const last = packs.at(-1)?.at(-1)?.row ?? rows.at(-1)
  return { done: packs.flat().length, after: `${reached} ${last?.project_id} ${last?.id}` }
}

/** An event with its record; null, with a line in the log, if it cannot be packed: then it stays where it is. */
function archivedOf(row: EventToArchive, runs: readonly AttemptRow[]): Archived | null {
  try {
    const record = recordOf(row, runs)
    refsOf(record)
    return { row, record }
  } catch (error) {
    writeLog('error', 'event_not_archived', { project_id: row.project_id, event_id: row.id, error: String(error) })
    return null
  }
}

type Next = { before: number; source: Source; project: string; event: string }

/** @param next.event only later ones of the project `next.project` */
function readNext(db: Db, slice: SQL, { before, source, project, event }: Next) {
  const { above } = idRange(PREFIX_OF[source], null, null)
  // The archive knows `packed_bodies` alone. `+` keeps the planner from another index, whose order is another.
  const first = sql`SELECT e.* FROM ${slice} CROSS JOIN ${events} ${e}
    WHERE p.id >= ${project} AND ${e.project_id} = p.id
      AND ${e.id} > CASE p.id WHEN ${project} THEN ${event} ELSE ${above} END AND ${e.id} < ${idFloor(PREFIX_OF[source], before)}
      AND +${e.status} IN (${literals(COMPLETED)}) AND p.id NOT IN (${beingErased})
      AND NOT EXISTS (SELECT 1 FROM ${bodies}) AND NOT EXISTS (SELECT 1 FROM ${payloads})
    LIMIT ${ARCHIVED_AT_ONCE}`
  const size = sql`ifnull(octet_length(${e.summary}), 0) + ifnull(octet_length(${e.summary_rest}), 0)`
  const some = (fields: SQL) =>
    sql`SELECT ${fields} FROM (SELECT *, ${fitsPage(size, ARCHIVED_BYTES)} AS fits FROM (${first}) e) e WHERE e.fits`
  return {
    events: raw(db, archivedColumns, some),
    attempts: raw(
      db,
      getTableColumns(t),
      (fields) => sql`SELECT ${fields} FROM ${attempts} ${t}
        WHERE ${t.event_id} IN (${some(sql`${e.id}`)}) ORDER BY ${t.event_id}, ${t.number}`,
    ),
    newest: db.select({ number: sql<number>`ifnull(max(${archives.number}), 0)`.as('number') }).from(archives),
  }
}

/** Groups events into packs: of one project and period, and of at most {@link MAX_PACK_BYTES}. */
function packsOf(read: readonly Archived[]): Archived[][] {
  const packs: Archived[][] = []
  let [group, room] = ['', 0]
  for (const one of read) {
    const { project_id, id } = one.record
    const own = `${project_id} ${Math.floor(idTime(id) / PACKED_PERIOD_MS)}`
    const bytes = utf8(JSON.stringify(one.record)).byteLength
    if (own !== group || bytes > room) {
      packs.push([])
      ;[group, room] = [own, MAX_PACK_BYTES]
    }
    packs.at(-1)?.push(one)
    room -= bytes
  }
  return packs
}

/** Whether a pack is as it was read, or written. */
export function isAsRead({ number, revision }: Pick<Pack, 'number' | 'revision'>): SQL {
  return sql`EXISTS (SELECT 1 FROM ${archives} WHERE ${archives.number} = ${number} AND ${archives.revision} = ${revision})`
}

/** The statements that write a pack, and delete what is in it. If another run has taken the number, all of them fail, or do nothing. */
function packing(db: Db, number: number, pack: readonly Archived[]): Queries {
  const records = pack.map(({ record }) => record)
  const ids = records.map(({ id }) => id)
  const project_id = records[0]?.project_id
  const read = JSON.stringify(pack.map(({ row }) => row))
  const isUnchanged = sql.join(
    (['due_at', 'attempts', 'deliveries', 'differing', 'summary'] as const).map(
      (name) => sql`${e[name]} IS ${sql.raw(`j.value->>'$.${name}'`)}`,
    ),
    sql` AND `,
  )
  const unchanged = sql`(SELECT count(*) FROM json_each(${read}) j CROSS JOIN ${events} ${e}
    ON ${e.project_id} = ${project_id} AND ${e.id} = j.value->>'$.id'
    WHERE ${isUnchanged} AND nullif(hex(${e.summary_rest}), '') IS j.value->>'$.rest')`
  // Another run may take the number meanwhile. It does not take the revision too.
  const revision = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const isPacked = isAsRead({ number, revision })
  const lastAt = Math.max(...ids.map(idTime))
  const columns = bare(
    archives.number,
    archives.project_id,
    archives.last_at,
    archives.events,
    archives.revision,
    archives.records,
  )
  return {
    pack: rawWrite(
      db,
      sql`INSERT INTO ${archives} (${columns}) SELECT CAST(${number} AS INTEGER), ${project_id}, CAST(${lastAt} AS INTEGER),
        CAST(${ids.length} AS INTEGER), CAST(${revision} AS INTEGER), unhex(${packedRecords(records)})
        WHERE ${unchanged} = ${ids.length} AND ${project_id} NOT IN (${beingErased})`,
    ),
    keys: addKeys(db, number, keysOf(records), isPacked),
    refs: db.delete(refs).where(
      sql`(${refs.project_id}, ${refs.ref}, ${refs.event_id}) IN (SELECT ${project_id}, j.value->>0, j.value->>1
          FROM json_each(${JSON.stringify(records.flatMap((one) => refsOf(one).map((ref) => [ref, one.id])))}) j) AND ${isPacked}`,
    ),
    attempts: db.delete(attempts).where(sql`${attempts.event_id} IN ${valuesOf(ids)} AND ${isPacked}`),
    totals: addToTotals(db, records, -1, isPacked),
    events: db
      .delete(events)
      .where(sql`${events.project_id} = ${project_id} AND ${events.id} IN ${valuesOf(ids)} AND ${isPacked}`),
  }
}

/** Notes under which keys a pack is found. */
export function addKeys(db: Db, number: number, keys: ReadonlySet<number>, condition: SQL) {
  return rawWrite(
    db,
    sql`INSERT INTO ${archivedRefs} (${bare(archivedRefs.key, archivedRefs.archive)})
      SELECT value, CAST(${number} AS INTEGER) FROM json_each(${JSON.stringify([...keys])}) WHERE ${condition} ON CONFLICT DO NOTHING`,
  )
}

/** Counts events of one project by status: totals are of those that are in `events`. */
export function addToTotals(db: Db, records: readonly EventRecord[], sign: 1 | -1, condition: SQL) {
  const delivered = records.filter(({ id }) => sourceOfId(id) === 'delivery')
  const counts = [...Map.groupBy(delivered, ({ status }) => status)].map(([status, { length }]) => [status, length])
  const n = sql`(SELECT j.value->>1 FROM json_each(${JSON.stringify(counts)}) j WHERE j.value->>0 = ${totals.status})`
  return db
    .update(totals)
    .set({ n: sql`${totals.n} + ${sql.raw(String(sign))} * ${n}` })
    .where(sql`${totals.project_id} = ${records[0]?.project_id} AND ${n} IS NOT NULL AND ${condition}`)
}
