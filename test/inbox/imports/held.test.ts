import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { insertLink } from '../../consumers/rows'
import { changeAccount, stripeObjects, tamperedD1 } from '../../harness'
import { advance, cron, rows, stopClock } from '../pipeline'
import { brief, importWorld } from './world'

beforeEach(() => {
  stopClock()
})

const OBJECTS = stripeObjects(120)
const ASKED = { kinds: ['customers', 'subscriptions'] }
const ALL = { customers: 'done 120 120 0', subscriptions: 'done 120 120 0' }

describe('an import', () => {
  it('records nothing of a customer whose consumer was erased', async () => {
    const world = await importWorld(OBJECTS)
    await insertLink(world.project, 'cus_000007', { pinned: 'ers_1' })
    await world.finish(await world.start())
    expect(brief(await world.finish(await world.start()))).toEqual({
      customers: 'done 120 0 119, 1 left out',
      subscriptions: 'done 120 0 119, 1 left out',
      invoices: 'done 120 0 119, 1 left out',
    })
    const known = await rows(
      "SELECT vendor_id FROM billing_objects WHERE project_id = ? AND vendor_id LIKE '%000007'",
      world.project,
    )
    expect(known).toEqual([])
    expect(await world.fetched()).toHaveLength(357)
  })

  it('goes on while its connection is paused, and what it records is held until then', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    await world.page()
    const become = (status: string) => world.api(`/connections/${world.from}`, { method: 'PATCH', json: { status } })
    await become('paused')
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 120 120 0' })
    expect(await world.post()).toMatchObject({ status: 409, body: { code: 'connection_paused' } })
    const byStatus = async () => Map.groupBy(await world.fetched(), ({ status }) => status)
    expect([...(await byStatus())].map(([status, { length }]) => [status, length])).toEqual([
      ['processed', 100],
      ['received', 20],
    ])
    await become('active')
    advance(MINUTE)
    await cron(world.bindings)
    await world.queue.pump()
    expect([...(await byStatus()).keys()]).toEqual(['processed'])
  })

  it('waits while the database is too full, without asking the vendor', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    const DB = tamperedD1(async ({ run }) =>
      (await run()).map((result) => ({ ...result, meta: { ...result.meta, size_after: 7_000_000_000 } })),
    )
    await world.page({ DB })
    expect(await world.read(id)).toMatchObject({ state: 'waiting', error: 'database_filling' })
    expect(await world.asked()).toEqual([])
    advance(15 * MINUTE)
    expect(brief(await world.finish(id))).toEqual(ALL)
  })

  it('waits while the service cannot open the key', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start(ASKED)
    await world.page({ ENCRYPTION_KEY_1: btoa('x'.repeat(32)) })
    expect(await world.read(id)).toMatchObject({ state: 'waiting', error: 'encryption_key_unavailable' })
    expect(brief(await world.finish(id))).toEqual(ALL)
  })

  it('waits as long as the vendor has asked a refresh to wait', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    await changeAccount(world.apiKey, { fail: { status: 429, retry_after: '40', times: 3 } })
    expect((await world.api('/customers/stripe/cus_000001/refresh', { method: 'POST' })).body.state).toBe('stale')
    await world.page()
    expect((await world.asked()).filter(({ pathname }) => pathname === '/v1/customers')).toEqual([])
    const waiting = await world.read(id)
    expect(waiting).toMatchObject({ state: 'waiting', error: 'vendor_unavailable' })
    expect(Date.parse(waiting.waiting_until ?? '') - Date.now()).toBe(40 * SECOND)
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 120 120 0' })
  })

  it('asks for a page that failed with fewer objects, and for whole ones again after it', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    await changeAccount(world.apiKey, { fail: { status: 503, times: 2 } })
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 120 120 0' })
    const limits = (await world.asked()).map(({ searchParams }) => searchParams.get('limit'))
    expect(limits).toEqual(['100', '50', '25', '100'])
  })

  it('asks for smaller pages after one that is too large', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    await changeAccount(world.apiKey, { fail: { status: 200, times: 1, body: `"${'x'.repeat(3_000_000)}"` } })
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 120 120 0' })
    expect((await world.asked()).map(({ searchParams }) => searchParams.get('limit'))).toEqual([
      '100',
      '25',
      '50',
      '50',
    ])
  })

  it.each([
    ['records', 1_000_000, 120, ''],
    ['leaves out', 1_100_000, 119, ', 1 left out'],
  ])('%s an object of %i bytes, and goes on', async (_, bytes, recorded, left) => {
    const blob = Array.from({ length: Math.floor(bytes / 36) }, () => crypto.randomUUID()).join('')
    const large = { ...OBJECTS.find(({ id }) => id === 'cus_000003'), id: 'cus_000003', blob }
    const world = await importWorld([...OBJECTS.filter(({ id }) => id !== large.id), large])
    const done = await world.finish(await world.start({ kinds: ['customers'] }))
    expect(brief(done)).toEqual({ customers: `done 120 ${recorded} 0${left}` })
    const { status, body } = await world.api('/customers/stripe/cus_000003')
    expect(status).toBe(recorded === 120 ? 200 : 404)
    if (status === 404) return
    const record = (await world.api(`/webhooks/${body.source_event_id}`)).body
    expect(JSON.parse(atob(record.raw_payload_b64))).toEqual(large)
  })

  it('that was read before its connection changed does its page again', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    let renamed = false
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 2 && !renamed) {
        renamed = true
        await world.api(`/connections/${world.from}`, { method: 'PATCH', json: { name: 'Renamed' } })
      }
      return trip.run()
    })
    await world.page({ DB })
    expect(brief(await world.read(id))).toEqual({ customers: 'waiting 0 0 0' })
    advance(SECOND)
    expect(brief(await world.finish(id))).toEqual({ customers: 'done 120 120 0' })
    expect(await world.fetched()).toHaveLength(120)
  })

  it('whose key is removed during a page records nothing of it', async () => {
    const world = await importWorld(OBJECTS)
    const id = await world.start({ kinds: ['customers'] })
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 2) await world.api(`/connections/${world.from}/api-key`, { method: 'DELETE' })
      return trip.run()
    })
    await world.page({ DB })
    expect(await world.fetched()).toEqual([])
    expect(await world.finish(id)).toMatchObject({ state: 'canceled', error: 'api_key_removed' })
  })
})
