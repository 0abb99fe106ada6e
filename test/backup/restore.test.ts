import { beforeEach, describe, expect, it } from 'vitest'
import { unpackObject } from '../../src/backup/object'
import { beginRestore } from '../../src/backup/restore'
import { LEFT_OUT, readTables } from '../../src/backup/tables'
import { writeChunk } from '../../src/backup/write'
import { type Db, openDb } from '../../src/db/client'
import { MINUTE } from '../../src/lib/time'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { STORE, stripeEvent } from '../harness'
import { settle } from '../inbox/pipeline'
import { type Backup, backUp, digestsOf, emptyDatabase, RESTORED, restore } from './backups'

beforeEach(() => {
  stopClock()
})

const rowsOf = async <T>(database: D1Database, sql: string) => (await database.prepare(sql).all<T>()).results
const TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"

/** A project with events that were processed a while ago. */
async function someWorld() {
  const world = await billingWorld()
  for (let n = 0; n < 5; n++) await world.send(stripeEvent())
  await settle(world)
  advance(MINUTE)
  return world
}

it('every table comes back as it was, with its triggers', async () => {
  await someWorld()
  const db = await emptyDatabase()
  // What a migration notes of a new database gives way to what the backup has.
  await RESTORED.prepare("INSERT INTO state (name, value) VALUES ('payloads_move_from', 1)").run()
  expect(await restore(db, await backUp())).toEqual({ open: 0, missing: {} })
  expect(await digestsOf(RESTORED)).toEqual(await digestsOf(STORE))
  expect(await rowsOf(RESTORED, TRIGGERS)).toEqual(await rowsOf(STORE, TRIGGERS))
  expect(await rowsOf(RESTORED, 'SELECT * FROM progress')).toEqual([])
})

it('every table is copied or left out, and none has a type that JSON rounds', async () => {
  const all = await rowsOf<{ name: string; type: string }>(
    STORE,
    "SELECT m.name, x.type FROM sqlite_master m JOIN pragma_table_xinfo(m.name) x WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' AND m.name NOT GLOB '_cf_*' AND m.name <> 'd1_migrations'",
  )
  const copied = (await readTables(openDb<Db>(STORE))).map(({ name }) => name)
  expect([...copied, ...LEFT_OUT].sort()).toEqual([...new Set(all.map(({ name }) => name))].sort())
  expect(all.filter(({ type }) => !/^(text|integer)$/i.test(type))).toEqual([])
  expect(copied.slice(-6)).toEqual(['events', 'payloads', 'bodies', 'packed_bodies', 'archives', 'archived_refs'])
})

describe('values', () => {
  const VALUES: [string, string][] = [
    ['text with quotes, breaks and emoji', `'"\\ ' || char(10, 13, 8232, 128512) || '["x"]'`],
    ['text with NUL', `CAST(x'610062' AS TEXT)`],
    ['JSON that looks like bytes', `'["AB"]'`],
    ['no byte', `x''`],
    ['every byte', `x'${Uint8Array.from({ length: 256 }, (_, i) => i).toHex()}'`],
    ['1 MiB of text', `replace(hex(zeroblob(174763)), '00', 'é"')`],
    ['1 MiB of bytes', `CAST(replace(hex(zeroblob(349525)), '00', char(255) || 'a') AS BLOB)`],
    ['1 MiB of control characters', `replace(hex(zeroblob(524288)), '00', char(1, 2))`],
  ]
  it.each(VALUES)('%s', async (_, value) => {
    await STORE.prepare(
      `INSERT INTO bodies (project_id, id, headers, body) VALUES ('prj_x', 'pay_x', '{}', ${value})`,
    ).run()
    const db = await emptyDatabase()
    expect(await restore(db, await backUp())).toMatchObject({ missing: {} })
    const same = "SELECT hex(body) AS hex, typeof(body) AS type FROM bodies WHERE id = 'pay_x'"
    expect(await rowsOf(RESTORED, same)).toEqual(await rowsOf(STORE, same))
    await STORE.prepare("DELETE FROM bodies WHERE id = 'pay_x'").run()
  })

  it('large values whose object is written twice, as after a restore that was stopped in the middle of it', async () => {
    await STORE.prepare(
      "INSERT INTO bodies (project_id, id, headers, body) VALUES ('prj_x', 'pay_x', '{}', hex(zeroblob(500000)))",
    ).run()
    const backup = await backUp()
    const db = await emptyDatabase()
    const [large] = backup.manifest.objects.filter(({ table }) => table === 'bodies').slice(-1)
    await restore(db, backup)
    const table = (await readTables(db)).find(({ name }) => name === 'bodies')
    const bytes = backup.objects.get(large?.name ?? '')
    if (!large || !table || !bytes) throw new Error('the backup has no body')
    await writeChunk(db, table, await unpackObject(large, bytes))
    const size = "SELECT octet_length(body) AS n FROM bodies WHERE id = 'pay_x'"
    expect(await rowsOf(RESTORED, size)).toEqual([{ n: 1_000_000 }])
    await STORE.prepare("DELETE FROM bodies WHERE id = 'pay_x'").run()
  })

  it('large integers', async () => {
    await STORE.prepare("INSERT INTO state (name, value) VALUES ('large', 9007199254740993)").run()
    const db = await emptyDatabase()
    await restore(db, await backUp())
    const text = "SELECT CAST(value AS TEXT) AS n FROM state WHERE name = 'large'"
    expect(await rowsOf(RESTORED, text)).toEqual([{ n: '9007199254740993' }])
    await STORE.prepare("DELETE FROM state WHERE name = 'large'").run()
  })
})

describe('a restore', () => {
  let backup: Backup
  beforeEach(async () => {
    await someWorld()
    backup = await backUp()
  })
  const withObject = (name: string, bytes: Uint8Array<ArrayBuffer> | null): Backup => {
    const objects = new Map(backup.objects)
    if (bytes) objects.set(name, bytes)
    else objects.delete(name)
    return { ...backup, objects }
  }

  it('that was stopped anywhere continues', async () => {
    const wanted = await digestsOf(STORE)
    const db = await emptyDatabase()
    const all = backup.manifest.objects.length
    for (let most = 1, done = 0; (await restore(db, backup, most)) === null; most += 3) {
      done += most
      expect((await beginRestore(db, backup.manifest)).left).toHaveLength(all - done)
    }
    expect(await digestsOf(RESTORED)).toEqual(wanted)
    expect(await rowsOf(RESTORED, TRIGGERS)).toEqual(await rowsOf(STORE, TRIGGERS))
  })

  it('refuses an object that has changed, one that is another, and a backup that lacks one', async () => {
    const db = await emptyDatabase()
    const [first, second] = backup.manifest.objects.map(({ name }) => name)
    const bytes = backup.objects.get(first ?? '')?.slice() as Uint8Array<ArrayBuffer>
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await expect(restore(db, withObject(first ?? '', bytes))).rejects.toThrow(/000001\.gz has changed: its SHA-256/)
    const other = backup.objects.get(second ?? '') ?? null
    await expect(restore(db, withObject(first ?? '', other))).rejects.toThrow(/has changed/)
    await expect(restore(db, withObject(second ?? '', null))).rejects.toThrow(/is missing/)
    // With the right objects, it continues.
    expect(await restore(db, backup)).toEqual({ open: 0, missing: {} })
  })

  it('refuses a database that has rows, another backup, another schema, and an export', async () => {
    const db = await emptyDatabase()
    await RESTORED.prepare("INSERT INTO users (id, email, created_at) VALUES ('usr_x', 'x@example.com', 1)").run()
    await expect(restore(db, backup)).rejects.toThrow('the table users has rows')
    await RESTORED.prepare('DELETE FROM users').run()
    const with_ = (fields: object) => ({ ...backup, manifest: { ...backup.manifest, ...fields } })
    await expect(restore(db, with_({ migration: '0001_x.sql' }))).rejects.toThrow('made at migration 0001_x.sql')
    await expect(restore(db, with_({ project_id: 'prj_x' }))).rejects.toThrow('cannot be restored')
    await restore(db, backup, 1)
    await expect(restore(db, with_({ began: '2020-01-01T00:00:00.000Z' }))).rejects.toThrow('is under way')
  })

  it('writes more audit entries than a day allows', async () => {
    const [entry] = await rowsOf<{ project_id: string; id: string }>(
      STORE,
      "SELECT * FROM audit_log WHERE object_type = 'project' LIMIT 1",
    )
    const columns = Object.keys(entry ?? {}).map((name) =>
      name === 'id' ? `substr(id, 1, 14) || printf('%016d', n)` : `"${name}"`,
    )
    await STORE.prepare('DROP TRIGGER audit_log_counted').run()
    await STORE.prepare(
      `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1200)
      INSERT INTO audit_log (${Object.keys(entry ?? {}).join()}) SELECT ${columns.join()} FROM audit_log, c WHERE id = ?`,
    )
      .bind(entry?.id)
      .run()
    const db = await emptyDatabase()
    expect(await restore(db, await backUp())).toEqual({ open: 0, missing: {} })
  })
})
