import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import { type Fields, stripeEventOf } from '../../billing/payloads'
import { stripeRefund, stripeSession } from '../../billing/purchases/payloads'
import { newStripeAccount, newStripeKey, seenBy } from '../../harness'
import type { Item } from '../../outside/account'
import { advance, stopClock } from '../pipeline'
import { setKey } from '../refresh/world'
import { expectSound } from '../thin/sound'
import { type DoubtWorld, doubtWorld } from './world'

/* What a Checkout sold is in no event. With an API key, the service asks Stripe, once. */

beforeEach(() => {
  stopClock()
})

const FIRST = 6 * SECOND

const line = (id: string, fields: Fields = {}) => ({
  id,
  object: 'item',
  amount_total: 2450,
  currency: 'usd',
  description: 'Credits',
  price: { id: 'price_credits', object: 'price', product: 'prod_credits' },
  quantity: 2,
  ...fields,
})
/** A Checkout as its event shows it, and as the account holds it. */
function checkout(fields: Fields = {}, lines = [line('li_1')]): { told: Fields; held: Item } {
  const told = stripeSession(fields)
  return { told, held: { ...told, line_items: lines } as Item }
}
const completed = (session: Fields) => stripeEventOf('checkout.session.completed', session)
const idOf = ({ payment_intent, id }: Fields) => String(payment_intent ?? id)
const askedFor = async ({ apiKey }: DoubtWorld) =>
  (await seenBy(apiKey))
    .map(({ url }) => new URL(url))
    .filter(({ search }) => search.includes('line_items'))
    .map(({ pathname, search }) => `${pathname}${decodeURIComponent(search)}`)

describe('a sale that does not say what was bought is asked for six seconds later, and then has its items:', () => {
  const SALES: [name: string, Fields, call: (session: Fields) => string][] = [
    [
      'of a customer',
      {},
      ({ payment_intent }) =>
        `/v1/checkout/sessions?payment_intent=${payment_intent}&limit=1&expand[0]=data.line_items`,
    ],
    [
      'of a guest',
      { customer: null },
      ({ payment_intent }) =>
        `/v1/checkout/sessions?payment_intent=${payment_intent}&limit=1&expand[0]=data.line_items`,
    ],
    [
      'that cost nothing, and so has no payment',
      { payment_intent: null, amount_total: 0, payment_status: 'no_payment_required' },
      ({ id }) => `/v1/checkout/sessions/${id}?expand[0]=line_items`,
    ],
  ]
  it.each(SALES)('%s', async (_, fields, call) => {
    const { told, held } = checkout(fields)
    const world = await doubtWorld([held])
    await world.tell(completed(told))
    const before = await world.one('purchases', idOf(told))
    expect(before).toMatchObject({ status: 'paid', items: null, items_missing: true })
    expect(await world.doubts()).toEqual([{ object_id: idOf(told), tries: 0, due_in: FIRST }])
    advance(FIRST)
    await world.pump()
    expect(await askedFor(world)).toEqual([call(told)])
    const [record] = await world.fetched()
    expect(await world.one('purchases', idOf(told))).toEqual({
      ...before,
      updated_at: expect.any(String),
      source_event_id: record?.id,
      items_missing: false,
      items: [
        {
          id: 'li_1',
          description: 'Credits',
          price: 'price_credits',
          variant: null,
          product: 'prod_credits',
          quantity: 2,
          quantity_returned: null,
          amount: 2450,
          refunded_amount: null,
        },
      ],
    })
    expect(await world.doubts()).toEqual([])
    await expectSound(world)
  })
})

it('more lines than Stripe sends at once are all read', async () => {
  const { told, held } = checkout(
    {},
    Array.from({ length: 15 }, (_, i) => line(`li_${i}`)),
  )
  const world = await doubtWorld([held])
  await world.tell(completed(told))
  await world.pass(FIRST)
  const { items, incomplete } = await world.one('purchases', idOf(told))
  expect([(items as object[]).length, incomplete]).toEqual([15, false])
})

it('what is known is not asked for: items in the event or in metadata, and a payment link', async () => {
  const told = [
    { metadata: { price_id: 'price_1' } },
    { payment_link: 'plink_1' },
    { line_items: { object: 'list', data: [line('li_1')], has_more: false } },
    { mode: 'setup' },
  ].map((fields) => stripeSession(fields))
  const world = await doubtWorld(told)
  await world.tell(...told.map(completed))
  expect(await world.doubts()).toEqual([])
})

it('money that comes back meanwhile, and a replay, keep the items', async () => {
  const { told, held } = checkout()
  const world = await doubtWorld([held])
  const [id] = await world.deliver(completed(told), stripeEventOf('refund.created', stripeRefund(idOf(told))))
  await world.pass(FIRST)
  const now = await world.one('purchases', idOf(told))
  expect(now).toMatchObject({ status: 'partially_refunded', items: [{ price: 'price_credits' }] })
  await world.replay(id as string)
  await world.settle()
  expect(await world.one('purchases', idOf(told))).toEqual(now)
  await expectSound(world)
})

it('a payment without a Checkout is asked for four times, and then no more', async () => {
  const { told } = checkout()
  const world = await doubtWorld([])
  await world.tell(completed(told))
  for (const wait of [FIRST, MINUTE, 10 * MINUTE, 6 * HOUR, 24 * HOUR]) await world.pass(wait)
  expect(await askedFor(world)).toHaveLength(4)
  expect(await world.doubts()).toEqual([])
  expect(await world.one('purchases', idOf(told))).toMatchObject({ items_missing: true })
})

it('only what was bought is recorded of the answer: nothing about the buyer', async () => {
  const { told, held } = checkout({ customer: null })
  const world = await doubtWorld([held])
  await world.tell(completed(told))
  await world.pass(FIRST)
  const [record] = await world.fetched()
  const { text } = await world.api(`/webhooks/${record?.id}`)
  expect(text).toContain('li_1')
  expect(text).not.toContain('jo@example.com')
})

it('a key that is set later is used for the sales of before', async () => {
  const { told, held } = checkout()
  const world = await doubtWorld([], { key: false })
  const event = completed(told)
  await world.tell(event)
  await world.pass(FIRST)
  expect(await world.doubts()).toEqual([])
  const key = newStripeKey('live')
  await newStripeAccount({ objects: [held, event as Item] as (Item & { id: string })[] }, key)
  await setKey(world, world.connection.id, key)
  expect(await world.doubts()).toMatchObject([{ object_id: idOf(told) }])
  await world.pass(FIRST + SECOND)
  expect(await world.one('purchases', idOf(told))).toMatchObject({ items: [{ price: 'price_credits' }] })
  expect(await world.doubts()).toEqual([])
})
