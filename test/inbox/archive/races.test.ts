import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { batch, type Db, openDb } from '../../../src/db/client'
import { bringBack, changePack } from '../../../src/inbox/archive/change'
import { readPacks } from '../../../src/inbox/archive/find'
import { PACKED_PERIOD_MS } from '../../../src/inbox/archive/limits'
import { archives } from '../../../src/inbox/archive/schema'
import { archiveEvents } from '../../../src/inbox/archive/store'
import { SECOND } from '../../../src/lib/time'
import { stripeEventOf } from '../../billing/payloads'
import { billingWorld } from '../../billing/world'
import { as } from '../../consumers/consumers'
import { freshKey, STORE, STORE_NUMBER, storedText, stripeEvent } from '../../harness'
import { advance, cron, keepHouse, newWorld, rows, settle, stopClock } from '../pipeline'
import { insertConnection, insertEvents, seedEvent } from '../seeding'

/* What happens to events between the read and the write of an archive, and beside it. */

const NIGHT = Date.parse('2026-06-10T03:00:00.000Z')
const WEEK = Math.floor(NIGHT / PACKED_PERIOD_MS) * PACKED_PERIOD_MS
const allPacks = sql`${archives} ${alias(archives, 'a')}`

beforeEach(async () => {
  stopClock(NIGHT)
  for (const table of ['archives', 'archived_refs', 'events', 'refs', 'attempts', 'erasures', 'packed_bodies'])
    await rows(`DELETE FROM ${table}`)
})

/** Archives all that is older than the week of the clock. @param meanwhile happens just before a trip, the first of which is 1 */
async function archiveNow(meanwhile?: (trip: number) => Promise<unknown>): Promise<void> {
  const db = openDb<Db>(STORE)
  const sent = db.d1.batch.bind(db.d1)
  let trips = 0
  db.d1.batch = (async (statements: never) => {
    await meanwhile?.(++trips)
    return sent(statements)
  }) as never
  const before = Math.floor(Date.now() / PACKED_PERIOD_MS) * PACKED_PERIOD_MS
  await archiveEvents(db, { store: STORE_NUMBER, after: '' }, before, 'delivery')
}

async function oldEvents(n: number) {
  const { project } = await freshKey()
  const connection = await insertConnection(project, 'stripe')
  const events = Array.from({ length: n }, (_, i) =>
    seedEvent({ connection, received_at: WEEK - PACKED_PERIOD_MS + i * SECOND }),
  )
  await insertEvents(project, events)
  await rows("INSERT INTO totals (project_id, status, n) VALUES (?, 'processed', ?)", project, n)
  return { project, ids: events.map(({ id }) => id) }
}

const recorded = async () =>
  (await readPacks(openDb<Db>(STORE), allPacks)).flatMap(({ records }) => records.map(({ id }) => id))

describe('an archive', () => {
  it('whose number another run takes meanwhile deletes nothing and counts nothing', async () => {
    const { project, ids } = await oldEvents(3)
    const [open, ...others] = ids
    await archiveNow(async (trip) => {
      if (trip !== 2) return
      await rows("UPDATE events SET status = 'queued', due_at = 1 WHERE id = ?", open)
      await archiveNow()
    })
    expect(await rows('SELECT id FROM events')).toEqual([{ id: open }])
    expect(await recorded()).toEqual(others)
    expect(await rows('SELECT n FROM totals WHERE project_id = ?', project)).toEqual([{ n: 1 }])
  })

  it('gives a number again, but no reader of the pack that had it writes over the new one', async () => {
    const { project, ids } = await oldEvents(1)
    await archiveNow()
    const db = openDb<Db>(STORE)
    const [read] = await readPacks(db, allPacks)
    expect(await bringBack(db, project, ids[0] ?? '')).toBe(true)
    await oldEvents(1)
    await archiveNow()
    expect((await readPacks(db, allPacks)).map(({ number }) => number)).toContain(read?.number)
    const { changed } = await batch(db, changePack(db, read as never, []))
    expect(changed).toEqual([])
    expect(await recorded()).toHaveLength(2)
  })

  it('that is replayed twice at once comes back once, for both', async () => {
    const { project, ids } = await oldEvents(2)
    await archiveNow()
    const id = ids[0] ?? ''
    const [one, other] = [openDb<Db>(STORE), openDb<Db>(STORE)]
    const sent = one.d1.batch.bind(one.d1)
    let trips = 0
    one.d1.batch = (async (statements: never) => {
      if (++trips === 1) expect(await bringBack(other, project, id)).toBe(true)
      return sent(statements)
    }) as never
    expect(await bringBack(one, project, id)).toBe(true)
    expect(await rows('SELECT id FROM events')).toEqual([{ id }])
    expect(await recorded()).toEqual([ids[1]])
  })
})

describe('with an erasure', () => {
  it('no event is archived until its first pass is over: it would be where the erasure no longer looks', async () => {
    const world = await billingWorld()
    const consumers = as(world.project, world.token)
    const { id } = (await consumers.put('user_1')).body
    await consumers.pin('cus_z', id)
    const customer = { id: 'cus_z', object: 'customer', email: 'zqulo@example.com', name: 'Zqulo', metadata: {} }
    await world.deliver(
      stripeEventOf('customer.created', customer),
      stripeEventOf('customer.updated', { ...customer, name: 'Zqulo Lovelace' }),
    )
    advance(PACKED_PERIOD_MS)
    await archiveNow(async (trip) => {
      if (trip !== 2) return
      await consumers.erase(id) // between the read and the write
      await rows("UPDATE erasures SET cursor = json_set(cursor, '$.phase', 'events')")
    })
    await archiveNow()
    expect(await recorded()).toEqual([])
    for (let i = 0; i < 10; i++) await cron({ EVENTS: world.queue.EVENTS })
    expect((await consumers.erasure(id)).body).toMatchObject({ state: 'done', payloads_removed: 2 })
    await archiveNow()
    expect(await recorded()).toHaveLength(2)
    const packs = await readPacks(openDb<Db>(STORE), allPacks)
    expect((await storedText()) + JSON.stringify(packs)).not.toMatch(/zqulo/i)
  })
})

describe('with the end of a project', () => {
  it('the payloads of archived events are deleted, not only those of the others', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await settle(world)
    advance(PACKED_PERIOD_MS)
    await archiveNow()
    expect(await rows('SELECT 1 FROM packed_bodies WHERE project_id = ?', world.project)).toHaveLength(1)
    await rows('UPDATE projects SET deleted_at = 1, purge_at = ? WHERE id = ?', Date.now(), world.project)
    await keepHouse({ EVENTS: world.queue.EVENTS })
    expect(await rows('SELECT 1 FROM archives')).toEqual([])
    expect(await rows('SELECT 1 FROM packed_bodies WHERE project_id = ?', world.project)).toEqual([])
  })
})
