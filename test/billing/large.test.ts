import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_CUSTOMER_LIST_BYTES, MAX_OBJECT_LIST_BYTES } from '../../src/billing/limits'
import { MAX_OBJECT_BYTES } from '../../src/vendors/limits'
import { STORE } from '../harness'
import { walk } from '../inbox/seeding'
import { anId, type Fields, stripeEventOf, stripeInvoice, stripeItem, stripeSubscription, T0 } from './payloads'
import { type BillingWorld, billingWorld, type Shown } from './world'

/* Objects that are as large as they may be: how much of them a page has. */

const COUNT = 20
/** A page may go beyond its bytes by one object, whose fields that are null are shown too. */
const MOST = MAX_OBJECT_BYTES + 100 * 250

const text = (length: number) => 'x'.repeat(length)
const line = (n: number) => ({
  id: `il_${n}_${text(20)}`,
  description: text(145),
  amount: n,
  currency: 'usd',
  price: { id: `price_${text(20)}`, product: `prod_${text(10)}` },
  period: { start: T0, end: T0 + 60 },
})
const item = (n: number) => stripeItem({ id: `si_${n}_${text(40)}` })
const of100 = (make: (n: number) => object) => ({
  object: 'list',
  data: Array.from({ length: 100 }, (_, n) => make(n)),
  has_more: false,
})

type Large = { of: string; list: 'subscriptions' | 'invoices'; make: (fields: Fields) => object }
const invoice = (lines: object) => (fields: Fields) =>
  stripeEventOf('invoice.updated', stripeInvoice({ ...fields, lines }))
const LARGE: Large[] = [
  { of: 'invoices of a hundred lines', list: 'invoices', make: invoice(of100(line)) },
  { of: 'invoices of a hundred lines without a field', list: 'invoices', make: invoice(of100(() => ({}))) },
  {
    of: 'subscriptions of a hundred items',
    list: 'subscriptions',
    make: (fields) =>
      stripeEventOf('customer.subscription.updated', stripeSubscription({ ...fields, items: of100(item) })),
  },
]

describe.each(LARGE)('a page of $of', ({ of, list, make }) => {
  let world: BillingWorld
  let ids: string[]
  const customer = 'cus_large'
  beforeAll(async () => {
    world = await billingWorld()
    ids = Array.from({ length: COUNT }, (_, n) => `large_${String(n).padStart(3, '0')}`)
    await world.deliverTogether(ids.map((id) => make({ id, customer })))
  })

  it.each(['', `?customer=${customer}`])(
    `ends before it is full, and the next one continues: ${of}%s`,
    async (query) => {
      const bytes: number[] = []
      const pages = await walk(
        async (path) => {
          const answer = await world.api(path)
          bytes.push(answer.text.length)
          return answer
        },
        `/${list}${query}`,
        100,
      )
      expect(pages.length).toBeGreaterThan(1)
      expect(pages.map(({ truncated }) => truncated)).toEqual(pages.map(() => false))
      expect(pages.flatMap(({ data }) => data.map(({ id }: Shown) => id))).toEqual(ids.toReversed())
      expect(Math.max(...bytes)).toBeLessThan(MAX_OBJECT_LIST_BYTES + MOST)
      expect(bytes[0]).toBeGreaterThan(MAX_OBJECT_LIST_BYTES / 2)
    },
  )

  it('has fewer of them with the customer, and says that there are more', async () => {
    const { body, text } = await world.api(`/customers/stripe/${customer}`)
    expect(body[list].has_more).toBe(true)
    const shown = body[list].data.map(({ id }: Shown) => id)
    expect(shown.length).toBeGreaterThan(1)
    expect(shown).toEqual(ids.toReversed().slice(0, shown.length))
    expect(text.length).toBeLessThan(MAX_CUSTOMER_LIST_BYTES + MOST)
  })
})

it('a page of a hundred ordinary objects is full', async () => {
  const world = await billingWorld()
  const lines = { object: 'list', data: [line(1), line(2)], has_more: false }
  await world.deliverTogether(
    Array.from({ length: 100 }, () => stripeEventOf('invoice.updated', stripeInvoice({ id: anId('in'), lines }))),
  )
  expect((await world.api('/invoices?limit=100')).body).toMatchObject({ has_more: false, truncated: false })
})

it('of objects whose rows are large, a page has few: the database parses each of them as a whole', async () => {
  const world = await billingWorld()
  const ids = Array.from({ length: 8 }, (_, n) => `sub_tied_${n}`)
  await world.deliverTogether(
    ids.map((id) => stripeEventOf('customer.subscription.updated', stripeSubscription({ id, customer: 'cus_tied' }))),
  )
  // As many events of one rank would leave them. Only the first is shown.
  await STORE.prepare(
    `UPDATE billing_objects SET candidates = json_insert(candidates, '$[#]', json_object('body', hex(zeroblob(300000))))
     WHERE kind = 'subscription' AND vendor_id LIKE 'sub_tied_%'`,
  ).run()
  for (const query of ['', '?customer=cus_tied']) {
    const pages = await walk((path) => world.api(path), `/subscriptions${query}`, 100)
    expect(pages.map(({ data }) => data.length)).toEqual(ids.map(() => 1))
    expect(pages.flatMap(({ data }) => data.map(({ id }: Shown) => id))).toEqual(ids.toReversed())
  }
})
