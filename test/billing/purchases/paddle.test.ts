import { beforeAll, describe, expect, it } from 'vitest'
import { anId, paddleEventOf } from '../payloads'
import { type BillingWorld, billingWorld, type Shown } from '../world'
import { paddleAdjustment, paddleSale } from './payloads'

/* Purchases of Paddle's: transactions, and adjustments, which name the items that came back. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const one = (id: string): Promise<Shown> => world.one('purchases', id)

describe('Paddle', () => {
  it('sells the one-time items of a transaction; an item comes back whole, or a part of it', async () => {
    const id = anId('txn')
    const at = (day: number) => ({ at: `2026-01-0${day}T00:00:00.000000Z` })
    const adjustment = paddleAdjustment(id)
    await world.deliver(paddleEventOf('adjustment.created', { ...adjustment, status: 'pending_approval' }, at(2)))
    await world.deliver(paddleEventOf('transaction.completed', paddleSale({ id })))
    const item = { id: 'txnitm_once', price: 'pri_setup', product: 'pro_setup', quantity: 2, amount: 4000 }
    expect(await one(id)).toMatchObject({
      ...{ status: 'partially_refunded', total: 9000, refunded_amount: 4000, subscription: 'sub_1ofsale', invoice: id },
      items: [{ ...item, quantity_returned: 2, refunded_amount: 4000 }],
      refunds: [{ status: 'pending' }],
    })
    await world.deliver(paddleEventOf('adjustment.updated', { ...adjustment, status: 'rejected' }, at(3)))
    expect(await one(id)).toMatchObject({
      ...{ status: 'paid', refunded_amount: 0, refunds: [{ status: 'failed' }] },
      items: [{ quantity_returned: null, refunded_amount: null }],
    })
    const part = { item_id: 'txnitm_once', type: 'partial', amount: '500', totals: { total: '500' } }
    await world.deliver(
      paddleEventOf(
        'adjustment.created',
        paddleAdjustment(id, { items: [part], totals: { total: '500', currency_code: 'USD' } }),
        at(4),
      ),
    )
    expect(await one(id)).toMatchObject({
      refunded_amount: 500,
      items: [{ quantity_returned: 0, refunded_amount: 500 }],
    })
  })

  it('takes a chargeback as lost until it is reversed, and a warning as an inquiry', async () => {
    const id = anId('txn')
    const of = (action: string, day: number) =>
      [
        paddleAdjustment(id, {
          action,
          totals: { total: '9000', currency_code: 'USD' },
          created_at: `2026-01-0${day}T00:00:00Z`,
        }),
        { at: `2026-01-0${day}T00:00:00.000000Z` },
      ] as const
    await world.deliver(paddleEventOf('transaction.completed', paddleSale({ id })))
    const states = async () => {
      const { status, disputes } = await one(id)
      return [status, ...(disputes as { state: string }[]).map(({ state }) => state)]
    }
    await world.deliver(paddleEventOf('adjustment.created', ...of('chargeback_warning', 2)))
    expect(await states()).toEqual(['paid', 'inquiry'])
    await world.deliver(paddleEventOf('adjustment.created', ...of('chargeback', 3)))
    expect(await states()).toEqual(['charged_back', 'inquiry', 'lost'])
    await world.deliver(paddleEventOf('adjustment.created', ...of('chargeback_reverse', 4)))
    expect(await states()).toEqual(['paid', 'inquiry', 'won'])
    // A later one is not reversed by that.
    await world.deliver(paddleEventOf('adjustment.created', ...of('chargeback', 5)))
    expect(await states()).toEqual(['charged_back', 'inquiry', 'won', 'lost'])
  })

  it('sells nothing by a renewal, a draft or a credit', async () => {
    const [a, b] = [anId('txn'), anId('txn')]
    const renewal = paddleSale({ id: a, items: [{ price: { id: 'pri_setup', billing_cycle: { interval: 'month' } } }] })
    await world.deliver(
      paddleEventOf('transaction.completed', renewal),
      paddleEventOf('transaction.updated', paddleSale({ id: b, status: 'ready' })),
      paddleEventOf('adjustment.created', paddleAdjustment(b, { action: 'credit' })),
    )
    for (const id of [a, b]) expect((await world.api(`/purchases/${id}`)).status).toBe(404)
  })
})
