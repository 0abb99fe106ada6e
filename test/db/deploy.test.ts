import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { HOUR } from '../../src/lib/time'
import { call, DIRECTORY, deliver, drain, queueOf, stripeEvent } from '../harness'
import { advance, keepHouse, memoryQueue, stopClock } from '../inbox/pipeline'
import RECORDED from './statements-0038.jsonl?raw'

/*
 * A deploy: the migrations are applied while the previous version of the Worker is at work. What that version sends to the database
 * was recorded from it, as of migration 0038: a first delivery and its processing, then more of it after the migrations, with a
 * replay and every kind of read.
 */

type Row = Record<string, unknown>
type Phase = 'before' | 'during' | 'reads'
/** A call of D1: the statements of a batch, by their place in the list of texts, and their values. */
type Trip = [Phase, [number, unknown[]][]]
type Head = {
  project: string
  connection: string
  now: number
  ids: Record<string, string>
  seed: Record<string, Row[]>
}

const [head, list, ...lines] = RECORDED.trim().split('\n')
const { project, connection, now, ids, seed } = JSON.parse(head ?? '') as Head
const texts = JSON.parse(list ?? '') as string[]
const trips = lines.map((line) => JSON.parse(line) as Trip)
const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }

/** The recorded database is the directory of today, and store 0. */
async function rows<T = Row>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (
    await DIRECTORY.prepare(sql)
      .bind(...values)
      .all<T>()
  ).results
}

/** Sends what the previous version sent. @returns the rows that each statement gave */
async function previous(which: Trip[]): Promise<unknown[][]> {
  const found: unknown[][] = []
  for (const [, statements] of which) {
    const bound = statements.map(([text, values]) => DIRECTORY.prepare(texts[text] ?? '').bind(...values))
    for (const { results } of await DIRECTORY.batch(bound)) found.push(results)
  }
  return found
}
const ofPhase = (phase: Phase) => trips.filter(([of]) => of === phase)

let token: string
const queue = memoryQueue()
const bindings = { EVENTS: queue.EVENTS }
const ask = async (path: string, method = 'GET') =>
  (await call(`/platform/v1/billing${path}`, { token, project, method, bindings })).body
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
const send = async (event: object): Promise<string> => {
  const { status, body } = await deliver(connection, event, { bindings })
  expect(status).toBe(200)
  return body.event_ids[0]
}
/** Processes what the queue has, as the newer version. */
const processNow = (events: string[]) =>
  drain(
    events.map((event_id) => ({ project_id: project, event_id })),
    bindings,
    queueOf(0),
  )

beforeAll(async () => {
  stopClock(now)
  const tables = await rows<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'`)
  for (const { name } of tables) await rows(`DROP TABLE ${name}`)
  const before = TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith('0039'))
  await applyD1Migrations(DIRECTORY, TEST_MIGRATIONS.slice(0, before))
  const { secret, hash } = await newSecret(0)
  token = secret
  for (const [table, list] of Object.entries(seed)) {
    for (const row of list) {
      const own = table === 'api_keys' ? { ...row, hash } : row
      const marks = Object.keys(own).map(() => '?')
      await rows(`INSERT OR IGNORE INTO ${table} (${Object.keys(own)}) VALUES (${marks})`, ...Object.values(own))
    }
  }
  await previous(ofPhase('before'))
  await applyD1Migrations(DIRECTORY, TEST_MIGRATIONS)
  // The hour of the deploy is one of the machine's clock; here it is one of the clock that is stopped.
  await rows(`UPDATE state SET value = ? WHERE name LIKE '%\\_from' ESCAPE '\\' AND value > ?`, now + HOUR, now)
})

const formerIndexes = () =>
  rows("SELECT name FROM sqlite_master WHERE name IN ('events_final', 'consumers_name', 'consumers_last_name')")
/** An event that was recorded within the hour of the deploy, and processed later. */
let late = ''

/** Which trips of the second phase process the replay: claim, objects, finish. */
const REPLAY = [7, 10] as const
const FINAL = ['ignored', 'ignored', 'processed', 'processed', 'processed']

it('notes until when the previous version may run', async () => {
  expect(await rows("SELECT name, value FROM state WHERE name LIKE '%\\_from' ESCAPE '\\' ORDER BY name")).toEqual([
    { name: 'fewer_rows_from', value: now + HOUR },
    { name: 'keyed_names_from', value: now + HOUR },
    { name: 'packed_from', value: now + HOUR },
  ])
})

it('lets the previous version record, process, replay and read', async () => {
  await previous(ofPhase('during'))
  const events = await rows<{ status: string }>('SELECT status FROM events ORDER BY id')
  expect(events.map(({ status }) => status).toSorted()).toEqual([...FINAL, 'received'])
  const found = await previous(ofPhase('reads'))
  expect(found.every((list) => Array.isArray(list))).toBe(true)
  expect(found.filter((list) => list.length > 0).length).toBeGreaterThan(20)
})

it('reads and finishes what that version has recorded', async () => {
  expect((await ask('/webhooks')).data.map(({ status }: Row) => status)).toEqual(
    expect.arrayContaining([...FINAL, 'received']),
  )
  await expectSeries({ received: 6, processed: 5, pending: 1 })
  await processNow([ids.waiting ?? ''])
  expect(await ask(`/webhooks/${ids.waiting}`)).toMatchObject({ status: 'processed', processing_attempts: 1 })
  await expectSeries({ received: 6, processed: 6, pending: 0 })
  expect((await ask(`/webhooks/${ids.done}/attempts`)).data).toMatchObject([
    { trigger: 'ingest' },
    { trigger: 'replay' },
  ])
  expect((await ask(`/webhooks/${ids.waiting}/attempts`)).data).toMatchObject([{ number: 1, outcome: 'processed' }])
  expect(idsOf(await ask('/webhooks/search?status=processed')).toSorted()).toEqual(
    [ids.done, ids.open, ids.during, ids.waiting].toSorted(),
  )
  expect(idsOf(await ask('/webhooks/search?event_type=invoice.*'))).toEqual([ids.waiting, ids.open])
})

it('writes what that version reads and finishes', async () => {
  const id = await send(stripeEvent('customer.subscription.updated', { id: 'sub_during' }))
  // It processes this event as it processed the replay of another one.
  const text = JSON.stringify(ofPhase('during').slice(...REPLAY)).replaceAll(ids.done ?? '', id)
  const found = await previous(JSON.parse(text.replaceAll('trigger\\":\\"replay', 'trigger\\":\\"ingest')) as Trip[])
  const [payload] = await rows<{ payload_id: string }>('SELECT payload_id FROM events WHERE id = ?', id)
  expect(JSON.stringify(found)).toContain(payload?.payload_id)
  expect(await ask(`/webhooks/${id}`)).toMatchObject({ status: 'processed', processing_attempts: 1 })
  expect((await ask(`/webhooks/${id}/attempts`)).data).toMatchObject([{ number: 1, outcome: 'processed' }])
  await expectSeries({ received: 7, processed: 7, pending: 0 })
  // Its own attempts are rows, which that version reads.
  const other = await send(stripeEvent('customer.subscription.updated', { id: 'sub_other' }))
  await processNow([other])
  expect(await rows('SELECT number FROM attempts WHERE event_id = ?', other)).toEqual([{ number: 1 }])
  await expectSeries({ received: 8, processed: 8, pending: 0 })
})

it('packs payloads once that version runs no more, and reads the same', async () => {
  const payloads = async () =>
    (await ask('/webhooks?limit=100')).data.map(({ id, raw_payload_b64 }: Row) => [id, raw_payload_b64])
  late = await send(stripeEvent('invoice.paid', { id: 'in_late', object: 'invoice' })) // processed after the hour
  expect(await formerIndexes()).toHaveLength(3)
  const before = await payloads()
  const count = (table: string) => rows(`SELECT count(*) AS n FROM ${table}`)
  expect([await count('bodies'), await count('packed_bodies')]).toEqual([[{ n: 9 }], [{ n: 0 }]])
  advance(2 * HOUR)
  await keepHouse(bindings)
  expect([await count('bodies'), await count('packed_bodies')]).toEqual([[{ n: 0 }], [{ n: 9 }]])
  expect(await payloads()).toEqual(before)
  expect(before.every(([, text]) => typeof text === 'string')).toBe(true)
})

it('writes fewer rows once that version runs no more, and drops its indexes', async () => {
  expect(await formerIndexes()).toEqual([])
  const id = await send(stripeEvent())
  await expectSeries({ received: 10, processed: 8, pending: 2 })
  await processNow([late, id])
  await expectSeries({ received: 10, processed: 10, pending: 0 })
  expect(await rows('SELECT number FROM attempts WHERE event_id IN (?, ?)', late, id)).toEqual([])
  for (const one of [late, id]) {
    expect((await ask(`/webhooks/${one}/attempts`)).data).toMatchObject([{ number: 1, outcome: 'processed' }])
  }
})

type Counts = { received: number; processed: number; pending: number }

/** The sum of the lag series, which health agrees with. */
async function expectSeries(wanted: Counts): Promise<void> {
  const answer = await ask(`/webhooks/lag-timeseries?bucket=1h&from=${new Date(now - HOUR).toISOString()}`)
  const points = answer.data as unknown as Counts[]
  const sum = (name: keyof Counts) => points.reduce((total, point) => total + point[name], 0)
  expect({ received: sum('received'), processed: sum('processed'), pending: sum('pending') }).toEqual(wanted)
  const { counts } = await ask('/webhooks/health')
  expect(counts.processed + counts.ignored).toBe(wanted.processed)
}
