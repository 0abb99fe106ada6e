import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Reader } from '../../db/client'
import type { AttemptRow } from '../attempts'
import { deflated, inflated } from '../packing'
import { events } from '../schema'
import { type DecodedSummary, decodedSummary, storedSummary } from '../summary'
import { packedPart, unpackedPart } from '../summary-packing'
import { archiveKey } from './keys'

/*
 * What the archive keeps of an event: its row, and its attempts. Its payload stays in its own table, for its own retention. Its rows of
 * `refs` follow from its summary.
 */

const e = alias(events, 'e')
const { summary_rest, ...plain } = getTableColumns(e)
type Plain = Omit<typeof events.$inferSelect, 'summary_rest'>

/** The columns of an event that is to be archived. */
export const archivedColumns = { ...plain, rest: sql<string | null>`nullif(hex(${summary_rest}), '')` }
/** A row of {@link archivedColumns}. `rest`: hexadecimal. */
export type EventToArchive = Plain & { rest: string | null }

/** The record of an event. `rest`: what is packed of its summary, as JSON. `runs`: all attempts at processing it. */
export type EventRecord = Plain & { rest: string | null; runs: AttemptRow[] }

/** @param rows its rows of `attempts` */
export function recordOf({ rest, ...event }: EventToArchive, rows: readonly AttemptRow[]): EventRecord {
  return { ...event, rest: rest && unpackedPart(Uint8Array.fromHex(rest)), runs: [...firstOf(event, rows), ...rows] }
}

/** The first attempt that follows from the event: see attempts.ts. */
function firstOf({ id, started_at, processed_at, status }: Plain, rows: readonly AttemptRow[]): AttemptRow[] {
  if (started_at === null || rows[0]?.number === 1) return []
  const times = { started_at, finished_at: processed_at ?? started_at }
  return [{ event_id: id, number: 1, trigger: 'ingest', actor: null, ...times, outcome: status, error: null }]
}

/** The records of a pack, as it is stored: hexadecimal of deflated JSON without nulls. */
export function packedRecords(records: readonly EventRecord[]): string {
  return deflated(JSON.stringify(records, (_, value) => value ?? undefined)).toHex()
}

/** @throws {Error} if this is not what {@link packedRecords} makes */
export function unpackedRecords(hex: string): EventRecord[] {
  const records = JSON.parse(new TextDecoder().decode(inflated(Uint8Array.fromHex(hex)))) as EventRecord[]
  return records.map(({ runs, ...record }) => ({
    ...NOTHING,
    ...record,
    runs: runs.map((one) => ({ ...NO_ATTEMPT, ...one })),
  }))
}

/** Nulls are not packed. A column that a later migration adds, and that is never null, needs its value for older packs here. */
const NOTHING = { ...Object.fromEntries(Object.keys(plain).map((name) => [name, null])), rest: null } as { rest: null }
const NO_ATTEMPT = { actor: null, error: null }

/** The decoded view of an event. */
export function summaryOf({ summary, rest }: EventRecord): DecodedSummary | null {
  return summary === null ? null : decodedSummary(JSON.stringify({ ...JSON.parse(summary), rest: packedRest(rest) }))
}

function packedRest(rest: string | null): string | undefined {
  return rest === null ? undefined : packedPart(rest).toHex()
}

/** A record with another decoded view. */
export function withSummary(record: EventRecord, decoded: DecodedSummary): EventRecord {
  const { summary, rest } = storedSummary(decoded)
  return { ...record, summary: JSON.stringify(summary), rest: rest && unpackedPart(Uint8Array.fromHex(rest)) }
}

/** The ids that an event refers to. */
export function refsOf({ summary }: Pick<EventRecord, 'summary'>): string[] {
  return summary === null ? [] : ((JSON.parse(summary).refs ?? []) as string[])
}

/** The keys under which the events of a pack are found. */
export function keysOf(records: readonly EventRecord[]): Set<number> {
  return new Set(
    records.flatMap((record) => [record.id, ...refsOf(record)].map((text) => archiveKey(record.project_id, text))),
  )
}

/** Records as rows of `events`: `json_each(…) j` with the columns' expressions. */
export function asRows(records: readonly EventRecord[]): {
  columns: Record<keyof typeof events.$inferSelect, SQL>
  from: SQL
} {
  const list = records.map(({ rest, runs: _, ...event }) => ({ ...event, summary_rest: packedRest(rest) }))
  const columns = Object.keys(getTableColumns(events)).map((name) => {
    const value = sql`j.value->>${sql.raw(`'$.${name}'`)}`
    return [name, name === 'summary_rest' ? sql`unhex(${value})` : value]
  })
  return { columns: Object.fromEntries(columns), from: sql`json_each(${JSON.stringify(list)}) j` }
}

/** A reader to whom these records are all events that there are. A statement of its own name for them hides the table. */
export function readerOf(db: Db, records: readonly EventRecord[]): Reader {
  const { columns, from } = asRows(records)
  const named = Object.entries(columns).map(([name, value]) => sql`${value} AS ${sql.identifier(name)}`)
  const all = db.$with('events', getTableColumns(events)).as(sql`SELECT ${sql.join(named, sql`, `)} FROM ${from}`)
  return db.with(all)
}
