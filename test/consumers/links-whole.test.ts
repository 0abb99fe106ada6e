import { expect, it } from 'vitest'
import {
  paddleEventOf,
  paddleSubscription,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripeSubscription,
} from '../billing/payloads'
import { billingWorld } from '../billing/world'
import { call } from '../harness'
import { as } from './consumers'

/* Whole events, as the vendors send them, give the links that a person would read from them. */

const id = (externalId: string) => ({ consumer_external_id: externalId })

const EVENTS = [
  // The customer says u1, which outranks its earlier subscription.
  stripeEventOf('customer.subscription.created', stripeSubscription({ customer: 'cus_1', metadata: id('u2') })),
  stripeEventOf('customer.created', { id: 'cus_1', object: 'customer', email: 'a@example.com', metadata: id('u1') }),
  // A subscription alone is a hint. An invoice with the same metadata is nothing.
  stripeEventOf('customer.subscription.created', stripeSubscription({ customer: 'cus_2', metadata: id('u2') })),
  stripeEventOf('invoice.paid', stripeInvoice({ customer: 'cus_3', metadata: id('u2') })),
  paddleEventOf('customer.created', { id: 'ctm_1', email: 'b@example.com', status: 'active', custom_data: id('u1') }),
  paddleEventOf('subscription.created', paddleSubscription({ customer_id: 'ctm_2', custom_data: id('u2') })),
  paddleEventOf(
    'transaction.completed',
    paddleTransaction({ customer_id: 'ctm_3', status: 'completed', custom_data: id('u1') }),
  ),
  // Opening a checkout costs nothing, so it says nothing.
  paddleEventOf(
    'transaction.ready',
    paddleTransaction({ customer_id: 'ctm_4', status: 'ready', custom_data: id('u1') }),
  ),
]

const LINKS = {
  ctm_1: ['u1', 'customer'],
  ctm_2: ['u2', 'checkout'],
  ctm_3: ['u1', 'checkout'],
  ctm_4: [null, null],
  cus_1: ['u1', 'customer'],
  cus_2: ['u2', 'checkout'],
  cus_3: [null, null],
}

it.each(['before', 'after'])('links the customers, with the events %s their consumers', async (order) => {
  const world = await billingWorld()
  const api = as(world.project, world.token)
  const consumers: Record<string, string> = {}
  const create = async () => {
    for (const name of ['u1', 'u2']) consumers[name] = (await api.put(name)).body.id
  }
  if (order === 'after') await create()
  await world.deliver(...EVENTS)
  if (order === 'before') await create()
  const { data } = (await api.customers()).body
  expect(Object.fromEntries(data.map((one) => [one.id, [one.external_id, one.linked_by]]))).toEqual(LINKS)
  for (const { consumer_id, external_id } of data) {
    expect(consumer_id).toBe(external_id === null ? null : consumers[external_id])
  }
})

it('links by keys that the project already uses, and by nothing else in the events', async () => {
  const world = await billingWorld()
  const json = { settings: { consumer_keys: ['customer_reference_id', 'organization_id'] } }
  await call(`/platform/v1/projects/${world.project}`, {
    method: 'PATCH',
    token: world.token,
    project: world.project,
    json,
  })
  const organization = { project_id: '17', organization_id: '88', organization_slug: 'quiet-maple' }
  const line = { id: 'il_1', object: 'line_item', metadata: organization }
  await world.deliver(
    stripeEventOf(
      'customer.subscription.updated',
      stripeSubscription({ customer: 'cus_1', metadata: { ...organization, test: '1' } }),
      { previous: { metadata: { test: null } } },
    ),
    // A line of an invoice has the metadata of its subscription.
    stripeEventOf(
      'invoice.paid',
      stripeInvoice({ customer: 'cus_2', lines: { object: 'list', data: [line], has_more: false } }),
    ),
    paddleEventOf('customer.imported', {
      id: 'ctm_1',
      email: 'c@example.com',
      status: 'active',
      custom_data: { customer_reference_id: 'ref-77' },
      import_meta: { external_id: 'old-5', imported_from: 'paddle_classic' },
    }),
    // A business belongs to a customer, but is not the customer.
    paddleEventOf('business.imported', {
      id: 'biz_1',
      customer_id: 'ctm_2',
      name: 'Maple Ltd',
      status: 'active',
      custom_data: { customer_reference_id: 'ref-78' },
    }),
  )
  const { data } = (await as(world.project, world.token).customers()).body
  expect(data.map((one) => [one.id, one.external_id, one.linked_by])).toEqual([
    ['ctm_1', 'ref-77', 'customer'],
    ['cus_1', '88', 'checkout'],
    ['cus_2', null, null],
  ])
})
