import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../../billing/payloads'
import { visit } from '../../console/visit'
import { call, changeAccount, countingD1, paddleObjects, stripeObjects, tamperedD1 } from '../../harness'
import { advance, fail, LOST, MODES, rows, stopClock } from '../pipeline'
import { holding } from '../refresh/world'
import { brief, importWorld, state } from './world'

/* Payment methods and prices, which are not read as the other kinds are. */

beforeEach(() => {
  stopClock()
})

const SINCE = Math.floor(Date.now() / SECOND) - 86_400
const prices = (project: string) =>
  rows('SELECT vendor, ref, name, product, product_name, active FROM vendor_prices WHERE project_id = ?', project)

describe('prices', () => {
  const PRICE = { vendor: 'stripe', ref: 'price_1', name: null, product: 'prod_1', product_name: 'Pro', active: 1 }
  const asked = { kinds: ['prices'] }

  it.each([
    ['stripe', stripeObjects(1, SINCE), PRICE],
    ['paddle', paddleObjects(1), { ...PRICE, vendor: 'paddle', ref: 'pri_1', product: 'pro_1' }],
  ] as const)('of %s are kept with the names of their products, and written once', async (vendor, objects, price) => {
    const world = await importWorld(objects, { vendor })
    expect(brief(await world.finish(await world.start(asked)))).toEqual({ prices: 'done 1 1 0' })
    expect(await prices(world.project)).toEqual([price])
    const { DB, count } = countingD1()
    await world.start(asked)
    await world.page({ DB })
    // The import is taken, and ends: no row of a price.
    expect({ trips: count.trips, rows_written: count.rows_written }).toEqual({ trips: 3, rows_written: 2 })
    expect(await world.fetched()).toEqual([])
  })

  it('change with those of the vendor', async () => {
    const objects = stripeObjects(0)
    const world = await importWorld(objects)
    await world.finish(await world.start(asked))
    const changed = objects.map((one) =>
      one.object === 'product' ? { ...one, name: 'Pro 2' } : { ...one, active: false },
    )
    await changeAccount(world.apiKey, { objects: holding(changed) })
    expect(brief(await world.finish(await world.start(asked)))).toEqual({ prices: 'done 1 1 0' })
    expect(await prices(world.project)).toEqual([{ ...PRICE, product_name: 'Pro 2', active: 0 }])
  })

  it('name what subscriptions are for, where the console lists what no plan has', async () => {
    const world = await importWorld(stripeObjects(2, SINCE))
    await world.finish(await world.start({ kinds: ['subscriptions', 'prices'] }))
    const { text } = await visit(`/console/p/${world.project}/platform/billing/plans`, world.owner.token)
    const words = text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    expect(words).toMatch(/price_1 prod_1 Pro Stripe 2 0 Add to plan/)
    const path = `/platform/v1/billing/plans/unmapped-prices`
    const list = async () => (await call(path, { token: world.owner.token, project: world.project })).body
    const named = {
      vendor: 'stripe',
      price: 'price_1',
      product: 'prod_1',
      product_name: 'Pro',
      subscriptions: 2,
      purchases: 0,
    }
    expect(await list()).toEqual({ prices: [{ ...named, name: null, active: true }], more: false })
    const sold = stripeObjects(2, SINCE).map((one) =>
      one.object === 'price' ? { ...one, nickname: 'Yearly', active: false } : one,
    )
    await changeAccount(world.apiKey, { objects: holding(sold) })
    await world.finish(await world.start(asked))
    const again = await visit(`/console/p/${world.project}/platform/billing/plans`, world.owner.token)
    expect(await list()).toEqual({ prices: [{ ...named, name: 'Yearly', active: false }], more: false })
    expect(again.text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')).toMatch(/price_1 Yearly not for sale prod_1 Pro/)
  })

  it('name nothing of another vendor that has the same id', async () => {
    const objects = paddleObjects(0).map((one) =>
      one.id === 'pri_1' ? { ...one, name: 'Theirs', status: 'archived' } : one,
    )
    const world = await importWorld(objects, { vendor: 'paddle' })
    await world.finish(await world.start(asked))
    const data = [stripeItem({ price: { id: 'pri_1', object: 'price', product: 'prod_ours' } })]
    await world.deliver(stripeEventOf('customer.subscription.created', stripeSubscription({ items: { data } })))
    const { body } = await world.api('/plans/unmapped-prices')
    expect(body.prices).toEqual([
      {
        ...{ vendor: 'stripe', price: 'pri_1', product: 'prod_ours', name: null, product_name: null, active: null },
        ...{ subscriptions: 1, purchases: 0 },
      },
    ])
  })

  it('with ids or names that are too long are left out, or cut', async () => {
    const price = (id: string, nickname: string) => ({ id, object: 'price', nickname, active: true, product: 'prod_1' })
    const world = await importWorld([price('x'.repeat(1000), 'a'), price('price_2', 'n'.repeat(10_000))])
    expect(brief(await world.finish(await world.start(asked)))).toEqual({ prices: 'done 2 1 0, 1 left out' })
    const [kept] = await prices(world.project)
    expect(String(kept?.name).length).toBeLessThan(500)
  })

  const KILLS = ['take', 'known', 'write'].flatMap((trip, index) => MODES.map((mode) => ({ trip, index, mode })))
  it.each(KILLS)(
    'are there once if the worker is killed at "$trip", $mode it was executed',
    async ({ index, mode }) => {
      const world = await importWorld(stripeObjects(0))
      const id = await world.start(asked)
      let dead = false
      const DB = tamperedD1((trip) => {
        if (dead) throw new Error(LOST)
        if (trip.index !== index) return trip.run()
        dead = true
        return fail(trip, mode)
      })
      await world.fetches.pump({ DB, FETCHES: world.fetches.EVENTS }, { batches: 1, killed: () => dead })
      expect(dead).toBe(true)
      advance(MINUTE + 5 * SECOND)
      expect(brief(await world.finish(id))).toEqual({ prices: 'done 1 1 0' })
      expect(await prices(world.project)).toEqual([PRICE])
    },
  )
})

describe('payment methods', () => {
  const kinds = ['payment_methods']
  const methods = async (project: string) =>
    ((await state(project)) as { kind: string; vendor_id: string; customer: string }[]).map(
      ({ kind, vendor_id, customer }) => `${kind} ${vendor_id} of ${customer}`,
    )
  const second = (n: number, customer: string) => ({
    id: `pm_second_${n}`,
    object: 'payment_method',
    type: 'card',
    created: SINCE,
    livemode: true,
    customer,
    card: { brand: 'visa', last4: '1111', exp_month: 1, exp_year: 2030 },
  })

  it('of Stripe: by default those of subscriptions that have not ended, and of their customers', async () => {
    const objects = stripeObjects(10, SINCE)
    const own = second(1, 'cus_000001')
    const paid = objects.map((one) => (one.id === 'sub_000001' ? { ...one, default_payment_method: own.id } : one))
    const world = await importWorld([...paid, own, second(2, 'cus_000002')])
    // Nine of ten have not ended; the first one has two.
    expect(brief(await world.finish(await world.start({ kinds })))).toEqual({ payment_methods: 'done 10 10 0' })
    const found = await methods(world.project)
    expect(found).toContain('payment_method pm_second_1 of cus_000001')
    expect(found).toContain('payment_method pm_000001 of cus_000001')
    expect(found).toHaveLength(10)
    expect(brief(await world.finish(await world.start({ kinds })))).toEqual({ payment_methods: 'done 10 0 10' })
  })

  it.each([
    ['stripe', [...stripeObjects(45, SINCE), second(2, 'cus_000002')], 46, 3 + 45],
    ['paddle', paddleObjects(45), 45, 3 + 45],
  ] as const)('of %s: all of each customer, twenty customers a page', async (vendor, objects, n, calls) => {
    const world = await importWorld([...objects], { vendor })
    const before = (await world.asked()).length
    const done = brief(await world.finish(await world.start({ kinds, payment_methods: 'all' })))
    expect(done).toEqual({ payment_methods: `done ${n} ${n} 0` })
    expect((await world.asked()).length - before).toBe(calls)
    expect(await methods(world.project)).toHaveLength(n)
  })

  it('of Paddle: none by default, because it does not say which one that is', async () => {
    const world = await importWorld(paddleObjects(3), { vendor: 'paddle' })
    expect(brief(await world.finish(await world.start({ kinds })))).toEqual({ payment_methods: 'done 0 0 0' })
    expect(await world.asked()).toEqual([])
  })

  it('that the key may not read leave the other kinds alone', async () => {
    for (const payment_methods of ['default', 'all']) {
      const world = await importWorld(stripeObjects(2, SINCE), { refused: ['payment_methods'] })
      const done = brief(await world.finish(await world.start({ payment_methods })))
      expect(done).toMatchObject({ customers: 'done 2 2 0', payment_methods: 'permission_missing 0 0 0' })
      expect(done).toMatchObject({ prices: 'done 1 1 0' })
    }
  })

  it('a call that fails in the middle of a page is made again, and nothing is done twice', async () => {
    const world = await importWorld(stripeObjects(30, SINCE))
    await changeAccount(world.apiKey, { fail: { status: 500, path: '/cus_000020/payment_methods', times: 1 } })
    const done = await world.finish(await world.start({ kinds, payment_methods: 'all' }))
    expect(brief(done)).toEqual({ payment_methods: 'done 30 30 0' })
    expect(await world.fetched()).toHaveLength(30)
  })

  it('an import of others does not continue that of some', async () => {
    const world = await importWorld(stripeObjects(30, SINCE))
    const first = await world.start({ kinds, payment_methods: 'all' })
    await world.page()
    await world.cancel(first)
    advance(SECOND)
    const other = await world.start({ kinds })
    expect(await world.read(other)).toMatchObject({ continues: null, kinds: { payment_methods: { seen: 0 } } })
    await world.cancel(other)
    advance(SECOND)
    expect(await world.read(await world.start({ kinds }))).toMatchObject({ continues: other })
  })
})
