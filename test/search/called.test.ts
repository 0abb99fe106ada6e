import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { paddleEventOf, paddleTransaction, stripeEventOf, stripeInvoice } from '../billing/payloads'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { as } from '../consumers/consumers'
import { call } from '../harness'
import { cron } from '../inbox/pipeline'

beforeEach(() => stopClock())

/** Searches a project. @returns what is found, in one line each */
async function search({ token, project }: { token: string; project: string }, q: string): Promise<string[]> {
  const { status, body, text } = await call(`/platform/v1/search?q=${encodeURIComponent(q)}`, { token, project })
  if (status !== 200) throw new Error(text)
  return (body.data as { type: string; id: string; title: string; detail: string }[]).map(
    ({ type, id, title, detail }) => `${type} ${id}: ${title}, ${detail}`,
  )
}

const EMAIL = 'Billing@North.example'
const customer = (name: string | null, at: number) =>
  stripeEventOf('customer.updated', { id: 'cus_wind', object: 'customer', name, email: EMAIL }, { at })

describe('a search by what people call an object', () => {
  it('finds customers by name and email address, invoices and purchases by number', async () => {
    const world = await billingWorld()
    await world.deliver(
      customer('Northwind GmbH', 1_000),
      stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_numbered', number: 'NW-1005', status: 'paid' })),
      stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_other', number: null })),
      paddleEventOf('transaction.completed', paddleTransaction({ id: 'txn_numbered', invoice_number: '325-10566' })),
    )
    expect(await search(world, 'NORTHw')).toEqual([`customer cus_wind: Northwind GmbH, ${EMAIL}`])
    expect(await search(world, 'billing@north')).toEqual([`customer cus_wind: ${EMAIL}, cus_wind`])
    expect(await search(world, 'nw-10')).toEqual(['invoice in_numbered: NW-1005, paid'])
    expect(await search(world, '325-1')).toEqual(['invoice txn_numbered: 325-10566, draft'])
    expect(await search(world, 'wind')).toEqual([])
    expect(await search(await billingWorld(), 'northwind')).toEqual([])
  })

  it('names customers by the vendor’s id, whether or not something links them or an event of their own is known', async () => {
    const world = await billingWorld()
    const { id } = (await as(world.project, world.token).put('ada', { name: 'Ada North' })).body
    await as(world.project, world.token).pin('cus_linked', id)
    await world.deliver(
      customer('Northwind GmbH', 1_000),
      stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_linked', customer: 'cus_linked', status: 'paid' })),
      stripeEventOf('invoice.paid', stripeInvoice({ id: 'in_alone', customer: 'cus_alone' })),
    )
    expect((await search(world, 'cus_wind'))[0]).toBe('customer cus_wind: Northwind GmbH, cus_wind')
    expect((await search(world, 'cus_w'))[0]).toBe('customer cus_wind: Northwind GmbH, cus_wind')
    expect((await search(world, 'cus_linked'))[0]).toBe('customer cus_linked: Ada North, cus_linked')
    expect((await search(world, 'cus_alone'))[0]).toBe('customer cus_alone: cus_alone, null')
  })

  it('follows a change of a name', async () => {
    const world = await billingWorld()
    await world.deliver(customer('Northwind GmbH', 1_000), customer('Southwind GmbH', 2_000))
    expect(await search(world, 'northwind')).toEqual([])
    expect(await search(world, 'southwind')).toEqual([`customer cus_wind: Southwind GmbH, ${EMAIL}`])
  })

  it('finds nothing by what an erasure removed', async () => {
    const world = await billingWorld()
    const consumers = as(world.project, world.token)
    const { id } = (await consumers.put('ada', { name: 'Ada North' })).body
    await consumers.pin('cus_wind', id)
    await world.deliver(customer('Northwind GmbH', 1_000))
    expect(await search(world, 'north')).toHaveLength(2)
    await consumers.erase(id)
    advance(MINUTE)
    await cron({ EVENTS: world.queue.EVENTS })
    for (const text of ['north', 'billing@', 'ext:ada', 'cus_wi']) expect(await search(world, text)).toEqual([])
  })
})
