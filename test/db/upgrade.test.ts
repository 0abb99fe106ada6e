import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { HOUR } from '../../src/lib/time'
import { call, DIRECTORY, deliver, drain, queueOf } from '../harness'
import { keepHouse, memoryQueue, stopClock } from '../inbox/pipeline'
import ROWS from './rows-0001.json'

/*
 * A database as of migration 0001, with rows that the pipeline of that version wrote in every table, upgraded by all
 * later migrations. A migration that changes a table on purpose says so here, in what it expects of the rows.
 */

type Row = Record<string, unknown>
type Tables = Record<string, Row[]>

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
const project = ROWS.projects[0]?.id ?? ''
const event = ROWS.events[0]?.id ?? ''
const replay = ROWS.replays[0]?.id ?? ''
const connection = ROWS.connections[0]?.id ?? ''

/** The database of before is the directory of today, and store 0. */
async function rows<T = Row>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (
    await DIRECTORY.prepare(sql)
      .bind(...values)
      .all<T>()
  ).results
}

let token: string
let before: Tables
let after: Tables
beforeAll(async () => {
  for (const name of [...(await tableNames()), 'd1_migrations']) await rows(`DROP TABLE ${name}`)
  await applyD1Migrations(DIRECTORY, TEST_MIGRATIONS.slice(0, 2))
  const { secret, hash } = await newSecret(0)
  token = secret
  const seeds: Tables = { ...ROWS, api_keys: ROWS.api_keys.map((key) => ({ ...key, hash })) }
  for (const [table, list] of Object.entries(seeds)) for (const row of list) await insert(table, row)
  for (const rotation of ROTATED) await insertRotated(rotation)
  for (const [n, [action, object_id]] of GONE.entries()) {
    await insert('audit_log', {
      ...ENTRY,
      project_id: 'prj_gone',
      id: `aud_${n}`,
      action,
      object_type: 'member',
      object_id,
    })
  }
  for (const { error, status } of FAILED) {
    const id = `evt_${crypto.randomUUID()}`
    const keys = { project_id: 'prj_failed', connection_id: 'con_failed', vendor_event_id: id, id }
    const due_at = status === 'failed' ? null : Number.MAX_SAFE_INTEGER
    await insert('events', { ...ROWS.events[0], ...keys, status, due_at, last_error: error })
  }
  before = await dump()
  await applyD1Migrations(DIRECTORY, TEST_MIGRATIONS)
  after = await dump()
})

/** Keys of another project: who rotated each, and what the upgrade makes of that. */
const ROTATED = [
  { key: 'key_never', by: [], issuedTo: null, lineage: null },
  { key: 'key_by_user', by: ['key_other', 'usr_two'], issuedTo: 'usr_two', lineage: null },
  { key: 'key_by_key', by: ['usr_two', 'key_other'], issuedTo: 'key_other', lineage: '["key_other"]' },
  { key: 'key_itself', by: ['usr_two', 'key_itself'], issuedTo: 'key_itself', lineage: null },
  { key: 'key_both', by: ['key_other', 'key_both'], issuedTo: 'key_both', lineage: '["key_other"]' },
]

/** Members of another project who are gone, as its audit log tells. */
const GONE = [
  ['member.removed', 'usr_one'],
  ['member.left', 'usr_two'],
  ['member.left', 'usr_one'],
  ['member.role_changed', 'usr_three'],
] as const
const ENTRY = { actor_type: 'user', actor_id: 'usr_four', request_id: 'req_x' }

/** Events of another project that failed, and the code that the upgrade makes of each error. */
const REJECTED = 'the database rejected its effects'
const FAILED = [
  { error: 'this version does not support the vendor acme', status: 'failed', code: 'vendor_unknown' },
  { error: 'the payload is no longer kept: its retention period has ended', status: 'failed', code: 'payload_gone' },
  { error: 'the form has no bt_payload in base64', status: 'failed', code: 'payload_invalid' },
  { error: 'an event of the payload is not a JSON object', status: 'failed', code: 'payload_invalid' },
  { error: 'the id of its billing object is not valid', status: 'failed', code: 'object_id_invalid' },
  { error: 'its billing object is too large', status: 'failed', code: 'object_too_large' },
  { error: `${REJECTED}: its billing objects are too large`, status: 'failed', code: 'object_too_large' },
  { error: `${REJECTED}: other workers kept changing the same object`, status: 'failed', code: 'object_busy' },
  { error: `${REJECTED}: CHECK constraint failed`, status: 'failed', code: 'effects_rejected' },
  { error: 'worker_died: 8 workers in a row did not finish it', status: 'failed', code: 'worker_died' },
  { error: 'x is not a function', status: 'failed', code: 'internal_error' },
  { error: 'x is not a function', status: 'retrying', code: null },
]

const byError = (a: Row, b: Row) => `${a.error} ${a.status}`.localeCompare(`${b.error} ${b.status}`)

async function insertRotated({ key, by }: (typeof ROTATED)[number]) {
  const [sample] = ROWS.api_keys
  await insert('api_keys', { ...sample, id: key, project_id: 'prj_rotated', hash: key, created_by: 'usr_one' })
  for (const [i, actor] of by.entries()) {
    await insert('audit_log', {
      project_id: 'prj_rotated',
      id: `aud_${key}_${i}`,
      ...ENTRY,
      actor_type: actor.startsWith('key_') ? 'api_key' : 'user',
      actor_id: actor,
      action: 'api_key.rotated',
      object_type: 'api_key',
      object_id: key,
    })
  }
}

async function tableNames(): Promise<string[]> {
  const list = await rows<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%' AND name <> 'd1_migrations' ORDER BY name`)
  return list.map(({ name }) => name)
}

async function insert(table: string, row: Row): Promise<void> {
  const marks = Object.keys(row).map(() => '?')
  await rows(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${marks})`, ...Object.values(row))
}

async function dump(): Promise<Tables> {
  const names = await tableNames()
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await rows(`SELECT * FROM ${name}`)])))
}

/** The rows are old: nothing is past its retention. */
const FOR_EVER = { PAYLOAD_RETENTION_DAYS: '3650', RECORD_RETENTION_DAYS: '3650' }

const FILTER = { event_type: ['customer.*'], received_after: '2026-05-01T00:00:00Z', order: 'desc' }

it('starts from a row in every table, and from a filter that is JSON inside JSON', () => {
  expect(Object.keys(before)).toEqual(Object.keys(ROWS).sort())
  expect(Object.values(before).every((list) => list.length > 0)).toBe(true)
  const details = before.audit_log?.find(({ action }) => action === 'events.replayed')?.details as string
  expect(JSON.parse(details)).toEqual({ filter: JSON.stringify(FILTER), matched: 1 })
})

/** What migrations add to a store's state. */
const ADDED = ['payloads_move_from', 'pins_known_from', 'fewer_rows_from', 'packed_from', 'keyed_names_from']

it('keeps every row as it was, except the filter of a bulk replay’s audit row, which becomes an object', () => {
  const mended = (row: Row) =>
    row.action === 'events.replayed' ? { ...row, details: JSON.stringify({ filter: FILTER, matched: 1 }) } : row
  for (const [table, list] of Object.entries(before)) {
    const kept = after[table]?.filter(({ name }) => table !== 'state' || !ADDED.includes(String(name)))
    expect(kept, table).toEqual(list.map((row) => expect.objectContaining(mended(row))))
  }
})

it('leaves an audit row alone that has no filter, or has an object', async () => {
  const sql = TEST_MIGRATIONS[2]?.queries.join('\n') ?? ''
  expect(sql).toContain('audit_log')
  await rows(sql)
  expect(await dump()).toEqual(after)
})

it('counts a session that is there as confirmed when it was opened', () => {
  expect(after.sessions?.length).toBeGreaterThan(0)
  for (const { confirmed_at, created_at } of after.sessions ?? []) expect(confirmed_at).toBe(created_at)
})

it('tells from the error of a failed event its code', () => {
  const upgraded = after.events?.filter(({ project_id }) => project_id === 'prj_failed')
  const found = upgraded?.map(({ last_error, status, last_error_code }) => ({
    error: last_error,
    status,
    code: last_error_code,
  }))
  expect(found?.toSorted(byError)).toEqual(FAILED.toSorted(byError))
})

it('tells from the audit log whom the secret of each key was handed to', () => {
  for (const { key, issuedTo, lineage } of ROTATED) {
    const row = after.api_keys?.find(({ id }) => id === key)
    expect([key, row?.secret_issued_to, row?.secret_lineage]).toEqual([key, issuedTo, lineage])
  }
})

it('tells from the audit log who is no longer a member', () => {
  const gone = ['usr_one', 'usr_two'].map((user_id) => ({ project_id: 'prj_gone', user_id }))
  expect(after.former_members).toEqual(gone)
})

it.each(['before its payloads move', 'within the hour of the deploy', 'after they have moved'])(
  'can be read through the API, %s',
  async (when) => {
    const now = Date.now()
    if (when.startsWith('within')) await keepHouse(FOR_EVER)
    if (when.startsWith('after')) {
      stopClock(now + 2 * HOUR)
      await keepHouse(FOR_EVER)
    }
    const payload = ROWS.payloads.map(({ id }) => expect.objectContaining({ id }))
    const moved = when.startsWith('after')
    expect([await rows('SELECT * FROM payloads'), await rows('SELECT * FROM bodies')]).toEqual(
      moved ? [[], []] : [payload, []],
    )
    expect(await rows('SELECT project_id FROM packed_bodies')).toEqual(moved ? [{ project_id: project }] : [])
    const get = (path: string) => call(`/platform/v1${path}`, { token, project })
    const log = (await get('/audit-log')).body.data
    expect(log.map(({ request_id }: Row) => request_id)).toEqual(ROWS.audit_log.map((row) => row.request_id).reverse())
    expect(log.map(({ client_request_id }: Row) => client_request_id)).toEqual([null, null, null])
    expect(log.map(({ action, details }: Row) => [action, details])).toEqual([
      ['event.replayed', null],
      ['events.replayed', { filter: FILTER, matched: 1 }],
      ['project.created', { name: 'Test' }],
    ])
    expect((await get(`/billing/webhooks/${event}`)).body).toMatchObject({
      id: event,
      status: 'processed',
      raw_payload_b64: btoa(ROWS.payloads[0]?.body ?? ''),
      decoded_summary: { subscription: 'sub_1', refs: ['sub_1', 'cus_1'], effects: [{ result: 'applied' }] },
      livemode: true,
      differing_deliveries: 0,
      last_differing_at: null,
    })
    expect((await get(`/billing/webhooks/${event}/attempts`)).body.data).toHaveLength(2)
    expect((await get('/billing/webhooks/search?ref=sub_1')).body.data).toMatchObject([{ id: event }])
    expect((await get(`/billing/webhooks/replays/${replay}`)).body).toMatchObject({
      filter: FILTER,
      queued: 1,
      open: null, // its results were not counted then
    })
    expect((await get('/billing/webhooks/health')).body).toMatchObject({ counts: { processed: 1 } })
    const lag = await get(
      '/billing/webhooks/lag-timeseries?bucket=1d&from=2026-05-04T00:00:00Z&to=2026-05-05T00:00:00Z',
    )
    expect(lag.body.data).toMatchObject([{ received: 1, processed: 1, max_ms: 150 }])
    expect((await get(`/billing/connections/${connection}`)).body).toMatchObject({
      secrets: [{ hint: 'know', added_by: null }],
    })
    expect((await get('/billing/subscriptions/sub_1')).body).toMatchObject({ status: 'active', customer: 'cus_1' })
    expect((await get('/projects')).status).toBe(200)
    const minter = { type: 'user', id: ROWS.api_keys[0]?.created_by }
    expect((await get('/api-keys')).body.data).toMatchObject([{ name: 'test key', secret_issued_to: minter }])
    expect((await get(`/api-keys?secret_issued_to=${minter.id}`)).body.data).toHaveLength(1)
  },
)

it('takes the next event of an object, whose effect names only what changed', async () => {
  const queue = memoryQueue()
  const first = JSON.parse(ROWS.payloads[0]?.body ?? '')
  const object = { ...first.data.object, created: 1_777_000_000, start_date: 1_777_000_000, metadata: { plan: 'pro' } }
  const next = {
    ...first,
    id: 'evt_2',
    created: first.created + 60,
    data: { object: { ...object, cancel_at_period_end: true } },
  }
  const { status, body } = await deliver(connection, next, { bindings: { EVENTS: queue.EVENTS } })
  expect(status).toBe(200)
  // The project is from before there were stores, so it is in the first one.
  await drain(
    queue.sent.map(({ body }) => body),
    { EVENTS: queue.EVENTS },
    queueOf(0),
  )
  const get = (path: string) => call(`/platform/v1/billing${path}`, { token, project })
  expect((await get(`/webhooks/${body.event_ids[0]}`)).body.decoded_summary.effects).toEqual([
    {
      kind: 'subscription',
      id: 'sub_1',
      result: 'applied',
      change: {
        updated_at: { from: '2026-05-04T10:00:00Z', to: '2026-05-04T10:01:00Z' },
        cancel_at_period_end: { from: null, to: true },
      },
    },
  ])
  expect((await get('/subscriptions/sub_1')).body).toMatchObject({
    cancel_at_period_end: true,
    created_at: '2026-04-24T03:06:40Z',
    metadata: { plan: 'pro' },
  })
})
