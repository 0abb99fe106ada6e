import { env } from 'cloudflare:workers'
import { beforeEach, expect, it } from 'vitest'
import type { Manifest } from '../../src/backup/backup'
import { beginRestore, endRestore, restoreNext } from '../../src/backup/restore'
import { HOUR, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { inStore, STORE, STORE_NUMBER, stripeEvent, tampered } from '../harness'
import { captureLog, cron, newWorld, rowsOfAll, settle } from '../inbox/pipeline'
import { digestsOf, emptyDatabase, RESTORED } from './backups'

const { TEST_BACKUPS: BACKUPS } = env as unknown as { TEST_BACKUPS: R2Bucket }
const FOLDER = `store-${STORE_NUMBER}/`

beforeEach(async () => {
  stopClock()
  await rowsOfAll('DELETE FROM progress')
  for (const { key } of (await BACKUPS.list()).objects) await BACKUPS.delete(key)
})

const names = async () => (await BACKUPS.list({ prefix: FOLDER })).objects.map(({ key }) => key.slice(FOLDER.length))
const manifests = async () => (await names()).filter((name) => name.endsWith('manifest.json'))

it('the cron writes a backup a day to the bucket, which can be restored', async () => {
  const world = await newWorld()
  for (let n = 0; n < 3; n++) await world.send(stripeEvent())
  await settle(world)
  advance(MINUTE)
  const before = await digestsOf(STORE)
  await cron({ BACKUPS })
  const [path = ''] = await manifests()
  const manifest = (await (await BACKUPS.get(FOLDER + path))?.json()) as Manifest
  const folder = FOLDER + path.replace('manifest.json', '')
  const latest = await (await BACKUPS.get(`${FOLDER}latest.json`))?.json()
  expect(latest).toEqual({ backup: folder, began: manifest.began, ended: manifest.ended })
  const db = await emptyDatabase()
  let under = await beginRestore(db, manifest)
  while (under.left[0]) {
    const bytes = await (await BACKUPS.get(folder + under.left[0].name))?.arrayBuffer()
    under = await restoreNext(db, under, new Uint8Array(bytes as ArrayBuffer))
  }
  expect(await endRestore(db, under, Date.now())).toEqual({ open: 0, missing: {} })
  // The same run notes when the connection was last heard of, and every six hours it counts renewals and subscriptions.
  const {
    state: _,
    stores: __,
    connection_hours: ___,
    renewal_counts: ____,
    billing_days: _____,
    ...after
  } = await digestsOf(RESTORED)
  expect(before).toMatchObject(after)

  advance(HOUR)
  await cron({ BACKUPS })
  expect(await manifests()).toHaveLength(1)
  advance(23 * HOUR)
  await cron({ BACKUPS })
  expect(await manifests()).toHaveLength(2)
})

it('without a bucket there is none', async () => {
  await newWorld()
  advance(25 * HOUR)
  await cron()
  expect(await names()).toEqual([])
})

it('goes on where a run ended, and writes the manifest last', async () => {
  await newWorld()
  advance(25 * HOUR)
  const log = captureLog()
  let reads = 0
  // The database fails in the middle of the backup.
  const out = tampered(STORE, async ({ sql, run }) => {
    if (sql.includes('octet_length') && ++reads === 30) throw new Error('D1_ERROR: out')
    return run()
  })
  await expect(cron({ BACKUPS, ...inStore(out) })).rejects.toThrow('backup')
  expect(await manifests()).toEqual([])
  expect((await names()).length).toBeGreaterThan(0)
  expect(reads).toBe(30)
  await cron({ BACKUPS })
  expect(await manifests()).toHaveLength(1)
  expect(log.of('backup_written').map(({ store }) => store)).toContain(STORE_NUMBER)
})

/** Runs the cron, whose backup fails when it comes to a table. */
async function cronUntil(table: string): Promise<void> {
  const out = tampered(STORE, async ({ sql, run }) => {
    if (sql.includes(`FROM "${table}"`) && sql.includes('json_array')) throw new Error('D1_ERROR: out')
    return run()
  })
  await expect(cron({ BACKUPS, ...inStore(out) })).rejects.toThrow('backup: ')
}

it('a step that is done again may make another object', async () => {
  await newWorld()
  const many = 'WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1600)'
  await STORE.prepare(`${many} INSERT INTO refs (project_id, ref, event_id) SELECT 'prj_many', v, 'evt_1' FROM n`).run()
  advance(25 * HOUR)
  await cronUntil('refs')
  const [before] = (await rowsOfAll("SELECT after FROM progress WHERE task = 'backup' AND after <> ''")) as {
    after: string
  }[]
  await cronUntil('state')
  // As if that run had been cut off before it noted how far it had got.
  await rowsOfAll("UPDATE progress SET after = ? WHERE task = 'backup' AND after <> ''", before?.after)
  await STORE.prepare("DELETE FROM refs WHERE project_id = 'prj_many'").run()
  await cron({ BACKUPS })
  const [path = ''] = await manifests()
  const manifest = (await (await BACKUPS.get(FOLDER + path))?.json()) as Manifest
  const { objects } = manifest
  expect(objects.map(({ name }) => Number.parseInt(name, 10))).toEqual(objects.map((_, i) => i + 1))
  expect(objects.filter(({ table }) => table === 'state')).toHaveLength(1)
})

it('one that has lost an object is given up, and another one begins', async () => {
  await newWorld()
  advance(25 * HOUR)
  await cronUntil('state')
  const [first] = (await BACKUPS.list({ prefix: FOLDER })).objects
  await BACKUPS.delete(first?.key ?? '')
  await expect(cron({ BACKUPS })).rejects.toThrow('has lost an object')
  expect(await manifests()).toEqual([])
  await cron({ BACKUPS })
  advance(HOUR)
  await cron({ BACKUPS })
  expect(await manifests()).toHaveLength(1)
})

it('of many objects takes several runs', async () => {
  await newWorld()
  // 500 rows an object.
  const many = 'WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 65000)'
  await STORE.prepare(`${many} INSERT INTO refs (project_id, ref, event_id) SELECT 'prj_many', v, 'evt_1' FROM n`).run()
  advance(25 * HOUR)
  await cron({ BACKUPS })
  expect(await manifests()).toEqual([])
  const written = (await names()).length
  expect(written).toBeGreaterThan(20)
  expect(written).toBeLessThan(130)
  for (let runs = 1; (await manifests()).length === 0; runs++) {
    expect(runs).toBeLessThan(10)
    await cron({ BACKUPS })
  }
  expect((await names()).length).toBeGreaterThan(130)
  await STORE.prepare("DELETE FROM refs WHERE project_id = 'prj_many'").run()
})
