import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../../src/db/client'
import { readPacks } from '../../../src/inbox/archive/find'
import { archiveKey } from '../../../src/inbox/archive/keys'
import { ARCHIVED_AT_ONCE, PACKED_PERIOD_MS, PACKS_A_PAGE } from '../../../src/inbox/archive/limits'
import { archives } from '../../../src/inbox/archive/schema'
import { archiveEvents } from '../../../src/inbox/archive/store'
import { DAY, iso, SECOND } from '../../../src/lib/time'
import {
  paddleEventOf,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripeSubscription,
  T0,
} from '../../billing/payloads'
import { type BillingWorld, billingWorld } from '../../billing/world'
import { as } from '../../consumers/consumers'
import { type Answer, call, freshKey, type Json, STORE, STORE_NUMBER, storedText, stripeEvent } from '../../harness'
import { advance, cron, expectConsistent, keepHouse, newWorld, rows, settle, stopClock } from '../pipeline'
import { insertConnection, insertEvents, seedEvent } from '../seeding'

/* Events that are old enough are packed: what still finds them, what no longer does, and how they come back. */

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')
const archivesAll = sql`${archives} ${alias(archives, 'a')}`
const ARCHIVE = { ARCHIVE_AFTER_DAYS: '30' } as object
/** After this time, every event of the night is old enough, and its period is over. */
const LATER = 30 * DAY + PACKED_PERIOD_MS

beforeEach(async () => {
  stopClock(NIGHT)
  for (const table of ['archives', 'archived_refs', 'events', 'refs', 'attempts']) await rows(`DELETE FROM ${table}`)
})

type Place = Pick<BillingWorld, 'project' | 'queue' | 'api' | 'event' | 'attempts' | 'replay'>

const archive = ({ queue }: Pick<Place, 'queue'>, bindings = {}) =>
  keepHouse({ EVENTS: queue.EVENTS, ...ARCHIVE, ...bindings })

const SUBSCRIPTION = stripeSubscription({ id: 'sub_a', customer: 'cus_a' })

/** Events of every outcome: applied, superseded, ignored, failed, replayed, delivered twice, of two vendors. @returns their ids */
async function aLife(world: BillingWorld): Promise<string[]> {
  const customer = { id: 'cus_a', object: 'customer', email: 'ada@example.com', name: 'Ada', metadata: {} }
  const ids = await world.deliver(
    stripeEventOf('customer.created', customer),
    stripeEventOf('customer.subscription.created', SUBSCRIPTION),
    stripeEventOf('customer.subscription.updated', { ...SUBSCRIPTION, status: 'past_due' }),
    stripeEventOf('invoice.paid', stripeInvoice({ customer: 'cus_a', subscription: 'sub_a', status: 'paid' })),
    stripeEvent('charge.unknown_thing', { object: 'charge', customer: 'cus_a' }),
    stripeEventOf('customer.subscription.updated', { ...SUBSCRIPTION, items: 'not a list' }),
    paddleEventOf('transaction.completed', paddleTransaction({ customer_id: 'ctm_a', status: 'completed' })),
  )
  await settle(world)
  await world.replay(ids[1] ?? '')
  await settle(world)
  return ids
}

/** All that reads an event by its id, and the timelines of the objects. */
async function readings(world: Place, ids: readonly string[]) {
  const paths = ids.flatMap((id) => [`/webhooks/${id}`, `/webhooks/${id}?view=summary`, `/webhooks/${id}/attempts`])
  const timelines = ['/subscriptions/sub_a/timeline?limit=100', '/subscriptions/sub_a/timeline?limit=2']
  const answers = await Promise.all([...paths, ...timelines].map((path) => world.api(path)))
  const previews = await Promise.all(
    ids.map((id) => world.api(`/webhooks/${id}/replay?dry_run=true`, { method: 'POST' })),
  )
  return [...answers, ...previews].map(({ status, body }) => ({ status, body: withoutCursor(body) }))
}

/** A cursor may say where in the archive it is. */
const withoutCursor = (body: Json) => ({ ...body, next_cursor: body.next_cursor === null ? null : undefined })

/** Every row that hangs on a project's events. */
async function records(project: string) {
  const of = (table: string) => rows(`SELECT * FROM ${table} WHERE project_id = ?`, project)
  const attempts = await rows(
    'SELECT * FROM attempts WHERE event_id IN (SELECT id FROM events WHERE project_id = ?) ORDER BY event_id, number',
    project,
  )
  return { events: await of('events'), refs: await of('refs'), totals: await of('totals'), attempts }
}

describe('an archived event', () => {
  it('is read by its id, in timelines and in previews as before, and lists no longer have it', async () => {
    const world = await billingWorld()
    const ids = await aLife(world)
    const before = await readings(world, ids)
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set([200]))
    await archive(world)
    expect(await readings(world, ids)).toEqual(before)
    expect(await rows('SELECT * FROM archives')).toEqual([]) // not old enough

    advance(LATER)
    await archive(world)
    expect(await records(world.project)).toMatchObject({ events: [], refs: [], attempts: [] })
    expect(await rows('SELECT events FROM archives')).toEqual([{ events: ids.length }])
    expect(await readings(world, ids)).toEqual(before)
    const lists = await Promise.all(['/webhooks', '/webhooks/search?ref=sub_a'].map((path) => world.api(path)))
    const nextWeek = iso((Math.floor(NIGHT / PACKED_PERIOD_MS) + 1) * PACKED_PERIOD_MS)
    expect(lists.map(({ body }) => body.archived_before)).toEqual([nextWeek, nextWeek])
    expect((await (await newWorld()).api('/webhooks')).body.archived_before).toBeNull()
    const search = { token: world.token, project: world.project }
    const { body } = await call(`/platform/v1/search?q=${ids[0]}`, search)
    expect(body.data).toMatchObject([{ type: 'event', id: ids[0], title: 'Archived event' }])
    expect(lists.map(({ body }) => body.data)).toEqual([[], []])
  })

  it('is not there for another project, and not without its id', async () => {
    const world = await newWorld()
    const [id] = (await world.send(stripeEvent())).body.event_ids
    await settle(world)
    advance(LATER)
    await archive(world)
    const other = await freshKey()
    const found = async (own: { secret: string; project: string }, event: string) =>
      (await call(`/platform/v1/billing/webhooks/${event}`, { token: own.secret, project: own.project })).status
    expect(await found({ secret: world.token, project: world.project }, id)).toBe(200)
    expect(await found(other, id)).toBe(404)
    expect(
      await found({ secret: world.token, project: world.project }, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`),
    ).toBe(404)
  })

  it('comes back with all that it was when it is replayed, and is archived anew', async () => {
    const world = await billingWorld()
    const ids = await aLife(world)
    const [whole, objects] = [await records(world.project), await world.objects()]
    advance(LATER)
    await archive(world)
    const before = await readings(world, ids)
    for (const id of ids) {
      const { status, body } = await world.replay(id)
      expect([status, body.event.id]).toEqual([202, id])
    }
    expect(await rows('SELECT * FROM archives')).toEqual([])
    expect(await rows('SELECT * FROM archived_refs')).toEqual([])
    const back = await records(world.project)
    expect(back.refs).toEqual(whole.refs)
    expect(back.events.map(({ id }) => id)).toEqual(whole.events.map(({ id }) => id))
    await settle(world)
    await expectConsistent(world.project)
    expect(await world.objects()).toEqual(objects)
    advance(DAY)
    await archive(world)
    expect(await rows('SELECT events FROM archives')).toEqual([{ events: ids.length }])
    const after = await readings(world, ids)
    expect(after.map(({ status }) => status)).toEqual(before.map(({ status }) => status))
  })

  it('that the vendor delivers again is a new event, which is the one to replay', async () => {
    const world = await newWorld()
    const event = stripeEvent()
    const [first] = (await world.send(event)).body.event_ids
    await settle(world)
    advance(LATER)
    await archive(world)
    const [again] = (await world.send(event)).body.event_ids
    expect(again).not.toBe(first)
    await settle(world)
    const { status, body } = await world.replay(first)
    expect([status, body.code]).toEqual([409, 'delivered_again'])
    expect(body.detail).toContain(again)
    expect((await world.event(first)).id).toBe(first)
  })
})

describe('a timeline', () => {
  it('goes on in the archive, page by page, with each event once', async () => {
    const world = await billingWorld()
    const change = (at: number) =>
      stripeEventOf('customer.subscription.updated', { ...SUBSCRIPTION, metadata: { at: String(at) } }, { at: T0 + at })
    const entries = async (limit: number) => {
      const found: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body }: Answer = await world.api(
          `/subscriptions/sub_a/timeline?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        expect(body.data.length).toBeLessThanOrEqual(limit)
        found.push(...body.data.map(({ event_id }) => event_id))
        cursor = body.next_cursor
      }
      return found
    }
    const ids: string[] = []
    for (let week = 0; week < PACKS_A_PAGE + 3; week++) {
      ids.unshift(
        ...(await world.deliver(change(week * 10), change(week * 10 + 1), change(week * 10 + 2))).toReversed(),
      )
      advance(PACKED_PERIOD_MS)
    }
    expect(await entries(100)).toEqual(ids)
    advance(LATER - 3 * PACKED_PERIOD_MS) // the newest ones stay where they are
    await archive(world)
    expect((await rows('SELECT 1 FROM archives')).length).toBe(PACKS_A_PAGE + 1)
    expect(await rows('SELECT 1 FROM events')).not.toEqual([])
    for (const limit of [1, 2, 5, 7, 100]) expect(await entries(limit)).toEqual(ids)
  })
})

describe('the archive', () => {
  it('has a pack for each project and week, packs many events in steps, and leaves open and failed ones', async () => {
    const { project } = await freshKey()
    const connection = await insertConnection(project, 'stripe')
    const week = Math.floor(NIGHT / PACKED_PERIOD_MS) * PACKED_PERIOD_MS
    const at = (weeks: number, n: number) => week - weeks * PACKED_PERIOD_MS + n * SECOND
    const seeds = [
      ...Array.from({ length: ARCHIVED_AT_ONCE + 20 }, (_, n) => at(8, n)),
      ...Array.from({ length: 30 }, (_, n) => at(7, n)),
      ...Array.from({ length: 5 }, (_, n) => at(2, n)),
    ].map((received_at) => seedEvent({ connection, received_at, status: 'processed' }))
    const others = (['received', 'retrying', 'failed'] as const).map((status, n) =>
      seedEvent({ connection, received_at: at(7, 40 + n), status }),
    )
    await insertEvents(project, [...seeds, ...others])
    await keepHouse(ARCHIVE)
    expect(await rows('SELECT events, last_at FROM archives ORDER BY number')).toEqual([
      { events: ARCHIVED_AT_ONCE, last_at: at(8, ARCHIVED_AT_ONCE - 1) },
      { events: 20, last_at: at(8, ARCHIVED_AT_ONCE + 19) },
      { events: 30, last_at: at(7, 29) },
    ])
    expect(await rows('SELECT id FROM events WHERE project_id = ?', project)).toHaveLength(5 + others.length)
  })

  it('leaves a pack whose event changes while it is packed', async () => {
    const world = await newWorld()
    const [id] = (await world.send(stripeEvent())).body.event_ids
    await settle(world)
    advance(LATER)
    const db = openDb<Db>(STORE)
    const sent = db.d1.batch.bind(db.d1)
    let trips = 0
    db.d1.batch = (async (statements: never) => {
      if (++trips === 2) await rows('UPDATE events SET deliveries = deliveries + 1 WHERE id = ?', id)
      return sent(statements)
    }) as never
    const before = Math.floor(Date.now() / PACKED_PERIOD_MS - 4) * PACKED_PERIOD_MS
    await archiveEvents(db, { store: STORE_NUMBER, after: '' }, before, 'delivery')
    expect(trips).toBeGreaterThanOrEqual(2)
    expect(await rows('SELECT * FROM archives')).toEqual([])
    expect(await rows('SELECT * FROM archived_refs')).toEqual([])
    expect(await rows('SELECT id FROM events WHERE project_id = ?', world.project)).toEqual([{ id }])
    expect(await rows('SELECT ref FROM refs WHERE project_id = ?', world.project)).not.toEqual([])
  })

  it('is deleted with the records of its time, and with its project', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await settle(world)
    advance(LATER)
    await archive(world)
    const left = async () => [
      (await rows('SELECT 1 FROM archives')).length,
      (await rows('SELECT 1 FROM archived_refs')).length > 0,
    ]
    expect(await left()).toEqual([1, true])
    const other = await newWorld()
    await other.send(stripeEvent())
    await settle(other)
    advance(401 * DAY - LATER)
    await archive(world)
    expect(await left()).toEqual([1, true])
    await rows('UPDATE projects SET deleted_at = 1, purge_at = ? WHERE id = ?', Date.now(), other.project)
    await archive(world)
    expect(await left()).toEqual([0, false])
  })
})

describe('an erasure', () => {
  it('reaches archived events: their payloads go, and what their summaries say of the person', async () => {
    const world = await billingWorld()
    const consumers = as(world.project, world.token)
    const { id } = (await consumers.put('user_1', { email: 'zqulo@example.com' })).body
    await consumers.pin('cus_z', id)
    const customer = { id: 'cus_z', object: 'customer', email: 'zqulo@example.com', name: 'Zqulo Ada', metadata: {} }
    const ids = await world.deliver(
      stripeEventOf('customer.created', customer),
      stripeEventOf('customer.updated', { ...customer, name: 'Zqulo Lovelace' }),
      stripeEventOf('customer.subscription.created', stripeSubscription({ id: 'sub_z', customer: 'cus_z' })),
      stripeEventOf('customer.created', { ...customer, id: 'cus_other', name: 'Other', email: 'o@example.com' }),
    )
    advance(LATER)
    await archive(world)
    const unpacked = async () =>
      JSON.stringify((await readPacks(openDb<Db>(STORE), archivesAll)).flatMap((pack) => pack.records))
    const text = await unpacked()
    expect(text).toContain('customer.updated')
    expect(await rows('SELECT key FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(4)
    await consumers.erase(id)
    for (let i = 0; i < 10; i++) await cron({ EVENTS: world.queue.EVENTS })
    expect((await consumers.erasure(id)).body).toMatchObject({ state: 'done', payloads_removed: 3 })
    expect((await storedText()) + (await unpacked())).not.toMatch(/zqulo/i)
    expect(await rows('SELECT key FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(1)
    expect((await world.event(ids[1] ?? '')).decoded_summary?.effects.length).toBeGreaterThan(0)
    expect((await world.replay(ids[1] ?? '')).body.code).toBe('payload_gone')
    expect(await rows('SELECT id FROM events')).toEqual([]) // it did not come back in vain
  })
})

it('keys of ids differ, and are whole numbers of 53 bits', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => archiveKey('prj_1', `evt_${iso(i)}`))
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.every((key) => Number.isSafeInteger(key) && key >= 0)).toBe(true)
  expect(archiveKey('prj_1', 'x')).not.toBe(archiveKey('prj_2', 'x'))
})
