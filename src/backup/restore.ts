import { eq, gt, sql } from 'drizzle-orm'
import { batch, type Db, NEWEST_MIGRATION, raw, rawWrite, run } from '../db/client'
import { literals } from '../db/sql'
import { reopenEvents } from '../inbox/reopen'
import { progress, state } from '../stores/schema'
import { projects } from '../tenancy/schema'
import type { Manifest } from './backup'
import { type Listed, unpackObject } from './object'
import { LEFT_OUT, readTables, type Table, WRITES_LEFT_OUT } from './tables'
import { writeChunk } from './write'

/** The tables that a migration, or the first minute of a deployment, writes rows to. */
const NOT_EMPTY: readonly string[] = ['changes_epoch', 'state', 'stores']

/** How far a restore has got. It is noted in the database itself, where a restore that was stopped finds it. */
type Standing = {
  backup: string
  /** How many objects of the manifest were written, in the order of {@link inOrder}. */
  objects: number
  /** The last project whose events were reopened. */
  project: string
  /** The triggers that were there, as SQL, and may not fire for copied rows. */
  triggers: string[]
}

/** Under which name `progress` has it. */
const TASK = 'restore'

/** A restore that is under way. */
export type Restore = { manifest: Manifest; tables: readonly Table[]; standing: Standing; left: readonly Listed[] }

/**
 * Begins a restore, or continues one that was stopped.
 *
 * @throws {Error} if the database is not empty, or has another schema than the backup
 */
export async function beginRestore(db: Db, manifest: Manifest): Promise<Restore> {
  if (manifest.project_id !== null) throw new Error('this is an export of a project, which cannot be restored')
  if (manifest.migration !== NEWEST_MIGRATION) {
    throw new Error(
      `the backup was made at migration ${manifest.migration}, but this code is at ${NEWEST_MIGRATION}: restore it with the code that made it, then deploy the newer code`,
    )
  }
  const backup = `${manifest.store} ${manifest.began}`
  const tables = await readTables(db)
  const [row] = await run(db, db.select({ after: progress.after }).from(progress).where(eq(progress.task, TASK)))
  const known = row ? (JSON.parse(row.after) as Standing) : null
  if (known !== null && known.backup !== backup) {
    throw new Error(`a restore of the backup ${known.backup} is under way in this database`)
  }
  const standing = known ?? (await prepareEmpty(db, tables, backup))
  return { manifest, tables, standing, left: inOrder(manifest).slice(standing.objects) }
}

/** Events come last: whoever sees an event then finds everything that belongs to it. */
function inOrder({ objects }: Manifest): Listed[] {
  const rank = ({ table }: Listed) => (table === 'events' ? 1 : 0)
  return objects.toSorted((a, b) => rank(a) - rank(b))
}

async function prepareEmpty(db: Db, tables: readonly Table[], backup: string): Promise<Standing> {
  for (const { name } of [...tables, ...LEFT_OUT.map((name) => ({ name }))]) {
    if (NOT_EMPTY.includes(name) || name === 'progress') continue
    const rows = raw(
      db,
      { one: sql<number>`1` },
      (fields) => sql`SELECT ${fields} FROM ${sql.identifier(name)} LIMIT 1`,
    )
    if ((await run(db, rows)).length > 0) {
      throw new Error(`the table ${name} has rows: a backup can be restored only into an empty database`)
    }
  }
  const found = await run(
    db,
    raw(
      db,
      { name: sql<string>`name`, text: sql<string>`sql` },
      (fields) =>
        sql`SELECT ${fields} FROM sqlite_master WHERE type = 'trigger' AND name NOT IN (${literals(WRITES_LEFT_OUT)}) ORDER BY name`,
    ),
  )
  const standing: Standing = { backup, objects: 0, project: '', triggers: found.map(({ text }) => text) }
  const drops = found.map(
    ({ name }, i) => [`drop_${i}`, rawWrite(db, sql`DROP TRIGGER ${sql.identifier(name)}`)] as const,
  )
  await batch(db, {
    standing: db.insert(progress).values({ task: TASK, hour: 0, after: JSON.stringify(standing) }),
    // What migrations noted of an empty database gives way to what the backup knows.
    state: db.delete(state),
    ...Object.fromEntries(drops),
  })
  return standing
}

/**
 * Writes the next object.
 *
 * @param bytes those of the first object that is left
 * @throws {Error} if it is not the object of the manifest
 */
export async function restoreNext(db: Db, restore: Restore, bytes: Uint8Array<ArrayBuffer>): Promise<Restore> {
  const [listed, ...left] = restore.left
  if (!listed) throw new Error('every object of the backup has been restored')
  const content = await unpackObject(listed, bytes)
  const table = restore.tables.find(({ name }) => name === content.table)
  if (!table) throw new Error(`the database has no table ${content.table}`)
  await writeChunk(db, table, content)
  const standing = { ...restore.standing, objects: restore.standing.objects + 1 }
  await note(db, standing)
  return { ...restore, standing, left }
}

async function note(db: Db, standing: Standing): Promise<void> {
  await run(
    db,
    db
      .update(progress)
      .set({ after: JSON.stringify(standing) })
      .where(eq(progress.task, TASK)),
  )
}

/** What a restore ends with. `missing`: rows of the backup that the database did not take, by table. */
export type Restored = { open: number; missing: Record<string, number> }

/**
 * Ends a restore: events that were worked on since the backup began are to be processed again, and the triggers come back.
 *
 * @param now milliseconds
 * @throws {Error} if objects are left
 */
export async function endRestore(
  db: Db,
  { manifest, standing, left, tables }: Restore,
  now: number,
): Promise<Restored> {
  if (left.length > 0) throw new Error(`${left.length} objects of the backup are not restored yet`)
  const missing = await missingIn(db, manifest, tables)
  let open = 0
  for (let project = standing.project; ; ) {
    const next = db.select({ id: projects.id }).from(projects).where(gt(projects.id, project)).orderBy(projects.id)
    const [row] = await run(db, next.limit(1))
    if (!row) break
    open += await reopenEvents(db, row.id, Date.parse(manifest.began), now)
    project = row.id
    await note(db, { ...standing, project })
  }
  const triggers = standing.triggers.map((text, i) => [`trigger_${i}`, rawWrite(db, sql.raw(text))] as const)
  await batch(db, {
    ...Object.fromEntries(triggers),
    standing: db.delete(progress).where(eq(progress.task, TASK)),
  })
  return { open, missing }
}

/** A row whose key changed while the backup was made may be there twice, or contradict another one. */
async function missingIn(db: Db, { objects }: Manifest, tables: readonly Table[]): Promise<Record<string, number>> {
  const missing: Record<string, number> = {}
  for (const { name } of tables) {
    const wanted = objects.reduce((sum, one) => sum + (one.table === name ? one.rows : 0), 0)
    const count = raw(db, { n: sql<number>`count(*)` }, (fields) => sql`SELECT ${fields} FROM ${sql.identifier(name)}`)
    const [row] = await run(db, count)
    if ((row?.n ?? 0) < wanted) missing[name] = wanted - (row?.n ?? 0)
  }
  return missing
}
