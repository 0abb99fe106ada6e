import { describe, expect, it } from 'vitest'
import { anId, type Fields, stripeEventOf, stripeInvoice, stripeSubscription, T0 } from '../../billing/payloads'
import { changeAccount } from '../../harness'
import { advance, stopClock } from '../pipeline'
import { expectSound } from './sound'
import { thinEvent, thinWorld } from './world'

/** The event in the account of the vendor, with the name of the one that contains the object. */
const kept = (thin: Fields, snapshot_event?: string) => ({ ...thin, ...(snapshot_event && { snapshot_event }) })

describe('an object that the vendor has no more', () => {
  it("is as the vendor's own event says, which is recorded under its own id", async () => {
    const draft = stripeInvoice({ status: 'draft' })
    const snapshot = stripeEventOf('invoice.deleted', draft)
    const thin = thinEvent(draft, 'deleted')
    const world = await thinWorld([kept(thin, snapshot.id), snapshot])
    const [id = ''] = await world.deliver(thin)
    const { data } = (await world.api(`/webhooks/search?vendor_event_id=${snapshot.id}`)).body
    expect(data).toMatchObject([{ source: 'delivery', event_type: 'invoice.deleted', status: 'processed' }])
    expect(await world.effects(id)).toEqual([
      { kind: 'invoice', id: draft.id, result: 'fetched', change: null, event_id: data[0].id },
    ])
    expect(await world.one('invoices', draft.id as string)).toMatchObject({
      status: 'deleted',
      source_event_id: data[0].id,
    })
    // The other destination of the account delivers the same event.
    const again = await world.send(snapshot)
    expect(again.body).toEqual({ event_ids: [data[0].id], duplicate: true })
    expect(await world.fetched()).toEqual([])
    await expectSound(world)
  })

  it('counts as deleted if it is an invoice, of which there is no such event', async () => {
    const draft = stripeInvoice({ status: 'draft' })
    const world = await thinWorld([draft])
    await world.deliver(thinEvent(draft, 'created'))
    expect(await world.one('invoices', draft.id as string)).toMatchObject({ status: 'draft', customer: draft.customer })
    const thin = thinEvent(draft, 'deleted', { at: T0 + 60 })
    await changeAccount(world.apiKey, {
      objects: { [thin.id as string]: kept(thin), [draft.id as string]: null },
    })
    const [id = ''] = await world.deliver(thin)
    expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect(await world.one('invoices', draft.id as string)).toMatchObject({
      status: 'deleted',
      customer: draft.customer,
    })
    await expectSound(world)
  })

  it.each([
    ['the event does not say that it was deleted', 'finalized', true],
    ['the account has the event neither: it is another one', 'deleted', false],
  ])('is an invoice as before if %s', async (_, what, isKept) => {
    const invoice = stripeInvoice({ status: 'open' })
    const world = await thinWorld([invoice])
    await world.deliver(thinEvent(invoice, 'created'))
    const thin = thinEvent(invoice, what, { at: T0 + 60 })
    const objects = { [invoice.id as string]: null, ...(isKept && { [thin.id as string]: kept(thin) }) }
    await changeAccount(world.apiKey, { objects })
    const [id = ''] = await world.deliver(thin)
    expect(await world.event(id)).toMatchObject({ decoded_summary: { effects: [{ result: 'gone', change: null }] } })
    expect(await world.one('invoices', invoice.id as string)).toMatchObject({ status: 'open', ambiguous: false })
    await expectSound(world)
  })

  it.each([
    ['the event has no snapshot', true],
    ['the vendor has the event no more', false],
  ])('leaves the event ignored if %s', async (_, isKept) => {
    const subscription = stripeSubscription()
    const thin = thinEvent(subscription)
    const world = await thinWorld(isKept ? [kept(thin)] : [])
    const [id = ''] = await world.deliver(thin)
    expect(await world.event(id)).toMatchObject({
      status: 'ignored',
      last_error: null,
      decoded_summary: { effects: [{ kind: 'subscription', id: subscription.id, result: 'gone', change: null }] },
    })
    await expectSound(world)
  })

  it('is asked for again if the way back fails', async () => {
    stopClock()
    const draft = stripeInvoice({ status: 'draft' })
    const snapshot = stripeEventOf('invoice.deleted', draft)
    const thin = thinEvent(draft, 'deleted')
    const world = await thinWorld([kept(thin, snapshot.id), snapshot])
    await changeAccount(world.apiKey, { fail: { status: 500, path: '/v1/events/', times: 1 } })
    const [id = ''] = await world.deliver(thin)
    expect(await world.event(id)).toMatchObject({ status: 'retrying', last_error_code: 'vendor_failed' })
    advance(7000)
    await world.settle()
    expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2 })
    expect(await world.one('invoices', draft.id as string)).toMatchObject({ status: 'deleted' })
    await expectSound(world)
  })

  it('of a customer that was deleted is still shown by the vendor', async () => {
    const customer = { id: anId('cus'), object: 'customer', deleted: true }
    const world = await thinWorld([customer])
    await world.deliver(thinEvent(customer, 'deleted'))
    expect((await world.api(`/customers/stripe/${customer.id}`)).body).toMatchObject({ status: 'deleted' })
    await expectSound(world)
  })
})
