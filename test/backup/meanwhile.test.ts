import { beforeEach, expect, it } from 'vitest'
import { type Db, openDb, run } from '../../src/db/client'
import { recordDelivery } from '../../src/inbox/receive/insert'
import { events } from '../../src/inbox/schema'
import { summaryIn } from '../../src/inbox/summary'
import { idTime } from '../../src/lib/ids'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { stripeEventOf, stripeInvoice, stripeSubscription } from '../billing/payloads'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { STORE, stripeEvent } from '../harness'
import { expectConsistent, settle } from '../inbox/pipeline'
import { backUp, digestsOf, emptyDatabase, processAll, RESTORED, restore } from './backups'

beforeEach(() => {
  stopClock()
})

/**
 * What processing an event later, and in another order, makes differ: times, what an event changed (it may find an object that a later
 * one has written), and how often a row was written.
 */
const LATER = {
  'events.processed_at': null,
  'events.started_at': null,
  // What is packed beside a long change: the whole summaries are compared apart.
  'events.summary':
    "json_remove(summary, '$.effects', '$.rest', '$.subscription', '$.invoice', '$.amount', '$.occurred_at')",
  'events.summary_rest': null,
  ...{ 'attempts.started_at': null, 'attempts.finished_at': null, 'attempts.trigger': null },
  ...{ 'minutes.lag': null, 'minutes.lag_sum': null, 'minutes.lag_max': null },
  ...{ 'billing_objects.version': null, 'connections.secrets_used': null },
}

type Stored = Record<
  'id' | 'vendor_event_id' | 'event_type' | 'payload_id' | 'connection_id' | 'headers' | 'hex',
  string
> & {
  occurred_at: string | null
  content_digest: string | null
  version: number
  encoding: 'deflate' | null
  bytes: number
}

/** Delivers again, under the same ids, the events that came when theirs had been copied. */
async function redeliver(): Promise<number> {
  const kept = await RESTORED.prepare('SELECT id FROM events').all<{ id: string }>()
  const ids = new Set(kept.results.map(({ id }) => id))
  const all = await STORE.prepare(
    'SELECT e.*, b.headers, b.encoding, b.bytes, hex(b.body) AS hex, c.version FROM events e JOIN packed_bodies b ON b.key = CAST(e.payload_id AS INTEGER) JOIN connections c ON c.id = e.connection_id',
  ).all<Stored>()
  const lost = all.results.filter(({ id }) => !ids.has(id))
  // Their payloads may be there: these are copied after the events.
  const payloads = JSON.stringify(lost.map(({ payload_id }) => payload_id))
  await RESTORED.prepare('DELETE FROM packed_bodies WHERE key IN (SELECT CAST(value AS INTEGER) FROM json_each(?))')
    .bind(payloads)
    .run()
  for (const { payload_id, hex, encoding, bytes, headers, connection_id, version, ...event } of lost) {
    const { id, vendor_event_id, event_type, occurred_at, content_digest } = event
    const events = [{ id, vendor_event_id, event_type, occurred_at, content_digest }]
    const stored = Uint8Array.fromHex(hex)
    const body = encoding === null ? new TextDecoder().decode(stored) : stored
    const packed = { encoding, bytes, body }
    const received = { headers: JSON.parse(headers), events, received_at: idTime(id) }
    const delivery = { ...received, key: Number(payload_id), packed }
    await recordDelivery(openDb<Db>(RESTORED), { fence: { id: connection_id, version }, delivery })
  }
  return lost.length
}

/** What each event says, without what it changed. */
async function summariesOf(database: D1Database) {
  const db = openDb<Db>(database)
  const rows = await run(
    db,
    db
      .select({ id: events.id, summary: summaryIn(events).as('summary') })
      .from(events)
      .orderBy(events.id),
  )
  return rows.map(({ id, summary }) => ({
    id,
    ...summary,
    effects: summary?.effects.map(({ kind, id }) => ({ kind, id })),
  }))
}

it('what is delivered and processed during a backup is the same after the restore and another processing', async () => {
  const world = await billingWorld()
  const subscription = stripeSubscription({ status: 'trialing' })
  const change = (status: string, at: number) =>
    world.send(stripeEventOf('customer.subscription.updated', { ...subscription, status }, { at }))
  const other = () => world.send(stripeEventOf('invoice.paid', stripeInvoice(), {}))
  await change('trialing', 1_780_000_000)
  for (let n = 0; n < 6; n++) await other()
  await world.send(stripeEvent('unknown.type'))
  await settle(world)
  // One from long ago, whose minute is folded; and one that is open when the backup begins.
  advance(3 * DAY)
  const failing = await other()
  advance(HOUR)
  await world.send(stripeEvent())
  let steps = 0
  const backup = await backUp(async ({ table }) => {
    steps += 1
    advance(MINUTE / 4)
    if (steps % 3 === 0)
      await change(['active', 'past_due', 'canceled'][steps % 9 === 0 ? 2 : steps % 2] as string, 1_780_000_000 + steps)
    if (steps % 5 === 0) await other()
    if (steps % 4 === 0 || table === 'packed_bodies') await settle(world)
  })
  expect(failing.status).toBe(200)
  expect(steps).toBeGreaterThan(20)
  await settle(world)
  const db = await emptyDatabase()
  const restored = await restore(db, backup)
  expect(restored).toMatchObject({ missing: {} })
  expect(restored?.open).toBeGreaterThan(5)
  expect(await redeliver()).toBeGreaterThan(0)
  await processAll(RESTORED)
  await expectConsistent(world.project)
  // Counts of fields are written up to a minute later, and each isolate may lose some.
  for (const database of [RESTORED, STORE]) await database.exec('DELETE FROM formats')
  expect(await digestsOf(RESTORED, LATER)).toEqual(await digestsOf(STORE, LATER))
  expect(await summariesOf(RESTORED)).toEqual(await summariesOf(STORE))
})
