import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import {
  backupStep,
  type Manifest,
  manifestOf,
  newStanding,
  type Scope,
  type Standing,
  WHOLE,
} from '../../src/backup/backup'
import type { Listed } from '../../src/backup/object'
import { beginRestore, endRestore, type Restored, restoreNext } from '../../src/backup/restore'
import { readTables } from '../../src/backup/tables'
import { type Db, openDb } from '../../src/db/client'
import type { Env } from '../../src/env'
import { sha256Hex } from '../../src/lib/crypto'
import { inStore, STORE, STORE_NUMBER } from '../harness'
import { deliverBatch } from '../inbox/pipeline'

type Bytes = Uint8Array<ArrayBuffer>
export type Backup = { manifest: Manifest; objects: Map<string, Bytes> }

const { RESTORED, TEST_MIGRATIONS } = env as unknown as { RESTORED: D1Database; TEST_MIGRATIONS: D1Migration[] }

export { RESTORED }

/** Copies the store of the tests' projects. @param between is called before each step, with where it has come to */
export async function backUp(between?: (standing: Standing) => Promise<void>, scope: Scope = WHOLE): Promise<Backup> {
  const db = openDb<Db>(STORE)
  const tables = await readTables(db)
  const objects = new Map<string, Bytes>()
  const listed: Listed[] = []
  let standing = newStanding(Date.now())
  for (let isDone = false; !isDone; ) {
    await between?.(standing)
    const step = await backupStep(db, tables, scope, standing)
    if (step.object) {
      listed.push(step.object.listed)
      objects.set(step.object.listed.name, step.object.bytes)
    }
    ;({ standing, isDone } = step)
  }
  const what = { store: STORE_NUMBER, project_id: scope.project_id, objects: listed, now: Date.now() }
  return { manifest: manifestOf(standing, what), objects }
}

/** The database that backups are restored into, as a deployment has it before its first request. */
export async function emptyDatabase(): Promise<Db> {
  const { results } = await RESTORED.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  ).all<{ name: string }>()
  if (results.length > 0) await RESTORED.batch(results.map(({ name }) => RESTORED.prepare(`DROP TABLE "${name}"`)))
  await applyD1Migrations(RESTORED, TEST_MIGRATIONS)
  return openDb<Db>(RESTORED)
}

/** Restores a backup. @param most objects, after which it stops */
export async function restore(
  db: Db,
  { manifest, objects }: Backup,
  most = Number.POSITIVE_INFINITY,
): Promise<Restored | null> {
  let under = await beginRestore(db, manifest)
  for (let n = 0; under.left[0]; n++) {
    if (n >= most) return null
    const bytes = objects.get(under.left[0].name)
    if (!bytes) throw new Error(`the object ${under.left[0].name} is missing`)
    under = await restoreNext(db, under, bytes)
  }
  return endRestore(db, under, Date.now())
}

/** Bindings with the restored database in place of the tests' store. */
export const restored = (): Partial<Env> => inStore(RESTORED)

/** Processes the events of a database that are open, until none is. */
export async function processAll(database: D1Database): Promise<void> {
  for (let round = 0; round < 60; round++) {
    const { results } = await database
      .prepare('SELECT project_id, id AS event_id FROM events WHERE due_at IS NOT NULL LIMIT 100')
      .all<{ project_id: string; event_id: string }>()
    if (results.length === 0) return
    await deliverBatch(results, inStore(database))
  }
  throw new Error('events stay open')
}

/**
 * The number of rows, and a digest of them, of each table that a backup has.
 *
 * @param instead what is read in place of a column, as SQL; null: nothing
 */
export async function digestsOf(
  database: D1Database,
  instead: Record<string, string | null> = {},
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const { name, columns, key } of await readTables(openDb<Db>(database))) {
    const read = columns.flatMap(
      ({ name: column }) => instead[`${name}.${column}`] ?? (`${name}.${column}` in instead ? [] : `"${column}"`),
    )
    const rows = await database.prepare(`SELECT ${read.join()} FROM "${name}" ORDER BY ${key.join()}`).raw()
    digests[name] = `${rows.length} ${await sha256Hex(JSON.stringify(rows))}`
  }
  return digests
}
