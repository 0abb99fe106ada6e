import { type Database, NEWEST_MIGRATION } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { HOUR } from '../lib/time'
import type { PassStep } from '../tenancy/pass'
import { backupStep, type Manifest, manifestOf, newStanding, objectName, type Standing, WHOLE } from './backup'
import { BACKUP_EVERY, OBJECTS_AT_ONCE } from './limits'
import type { Listed } from './object'
import { readTables, type Table } from './tables'

/** What the bucket notes of the newest complete backup of a store. */
type Latest = { backup: string; began: string; ended: string }

/**
 * A step of the backup that the cron writes to the bucket of the deployment, once a day. Without a bucket, there is none.
 *
 * @param after how far it has got; empty if none is under way
 * @param share how many objects a run may write in this store
 * @param failed is told of a backup that cannot be completed. It is given up
 * @returns `rests`: it has had its share of this run
 */
export async function backUpToBucket(
  rt: Runtime,
  after: string,
  share: number,
  failed: (error: unknown) => void,
): Promise<PassStep & { rests?: boolean }> {
  const { backups: bucket, store, now } = rt
  if (bucket === null) return { done: 0, after: null }
  const known = after === '' ? null : (JSON.parse(after) as Standing)
  // With another migration it begins anew.
  const standing = known?.migration === NEWEST_MIGRATION ? known : await nextOf(bucket, store, now)
  if (standing === null) return { done: 0, after: null }
  const folder = folderOf(store, standing)
  const tables = await tablesOf(rt.db)
  const puts: Promise<unknown>[] = []
  let [at, isDone] = [standing, false]
  while (puts.length < OBJECTS_AT_ONCE && !isDone) {
    const step = await backupStep(rt.db, tables, WHOLE, at)
    if (step.object) puts.push(put(bucket, folder, step.object))
    ;({ standing: at, isDone } = step)
  }
  await Promise.all(puts)
  if (isDone && !(await end(rt, bucket, at))) {
    failed(new Error(`the backup ${folder} has lost an object in the bucket: another one begins within an hour`))
  }
  const inRun = (writtenBy.get(rt) ?? 0) + puts.length
  writtenBy.set(rt, inRun)
  const rests = inRun >= share
  return { done: puts.length, after: isDone ? null : JSON.stringify(at), rests }
}

/** How many objects a run has written for a store. Each run has a runtime of its own for each store. */
const writtenBy = new WeakMap<Runtime, number>()

/** The folder of a backup in the bucket. */
export function folderOf(store: number, { began }: Pick<Standing, 'began'>): string {
  return `store-${store}/${new Date(began).toISOString()}/`
}

/** The backup that is to begin now; null before its time. */
async function nextOf(bucket: R2Bucket, store: number, now: number): Promise<Standing | null> {
  const found = await bucket.get(`store-${store}/latest.json`)
  const latest = found === null ? null : await found.json<Latest>()
  // The cron looks once an hour. Without half an hour of slack, a backup would begin an hour later each day.
  return latest !== null && Date.parse(latest.began) > now - BACKUP_EVERY + HOUR / 2 ? null : newStanding(now)
}

const tablesKnown = new WeakMap<D1Database, Promise<Table[]>>()

/** The tables of a database. Each isolate reads them once, because a migration comes with another version of the code. */
async function tablesOf(db: Database): Promise<Table[]> {
  const tables = tablesKnown.get(db.binding) ?? readTables(db)
  tablesKnown.set(db.binding, tables)
  try {
    return await tables
  } catch (error) {
    tablesKnown.delete(db.binding)
    throw error
  }
}

type Written = { listed: Listed; bytes: Uint8Array<ArrayBuffer> }

/** Stores an object. R2 checks the digest, and keeps what the manifest will say of the object. */
function put(bucket: R2Bucket, folder: string, { listed, bytes }: Written): Promise<unknown> {
  const { name, table, rows, sha256 } = listed
  return bucket.put(folder + name, bytes, { sha256, customMetadata: { table, rows: String(rows), sha256 } })
}

/**
 * Writes the manifest, from what the bucket has, and then notes that the backup is complete.
 *
 * @returns whether the bucket has every object
 */
async function end({ store, now }: Runtime, bucket: R2Bucket, standing: Standing): Promise<boolean> {
  const folder = folderOf(store, standing)
  const objects = await listed(bucket, folder)
  // A run that was cut off may have left one more.
  const own = objects.slice(0, standing.objects)
  const isWhole = own.length === standing.objects && own.every(({ name }, i) => name === objectName(i + 1))
  if (!isWhole) return false
  const manifest: Manifest = manifestOf(standing, { store, project_id: null, objects: own, now })
  await bucket.put(`${folder}manifest.json`, JSON.stringify(manifest))
  const latest: Latest = { backup: folder, began: manifest.began, ended: manifest.ended }
  await bucket.put(`store-${store}/latest.json`, JSON.stringify(latest))
  const rows = own.reduce((sum, one) => sum + one.rows, 0)
  const bytes = own.reduce((sum, one) => sum + one.bytes, 0)
  writeLog('info', 'backup_written', { store, backup: folder, objects: own.length, rows, bytes })
  return true
}

/** The objects of a backup, in the order of their numbers. */
async function listed(bucket: R2Bucket, folder: string): Promise<Listed[]> {
  const objects: Listed[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await bucket.list({ prefix: folder, include: ['customMetadata'], ...(cursor && { cursor }) })
    for (const { key, size, customMetadata: { table, rows, sha256 } = {} } of page.objects) {
      if (table && rows && sha256)
        objects.push({ name: key.slice(folder.length), table, rows: Number(rows), bytes: size, sha256 })
    }
    if (!page.truncated) return objects
    cursor = page.cursor
  }
}
