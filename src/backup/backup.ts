import { type SQL, sql } from 'drizzle-orm'
import { type Database, NEWEST_MIGRATION } from '../db/client'
import { sha256Hex } from '../lib/crypto'
import { type Listed, packObject } from './object'
import { readChunk } from './read'
import type { Table } from './tables'

/**
 * How far a backup has got. `began`: when (ms); rows may have changed since. `table` and `after`: the last key that was read;
 * null before the first step. `objects`: how many were written.
 */
export type Standing = {
  began: number
  /** The newest migration when it began. A backup must not mix rows of two schemas. */
  migration: string
  table: string | null
  after: string | null
  objects: number
}

/** Which rows of a database are copied, and which columns of a table. */
export type Scope = {
  project_id: string | null
  choose: (table: Table) => { of: SQL; columns: Table['columns'] } | null
}

/** All rows and columns. */
export const WHOLE: Scope = { project_id: null, choose: ({ columns }) => ({ of: sql`true`, columns }) }

/** What a backup has, beside its objects. `store`: the number of the database. */
export type Manifest = {
  format: 1
  store: number
  /** Of an export. */
  project_id: string | null
  /** The newest migration: a backup is restored by a version of the code that has the same one. */
  migration: string
  began: string
  ended: string
  objects: Listed[]
}

export type Step = {
  standing: Standing
  object: { listed: Listed; bytes: Uint8Array<ArrayBuffer> } | null
  isDone: boolean
}

export const newStanding = (now: number): Standing => ({
  began: now,
  migration: NEWEST_MIGRATION,
  table: null,
  after: null,
  objects: 0,
})

/**
 * One step of a backup: reads some rows after those of the last step, in two statements. A step that is repeated makes
 * an object of the same name, with the rows as they are then.
 *
 * @returns `object`: what the caller stores before it notes the standing; null if no row was there
 */
export async function backupStep(
  db: Database,
  tables: readonly Table[],
  scope: Scope,
  standing: Standing,
): Promise<Step> {
  if (standing.migration !== NEWEST_MIGRATION)
    throw new Error('a migration was applied meanwhile: begin another backup')
  const at = standing.table === null ? 0 : tables.findIndex(({ name }) => name === standing.table)
  if (at < 0) throw new Error(`the table ${standing.table} is gone: begin another backup`)
  const table = tables[at] as Table
  const choice = scope.choose(table)
  const chunk = choice === null ? null : await readChunk(db, table, choice, standing.after)
  const next = tables[at + 1]
  if (chunk === null || chunk.last === null) {
    const then = { ...standing, table: next?.name ?? table.name, after: null }
    return { standing: then, object: null, isDone: next === undefined }
  }
  const then = { ...standing, table: table.name, after: chunk.last }
  if (chunk.rows.length === 0) return { standing: then, object: null, isDone: false }
  const objects = standing.objects + 1
  const columns = choice?.columns.map(({ name }) => name) ?? []
  const bytes = await packObject({ table: table.name, columns, rows: chunk.rows, large: chunk.large })
  const listed = {
    name: objectName(objects),
    table: table.name,
    rows: chunk.rows.length,
    bytes: bytes.byteLength,
    sha256: await sha256Hex(bytes),
  }
  return { standing: { ...then, objects }, object: { listed, bytes }, isDone: false }
}

/**
 * The name of the object with a number, from 1. It says nothing of what the object holds: a repeated step may make another object, and
 * must overwrite the first one.
 */
export function objectName(number: number): string {
  return `${String(number).padStart(6, '0')}.gz`
}

/** The manifest of a complete backup. It is written last: without it, a backup is not complete. */
export function manifestOf(
  { began, migration }: Standing,
  what: { store: number; project_id: string | null; objects: Listed[]; now: number },
): Manifest {
  const { store, project_id, objects, now } = what
  const times = { began: new Date(began).toISOString(), ended: new Date(now).toISOString() }
  return { format: 1, store, project_id, migration, ...times, objects }
}
