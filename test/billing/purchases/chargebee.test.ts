import { describe, expect, it } from 'vitest'
import * as p from '../payloads-more'
import * as s from '../payloads-sold'
import { type VendorWorld, vendorWorld } from '../vendor-world'
import type { Shown } from '../world'

/* Credit notes of Chargebee's, which give money back for an invoice. */

const DAY = 86_400
/** What changed so many days after the sale has that as its version. */
const on = (day: number, fields: p.Fields) => ({
  ...{ updated_at: p.START + day * DAY, resource_version: (p.START + day * DAY) * 1000 },
  ...fields,
})
const sold = (fields: p.Fields = {}, day = 0) =>
  p.chargebeeEvent('invoice_generated', { invoice: s.chargebeeSold(on(day, fields)) }, p.START + day * DAY)
const note = (day: number, fields: p.Fields = {}, type = 'credit_note_created') =>
  p.chargebeeEvent(type, { credit_note: s.chargebeeNote(on(day, fields)) }, p.START + day * DAY)
const shown = async (world: VendorWorld) => (await world.api<Shown>('/purchases/cb_inv_1')).body

describe('a purchase of Chargebee’s', () => {
  it('counts what a credit note has refunded, whichever comes first', async () => {
    const world = await vendorWorld('chargebee')
    const refunded = await world.tell(note(2))
    expect(refunded.decoded_summary?.effects).toMatchObject([{ kind: 'purchase', id: 'cb_inv_1', result: 'unplaced' }])
    expect((await world.api('/purchases/cb_inv_1')).status).toBe(404)
    await world.tell(sold())
    expect(await shown(world)).toMatchObject({
      ...{ status: 'partially_refunded', refunded_amount: 500, updated_at: p.at(2), source_event_id: refunded.id },
      refunds: [
        {
          ...{ id: 'cb_cn_1', amount: 500, status: 'succeeded', reason: 'product_unsatisfactory' },
          ...{ created_at: p.at(1), event_id: refunded.id, revokes_access: null },
        },
      ],
      items: [{ quantity: 3, quantity_returned: null, refunded_amount: null }],
    })
    expect(await world.timeline('purchases', 'cb_inv_1')).toHaveLength(2)
  })

  it('has no money back while a refund is due, nor from a note that is voided or deleted', async () => {
    const world = await vendorWorld('chargebee')
    await world.tell(sold())
    await world.tell(note(1, { status: 'refund_due', amount_refunded: 0, amount_available: 500 }))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0, refunds: [{ status: 'pending' }] })
    await world.tell(note(3, { status: 'voided', amount_refunded: 0 }, 'credit_note_updated'))
    // An older version that comes later changes nothing.
    await world.tell(note(2, {}, 'credit_note_updated'))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0, refunds: [{ status: 'canceled' }] })
    await world.tell(note(4, { id: 'cb_cn_2' }))
    expect(await shown(world)).toMatchObject({ status: 'partially_refunded', refunded_amount: 500 })
    await world.tell(note(5, { id: 'cb_cn_2', deleted: true }, 'credit_note_deleted'))
    expect(await shown(world)).toMatchObject({ status: 'paid', refunded_amount: 0 })
  })

  it('says what of an item came back, where the note names the lines of the invoice', async () => {
    const world = await vendorWorld('chargebee')
    const other = s.chargebeeCharge({ id: 'li_other', entity_id: 'cb_charge_2', quantity: 1, amount: 900 })
    await world.tell(sold({ line_items: [s.chargebeeCharge(), other], total: 3000 }))
    const line = (id: string, amount: number) => ({ id: `${id}_back`, reference_line_item_id: id, quantity: 1, amount })
    const part = { total: 1400, amount_refunded: 1400, line_items: [line('li_once', 500), line('li_other', 900)] }
    await world.tell(note(1, part))
    const items = async () =>
      ((await shown(world)).items as Shown[]).map(({ id, quantity_returned, refunded_amount }) => [
        id,
        quantity_returned,
        refunded_amount,
      ])
    expect(await items()).toEqual([
      ['li_once', 0, 500],
      ['li_other', 1, 900],
    ])
    const rest = { id: 'cb_cn_2', total: 1600, amount_refunded: 1600, line_items: [line('li_once', 1600)] }
    await world.tell(note(2, { ...rest, amount_refunded: 600 }))
    expect((await items())[0]).toEqual(['li_once', 0, 500])
    await world.tell(note(3, rest, 'credit_note_updated'))
    expect((await items())[0]).toEqual(['li_once', 3, 2100])
    expect(await shown(world)).toMatchObject({ status: 'refunded', refunded_amount: 3000 })
  })

  it('is pending again where its payment was reversed', async () => {
    const world = await vendorWorld('chargebee')
    await world.tell(sold({ status: 'payment_due', paid_at: undefined }, 9))
    await world.tell(sold())
    expect(await shown(world)).toMatchObject({ status: 'pending', vendor_status: 'payment_due', paid_at: null })
  })

  it('has no refund of an invoice of a subscription alone', async () => {
    const world = await vendorWorld('chargebee')
    await world.tell(p.chargebeeEvent('invoice_updated', { invoice: p.chargebeeInvoice({ status: 'paid' }) }))
    await world.tell(note(1))
    expect((await world.api('/purchases/cb_inv_1')).status).toBe(404)
    expect((await world.api('/invoices/cb_inv_1')).status).toBe(200)
  })
})
