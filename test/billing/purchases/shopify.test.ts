import { describe, expect, it } from 'vitest'
import * as p from '../payloads-more'
import * as s from '../payloads-sold'
import { type VendorWorld, vendorWorld } from '../vendor-world'
import type { Shown } from '../world'

/* Orders of Shopify's, which repeat their refunds, and the events of refunds and disputes. */

const order = (day: number, fields: p.Fields = {}, topic = 'orders/updated') =>
  s.shopifyEvent(topic, s.shopifyOrder({ updated_at: p.at(day), ...fields }), p.at(day, 9))
const refund = (day: number, fields: p.Fields = {}) =>
  s.shopifyEvent('refunds/create', s.shopifyRefund(fields), p.at(day, 9))
const dispute = (day: number, fields: p.Fields = {}) =>
  s.shopifyEvent('disputes/update', s.shopifyDispute(fields), p.at(day, 9))
const shown = async (world: VendorWorld) => (await world.api<Shown>('/purchases/5001')).body

describe('a purchase of Shopify’s', () => {
  it('counts a refund once, and names its own event, whichever events tell of it', async () => {
    const world = await vendorWorld('shopify')
    const own = await world.tell(refund(1))
    expect(own.decoded_summary?.effects).toMatchObject([{ kind: 'purchase', id: '5001', result: 'unplaced' }])
    expect((await world.api('/purchases/5001')).status).toBe(404)
    await world.tell(order(0, {}, 'orders/paid'))
    const refunds = [s.shopifyRefund()]
    // More events with the same refund than may be tied.
    for (let day = 2; day < 20; day++) await world.tell(order(day, { financial_status: 'partially_refunded', refunds }))
    expect(await shown(world)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 787, ambiguous: false, updated_at: p.at(19) },
      items: [{ quantity: 3, quantity_returned: 1, amount: 2000, refunded_amount: 667 }],
      refunds: [{ id: '9001', amount: 787, status: 'succeeded', reason: 'One too many', event_id: own.id }],
    })
  })

  it('adds up what came back of an item', async () => {
    const world = await vendorWorld('shopify')
    const other = s.shopifyLine({ id: 8002, variant_id: 7002, quantity: 1 })
    const line = (line_item_id: number, quantity: number) => ({ line_item_id, quantity })
    const back = (id: number, lines: object[]) => s.shopifyRefund({ id, refund_line_items: lines, transactions: [] })
    const refunds = [back(1, [line(8001, 1), line(8002, 1)]), back(2, [line(8001, 5)])]
    await world.tell(order(1, { line_items: [s.shopifyLine(), other], refunds: refunds.slice(0, 1) }))
    const returned = async () =>
      ((await shown(world)).items as Shown[]).map(({ id, quantity_returned }) => [id, quantity_returned])
    expect(await returned()).toEqual([
      ['8001', 1],
      ['8002', 1],
    ])
    await world.tell(order(2, { line_items: [s.shopifyLine(), other], refunds }))
    expect(await returned()).toEqual([
      ['8001', 3],
      ['8002', 1],
    ])
    // Items that come back without money leave the payment as it is.
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0 })
  })

  it('takes a refund that fails back, also after its own event', async () => {
    const world = await vendorWorld('shopify')
    const with_ = (status: string) => ({
      transactions: [{ kind: 'refund', status, amount: '23.61', currency: 'USD' }],
      refund_line_items: [],
    })
    await world.tell(order(0))
    await world.tell(refund(1, with_('pending')))
    expect(await shown(world)).toMatchObject({ status: 'refunded', refunds: [{ status: 'pending' }] })
    await world.tell(order(3, { refunds: [s.shopifyRefund(with_('failure'))] }))
    await world.tell(order(2, { refunds: [s.shopifyRefund(with_('pending'))] }))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0, refunds: [{ status: 'failed' }] })
  })

  it('has the amount of its lines, where a refund was paid in another currency than that of the shop', async () => {
    const world = await vendorWorld('shopify')
    const transactions = [{ kind: 'refund', status: 'success', amount: '31500', currency: 'KRW' }]
    const total_duties_set = { shop_money: { amount: '0.00', currency_code: 'USD' } }
    await world.tell(order(0))
    await world.tell(refund(1, { transactions }))
    await world.tell(
      refund(2, { id: 9002, admin_graphql_api_id: undefined, transactions, total_duties_set, refund_line_items: [] }),
    )
    expect(await shown(world)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 667 },
      refunds: [{ amount: 667 }, { amount: null }],
    })
  })

  it('is disputed, and the dispute is won, lost or only an inquiry', async () => {
    const world = await vendorWorld('shopify')
    await world.tell(order(0))
    await world.tell(dispute(2))
    expect(await shown(world)).toMatchObject({
      status: 'disputed',
      disputes: [
        {
          ...{ id: '3001', amount: 2361, state: 'open', vendor_status: 'chargeback needs_response' },
          ...{ reason: 'fraudulent', created_at: p.at(2), due_at: p.at(20) },
        },
      ],
    })
    const won = { status: 'won', evidence_sent_on: p.at(4), finalized_on: p.at(9) }
    await world.tell(dispute(9, won))
    await world.tell(dispute(10, { status: 'under_review', evidence_sent_on: p.at(4) }))
    expect(await shown(world)).toMatchObject({ status: 'paid', disputes: [{ state: 'won' }] })
    await world.tell(dispute(11, { id: 3002, type: 'inquiry' }))
    expect(await shown(world)).toMatchObject({ status: 'paid', disputes: [{ state: 'won' }, { state: 'inquiry' }] })
    await world.tell(dispute(12, { id: 3003, status: 'lost', finalized_on: p.at(12) }))
    expect(await shown(world)).toMatchObject({ status: 'charged_back', refunded_amount: 2361 })
  })

  it('has the state of the later event, where two are of one second', async () => {
    const world = await vendorWorld('shopify')
    const paid = s.shopifyEvent('orders/paid', s.shopifyOrder(), '2026-01-01T00:00:00.200000000Z')
    const created = s.shopifyOrder({ financial_status: 'pending' })
    await world.tell(paid)
    await world.tell(s.shopifyEvent('orders/create', created, '2026-01-01T00:00:00.100000000Z'))
    expect(await shown(world)).toMatchObject({ status: 'paid', ambiguous: false })
  })
})
