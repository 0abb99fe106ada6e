import { beforeEach, describe, expect, it } from 'vitest'
import { LEASE_MS, MAX_ROUNDS } from '../../src/inbox/process/limits'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE, tamperedD1 } from '../harness'
import { deliverBatch, expectConsistent, settle, stored, type Trip } from '../inbox/pipeline'
import { anId, stripeEventOf, stripeSubscription, T0 } from './payloads'
import { type BillingWorld, billingWorld } from './world'

/* Two workers at the same object, in an order that the test sets. */

beforeEach(() => {
  stopClock()
})

const updated = (id: string, status: string, at: number) =>
  stripeEventOf('customer.subscription.updated', stripeSubscription({ id, status }), { at })

/** Receives events. @returns their ids and the messages of each, which no worker has yet */
async function received(world: BillingWorld, ...events: object[]) {
  const ids: string[] = []
  for (const event of events) ids.push((await world.send(event)).body.event_ids[0])
  world.queue.lose()
  return ids.map((id) => ({ id, message: { project_id: world.project, event_id: id } }))
}

/** D1 of a worker, before each of whose writes to a billing object something else happens. */
function beforeWrites(happens: (nth: number, trip: Trip) => Promise<D1Result[] | undefined>) {
  let writes = 0
  const DB = tamperedD1(async (trip) => {
    if (!/insert into "billing_objects"/i.test(trip.sql)) return trip.run()
    writes += 1
    return (await happens(writes, trip)) ?? trip.run()
  })
  return { DB, writes: () => writes }
}

describe('a worker whose object another one has changed since it was read', () => {
  it.each([
    ['the later event was first', 1, 0],
    ['the earlier event was first', 0, 1],
  ])('reads it again and loses neither event: %s', async (_, first, second) => {
    const world = await billingWorld()
    const id = anId('sub')
    const both = await received(world, updated(id, 'past_due', T0), updated(id, 'unpaid', T0 + 60))
    const [other, own] = [both[first], both[second]] as [(typeof both)[0], (typeof both)[0]]
    const { DB, writes } = beforeWrites(async (nth) => {
      if (nth === 1) expect(await deliverBatch([other.message])).toEqual(['ack'])
      return undefined
    })
    expect(await deliverBatch([own.message], { DB })).toEqual(['ack'])
    expect(writes()).toBe(2)
    for (const { id } of both)
      expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 1 })
    expect(await world.one('subscriptions', id)).toMatchObject({ status: 'unpaid', ambiguous: false })
    const [row] = await world.objects()
    const candidates = JSON.parse(row?.candidates ?? '[]') as { event_id: string }[]
    expect(candidates.map(({ event_id }) => event_id)).toEqual([both[1]?.id, both[0]?.id])
    const results = await Promise.all(both.map(async ({ id }) => (await world.effects(id))[0]?.result))
    expect(results).toEqual([second === 0 ? 'superseded' : 'applied', 'applied'])
    await expectConsistent(world.project)
  })

  it('counts its attempt as failed where the others do not stop, and tries again later', async () => {
    const world = await billingWorld()
    const id = anId('sub')
    const others = Array.from({ length: MAX_ROUNDS }, (_, i) => updated(id, 'unpaid', T0 + 60 + i))
    const [own, ...rest] = await received(world, updated(id, 'past_due', T0 + 3600), ...others)
    const { DB, writes } = beforeWrites(async (nth) => {
      await deliverBatch([rest[nth - 1]?.message])
      return undefined
    })
    expect(await deliverBatch([own?.message], { DB })).toEqual([{ delaySeconds: expect.any(Number) }])
    expect(writes()).toBe(MAX_ROUNDS)
    expect(await world.event(own?.id as string)).toMatchObject({
      status: 'retrying',
      last_error: 'the database rejected its effects: other workers kept changing the same object',
      last_error_code: 'object_busy',
    })
    expect((await world.one('subscriptions', id)).status).toBe('unpaid')
    await settle(world)
    expect((await world.event(own?.id as string)).status).toBe('processed')
    expect((await world.one('subscriptions', id)).status).toBe('past_due')
    await expectConsistent(world.project)
  })
})

describe('a worker that has lost its lease', () => {
  it('writes no billing object: what the event changed is recorded by the one that finishes it', async () => {
    const world = await billingWorld()
    const id = anId('sub')
    const [own] = await received(world, updated(id, 'past_due', T0))
    let between: unknown
    const { DB } = beforeWrites(async (_, late) => {
      advance(LEASE_MS + SECOND)
      let results: D1Result[] | undefined
      const taker = beforeWrites(async () => {
        results ??= await late.run()
        between = await world.objects()
        return undefined
      })
      await deliverBatch([own?.message], { DB: taker.DB })
      return results
    })
    await deliverBatch([own?.message], { DB })
    expect(between).toEqual([])
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
    expect(await world.effects(own?.id as string)).toMatchObject([
      { result: 'applied', change: { status: { from: null, to: 'past_due' } } },
    ])
    await expectConsistent(world.project)
  })
})

it('an event that can be neither finished nor recorded as failed is not acked', async () => {
  const world = await billingWorld()
  const [own] = await received(world, updated(anId('sub'), 'past_due', T0))
  const trigger = `refuse_${own?.id}`
  await STORE.prepare(
    `CREATE TRIGGER ${trigger} BEFORE UPDATE ON events WHEN NEW.id = '${own?.id}' AND OLD.status = 'processing'
     BEGIN SELECT RAISE(ABORT, 'not this one'); END`,
  ).run()
  expect(await deliverBatch([own?.message])).toEqual([{ delaySeconds: 65 }])
  expect(await stored(world.project)).toMatchObject([{ status: 'processing', attempts: 1 }])
  await STORE.prepare(`DROP TRIGGER ${trigger}`).run()
  await settle(world)
  expect(await stored(world.project)).toMatchObject([{ status: 'processed' }])
  await expectConsistent(world.project)
})

it('an object whose customer changes is found by the new one, and no longer by the old one', async () => {
  const world = await billingWorld()
  const id = anId('sub')
  const of = (customer: string, at: number) =>
    stripeEventOf('customer.subscription.updated', stripeSubscription({ id, customer }), { at })
  const found = async (customer: string) =>
    (await world.api(`/subscriptions?customer=${customer}`)).body.data.map((row: { id: string }) => row.id)
  await world.deliver(of('cus_before', T0))
  expect([await found('cus_before'), await found('cus_after')]).toEqual([[id], []])
  await world.deliver(of('cus_after', T0 + 60))
  expect([await found('cus_before'), await found('cus_after')]).toEqual([[], [id]])
})
