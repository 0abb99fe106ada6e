import { beforeEach, expect, it } from 'vitest'
import { unpackObject } from '../../src/backup/object'
import { SECRET_COLUMNS, scopeOf } from '../../src/backup/project'
import { readTables } from '../../src/backup/tables'
import { type Db, openDb } from '../../src/db/client'
import { stopClock } from '../clock'
import { addMember, mint, STORE, stripeEvent } from '../harness'
import { newWorld, settle } from '../inbox/pipeline'
import { backUp } from './backups'

beforeEach(() => {
  stopClock()
})

/** Columns whose names look like secrets, and which are none. */
const PUBLIC = [
  'api_keys.secret_issued_to', // a user
  'api_keys.secret_lineage', // users
  'backfills.lease_token', // of a worker
  'connections.secrets_used', // ids, and when
  'devices.token_prefix', // the part that may be shown
  'domains.token', // a DNS record
  'events.lease_token', // of a worker
  'vendor_asks.lease_token', // of a worker
  'vendor_doubts.lease_token', // of a worker
  'watchers.lease_token', // of a worker
  'webhook_endpoints.lease_token',
]

it('an export leaves out every column with a secret', async () => {
  const tables = await readTables(openDb<Db>(STORE))
  const looks = tables
    .filter(({ columns }) => columns.some(({ name }) => name === 'project_id'))
    .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
    .filter((name) => /\.\w*(secret|hash|token|box|pepper|private|password)/.test(name))
  const left = Object.entries(SECRET_COLUMNS).flatMap(([table, columns]) =>
    columns.map((column) => `${table}.${column}`),
  )
  expect(looks.filter((name) => !left.includes(name) && !PUBLIC.includes(name))).toEqual([])
  const all = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
  expect(left.filter((name) => !all.includes(name))).toEqual([])
})

it('has the rows of one project, and of no other', async () => {
  const [mine, other] = [await newWorld(), await newWorld()]
  for (const world of [mine, other]) {
    for (let n = 0; n < 3; n++) await world.send(stripeEvent())
    await settle(world)
    const [first] = (await world.api('/webhooks')).body.data
    await world.replay(`${first?.id}`)
    await settle(world)
    await addMember(world.project, 'viewer')
    await mint(world.owner.token, world.project)
  }
  const { manifest, objects } = await backUp(undefined, scopeOf(mine.project))
  expect(manifest.project_id).toBe(mine.project)
  let text = ''
  const rows: Record<string, number> = {}
  for (const listed of manifest.objects) {
    const content = await unpackObject(listed, objects.get(listed.name) as Uint8Array<ArrayBuffer>)
    text += content.rows.join('\n')
    rows[content.table] = (rows[content.table] ?? 0) + content.rows.length
  }
  expect(rows).toMatchObject({ projects: 1, events: 3, packed_bodies: 3, attempts: 2, connections: 1 })
  expect(text).toContain(mine.project)
  expect(text).not.toContain(other.project)
  const events = await STORE.prepare('SELECT id FROM events WHERE project_id = ?')
    .bind(other.project)
    .all<{ id: string }>()
  for (const { id } of events.results) expect(text).not.toContain(id)
  const hashes = await STORE.prepare('SELECT hash FROM api_keys').all<{ hash: string }>()
  for (const { hash } of hashes.results) expect(text).not.toContain(hash)
})
