import { beforeEach, describe, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import {
  type Fields,
  paddleEventOf,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripeSubscription,
} from '../billing/payloads'
import {
  paddleAdjustment,
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeRefund,
} from '../billing/purchases/payloads'
import { shuffled } from '../billing/shuffle'
import { setClock, stopClock } from '../clock'
import { type EntitlementWorld, entitlementWorld } from './world'

type CatalogPreviewed = Awaited<ReturnType<EntitlementWorld['catalog']['previewWhole']>>['body']

/* What a subscription gives once its last payment came back: the setting `subscription_reversed`. */

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (day: number) => START / 1000 + day * 86_400

let world: EntitlementWorld
beforeEach(async () => {
  stopClock(START)
  world = await entitlementWorld()
  await world.catalog.feature('sso')
  const prices = [{ vendor: 'stripe', ref: 'price_monthly' }]
  await world.catalog.plan({ key: 'pro', name: 'Pro', features: { sso: { value: true } }, prices })
  await world.consumers.put('ada')
})

const live = (type: string, object: Fields, day: number, previous?: Fields) => ({
  ...stripeEventOf(type, object, { at: at(day), ...(previous && { previous }) }),
  livemode: true,
})
const subscription = (day: number) => {
  const period = { current_period_start: at(day), current_period_end: at(day + 30) }
  const { items, ...fields } = stripeSubscription({
    id: 'sub_1',
    customer: 'cus_ada',
    metadata: { consumer_external_id: 'ada' },
  })
  const { data } = items as { data: Fields[] }
  return live(
    'customer.subscription.updated',
    {
      ...fields,
      ...period,
      items: { object: 'list', data: data.map((item) => ({ ...item, ...period })), has_more: false },
    },
    day,
    { metadata: {} },
  )
}
/** An invoice of the subscription that is paid on a day, by a payment of its own. */
const paid = (id: string, day: number, fields: Fields = {}) => [
  live(
    'invoice.paid',
    stripeInvoice({
      ...{ id, subscription: 'sub_1', customer: 'cus_ada', status: 'paid', amount_paid: 2400, created: at(day) },
      status_transitions: { paid_at: at(day) },
      ...fields,
    }),
    day,
  ),
  live('invoice_payment.paid', stripeInvoicePayment(id, `pi_${id}`), day),
]
const refunded = (invoice: string, day: number, amount = 2400, status = 'succeeded') => {
  const refund = stripeRefund(`pi_${invoice}`, { id: `re_${invoice}`, amount, status, created: at(day) })
  return live(status === 'succeeded' ? 'refund.created' : 'refund.failed', refund, day)
}
const disputed = (invoice: string, day: number, status: string) =>
  live('charge.dispute.updated', stripeDispute(`pi_${invoice}`, { id: `dp_${invoice}`, amount: 2400, status }), day, {
    status: 'x',
  })

/** Whether Ada may on a day, and the reason. */
async function on(day: number, query = '') {
  setClock(START + day * DAY)
  const { sso } = (await world.one('ext:ada', query)).features
  return [sso?.allowed, sso?.reason]
}
const end = async (what = 'end') => expect((await world.settings({ subscription_reversed: what })).status).toBe(200)

describe('the last payment of a subscription', () => {
  const CASES: [name: string, events: object[], kept: [boolean, string]][] = [
    ['that came back in full ends it', [refunded('in_1', 2)], [false, 'refunded']],
    [
      'that came back in two parts ends it',
      [refunded('in_1', 2, 1000), live('refund.created', stripeRefund('pi_in_1', { amount: 1400 }), 3)],
      [false, 'refunded'],
    ],
    [
      'that came back by its charge alone ends it',
      [live('charge.refunded', stripeCharge('pi_in_1', { amount_refunded: 2400 }), 2)],
      [false, 'refunded'],
    ],
    ['of which a part came back keeps it', [refunded('in_1', 2, 2399)], [true, 'plan']],
    ['whose refund failed keeps it', [refunded('in_1', 2), refunded('in_1', 3, 2400, 'failed')], [true, 'plan']],
    ['that is disputed keeps it', [disputed('in_1', 2, 'needs_response')], [true, 'plan']],
    [
      'that was lost ends it',
      [disputed('in_1', 2, 'needs_response'), disputed('in_1', 3, 'lost')],
      [false, 'disputed'],
    ],
    ['that was won keeps it', [disputed('in_1', 2, 'needs_response'), disputed('in_1', 3, 'won')], [true, 'plan']],
    [
      'that came back, but was followed by another one, keeps it',
      [refunded('in_1', 2), ...paid('in_2', 4)],
      [true, 'plan'],
    ],
    [
      'before a later invoice that is not paid yet ends it',
      [
        refunded('in_1', 2),
        live('invoice.finalized', stripeInvoice({ id: 'in_2', subscription: 'sub_1', customer: 'cus_ada' }), 4),
      ],
      [false, 'refunded'],
    ],
    [
      'is not that of another subscription of the customer',
      [...paid('in_9', 4, { subscription: 'sub_9' }), refunded('in_9', 5)],
      [true, 'plan'],
    ],
    [
      'that came back ends it, though an invoice that cost nothing followed',
      [refunded('in_1', 2), ...paid('in_0', 4, { amount_paid: 0, total: 0 })],
      [false, 'refunded'],
    ],
    [
      'for a change in between decides nothing',
      [...paid('in_2', 4, { billing_reason: 'subscription_update', amount_paid: 100 }), refunded('in_2', 5, 100)],
      [true, 'plan'],
    ],
  ]
  it.each(CASES)('%s, in any order of events', async (_, events, [allowed, reason]) => {
    await end()
    await world.deliver(...shuffled([subscription(0), ...paid('in_1', 0), ...events]))
    expect(await on(5)).toEqual([allowed, reason])
    // By default, the vendor's status alone decides. The owner's session is of the first day.
    setClock(START)
    await end('keep')
    expect(await on(5)).toEqual([true, 'plan'])
  })
})

it('explains by which event, and a check, a token and a past time say the same', async () => {
  await end()
  await world.deliver(subscription(0), ...paid('in_1', 0))
  expect(await on(1)).toEqual([true, 'plan'])
  setClock(START + 2 * DAY)
  const [refund] = await world.deliver(refunded('in_1', 2))
  setClock(START + 3 * DAY)
  const [source] = (await world.one('ext:ada', '?explain=true')).features.sso?.sources ?? []
  expect(source).toMatchObject({
    ...{ type: 'subscription', id: 'sub_1', counted: false, event_id: refund },
    why_not: 'Its last payment was refunded in full by refund re_in_1.',
  })
  const { body } = await world.check(['ext:ada'], ['sso'])
  expect(body.data[0]?.features).toMatchObject({ sso: { allowed: false, reason: 'refunded' } })
  const token = await world.ask<{ token: string }>('POST', '/consumers/ext:ada/entitlements/token', { json: {} })
  const [, claims = ''] = token.body.token.split('.')
  expect(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).toContain('"ent":{}')
  const asked = async (day: number) => {
    const { exact, features } = (await world.one('ext:ada', `?at=${new Date(START + day * DAY).toISOString()}`)) as {
      exact?: boolean
      features: Record<string, { allowed: boolean }>
    }
    return [features.sso?.allowed, exact]
  }
  expect(await asked(1.5)).toEqual([true, true])
  // The refund may have failed and succeeded since: only its last status is kept.
  expect(await asked(2.5)).toEqual([false, false])
  // A preview of the setting says the same, although the setting of now does not need what was paid.
  setClock(START)
  await end('keep')
  setClock(START + 3 * DAY)
  const { version: _, ...catalog } = (await world.catalog.whole()).body
  const json = { ...catalog, settings: { subscription_reversed: 'end' } }
  const preview = await world.ask<CatalogPreviewed>('POST', '/billing/catalog/preview', { json })
  expect(preview.body).toMatchObject({
    losses: { sso: 1 },
    changes: [{ vendor: 'stripe', customer: 'cus_ada', to: false }],
  })
})

it('was paid at a past time by the newest invoice of then', async () => {
  await end()
  setClock(START)
  await world.deliver(subscription(0), ...paid('in_1', 0))
  setClock(START + 4 * DAY)
  await world.deliver(...paid('in_2', 4))
  setClock(START + 6 * DAY)
  await world.deliver(refunded('in_2', 6))
  const asked = async (day: number) => {
    const answer = await world.one('ext:ada', `?at=${new Date(START + day * DAY).toISOString()}`)
    return [answer.features.sso?.allowed, (answer as { exact?: boolean }).exact]
  }
  expect(await on(7)).toEqual([false, 'refunded'])
  expect([await asked(2), await asked(5)]).toEqual([
    [true, true],
    [true, true],
  ])
})

it('is that of its own vendor, where two have the same ids', async () => {
  await end()
  await world.deliver(subscription(0), ...paid('in_1', 0))
  // Paddle's customer and subscription have the ids of Stripe's, and another person's money comes back.
  const transaction = { id: 'in_1', subscription_id: 'sub_1', customer_id: 'cus_ada', status: 'completed' }
  await world.deliver(
    paddleEventOf('transaction.completed', paddleTransaction(transaction)),
    paddleEventOf('adjustment.created', paddleAdjustment('in_1')),
  )
  expect((await world.one('ext:ada')).features.sso).toMatchObject({ allowed: true })
})
