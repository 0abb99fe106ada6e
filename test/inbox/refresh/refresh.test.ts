import { describe, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeInvoice, stripeItem, stripeSubscription } from '../../billing/payloads'
import { advance, stopClock } from '../../clock'
import { call, changeAccount } from '../../harness'
import { rows } from '../pipeline'
import { CUSTOMER, holding, refreshWorld } from './world'

describe('a refresh', () => {
  it('reads a customer that no event has named, and records what the vendor answered', async () => {
    const subscription = stripeSubscription()
    const invoice = stripeInvoice({ subscription: subscription.id })
    const world = await refreshWorld([CUSTOMER, subscription, invoice])
    const { status, body } = await world.refresh()
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { vendor: 'stripe', id: CUSTOMER.id, state: 'fresh', changed: true, fetched_at: expect.any(String) },
    })
    const shown = (await world.api(`/customers/stripe/${CUSTOMER.id}`)).body
    expect(shown).toMatchObject({
      email: 'a@acme.dev',
      source_event_id: expect.stringMatching(/^ftc_/),
      subscriptions: { data: [{ id: subscription.id, status: 'active', ambiguous: false, incomplete: false }] },
      invoices: { data: [{ id: invoice.id }] },
    })
    const id = shown.subscriptions.data[0].source_event_id
    const record = (await world.api(`/webhooks/${id}`)).body
    expect(record).toMatchObject({
      source: 'fetch',
      event_type: 'fetch.subscription',
      status: 'processed',
      deliveries: 1,
    })
    expect(JSON.parse(atob(record.raw_payload_b64))).toMatchObject({
      id: subscription.id,
      customer: CUSTOMER.id,
      status: 'active',
    })
    const { vendor_object } = (await world.api(`/subscriptions/${subscription.id}?include=vendor_object`)).body
    expect(vendor_object).toMatchObject({ id: subscription.id, object: 'subscription' })
    // Nothing of it is a delivery.
    expect((await world.api('/webhooks')).body.data).toEqual([])
    expect((await world.api('/webhooks/search?event_type=fetch.*')).body.data).toEqual([])
    const { counts, last_60m } = (await world.api('/webhooks/health')).body
    expect(Object.values(counts as Record<string, number>).every((n) => n === 0)).toBe(true)
    expect(last_60m.received).toBe(0)
    expect((await world.api(`/connections/${world.connection.id}`)).body.last_received_at).toBe(null)
    // The feed tells of the objects, and of no delivery.
    const { data: changes } = (await call('/platform/v1/changes', { token: world.token, project: world.project })).body
    const told = changes.filter(({ type }) => /\.changed$|^webhook_event/.test(type))
    expect(told.map(({ type, cause }) => `${type} ${cause?.type}`).sort()).toEqual([
      'customer.changed fetch',
      'invoice.changed fetch',
      'subscription.changed fetch',
    ])
    expect(told.find(({ object }) => object.id === subscription.id)?.cause?.id).toBe(id)
    // What it did is in the object's timeline, and it can be replayed without the vendor.
    const [entry] = (await world.api(`/subscriptions/${subscription.id}/timeline`)).body.data
    expect(entry).toMatchObject({ event_id: id, event_type: 'fetch.subscription', result: 'applied' })
    const asked = (await world.asked()).length
    expect((await world.replay(id)).status).toBe(202)
    await world.queue.pump()
    expect((await world.event(id)).processing_attempts).toBe(2)
    expect((await world.asked()).length).toBe(asked)
    expect((await world.api('/webhooks/health')).body.counts).toEqual(counts)
  })

  it('records nothing where the vendor says what is known', async () => {
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription])
    await world.deliver(stripeEventOf('customer.subscription.created', subscription))
    await world.deliver(stripeEventOf('customer.created', CUSTOMER))
    const { body } = await world.refresh()
    expect(body).toMatchObject({ state: 'fresh', changed: false })
    expect(await fetches(world.project)).toEqual([])
    expect((await world.one('subscriptions', subscription.id as string)).source_event_id).toMatch(/^evt_/)
  })

  it('records nothing of an invoice that differs only in its signed links, and in what is not kept', async () => {
    const invoice = stripeInvoice({ hosted_invoice_url: 'https://invoice.stripe.com/i/1', of_tomorrow: 1 })
    const again = { ...invoice, hosted_invoice_url: 'https://invoice.stripe.com/i/2', of_tomorrow: 2 }
    const world = await refreshWorld([CUSTOMER, again])
    await world.deliver(stripeEventOf('invoice.paid', invoice))
    await world.deliver(stripeEventOf('customer.created', CUSTOMER))
    expect((await world.refresh()).body).toMatchObject({ state: 'fresh', changed: false })
    expect(await fetches(world.project)).toEqual([])
  })

  it('completes lists that were cut, and decides ties', async () => {
    const items = Array.from({ length: 25 }, (_, i) => stripeItem({ id: `si_${i}` }))
    const subscription = stripeSubscription({ items: { object: 'list', data: items, has_more: false } })
    const cut = { object: 'list', data: items.slice(0, 10), has_more: true }
    const world = await refreshWorld([CUSTOMER, subscription])
    await world.deliver(stripeEventOf('customer.subscription.created', { ...subscription, items: cut }))
    // Two events of one second, of which nothing says which one is later.
    for (const status of ['past_due', 'active'])
      await world.deliver(stripeEventOf('customer.subscription.updated', { ...subscription, items: cut, status }))
    const id = subscription.id as string
    expect(await world.one('subscriptions', id)).toMatchObject({ ambiguous: true, incomplete: true })
    expect((await world.refresh()).body).toMatchObject({ state: 'fresh' })
    const shown = await world.one('subscriptions', id)
    expect(shown).toMatchObject({ ambiguous: false, incomplete: false, status: 'active' })
    expect(shown.items).toHaveLength(25)
  })

  it('loses to an event of a change that came after it, whenever that arrives', async () => {
    stopClock()
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription])
    await world.refresh()
    advance(60 * SECOND)
    const at = Math.floor(Date.now() / SECOND)
    const [later] = await world.deliver(
      stripeEventOf('customer.subscription.updated', { ...subscription, status: 'past_due' }, { at }),
    )
    expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({
      status: 'past_due',
      source_event_id: later,
      ambiguous: false,
    })
    // An event from before the fetch changes nothing.
    await world.deliver(
      stripeEventOf('customer.subscription.updated', { ...subscription, status: 'trialing' }, { at: at - 3600 }),
    )
    expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({ status: 'past_due' })
  })

  it('asks again where an event came in between', async () => {
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription], { latency_ms: 400 })
    const refreshed = world.refresh()
    while ((await world.asked()).length < 3) await scheduler.wait(5)
    // The vendor has read the object; now it changes, and the event is faster than the answer.
    const ended = { ...subscription, status: 'canceled' }
    const at = Math.floor(Date.now() / SECOND) + 10
    await world.deliver(stripeEventOf('customer.subscription.deleted', ended, { at }))
    await changeAccount(world.apiKey, { objects: holding([CUSTOMER, ended]), latency_ms: 0 })
    expect((await refreshed).body).toMatchObject({ state: 'fresh' })
    expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({ status: 'canceled' })
  })

  it('is one flight, however many ask at once', async () => {
    const world = await refreshWorld([CUSTOMER, stripeSubscription()], { latency_ms: 200 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.refresh()))
    expect(answers.map(({ status, body }) => `${status} ${body.state}`)).toEqual(answers.map(() => '200 fresh'))
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1)
    expect(await world.asked()).toHaveLength(3)
    // One that has just ended is good for two seconds.
    expect((await world.refresh()).body.state).toBe('fresh')
    expect(await world.asked()).toHaveLength(3)
  })

  it('tells those who waited how it ended, and keeps nothing of a customer that the vendor does not know', async () => {
    const world = await refreshWorld([CUSTOMER], { latency_ms: 200, refused: ['invoices'] })
    const answers = await Promise.all([1, 2, 3].map(() => world.refresh()))
    expect(answers.map(({ body }) => body.state)).toEqual(['partial', 'partial', 'partial'])
    expect(await world.asked()).toHaveLength(3)
    await world.refresh('cus_of_another')
    expect(await rows('SELECT object_id FROM vendor_asks WHERE project_id = ?', world.project)).toEqual([
      { object_id: CUSTOMER.id },
    ])
  })

  it('of several customers takes turns, and asks for each', async () => {
    const customers = Array.from({ length: 12 }, (_, i) => ({ ...CUSTOMER, id: `cus_${i}` }))
    const world = await refreshWorld(customers, { latency_ms: 100 })
    const answers = await Promise.all(customers.map(({ id }) => world.refresh(id)))
    expect(answers.map(({ body }) => body.state)).toEqual(customers.map(() => 'fresh'))
    expect(await world.asked()).toHaveLength(36)
  })

  it('takes over from a worker that died', async () => {
    stopClock()
    const world = await refreshWorld([CUSTOMER])
    await world.refresh()
    await rows(
      "UPDATE vendor_asks SET lease_token = 'lse_dead', lease_until = ?, done_at = NULL WHERE project_id = ?",
      Date.now() + 5 * SECOND,
      world.project,
    )
    advance(6 * SECOND)
    expect((await world.refresh()).body).toMatchObject({ state: 'fresh' })
  })
})

const TROUBLES: [name: string, settings: Parameters<typeof changeAccount>[1], state: string][] = [
  ['hangs', { hang: true }, 'stale'],
  ['answers 429', { fail: { status: 429, retry_after: '30' } }, 'stale'],
  ['answers 500', { fail: { status: 500 } }, 'stale'],
  ['answers with something else', { fail: { status: 200, body: '<html>' } }, 'stale'],
  ['refuses the key', { fail: { status: 401 } }, 'stale'],
  ['refuses invoices', { refused: ['invoices'] }, 'partial'],
  ['fails for subscriptions', { fail: { status: 500, path: '/subscriptions' } }, 'partial'],
]

describe('a vendor that', () => {
  it.each(TROUBLES)('%s loses nothing, and the answer says so', async (_, settings, state) => {
    const subscription = stripeSubscription()
    const world = await refreshWorld([CUSTOMER, subscription])
    const [known] = await world.deliver(
      stripeEventOf('customer.subscription.created', { ...subscription, status: 'trialing' }),
    )
    await changeAccount(world.apiKey, settings)
    const { status, body } = await world.refresh()
    expect({ status, state: body.state }).toEqual({ status: 200, state })
    const kept = await world.one('subscriptions', subscription.id as string)
    if (body.state === 'stale') {
      expect(body).toMatchObject({ changed: false, fetched_at: null })
      expect(kept).toMatchObject({ status: 'trialing', source_event_id: known })
    }
    await world.endPause()
    // Nothing was read, so nothing is fresh: the next call asks again.
    if (body.state !== 'stale') await world.letTimePass()
    // Once the trouble is over, the next call is good, unless the key must be set again.
    await changeAccount(world.apiKey, { hang: false, fail: { status: 500, path: '/nowhere' }, refused: [] })
    const next = (await world.refresh()).body.state
    expect(next).toBe(settings.fail?.status === 401 ? 'stale' : 'fresh')
  })

  it('knows no such customer: 404; and without a key: 409', async () => {
    const world = await refreshWorld([CUSTOMER])
    expect(await world.refresh('cus_of_another')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const path = `/connections/${world.connection.id}/api-key`
    expect((await world.api(path, { method: 'DELETE' })).status).toBe(204)
    expect(await world.refresh()).toMatchObject({ status: 409, body: { code: 'api_key_missing' } })
    expect(await world.api('/customers/paddle/ctm_1/refresh', { method: 'POST' })).toMatchObject({ status: 409 })
  })
})

const fetches = (project: string) => rows("SELECT id FROM events WHERE project_id = ? AND id >= 'ftc'", project)
