import { expect, it } from 'vitest'
import journal from '../../drizzle/meta/_journal.json'
import { DIRECTORY, STORE } from '../harness'

const snapshots = Object.keys(import.meta.glob('../../drizzle/meta/*_snapshot.json'))
const migrations = import.meta.glob('../../drizzle/*.sql', { query: '?raw', import: 'default', eager: true }) as Record<
  string,
  string
>

it('has every table WITHOUT ROWID but those with large rows: a rowid table pays a row written more for each unique key', async () => {
  const { results } = await DIRECTORY.prepare(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%' AND name <> 'd1_migrations' ORDER BY name",
  ).all<{ name: string; sql: string }>()
  expect(results.length).toBeGreaterThan(10)
  expect(results.filter(({ sql }) => !/WITHOUT ROWID\s*$/.test(sql)).map(({ name }) => name)).toEqual([
    'archives',
    'billing_objects',
    'bodies',
    'packed_bodies',
  ])
})

it('knows no statement that binds a million bytes: the suite refuses it', () => {
  const bind = (bytes: number) => () => DIRECTORY.prepare('SELECT ?').bind('é'.repeat(bytes / 2))
  expect(bind(1_000_000)).not.toThrow()
  expect(bind(1_000_002)).toThrow(/binds/)
})

it('has the snapshot of the newest migration alone: drizzle-kit compares the schema with no other', () => {
  const newest = journal.entries.at(-1)?.tag.slice(0, 4)
  expect(snapshots).toEqual([`../../drizzle/meta/${newest}_snapshot.json`])
})

it('drops no table in a migration: a rebuild would lose what hangs on it', () => {
  // Tables whose loss was decided, as `file: table`. Nothing hangs on this one, and its rows move: see upgrade.test.ts.
  const listed = ['../../drizzle/0077_objects_with_rowid.sql: billing_objects']
  const dropped = Object.entries(migrations).flatMap(([file, sql]) =>
    [...sql.matchAll(/DROP TABLE (?:IF EXISTS )?[`"]?(\w+)/gi)].map(([, table]) => `${file}: ${table}`),
  )
  expect(Object.keys(migrations).length).toBeGreaterThan(0)
  expect(dropped).toEqual(listed)
})

it('refuses an unknown status, and an open one without a time to look again', async () => {
  const insert = (status: string, due: number | null) =>
    STORE.prepare(
      `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status, due_at, last_delivered_at)
       VALUES ('prj_x', ?, 'con_x', ?, 't', 'pay_x', ?, ?, 0)`,
    )
      .bind(crypto.randomUUID(), crypto.randomUUID(), status, due)
      .run()
  await expect(insert('done', null)).rejects.toThrow(/CHECK/)
  await expect(insert('received', null)).rejects.toThrow(/CHECK/)
  await expect(insert('processed', 1)).rejects.toThrow(/CHECK/)
  await insert('received', 1)
})
