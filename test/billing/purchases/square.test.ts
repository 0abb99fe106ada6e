import { describe, expect, it } from 'vitest'
import * as p from '../payloads-more'
import * as s from '../payloads-sold'
import { type VendorWorld, vendorWorld } from '../vendor-world'
import type { Shown } from '../world'

/* Payments of Square's, their refunds and their disputes. */

const USD = (amount: number) => ({ amount, currency: 'USD' })
const payment = (day: number, fields: p.Fields = {}) =>
  p.squareEvent('payment.updated', s.squarePayment({ updated_at: p.at(day, 3), ...fields }), p.at(day))
const refund = (day: number, fields: p.Fields = {}) =>
  p.squareEvent('refund.updated', s.squareRefund({ updated_at: p.at(day, 3), ...fields }), p.at(day))
const dispute = (state: string, version: number, type = 'dispute.state.updated') =>
  p.squareEvent(type, s.squareDispute({ state, version, updated_at: p.at(version, 3) }), p.at(version))
const shown = async (world: VendorWorld) => (await world.api<Shown>('/purchases/SQPAY1')).body

describe('a purchase of Square’s', () => {
  it('counts a refund once, whether the refund, the payment or both tell of it', async () => {
    const world = await vendorWorld('square')
    const own = await world.tell(refund(1))
    expect(own.decoded_summary?.effects).toMatchObject([{ kind: 'purchase', id: 'SQPAY1', result: 'unplaced' }])
    expect((await world.api('/purchases/SQPAY1')).status).toBe(404)
    await world.tell(payment(0))
    expect(await shown(world)).toMatchObject({ status: 'partially_refunded', refunded_amount: 500 })
    await world.tell(payment(2, { refunded_money: USD(500) }))
    expect(await shown(world)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 500 },
      refunds: [
        {
          id: 'SQPAY1_ref1',
          amount: 500,
          status: 'succeeded',
          reason: 'Too many',
          created_at: p.at(1, 3),
          event_id: own.id,
        },
      ],
    })
    // Another one, whose own event does not come.
    await world.tell(payment(3, { refunded_money: USD(2361) }))
    expect(await shown(world)).toMatchObject({ status: 'refunded', refunded_amount: 2361 })
    expect(await world.timeline('purchases', 'SQPAY1')).toHaveLength(4)
  })

  it('has no money back of a refund that is rejected, whatever came before', async () => {
    const world = await vendorWorld('square')
    await world.tell(payment(0))
    await world.tell(refund(2, { status: 'REJECTED', version: 3 }))
    await world.tell(refund(1, { status: 'PENDING', version: 1 }))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0, refunds: [{ status: 'failed' }] })
    // The documentation's refunds have a version, and its SDK's have none.
    await world.tell(refund(4, { id: 'r2', status: 'FAILED', version: undefined }))
    await world.tell(refund(3, { id: 'r2', status: 'PENDING', version: undefined }))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunds: [{ status: 'failed' }, { status: 'failed' }] })
  })

  it('is disputed by the dispute’s own version, also where only its evidence changes', async () => {
    const world = await vendorWorld('square')
    await world.tell(dispute('WON', 6))
    await world.tell(dispute('EVIDENCE_REQUIRED', 1, 'dispute.created'))
    await world.tell(payment(0))
    expect(await shown(world)).toMatchObject({
      ...{ status: 'paid', refunded_amount: 0 },
      disputes: [
        {
          ...{ id: 'SQDIS1', amount: 2361, state: 'won', vendor_status: 'WON', reason: 'FRAUD' },
          ...{ created_at: p.at(2, 3), due_at: p.at(20, 3) },
        },
      ],
    })
    await world.tell(dispute('PROCESSING', 7, 'dispute.evidence.created'))
    expect(await shown(world)).toMatchObject({ status: 'disputed', disputes: [{ state: 'open' }] })
    await world.tell(dispute('ACCEPTED', 8))
    expect(await shown(world)).toMatchObject({ status: 'charged_back', refunded_amount: 2361 })
    await world.tell(dispute('INQUIRY_CLOSED', 9))
    expect(await shown(world)).toMatchObject({ status: 'paid', disputes: [{ state: 'none' }] })
  })

  it('is not the payment of an invoice, whose refund stays unplaced', async () => {
    const world = await vendorWorld('square')
    const renewal = await world.tell(payment(0, { application_details: { square_product: 'INVOICES' } }))
    expect(renewal.status).toBe('ignored')
    await world.tell(refund(1))
    expect((await world.api('/purchases/SQPAY1')).status).toBe(404)
  })
})
