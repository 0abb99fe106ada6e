import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_ROW_BYTES_READ } from '../../../src/billing/limits'
import { MAX_LIST_BYTES } from '../../../src/db/limits'
import { MAX_CLAIMED } from '../../../src/inbox/process/limits'
import { drain, stripeEvent } from '../../harness'
import {
  advance,
  D1_OUT,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  stopClock,
  stored,
  type World,
  weighedD1,
} from '../pipeline'

/* Events whose payloads are small enough, and what is made of them is not: it is read and written in parts. */

beforeEach(() => {
  stopClock()
})

/** A subscription with a hundred items, which are some 20,000 bytes of its row. */
const itemsOf = (quantity: number) => ({
  object: 'list',
  data: Array.from({ length: 100 }, (_, n) => ({
    id: `si_${String(n).padStart(60, '0')}`,
    object: 'subscription_item',
    quantity,
    price: { id: `price_${String(n).padStart(60, '0')}`, product: `prod_${String(n).padStart(60, '0')}` },
  })),
})

const statuses = async (project: string) =>
  (await stored(project)).map(({ status, attempts }) => `${status} ${attempts}`)
/** The quantities of all subscriptions. They take several pages, because a page has a bound in bytes. */
async function quantities(world: World): Promise<(number | undefined)[]> {
  const found: (number | undefined)[] = []
  for (let cursor = ''; ; ) {
    const { body } = await world.api(`/subscriptions?limit=100${cursor}`)
    found.push(...body.data.map(({ items }) => items.at(-1)?.quantity))
    if (!body.has_more) return found
    cursor = `&cursor=${body.next_cursor}`
  }
}

describe('a batch whose effects are large', () => {
  it('is written in lists of less than 1 MB, and every event says what it changed', async () => {
    const world = await newWorld()
    const { queue, project } = world
    for (const quantity of [1, 2]) {
      for (let n = 0; n < 40; n++) {
        await world.send(
          stripeEvent('customer.subscription.updated', { id: `sub_large${n}`, items: itemsOf(quantity) }),
        )
      }
      advance(5000)
      const { DB, weight } = weighedD1()
      await queue.pump({ DB })
      expect(weight.heaviestBound).toBeGreaterThan(MAX_LIST_BYTES / 2)
      expect(weight.heaviestBound).toBeLessThanOrEqual(MAX_LIST_BYTES)
      expect(await quantities(world)).toEqual(Array(40).fill(quantity))
    }
    expect(await statuses(project)).toEqual(Array(80).fill('processed 1'))
    await expectConsistent(project)
  })

  it('keeps a row below 1 MB, with as many tied events as a row keeps, as large as they may be, all of quotes', async () => {
    const world = await newWorld()
    const { DB, weight } = weighedD1()
    const { created } = stripeEvent()
    for (let n = 0; n < 18; n++) {
      const metadata = Object.fromEntries(Array.from({ length: 39 }, (_, i) => [`k${n}_${i}`, '"'.repeat(490)]))
      const event = stripeEvent('customer.subscription.updated', { id: 'sub_tied', metadata })
      await world.send({ ...event, created })
      advance(1)
      await world.queue.pump({ DB })
    }
    expect(weight.heaviestBound).toBeGreaterThan(600_000)
    expect(weight.heaviestBound).toBeLessThanOrEqual(MAX_LIST_BYTES)
    expect(await statuses(world.project)).toEqual(Array(18).fill('processed 1'))
    expect((await world.api('/subscriptions')).body.data).toMatchObject([{ ambiguous: true }])
    await expectConsistent(world.project)
  })

  it('reads no more rows of objects at once than fit into memory', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const send = async () => {
      for (let n = 0; n < 12; n++)
        await world.send(stripeEvent('customer.subscription.updated', { id: `sub_wide${n}` }))
      advance(5000)
    }
    await send()
    await queue.pump()
    // As wide as rows get where many events tie.
    await rows(
      `UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.pad', replace(hex(zeroblob(300000)), '0', 'x'))
        WHERE project_id = ?`,
      project,
    )
    await send()
    const { DB, weight } = weighedD1()
    await queue.pump({ DB })
    expect(Math.max(...weight.answers)).toBeGreaterThan(600_000)
    expect(Math.max(...weight.answers)).toBeLessThan(1.1 * MAX_ROW_BYTES_READ)
    expect(await statuses(project)).toEqual(Array(24).fill('processed 1'))
    await expectConsistent(project)
  })
})

describe('spooled deliveries of many events', () => {
  it('are claimed in groups, however many come in one batch', async () => {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    await sendGocardless(world, connection, ['EV_known'])
    await world.queue.pump()
    const sent = world.queue.sent.length
    for (let delivery = 0; delivery < 3; delivery++) {
      const ids = Array.from({ length: 250 }, (_, n) => `EV_${delivery}_${n}`)
      const { status } = await sendGocardless(world, connection, ids, { DB: D1_OUT })
      expect(status).toBe(200)
    }
    const { DB, weight } = weighedD1()
    await drain(
      world.queue.sent.slice(sent).map(({ body }) => body),
      { DB, EVENTS: world.queue.EVENTS },
    )
    expect(await statuses(world.project)).toEqual(Array(751).fill('ignored 1'))
    // A claim names its events: some 70 bytes each.
    expect(weight.heaviestClaim).toBeLessThan(80 * MAX_CLAIMED)
    await expectConsistent(world.project)
  })
})

describe('words that no vendor has', () => {
  it('are left out of the decoded view, which lists read a hundred at a time', async () => {
    const world = await newWorld()
    const long = 'x'.repeat(200_000)
    const object = {
      id: `ch_${long}`,
      object: 'charge',
      status: long,
      customer: 'cus_1',
      invoice: long,
      currency: long,
    }
    const { body } = await world.send(stripeEvent('charge.refunded', { ...object, amount: 100 }))
    const { DB, weight } = weighedD1()
    await world.queue.pump({ DB })
    expect(weight.heaviestBound).toBeLessThan(10_000)
    const event = await world.event(body.event_ids[0])
    expect(event).toMatchObject({ status: 'ignored', last_error: null })
    expect(event.decoded_summary).toMatchObject({
      object: { type: 'charge', id: null, status: null },
      customer: 'cus_1',
      invoice: null,
      amount: null,
      refs: ['cus_1'],
    })
    await expectConsistent(world.project)
  })
})
