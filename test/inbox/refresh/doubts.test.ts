import { describe, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeInvoice, stripeSubscription } from '../../billing/payloads'
import { changeAccount } from '../../harness'
import { rows } from '../pipeline'
import { CUSTOMER, holding, type RefreshWorld, refreshWorld } from './world'

/* `fresh` is only said of what is so. */

/** Begins a refresh, and waits until the vendor has been asked. */
async function asking(world: RefreshWorld) {
  const refreshed = world.refresh()
  while ((await world.asked()).length < 3) await scheduler.wait(5)
  return refreshed.then(({ body }) => body)
}

describe('a refresh is partial', () => {
  it('if the connection is changed meanwhile, so that nothing is recorded', async () => {
    const world = await refreshWorld([CUSTOMER], { latency_ms: 300 })
    const refreshed = asking(world)
    await scheduler.wait(150)
    await world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: { name: 'Other' } })
    expect(await refreshed).toMatchObject({ state: 'partial', changed: false })
  })

  it('if its key is removed meanwhile', async () => {
    const world = await refreshWorld([CUSTOMER], { latency_ms: 300 })
    const refreshed = asking(world)
    await scheduler.wait(150)
    await world.api(`/connections/${world.connection.id}/api-key`, { method: 'DELETE' })
    expect(await refreshed).toMatchObject({ state: 'partial', changed: false })
    expect(await rows("SELECT id FROM events WHERE project_id = ? AND id >= 'ftc'", world.project)).toEqual([])
  })

  it('if an object cannot be applied', async () => {
    const world = await refreshWorld([CUSTOMER, stripeSubscription({ id: `sub_${'x'.repeat(600)}` })])
    expect((await world.refresh()).body).toMatchObject({ state: 'partial', changed: true })
  })

  it('if an event came in between, and the vendor then fails', async () => {
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription], { latency_ms: 400 })
    const refreshed = asking(world)
    await scheduler.wait(100)
    const at = Math.floor(Date.now() / SECOND) + 10
    await world.deliver(stripeEventOf('customer.subscription.updated', { ...subscription, status: 'past_due' }, { at }))
    await changeAccount(world.apiKey, { fail: { status: 500 }, latency_ms: 0 })
    expect(await refreshed).toMatchObject({ state: 'partial', changed: true, fetched_at: expect.any(String) })
  })
})

it('many invoices do not push subscriptions out of what is compared', async () => {
  const subscription = stripeSubscription()
  const world = await refreshWorld([CUSTOMER, subscription, ...Array.from({ length: 10 }, () => stripeInvoice())])
  await world.refresh()
  await rows(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
     INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
     SELECT project_id, kind, 'in_' || printf('%06d', i), vendor, customer, status, version, candidates
     FROM n, billing_objects WHERE project_id = ? AND kind = 'invoice' AND vendor_id = (
       SELECT min(vendor_id) FROM billing_objects WHERE project_id = ? AND kind = 'invoice')`,
    world.project,
    world.project,
  )
  await world.letTimePass()
  expect((await world.refresh()).body).toMatchObject({ state: 'fresh', changed: false })
  expect(await rows("SELECT id FROM events WHERE project_id = ? AND id >= 'ftc'", world.project)).toHaveLength(12)
})

it('a deleted customer, of whom the vendor answers nothing else, keeps what its event said', async () => {
  const world = await refreshWorld([CUSTOMER])
  await world.deliver(stripeEventOf('customer.deleted', CUSTOMER))
  await changeAccount(world.apiKey, { objects: holding([{ ...CUSTOMER, deleted: true }]) })
  expect((await world.refresh()).body).toMatchObject({ state: 'fresh', changed: false })
  expect((await world.api(`/customers/stripe/${CUSTOMER.id}`)).body).toMatchObject({
    status: 'deleted',
    email: CUSTOMER.email,
  })
})

describe('which consumer a fetched object names counts from when the vendor made it', () => {
  const now = Math.floor(Date.now() / SECOND)
  const consumerOf = async (world: RefreshWorld) =>
    (await world.api(`/customers/stripe/${CUSTOMER.id}`)).body.external_id
  const naming = (consumer: string, created: number, id: string) =>
    stripeSubscription({ id, created, metadata: { consumer_external_id: consumer } })

  it('so of two subscriptions the older one decides', async () => {
    for (const ids of [
      ['sub_a', 'sub_b'],
      ['sub_b', 'sub_a'],
    ] as const) {
      const world = await refreshWorld([CUSTOMER, naming('old', now - 9000, ids[0]), naming('young', now - 60, ids[1])])
      await world.refresh()
      expect(await consumerOf(world)).toBe('old')
    }
  })

  it('so a refresh does not move a customer that a checkout has linked', async () => {
    const session = {
      id: 'cs_live_1',
      object: 'checkout.session',
      status: 'complete',
      payment_status: 'paid',
      metadata: {},
    }
    const of = { livemode: true, customer: CUSTOMER.id, client_reference_id: 'u1' }
    const world = await refreshWorld([CUSTOMER, naming('u2', now, 'sub_1')])
    await world.deliver(stripeEventOf('checkout.session.completed', { ...session, ...of }, { at: now - 2 }))
    await world.refresh()
    expect(await consumerOf(world)).toBe('u1')
  })
})
