import { describe, expect, it } from 'vitest'
import * as p from '../payloads-more'
import { type VendorWorld, vendorWorld } from '../vendor-world'
import type { Shown } from '../world'

/* Refunds of Polar's, which are objects of their own beside the order that adds them up. */

const order = (fields: p.Fields = {}) =>
  p.polarOrder({
    billing_reason: 'purchase',
    subscription_id: null,
    refunded_amount: 0,
    refunded_tax_amount: 0,
    ...fields,
  })
const refund = (fields: p.Fields = {}) => ({
  ...{ id: 'pol_ref_1', order_id: 'pol_ord_1', customer_id: 'pol_cus_1', subscription_id: null, currency: 'usd' },
  ...{ amount: 100, tax_amount: 19, status: 'succeeded', reason: 'customer_request', revoke_benefits: false },
  ...{ created_at: p.at(1, 6), modified_at: null, dispute: null },
  ...fields,
})
const shown = async (world: VendorWorld) => (await world.api<Shown>('/purchases/pol_ord_1')).body

describe('a purchase of Polar’s', () => {
  it('counts a refund once, whether the refund, the order or both tell of it', async () => {
    const world = await vendorWorld('polar')
    await world.tell(p.polarEvent('refund.created', refund()))
    expect((await world.api('/purchases/pol_ord_1')).status).toBe(404)
    await world.tell(p.polarEvent('order.paid', order()))
    expect(await shown(world)).toMatchObject({ status: 'partially_refunded', refunded_amount: 119 })
    const later = {
      status: 'partially_refunded',
      refunded_amount: 100,
      refunded_tax_amount: 19,
      modified_at: p.at(2, 6),
    }
    await world.tell({ ...p.polarEvent('order.refunded', order(later)), timestamp: p.at(2, 6) })
    expect(await shown(world)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 119, vendor_status: 'partially_refunded' },
      refunds: [{ id: 'pol_ref_1', amount: 119, status: 'succeeded', reason: 'customer_request' }],
    })
  })

  it('has the dispute that a refund names', async () => {
    const world = await vendorWorld('polar')
    const dispute = (status: string) => ({ id: 'pol_dis_1', status, amount: 1900, tax_amount: 361, currency: 'usd' })
    await world.tell(p.polarEvent('order.paid', order()))
    await world.tell(p.polarEvent('refund.created', refund({ status: 'pending', dispute: dispute('prevented') })))
    expect(await shown(world)).toMatchObject({
      disputes: [{ state: 'none', vendor_status: 'prevented', amount: 2261 }],
    })
  })

  it('has no refund of an order of a subscription', async () => {
    const world = await vendorWorld('polar')
    await world.tell(p.polarEvent('order.paid', p.polarOrder()))
    await world.tell(p.polarEvent('refund.created', refund()))
    expect((await world.api('/purchases/pol_ord_1')).status).toBe(404)
  })
})
