import { beforeAll, expect, it } from 'vitest'
import { paddleEventOf, stripeEventOf, T0 } from '../payloads'
import { type BillingWorld, billingWorld, type Shown } from '../world'
import { paddleSale, stripeDispute, stripeRefund, stripeSession } from './payloads'

/* The filters of the list of purchases, compared with a filter in the test. */

let world: BillingWorld
let all: Shown[]
beforeAll(async () => {
  world = await billingWorld()
  const sold = (n: number) =>
    stripeEventOf(
      'checkout.session.completed',
      stripeSession({
        ...{ payment_intent: `pi_${n}`, customer: n % 3 === 0 ? null : `cus_${n % 3}` },
        metadata: n % 2 === 0 ? { price_id: 'price_1', plan: 'pro' } : {},
      }),
      { at: T0 + n },
    )
  await world.deliverTogether([
    ...Array.from({ length: 12 }, (_, n) => sold(n)),
    ...[1, 4, 7].map((n) => stripeEventOf('charge.dispute.created', stripeDispute(`pi_${n}`), { at: T0 + 20 + n })),
    ...[1, 2, 3].map((n) =>
      stripeEventOf('refund.created', stripeRefund(`pi_${n}`, { amount: 4900 }), { at: T0 + 40 }),
    ),
    // Without a sale, in no list.
    stripeEventOf('refund.created', stripeRefund('pi_stray')),
    paddleEventOf('transaction.completed', paddleSale({ id: 'txn_1' })),
  ])
  all = (await world.api('/purchases?limit=100')).body.data
})

it('lists what has a sale, the latest change first', () => {
  expect(all.map(({ id }) => id).sort()).toEqual([...Array.from({ length: 12 }, (_, n) => `pi_${n}`), 'txn_1'].sort())
  const times = all.map(({ updated_at }) => (updated_at ?? '').replace('Z', ''))
  expect(times).toEqual(times.toSorted().reverse())
})

const FILTERS: [query: string, has: (row: Shown) => boolean][] = [
  ['customer=cus_1', ({ customer }) => customer === 'cus_1'],
  ['vendor=paddle', ({ vendor }) => vendor === 'paddle'],
  ['subscription=sub_1ofsale', ({ subscription }) => subscription === 'sub_1ofsale'],
  ['status=disputed', ({ status }) => status === 'disputed'],
  ['status=refunded', ({ status }) => status === 'refunded'],
  ['livemode=true', ({ livemode }) => livemode === true],
  ['livemode=false', ({ livemode }) => livemode === false],
  ['livemode=false&disputed=false', ({ livemode, disputes }) => livemode === false && (disputes as []).length === 0],
  ['disputed=true', ({ disputes }) => (disputes as []).length > 0],
  ['disputed=false&customer=cus_1', ({ disputes, customer }) => (disputes as []).length === 0 && customer === 'cus_1'],
  ['items_missing=true', ({ items_missing }) => items_missing === true],
  ['items_missing=false', ({ items_missing }) => items_missing === false],
  ['metadata[plan]=pro', ({ metadata }) => metadata?.plan === 'pro'],
  ['updated_after=2026-01-01T00:00:10Z', ({ updated_at }) => (updated_at ?? '') >= '2026-01-01T00:00:10Z'],
  ['created_after=2026-01-01T00:00:00.5Z', ({ created_at }) => (created_at ?? '') >= '2026-01-01T00:00:00.5'],
]

it.each(FILTERS)('%s', async (query, has) => {
  const { body } = await world.api(`/purchases?limit=100&${query}`)
  const expected = all.filter(has)
  expect(expected.length).toBeGreaterThan(0)
  expect(expected.length).toBeLessThan(all.length)
  expect(body.data).toEqual(expected)
})
