import { beforeAll, describe, expect, it } from 'vitest'
import { rows } from '../inbox/pipeline'
import {
  anId,
  type Fields,
  isoOf,
  paddleEventOf,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripeItem,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type Shown } from './world'

/* Objects that are not whole: lists that were cut off, the vendor's own object, and rows of before a field existed. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const CUSTOMER = { id: anId('cus'), object: 'customer', discount: null, metadata: {}, tax_exempt: 'none' }
const items = (n: number, of: Fields) => ({
  object: 'list',
  data: Array.from({ length: n }, (_, i) => stripeItem({ id: `si_${i}` })),
  ...of,
})
const incomplete = async () => (await world.api('/webhooks/health')).body.incomplete_objects

describe('a list that the vendor cuts off', () => {
  const LISTS: [string, Fields, boolean][] = [
    ['twelve items, ten of them in the event', { items: items(10, { has_more: true, total_count: 12 }) }, true],
    ['has_more alone', { items: items(10, { has_more: true }) }, true],
    ['a total that is not reached', { items: items(10, { has_more: false, total_count: 12 }) }, true],
    ['all of them', { items: items(10, { has_more: false, total_count: 10 }) }, false],
  ]
  it.each(LISTS)('says so in API, effects and health: %s', async (_, fields, cut) => {
    const before = await incomplete()
    const object = stripeSubscription(fields)
    const [event] = (await world.deliver(stripeEventOf('customer.subscription.updated', object))) as [string]
    const shown = await world.one('subscriptions', object.id as string)
    expect(shown).toMatchObject({ incomplete: cut, ambiguous: false })
    expect((await world.api(`/subscriptions?customer=${object.customer}&limit=100`)).body.data).toContainEqual(shown)
    const [effect] = await world.effects(event)
    expect(effect?.incomplete).toBe(cut ? true : undefined)
    expect(await incomplete()).toBe(before + Number(cut))
    // Whole again by the next event.
    const whole = { ...object, items: items(2, { has_more: false }) }
    await world.deliver(stripeEventOf('customer.subscription.updated', whole, { at: T0 + 60 }))
    expect(await world.one('subscriptions', object.id as string)).toMatchObject({ incomplete: false })
    expect(await incomplete()).toBe(before)
  })

  it.each([
    ['cut by Stripe', 10, { has_more: true }, 10, true],
    ['cut here after the first hundred', 130, { has_more: false }, 100, true],
    ['whole', 100, { has_more: false }, 100, false],
  ])('lines: %s', async (_, sent, fields, kept, cut) => {
    const data = Array.from({ length: sent }, (_, n) => ({ id: `il_${n}`, amount: n, currency: 'usd' }))
    const object = stripeInvoice({ lines: { object: 'list', data, ...fields } })
    await world.deliver(stripeEventOf('invoice.updated', object))
    const shown = await world.one('invoices', object.id as string)
    expect(shown).toMatchObject({ incomplete: cut, lines: { has_more: cut } })
    expect((shown.lines as { data: Fields[] }).data.map(({ id }) => id)).toEqual(
      data.slice(0, kept).map(({ id }) => id),
    )
  })
})

describe("the vendor's own object", () => {
  it('is that of the event that the state comes from, and only where it is asked for', async () => {
    const object = stripeSubscription({ unknown_to_us: { deep: [1, { a: null }] } })
    const older = { ...object, status: 'past_due', unknown_to_us: 'older' }
    await world.deliver(
      stripeEventOf('customer.subscription.updated', object, { at: T0 + 60 }),
      stripeEventOf('customer.subscription.updated', older),
    )
    const path = `/subscriptions/${object.id}`
    const { body } = await world.api(`${path}?include=vendor_object`)
    expect(body).toMatchObject({ status: 'active', vendor_object: { ...object } })
    expect(body.vendor_object).toEqual(JSON.parse(JSON.stringify(object)))
    expect((await world.api(path)).body).not.toHaveProperty('vendor_object')
    for (const wrong of ['', 'vendor', 'vendor_object,items', '__proto__']) {
      expect((await world.api(`${path}?include=${wrong}`)).body.errors?.[0]?.pointer).toBe('/include')
    }
  })

  it('is there for each kind and vendor', async () => {
    const transaction = paddleTransaction()
    const customer = { id: anId('cus'), object: 'customer', email: 'ada@example.com', sources: { data: [] } }
    await world.deliver(paddleEventOf('transaction.updated', transaction), stripeEventOf('customer.updated', customer))
    const invoice = await world.api(`/invoices/${transaction.id}?include=vendor_object&vendor=paddle`)
    expect(invoice.body.vendor_object).toEqual(transaction)
    const found = await world.api(`/customers/stripe/${customer.id}?include=vendor_object`)
    expect(found.body.vendor_object).toEqual(customer)
    // Of a customer that only its objects name, there is no event.
    await world.deliver(stripeEventOf('invoice.updated', stripeInvoice({ customer: 'cus_only_named' })))
    expect((await world.api('/customers/stripe/cus_only_named?include=vendor_object')).body.vendor_object).toBeNull()
  })

  it('is null once its payload is past its retention', async () => {
    const object = stripeInvoice()
    await world.deliver(stripeEventOf('invoice.updated', object))
    await rows('DELETE FROM packed_bodies WHERE project_id = ?', world.project)
    const { status, body } = await world.api(`/invoices/${object.id}?include=vendor_object`)
    expect([status, body.id, body.vendor_object]).toEqual([200, object.id, null])
  })
})

describe('a row that was written before a field existed', () => {
  /** Takes the row back to the fields that it had. */
  async function age(id: string, body: Fields) {
    await rows(
      `UPDATE billing_objects SET incomplete = 0, candidates = json_set(candidates, '$[0].body', json(?))
       WHERE project_id = ? AND vendor_id = ?`,
      JSON.stringify(body),
      world.project,
      id,
    )
  }
  const OLD = {
    customer: 'cus_1Tests',
    vendor_status: 'open',
    livemode: false,
    updated_at: isoOf(T0),
    status: 'open',
    number: 'TESTS-0001',
    subscription: null,
    currency: 'USD',
    total: 2400,
    amount_due: 2400,
    amount_paid: 0,
    period_start: null,
    period_end: null,
    due_date: isoOf(T0 + 60),
    next_payment_attempt: null,
    hosted_invoice_url: 'https://invoice.stripe.com/i/1',
  }

  it('reads as null in it, and gets it by a replay of its event, whose recorded change stays', async () => {
    const id = anId('in')
    const [event] = (await world.deliver(
      stripeEventOf('invoice.updated', stripeInvoice({ id, metadata: { a: 'b' }, due_date: T0 + 60 })),
    )) as [string]
    const now = await world.one('invoices', id)
    const before = await world.effects(event)
    await age(id, OLD)
    const old = await world.one('invoices', id)
    expect(Object.keys(old).sort()).toEqual(Object.keys(now).sort())
    expect(old).toMatchObject({
      metadata: null,
      lines: null,
      subtotal: null,
      due_at: OLD.due_date,
      due_date: OLD.due_date,
      hosted_url: OLD.hosted_invoice_url,
      total: 2400,
      incomplete: false,
    })
    // Lists sort and filter it as they do others.
    const listed = (await world.api(`/invoices?updated_after=${isoOf(T0)}&limit=100`)).body.data
    expect(listed.map((row: Shown) => row.id)).toContain(id)
    await world.replay(event)
    await world.queue.pump()
    expect(await world.one('invoices', id)).toEqual(now)
    expect(await world.effects(event)).toEqual(before)
  })

  it('gets it by the next event, whose effect names only what changed', async () => {
    const id = anId('in')
    const sent = { id, due_date: T0 + 60, period_start: null, period_end: null, subscription: null }
    await world.deliver(stripeEventOf('invoice.updated', stripeInvoice(sent)))
    await age(id, OLD)
    const next = { ...sent, metadata: { a: 'b' }, amount_paid: 400 }
    const [second, third] = (await world.deliver(
      stripeEventOf('invoice.updated', stripeInvoice(next), { at: T0 + 60 }),
      stripeEventOf('invoice.updated', stripeInvoice({ ...next, attempt_count: 1 }), { at: T0 + 90 }),
    )) as [string, string]
    expect(await world.one('invoices', id)).toMatchObject({ metadata: { a: 'b' }, subtotal: 2400 })
    const updated_at = { from: isoOf(T0), to: isoOf(T0 + 60) }
    expect((await world.effects(second))[0]?.change).toEqual({ updated_at, amount_paid: { from: 0, to: 400 } })
    // The row now has every field.
    expect(Object.keys((await world.effects(third))[0]?.change ?? {})).toEqual(['updated_at', 'attempt_count'])
  })

  it.each([
    ['the same', {}, []],
    ['another', { quantity: 3 }, ['items']],
  ])('parts of a field that it did not have are no change: %s item', async (_, fields, changed) => {
    const id = anId('sub')
    const itemsOf = (fields: Fields) => ({ object: 'list', data: [stripeItem(fields)], has_more: false })
    await world.deliver(stripeEventOf('customer.subscription.updated', stripeSubscription({ id, items: itemsOf({}) })))
    const { items, ...now } = (await world.one('subscriptions', id)) as Shown & { items: Fields[] }
    const [{ id: item, price, product, quantity }] = items as [Fields]
    const { customer, vendor_status, status, updated_at } = now
    await age(id, { customer, vendor_status, status, updated_at, items: [{ id: item, price, product, quantity }] })
    const [event] = (await world.deliver(
      stripeEventOf('customer.subscription.updated', stripeSubscription({ id, items: itemsOf(fields) }), {
        at: T0 + 60,
      }),
    )) as [string]
    expect(Object.keys((await world.effects(event))[0]?.change ?? {})).toEqual(['updated_at', ...changed])
  })
})

describe('a row of the version before, which keeps no nulls', () => {
  const tax_ids = [{ type: 'eu_vat', value: 'DE1' }]
  const price = { id: 'price_1', nickname: 'Pro', lookup_key: 'pro', product: 'prod_1' }
  const itemsOf = (fields: Fields) => ({ object: 'list', data: [stripeItem({ price, ...fields })], has_more: false })
  const CASES: [string, string, Fields, string[], Fields, string[]][] = [
    [
      'an invoice',
      'invoice.updated',
      stripeInvoice({ customer_address: { country: 'DE' }, customer_tax_ids: tax_ids }),
      [
        'customer_address',
        'customer_tax_exempt',
        'customer_tax_ids',
        'pre_payment_credit_notes_amount',
        'post_payment_credit_notes_amount',
      ],
      { receipt_number: '1-1', customer_tax_ids: [] },
      ['receipt_number'],
    ],
    ['a customer', 'customer.updated', CUSTOMER, ['tax_exempt', 'discounts'], { phone: '+44 20' }, ['phone']],
    [
      'a subscription',
      'customer.subscription.updated',
      stripeSubscription({ items: itemsOf({}) }),
      ['items[0].price_name', 'items[0].lookup_key'],
      { trial_end: T0 },
      ['trial_end'],
    ],
    [
      'a subscription with another item',
      'customer.subscription.updated',
      stripeSubscription({ items: itemsOf({}) }),
      ['items[0].price_name', 'items[0].lookup_key'],
      { items: itemsOf({ quantity: 3 }) },
      ['items'],
    ],
  ]
  it.each(CASES)(
    'the next event tells of no field that it did not have: %s',
    async (...[, type, object, added, next, changed]) => {
      await world.deliver(stripeEventOf(type, object))
      const paths = added.map((path) => `'$[0].body.${path}'`).join()
      await rows(
        `UPDATE billing_objects SET candidates = json_set(json_remove(candidates, ${paths}), '$[0].body.version', 2)
       WHERE project_id = ? AND vendor_id = ?`,
        world.project,
        object.id,
      )
      const [second, third] = (await world.deliver(
        stripeEventOf(type, { ...object, ...next }, { at: T0 + 60 }),
        stripeEventOf(type, { ...object, ...next, metadata: { a: 'b' } }, { at: T0 + 90 }),
      )) as [string, string]
      expect(Object.keys((await world.effects(second))[0]?.change ?? {}).sort()).toEqual(
        [...changed, 'updated_at'].sort(),
      )
      expect(Object.keys((await world.effects(third))[0]?.change ?? {}).sort()).toEqual(['metadata', 'updated_at'])
    },
  )
})

describe('links that are signed again for each event', () => {
  const link = (n: number) => ({
    hosted_invoice_url: `https://invoice.stripe.com/i/${n}`,
    invoice_pdf: `https://pay.stripe.com/${n}/pdf`,
    webhooks_delivered_at: T0 + n,
  })
  it('do not tell two like invoices of one second apart, and are no change', async () => {
    const id = anId('in')
    const paid = { id, status: 'paid', amount_paid: 2400 }
    const [first, second] = (await world.deliver(
      stripeEventOf('invoice.paid', stripeInvoice({ ...paid, ...link(1) }), { id: `evt_a_${id}` }),
      stripeEventOf('invoice.payment_succeeded', stripeInvoice({ ...paid, ...link(2) }), { id: `evt_b_${id}` }),
    )) as [string, string]
    expect(await world.one('invoices', id)).toMatchObject({ ambiguous: false, hosted_url: link(2).hosted_invoice_url })
    expect((await world.effects(first))[0]).toMatchObject({ result: 'applied' })
    expect((await world.effects(second))[0]).toMatchObject({ result: 'applied', change: null })
  })
})

describe('an event that only announces', () => {
  it.each(['z', 'a'])('leaves the state to the update of its second: event ids from %s', async (letter) => {
    const id = anId('sub')
    const trialing = { id, status: 'trialing', trial_end: T0 + 60 }
    const name = letter === 'z' ? ['z', 'a'] : ['a', 'z']
    await world.deliver(
      stripeEventOf('customer.subscription.created', stripeSubscription(trialing), { at: T0 - 1 }),
      stripeEventOf('customer.subscription.trial_will_end', stripeSubscription(trialing), {
        id: `evt_${name[0]}_${id}`,
      }),
      stripeEventOf('customer.subscription.updated', stripeSubscription({ ...trialing, metadata: { a: 'b' } }), {
        id: `evt_${name[1]}_${id}`,
        previous: { metadata: { a: null } },
      }),
    )
    expect(await world.one('subscriptions', id)).toMatchObject({ ambiguous: false, metadata: { a: 'b' } })
  })
})
