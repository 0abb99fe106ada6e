import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Reader, raw, run } from '../../db/client'
import { archiveKey } from './keys'
import { PACKS_A_PAGE } from './limits'
import { type EventRecord, readerOf, unpackedRecords } from './records'
import { archivedRefs, archives } from './schema'

const a = alias(archives, 'a')
const r = alias(archivedRefs, 'r')

/** A pack with its records. */
export type Pack = { number: number; revision: number; last_at: number; records: EventRecord[] }

/**
 * Reads and unpacks packs, those with the newest events first.
 *
 * @param chosen which ones: what follows FROM; the packs are `a`. They are chosen before they are read, so that no records pass through a sort
 */
export async function readPacks(db: Db, chosen: SQL): Promise<Pack[]> {
  const shown = {
    number: a.number,
    revision: a.revision,
    last_at: a.last_at,
    records: sql<EventRecord[]>`hex(${a.records})`.mapWith(unpackedRecords),
  }
  const packs = await run(
    db,
    raw(
      db,
      shown,
      (fields) => sql`SELECT ${fields} FROM ${archives} ${a} WHERE ${a.number} IN (SELECT ${a.number} FROM ${chosen})`,
    ),
  )
  return packs.toSorted((one, other) => other.last_at - one.last_at || other.number - one.number)
}

/** What follows FROM: the packs `a` of a project that may have an event with one of these ids, or that refers to one of them. */
export function packsWith(projectId: string, texts: readonly string[]): SQL {
  const keys = JSON.stringify(texts.map((text) => archiveKey(projectId, text)))
  return sql`json_each(${keys}) k CROSS JOIN ${archivedRefs} ${r} ON ${r.key} = k.value
    CROSS JOIN ${archives} ${a} ON ${and(eq(a.number, r.archive), eq(a.project_id, projectId))}`
}

/** The pack that has an event of a project, and its record; null if no pack has it. */
export async function findArchived(
  db: Db,
  projectId: string,
  id: string,
): Promise<{ pack: Pack; record: EventRecord } | null> {
  const newest = sql`${packsWith(projectId, [id])} ORDER BY ${desc(a.number)} LIMIT ${PACKS_A_PAGE}`
  for (const pack of await readPacks(db, newest)) {
    const record = pack.records.find((one) => one.id === id && one.project_id === projectId)
    if (record) return { pack, record }
  }
  return null
}

/** Reads an event of a project where it is: from the database, and if that has no such event, from the archive. */
export async function withArchive<T>(
  db: Db,
  projectId: string,
  id: string,
  read: (reader: Reader) => Promise<T[]>,
): Promise<T[]> {
  const rows = await read(db)
  if (rows.length > 0) return rows
  const found = await findArchived(db, projectId, id)
  return found ? read(readerOf(db, [found.record])) : []
}

/** Reads whether the archive may have an event with this id, or events that refer to it: a row if so. */
export function isArchived(db: Db, projectId: string, text: string) {
  return db.select({ key: archivedRefs.key }).from(archivedRefs).where(hasKey(projectId, text)).limit(1)
}

/** The condition that a row of `archived_refs` is of an id. */
export function hasKey(projectId: string, text: string): SQL {
  return sql`${archivedRefs.key} = CAST(${archiveKey(projectId, text)} AS INTEGER)`
}
