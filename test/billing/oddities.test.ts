import { beforeAll, describe, expect, it } from 'vitest'
import { deliver, stripeConnection } from '../harness'
import { walk } from '../inbox/seeding'
import { NO_MONEY_BACK } from './empty'
import {
  type Fields,
  isoOf,
  paddleEventOf,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List } from './world'

/* Values inside and outside the vendors' references: an odd field is shown as null, and never causes a failure or a 500. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const end = { starts_at: '2026-01-01T00:00:00Z', ends_at: '2026-02-01T00:00:00Z' }

type Thing = {
  of: string
  list: List
  make: (fields: Fields) => Fields
  eventOf: (object: Fields) => object
  /** The fields that show a field of the payload, where not one of the same name; [] where it is not shown. */
  shows: Record<string, Fields>
}
const THINGS: Thing[] = [
  {
    of: "Stripe's subscription",
    list: 'subscriptions',
    make: (fields) =>
      stripeSubscription({ cancel_at: T0 + 1, canceled_at: T0 + 2, trial_end: T0 + 3, ended_at: T0 + 4, ...fields }),
    eventOf: (object) => stripeEventOf('customer.subscription.updated', object),
    shows: {
      status: { status: 'unknown', vendor_status: null },
      customer: { customer: null },
      items: { items: [], current_period_start: null, current_period_end: null },
      cancel_at: { cancel_at: null },
      cancel_at_period_end: { cancel_at_period_end: null },
      canceled_at: { canceled_at: null },
      trial_end: { trial_end: null },
      ended_at: { ended_at: null },
      default_payment_method: { default_payment_method: null },
      currency: {}, // the first price's
      created: { created_at: null },
      metadata: { metadata: null },
      start_date: { started_at: null },
      billing_cycle_anchor: { billing_cycle_anchor: null },
      collection_method: { collection_method: null },
    },
  },
  {
    of: "Stripe's invoice",
    list: 'invoices',
    make: (fields) => stripeInvoice({ due_date: T0 + 1, next_payment_attempt: T0 + 2, ...fields }),
    eventOf: (object) => stripeEventOf('invoice.updated', object),
    shows: {
      status: { status: 'unknown', vendor_status: null },
      customer: { customer: null },
      currency: {
        currency: null,
        ...Object.fromEntries(
          [
            'subtotal',
            'total',
            'amount_due',
            'amount_paid',
            'amount_remaining',
            'pre_payment_credit_notes_amount',
            'post_payment_credit_notes_amount',
          ].map((name) => [name, null]),
        ),
      },
      created: { created_at: null },
      metadata: { metadata: null },
      subtotal: { subtotal: null },
      pre_payment_credit_notes_amount: { pre_payment_credit_notes_amount: null },
      post_payment_credit_notes_amount: { post_payment_credit_notes_amount: null },
      customer_tax_exempt: { customer_tax_exempt: null },
      customer_tax_ids: { customer_tax_ids: null },
      amount_remaining: { amount_remaining: null },
      attempt_count: { attempt_count: null },
      billing_reason: { billing_reason: null },
      collection_method: { collection_method: null },
      lines: { lines: null },
      parent: { subscription: null },
      total: { total: null },
      amount_due: { amount_due: null },
      amount_paid: { amount_paid: null },
      number: { number: null },
      period_start: { period_start: null },
      period_end: { period_end: null },
      due_date: { due_at: null, due_date: null },
      next_payment_attempt: { next_payment_attempt: null },
      hosted_invoice_url: { hosted_url: null, hosted_invoice_url: null },
    },
  },
  {
    of: "Stripe's payment method",
    list: 'payment-methods',
    make: stripePaymentMethod,
    eventOf: (object) => stripeEventOf('payment_method.attached', object),
    shows: {
      customer: { customer: null, status: 'detached' },
      type: { type: null },
      card: { card: null, last4: null },
      created: { created_at: null },
      metadata: { metadata: null },
      billing_details: { billing_details: null },
    },
  },
  {
    of: "Paddle's subscription",
    list: 'subscriptions',
    make: (fields) => paddleSubscription({ current_billing_period: end, ...fields }),
    eventOf: (object) => paddleEventOf('subscription.updated', object),
    shows: {
      status: { status: 'unknown', vendor_status: null },
      customer_id: { customer: null },
      currency_code: { currency: null },
      items: { items: [] },
      created_at: { created_at: null },
      next_billed_at: { next_billed_at: null },
      collection_mode: { collection_method: null },
      current_billing_period: { current_period_start: null, current_period_end: null },
    },
  },
  {
    of: "Paddle's transaction",
    list: 'invoices',
    make: (fields) => paddleTransaction({ invoice_number: '1-1', ...fields }),
    eventOf: (object) => paddleEventOf('transaction.updated', object),
    shows: {
      status: { status: 'unknown', vendor_status: null },
      customer_id: { customer: null },
      currency_code: {}, // the totals'
      details: Object.fromEntries(
        ['subtotal', 'discount_amount', 'tax', 'total', 'amount_due', 'amount_paid', 'amount_remaining', 'lines'].map(
          (name) => [name, null],
        ),
      ),
      created_at: { created_at: null },
      origin: { billing_reason: null },
      payments: { attempt_count: null },
      subscription_id: { subscription: null },
      invoice_number: { number: null },
      billing_period: { period_start: null, period_end: null },
    },
  },
  {
    of: "Paddle's payment method",
    list: 'payment-methods',
    make: paddlePaymentMethod,
    eventOf: (object) => paddleEventOf('payment_method.saved', object),
    shows: { customer_id: { customer: null }, type: { type: null }, saved_at: { created_at: null } },
  },
]

describe.each(THINGS)('$of', ({ list, make, eventOf, shows }) => {
  const shown = async (object: Fields) => {
    const [id] = (await world.deliver(eventOf(object))) as [string]
    expect((await world.event(id)).status, JSON.stringify(object)).toBe('processed')
    const { id: _, source_event_id: __, ...rest } = await world.one(list, object.id as string)
    return rest
  }
  const optional = Object.keys(make({})).filter((field) => field !== 'id')

  it('may have each of its fields missing or null: the API then shows null', async () => {
    const whole = await shown(make({}))
    const lacking = optional.flatMap((field) =>
      [undefined, null].map((value) => ({ field, object: make({ [field]: value }) })),
    )
    await world.deliverTogether(lacking.map(({ object }) => eventOf(object)))
    for (const { field, object } of lacking) {
      const { id: _, source_event_id: __, ...row } = await world.one(list, object.id as string)
      expect(row, field).toEqual({ ...whole, ...shows[field] })
    }
    const bare = await shown({ id: make({}).id })
    for (const [field, value] of Object.entries(bare)) {
      const certain = [
        'vendor',
        'status',
        'livemode',
        'updated_at',
        'ambiguous',
        'incomplete',
        'items',
        'cancel_at_period_end',
        ...Object.keys(NO_MONEY_BACK),
      ]
      if (!certain.includes(field)) expect(value, field).toBeNull()
    }
  })

  it('may have any value in each of its fields', async () => {
    const odd = [true, -1.5, 'a text', [[null]], { data: [null, 1, {}] }]
    const objects = optional.flatMap((field) => odd.map((value) => make({ [field]: value })))
    await world.deliverTogether(objects.map(eventOf))
    const found = new Set<string>()
    for (const page of await walk((path) => world.api(path), `/${list}`, 100)) {
      for (const row of page.data) if (row.ambiguous === false) found.add(row.id)
    }
    expect(objects.filter(({ id }) => !found.has(id as string))).toEqual([])
  })

  it.each([
    undefined,
    null,
    '',
    7,
    {},
    'sub_ünïcode',
    'sub_🔑',
    'two words',
    'nul\u0000',
    'x'.repeat(201),
    'x'.repeat(300),
  ])('fails with the id %j, says why, and writes no object', async (id) => {
    const objects = await world.objects()
    const [event] = (await world.deliver(eventOf(make({ id })))) as [string]
    const { status, last_error, last_error_code, decoded_summary } = await world.event(event)
    expect([status, decoded_summary]).toEqual(['failed', null])
    expect([last_error, last_error_code]).toEqual(
      typeof id === 'string' && id !== ''
        ? ['the id of its billing object is not valid', 'object_id_invalid']
        : [expect.stringMatching(/^the payload has no data(\.object)?\.id$/), 'payload_invalid'],
    )
    expect(await world.objects()).toEqual(objects)
  })

  it.each(['x'.repeat(200), 'a/../b?c=d&e#f%2Fg', "'; DROP TABLE billing_objects; --", '..%00'])(
    'with %j for an id is found by it',
    async (name) => {
      const id = name.replaceAll(' ', '_')
      await shown(make({ id }))
      expect((await world.one(list, id)).id).toBe(id)
      expect((await world.timeline(list, encodeURIComponent(id))).length).toBeGreaterThan(0)
    },
  )

  it.each(['on_ice', 'ACTIVE', 'constructor', '__proto__', '<b>active</b>', ' active'])(
    'with the unheard-of status %j is unknown, and keeps the word',
    async (status) => {
      const row = await shown(make({ status }))
      expect(row).toMatchObject({ vendor_status: status })
      if (list !== 'payment-methods') expect(row.status).toBe('unknown')
    },
  )
})

it.each([
  ['a later', 0, 10],
  ['an earlier', 10, 0],
])(
  'an event that comes again by another connection with %s time counts by its latest time',
  async (_, first, second) => {
    const object = stripeSubscription({ status: 'active' })
    const update = (at: number, fields: Fields, id?: string) =>
      stripeEventOf('customer.subscription.updated', { ...object, ...fields }, { at: T0 + at, ...(id && { id }) })
    const again = await stripeConnection(world.token, world.project)
    const id = `evt_again_${first}_${second}`
    await world.deliver(update(first, {}, id), update(5, { status: 'past_due' }))
    const repeated = await deliver(again.id, update(second, {}, id), { bindings: { EVENTS: world.queue.EVENTS } })
    expect(repeated.body).toMatchObject({ duplicate: false })
    await world.queue.pump()
    expect(await world.one('subscriptions', object.id as string)).toMatchObject({
      status: 'active',
      updated_at: isoOf(T0 + 10),
      ambiguous: false,
    })
  },
)
