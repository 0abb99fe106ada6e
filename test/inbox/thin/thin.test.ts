import { describe, expect, it } from 'vitest'
import { stripeEventOf, stripeInvoice, stripeSubscription } from '../../billing/payloads'
import { visit } from '../../console/visit'
import { insertLink } from '../../consumers/rows'
import { changeAccount } from '../../harness'
import { setKey } from '../refresh/world'
import { expectSound } from './sound'
import { thinEvent, thinWorld } from './world'

describe('a thin event', () => {
  it('sets the state of the object that it names, from what the vendor answers', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    const [id = ''] = await world.deliver(thinEvent(subscription, 'created'))
    const [record] = await world.fetched()
    const event = await world.event(id)
    expect(event).toMatchObject({
      status: 'processed',
      processing_attempts: 1,
      last_error: null,
      decoded_summary: {
        object: { type: 'subscription', id: subscription.id },
        effects: [{ kind: 'subscription', id: subscription.id, result: 'fetched', change: null, event_id: record?.id }],
      },
    })
    expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({
      status: 'active',
      source_event_id: record?.id,
    })
    const page = await visit(`/console/p/${world.project}/platform/billing/webhooks/${id}`, world.owner.token)
    expect(page.text).toContain(`/platform/billing/webhooks/${record?.id}">${record?.id}</a>`)
    const entries = (await world.timeline('subscriptions', subscription.id as string)).map((one) => one.result)
    expect(entries.sort()).toEqual(['applied', 'fetched'])
    expect(await world.asked()).toEqual([`/v1/subscriptions/${subscription.id}`])
    await expectSound(world)
  })

  it('is one of several that one request answers', async () => {
    const [subscription, other] = [stripeSubscription(), stripeSubscription()]
    const invoice = stripeInvoice()
    const world = await thinWorld([subscription, other, invoice])
    const some = ['created', 'past_due', 'updated', 'active'].map((what) => thinEvent(subscription, what))
    const ids = await world.deliver(...some, thinEvent(other), thinEvent(invoice, 'paid'))
    for (const id of ids) expect(await world.event(id)).toMatchObject({ status: 'processed' })
    expect((await world.asked()).sort()).toEqual(
      [`/v1/invoices/${invoice.id}`, `/v1/subscriptions/${subscription.id}`, `/v1/subscriptions/${other.id}`].sort(),
    )
    expect(await world.fetched()).toHaveLength(3)
    await expectSound(world)
  })

  it('of an object that is as it is known leads to no record', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    const [known] = await world.deliver(stripeEventOf('customer.subscription.created', subscription))
    const [id = ''] = await world.deliver(thinEvent(subscription))
    expect(await world.fetched()).toEqual([])
    expect(await world.effects(id)).toMatchObject([{ result: 'fetched', event_id: known }])
    await expectSound(world)
  })

  it('is asked for in the account that it names', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    await world.deliver(thinEvent(subscription, 'updated', { context: 'acct_1/acct_2' }), thinEvent(subscription))
    const contexts = (await world.askedWith()).map((headers) => headers['stripe-context'])
    expect(contexts).toHaveLength(2)
    expect(contexts).toContain('acct_1/acct_2')
    expect(contexts).toContain(undefined)
  })

  it.each([
    ['names an object of another kind', thinEvent({ object: 'charge', id: 'ch_1' })],
    ['names nothing', { ...thinEvent({ object: 'charge', id: 'ch_1' }), related_object: undefined }],
    ['names what is no id', thinEvent({ object: 'invoice', id: '../accounts' })],
    ['is of what is no account', thinEvent({ object: 'invoice', id: 'in_1' }, 'paid', { context: 'acct_1\r\nX: y' })],
  ])('that %s is ignored, and nobody is asked', async (_, event) => {
    const world = await thinWorld()
    const [id = ''] = await world.deliver(event)
    expect(await world.event(id)).toMatchObject({ status: 'ignored', processing_attempts: 1 })
    expect(await world.asked()).toEqual([])
    await expectSound(world)
  })

  it('without a key is ignored, and never leaves its queue', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription], { key: false })
    const [id = ''] = await world.deliver(thinEvent(subscription))
    expect(await world.event(id)).toMatchObject({ status: 'ignored' })
    expect(world.fetches.sent).toEqual([])
    await expectSound(world)
  })

  it('is fetched again by a replay only if it was not before', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    const [id = ''] = await world.deliver(thinEvent(subscription))
    const before = await world.effects(id)
    const record = (await world.fetched())[0]?.id ?? ''
    const did = await world.effects(record)
    expect(did).toMatchObject([{ result: 'applied', change: { status: { to: 'active' } } }])
    await changeAccount(world.apiKey, { hang: true })
    expect((await world.preview(id)).body).toMatchObject({ status: 'processed', effects: before })
    expect((await world.replay(id)).status).toBe(202)
    await world.pump()
    expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2 })
    expect(await world.effects(id)).toEqual(before)
    // What was fetched is processed again with it.
    expect(await world.effects(record)).toEqual(did)
    expect(await world.attempts(record)).toMatchObject([
      { trigger: 'ingest' },
      { trigger: 'replay', outcome: 'processed' },
    ])
    expect((await world.api('/webhooks/replays')).body.data).toMatchObject([{ queued: 1, processed: 1 }])
    expect(await world.asked()).toHaveLength(1)
    await expectSound(world)
  })

  it('that was ignored for want of a key is fetched by a replay', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription], { key: false })
    const [id = ''] = await world.deliver(thinEvent(subscription))
    expect((await world.preview(id)).body).toMatchObject({ status: 'ignored', effects: [] })
    await setKey(world, world.connection.id, world.apiKey)
    expect((await world.preview(id)).body).toMatchObject({ status: 'processed', effects: [] })
    expect(await world.asked()).toEqual([])
    await world.replay(id)
    await world.pump()
    expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2 })
    expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({ status: 'active' })
    await expectSound(world)
  })
})

it('a thin event about a customer whose consumer was erased leads to no record', async () => {
  const [theirs, other] = [stripeSubscription({ customer: 'cus_erased' }), stripeSubscription()]
  const world = await thinWorld([theirs, other])
  await insertLink(world.project, 'cus_erased', { pinned: 'ers_1' })
  const [id = '', another = ''] = await world.deliver(thinEvent(theirs), thinEvent(other))
  expect(await world.event(id)).toMatchObject({ status: 'ignored', decoded_summary: { effects: [] } })
  expect(await world.event(another)).toMatchObject({ status: 'processed' })
  expect(await world.fetched()).toHaveLength(1)
  await expectSound(world)
})

it.each([
  ['customer.*', 2],
  ['customer.subscription.*', 2],
  ['v1.customer.*', 1],
  ['customer.subscription.updated', 1],
  ['invoice.*', 0],
])('a search for %s finds %i of a thin event and a usual one', async (type, n) => {
  const subscription = stripeSubscription()
  const world = await thinWorld([subscription])
  await world.deliver(thinEvent(subscription), stripeEventOf('customer.subscription.updated', subscription))
  expect((await world.api(`/webhooks/search?event_type=${encodeURIComponent(type)}`)).body.data).toHaveLength(n)
})

describe('health', () => {
  it('names a connection that gets thin events and has no key, until it has one', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription], { key: false })
    await world.deliver(thinEvent({ object: 'charge', id: 'ch_1' }))
    const reasons = async () => (await world.api('/webhooks/health')).body.reasons as string[]
    const found = async () => (await reasons()).filter((one) => one.includes('thin events'))
    expect(await found()).toEqual([])
    const [id] = await world.deliver(thinEvent(subscription))
    expect(await found()).toEqual([
      'the connection Stripe receives thin events, which do not update billing state without an API key: add one, or have the vendor send snapshots if it can',
    ])
    const here = `/console/p/${world.project}`
    for (const page of ['', `/platform/billing/webhooks/${id}`])
      expect((await visit(here + page, world.owner.token)).text).toMatch(/have the vendor send snapshots/)
    await setKey(world, world.connection.id, world.apiKey)
    expect(await found()).toEqual([])
  })
})
