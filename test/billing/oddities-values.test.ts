import { beforeAll, describe, expect, it } from 'vitest'
import { contentsOf, decide } from '../../src/inbox/process/decide'
import { settingsOf } from '../../src/tenancy/settings'
import {
  anId,
  type Fields,
  isoOf,
  paddleEventOf,
  paddlePayment,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripeItem,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List, type Shown } from './world'

/* Odd amounts and texts, and events with parts missing around their object. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

describe('amounts', () => {
  const AMOUNTS: [unknown, number | null][] = [
    [0, 0],
    [1200, 1200],
    [-500, -500],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [2 ** 53, null],
    [1e21, null],
    [12.5, null],
    ['12.50', null],
    ['1e3', null],
    ['99999999999999999999', null],
    [' 12', null],
    [[1200], null],
  ]
  it.each(['usd', 'jpy', 'kwd', 'zzz'])(
    'in %s are shown in minor units as sent, if they are safe integers; else null',
    async (currency) => {
      for (const [value, shown] of AMOUNTS) {
        const ours = { currency: currency.toUpperCase(), total: shown, amount_due: shown }
        const invoice = stripeInvoice({ currency, total: value, amount_due: value })
        const totals = { currency_code: currency.toUpperCase(), total: value, grand_total: value, balance: '0' }
        const transaction = paddleTransaction({ totals })
        await world.deliver(
          stripeEventOf('invoice.updated', invoice),
          paddleEventOf('transaction.updated', transaction),
        )
        expect(await world.one('invoices', invoice.id as string), String(value)).toMatchObject(ours)
        const paid = { ...ours, amount_paid: shown }
        expect(await world.one('invoices', transaction.id as string), String(value)).toMatchObject(paid)
      }
    },
  )
})

describe('texts', () => {
  it.each([
    '<script>alert(1)</script>',
    '"quoted\\"',
    'null',
    '[1,2]',
    '{"a":1}',
    '1e3',
    '0',
    '\u0000',
    '\ud800',
    'żółć 🔑',
  ])('are shown unchanged: %j', async (words) => {
    const [sub, invoice, method] = [
      stripeSubscription({ customer: words, items: { data: [stripeItem({ id: words, price: { id: words } })] } }),
      stripeInvoice({ customer: words, number: words, subscription: words }),
      stripePaymentMethod({ customer: words, type: words, card: { brand: words, last4: words } }),
    ]
    await world.deliver(
      stripeEventOf('customer.subscription.created', sub),
      stripeEventOf('invoice.created', invoice),
      stripeEventOf('payment_method.attached', method),
    )
    const items = [expect.objectContaining({ id: words, price: words })]
    expect(await world.one('subscriptions', sub.id as string)).toMatchObject({ customer: words, items })
    const row = { customer: words, number: words, subscription: words }
    expect(await world.one('invoices', invoice.id as string)).toMatchObject(row)
    const card = expect.objectContaining({ brand: words, last4: words, exp_month: null, exp_year: null })
    expect(await world.one('payment-methods', method.id as string)).toMatchObject({
      customer: words,
      type: words,
      card,
    })
    if (words === '\ud800' || words === '\u0000') return
    const { body } = await world.api(`/subscriptions?customer=${encodeURIComponent(words)}`)
    expect(body.data.map(({ id }: Shown) => id)).toEqual([sub.id])
  })
})

describe('a URL', () => {
  it.each([
    ['https://invoice.stripe.com/i/1?s=ap#top', 'https://invoice.stripe.com/i/1?s=ap#top'],
    ['http://localhost:3000/i', 'http://localhost:3000/i'],
    // As a browser reads it, so that what people see is where it leads.
    ['HTTPS://INVOICE.STRIPE.COM/', 'https://invoice.stripe.com/'],
    ['https:evil.example', 'https://evil.example/'],
    ['http:\\\\evil.example\\i', 'http://evil.example/i'],
    ['https://example.com/\u202egnp.exe', 'https://example.com/%E2%80%AEgnp.exe'],
    [' ht\ntps://example.com/a b', 'https://example.com/a%20b'],
    ['https://invoice.stripe.com@evil.example/', null],
    ['https://user:password@example.com/', null],
    ['https://:password@example.com/', null],
    ['javascript:alert(1)', null],
    [' javascript:alert(1)', null],
    ['java\nscript:alert(1)', null],
    ['data:text/html,<script>alert(1)</script>', null],
    ['vbscript:x', null],
    ['ftp://example.com/i', null],
    ['//example.com/i', null],
    ['/console', null],
    ['invoice', null],
    ['https://', null],
  ])(
    'is kept, as it is parsed, only if it is http or https and names no user: %j',
    async (hosted_invoice_url, kept) => {
      const invoice = stripeInvoice({ hosted_invoice_url })
      await world.deliver(stripeEventOf('invoice.created', invoice))
      expect(await world.one('invoices', invoice.id as string)).toMatchObject({
        number: invoice.number,
        hosted_invoice_url: kept,
      })
    },
  )
})

describe('the event around the object', () => {
  it.each(['livemode', 'created', 'api_version', 'pending_webhooks', 'request'])('may be without %s', async (field) => {
    const object = stripeSubscription()
    const [id] = (await world.deliver({
      ...stripeEventOf('customer.subscription.updated', object),
      [field]: undefined,
    })) as [string]
    expect((await world.event(id)).status).toBe('processed')
    expect(await world.one('subscriptions', object.id as string)).toMatchObject({
      livemode: field === 'livemode', // that of the connection then

      updated_at: field === 'created' ? null : isoOf(T0),
    })
  })

  it.each([
    ['a data that is none', { data: 7 }],
    ['no data', { data: undefined }],
    ['no id', { id: undefined, event_id: undefined }],
  ])('fails with %s, and writes no object', async (_, fields) => {
    const before = await world.objects()
    const events = [
      stripeEventOf('invoice.paid', stripeInvoice()),
      paddleEventOf('transaction.paid', paddleTransaction()),
    ]
    for (const id of await world.deliver(...events.map((event) => ({ ...event, ...fields })))) {
      expect(await world.event(id)).toMatchObject({
        status: 'failed',
        last_error: expect.stringContaining('the payload has no'),
      })
    }
    expect(await world.objects()).toEqual(before)
  })

  it('a card is left out where the id of its payment method is invalid; its transaction is not', async () => {
    const id = anId('txn')
    const payments = [paddlePayment('pay method'), paddlePayment('x'.repeat(300)), paddlePayment('paymtd_good')]
    const [event] = (await world.deliver(
      paddleEventOf('transaction.paid', paddleTransaction({ id, status: 'paid', payments })),
    )) as [string]
    expect((await world.event(event)).status).toBe('processed')
    expect((await world.effects(event)).map((effect) => effect.id)).toEqual([id, 'paymtd_good'])
  })

  it('of more cards than a customer tries, the latest are kept', async () => {
    const id = anId('txn')
    const payments = Array.from({ length: 30 }, (_, n) => ({
      ...paddlePayment(`paymtd_${n}`),
      created_at: `2026-01-01T00:00:${String((n * 7) % 30).padStart(2, '0')}Z`,
    }))
    const [event] = (await world.deliver(
      paddleEventOf('transaction.paid', paddleTransaction({ id, status: 'paid', payments })),
    )) as [string]
    const latest = payments.filter(({ created_at }) => created_at >= '2026-01-01T00:00:10Z')
    const kept = (await world.effects(event)).map((effect) => effect.id)
    expect(kept.toSorted()).toEqual([id, ...latest.map((payment) => payment.payment_method_id)].toSorted())
    expect(kept).toHaveLength(1 + 20)
  })
})

describe('objects that are too large for a row', () => {
  const MAX_BYTES = 40_000
  const large = 'x'.repeat(10_000)
  const stories = Array.from({ length: 60 }, (_, n) => [`${'"'.repeat(90)}${n}`, '\u0001'.repeat(499)])
  const LARGE: [string, List, string, Fields, Fields][] = [
    [
      'a thousand items',
      'subscriptions',
      'customer.subscription.updated',
      stripeSubscription({ items: { data: Array.from({ length: 1000 }, (_, n) => stripeItem({ id: `si_${n}` })) } }),
      { status: 'active' },
    ],
    [
      'items of three bytes a character',
      'subscriptions',
      'customer.subscription.updated',
      stripeSubscription({
        items: {
          data: Array.from({ length: 140 }, (_, n) =>
            stripeItem({ id: '本'.repeat(90), price: { id: `p${n}${'本'.repeat(80)}` } }),
          ),
        },
      }),
      { status: 'active' },
    ],
    [
      'metadata that no vendor takes',
      'subscriptions',
      'customer.subscription.updated',
      stripeSubscription({ metadata: Object.fromEntries(stories) }),
      { status: 'active' },
    ],
    [
      'a thousand lines of long texts',
      'invoices',
      'invoice.updated',
      stripeInvoice({
        description: large,
        lines: { data: Array.from({ length: 1000 }, () => ({ id: 'il_1', description: '🔑'.repeat(200) })) },
      }),
      { status: 'open' },
    ],
    [
      'discounts',
      'invoices',
      'invoice.updated',
      stripeInvoice({ discounts: Array.from({ length: 500 }, (_, n) => `di_${n}_${'x'.repeat(250)}`) }),
      { status: 'open' },
    ],
    [
      'tax ids',
      'invoices',
      'invoice.updated',
      stripeInvoice({ customer_tax_ids: Array.from({ length: 11 }, (_, n) => ({ type: 'eu_vat', value: `DE${n}` })) }),
      { customer_tax_ids: Array.from({ length: 10 }, (_, n) => ({ type: 'eu_vat', value: `DE${n}` })) },
    ],
  ]
  it('have room for the longest words and texts in every field at once', async () => {
    const long = (fields: Fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => {
          const kept = ['id', 'object', 'status', 'currency', 'customer'].includes(name) || typeof value === 'object'
          return [
            name,
            kept ? value : name.includes('url') ? `https://x.test/${'y'.repeat(1900)}` : '\u0001'.repeat(49),
          ]
        }),
      )
    const coupon = { id: '"'.repeat(149), currency: '"'.repeat(149) }
    const discounts = Array.from({ length: 30 }, () => ({
      id: '"'.repeat(149),
      promotion_code: '"'.repeat(149),
      coupon,
    }))
    const texts = { description: 'x'.repeat(900), customer_email: 'x'.repeat(290), customer_name: 'x'.repeat(900) }
    const more = { invoice_pdf: `https://x.test/${'y'.repeat(1900)}`, receipt_number: 'x'.repeat(290), ...texts }
    const lines = { data: Array.from({ length: 300 }, () => ({ id: '"'.repeat(149), price: '"'.repeat(149) })) }
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, 'x'.repeat(500)]))
    const address = Object.fromEntries(['line1', 'line2', 'city', 'state'].map((part) => [part, '"'.repeat(149)]))
    const ids = Array.from({ length: 10 }, () => ({ type: '"'.repeat(149), value: '"'.repeat(149) }))
    const about = { customer_address: address, customer_tax_ids: ids }
    const object = { ...long(stripeInvoice()), ...more, ...about, discounts, lines, metadata }
    const [event] = (await world.deliver(stripeEventOf('invoice.updated', object))) as [string]
    expect(await world.event(event)).toMatchObject({ status: 'processed', last_error: null })
    const { id } = object as unknown as { id: string }
    expect(await world.one('invoices', id)).toMatchObject({
      incomplete: true,
      customer_email: 'x'.repeat(290),
      customer_tax_ids: ids,
    })
  })

  it.each(LARGE)('are processed, kept in part and say so: %s', async (_, list, type, object, expected) => {
    const [event] = (await world.deliver(stripeEventOf(type, object))) as [string]
    expect(await world.event(event)).toMatchObject({ status: 'processed', last_error: null })
    expect(await world.one(list, object.id as string)).toMatchObject({ ...expected, incomplete: true })
    expect((await world.effects(event))[0]).toMatchObject({ incomplete: true })
    const stored = (await world.objects()).find(({ vendor_id }) => vendor_id === object.id)
    expect(new TextEncoder().encode(stored?.candidates).byteLength).toBeLessThan(MAX_BYTES + 500)
  })

  const of = (count: number, make: (n: number) => Fields) => ({
    data: Array.from({ length: count }, (_, n) => make(n)),
    has_more: false,
  })
  const entries = (count: number, character: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`story_${n}`, character.repeat(500)]))
  const line = (n: number) => ({ id: `il_${n}`, description: 'x'.repeat(140), amount: n, currency: 'usd' })
  const item = (n: number) => stripeItem({ id: `si_${n}_${'x'.repeat(n < 20 ? 0 : 200)}` })
  /** With the metadata that joins it to the project's own objects. */
  const KEPT: [string, Fields, { lines?: number; items?: number; metadata: number }][] = [
    ['lines, if they are larger', { lines: of(100, line), metadata: entries(12, 'x') }, { lines: 95, metadata: 13 }],
    ['metadata, if it is larger', { lines: of(20, line), metadata: entries(45, '本') }, { lines: 20, metadata: 22 }],
    ['metadata before items', { items: of(20, item), metadata: entries(45, '本') }, { items: 20, metadata: 22 }],
    ['items at the end', { items: of(100, item), metadata: entries(5, 'x') }, { items: 81, metadata: 0 }],
  ]
  it.each(KEPT)('are cut where it hurts least: %s', async (_, fields, kept) => {
    const isInvoice = 'lines' in fields
    const sent = { ...fields, metadata: { user_id: '42', ...(fields.metadata as Fields) } }
    const object = isInvoice ? stripeInvoice(sent) : stripeSubscription(sent)
    const type = isInvoice ? 'invoice.updated' : 'customer.subscription.updated'
    await world.deliver(stripeEventOf(type, object))
    const shown = (await world.one(isInvoice ? 'invoices' : 'subscriptions', object.id as string)) as Fields
    expect(shown.incomplete).toBe(true)
    const { items, lines, metadata } = shown as {
      items?: []
      lines?: { data: []; has_more: boolean }
      metadata: Fields
    }
    const lengths = { ...(lines ? { lines: lines.data.length } : { items: items?.length }) }
    expect({ ...lengths, metadata: Object.keys(metadata).length }).toEqual(kept)
    expect(lines?.has_more ?? false).toBe(kept.lines === 95)
    if (kept.metadata > 0) expect(metadata.user_id).toBe('42')
    // Amounts, the status and times are all there.
    const { items: _i, lines: _l, metadata: _m, incomplete: _c, id: _id, source_event_id: _s, ...rest } = shown
    const small = isInvoice ? stripeInvoice() : stripeSubscription()
    await world.deliver(stripeEventOf(type, small))
    expect(await world.one(isInvoice ? 'invoices' : 'subscriptions', small.id as string)).toMatchObject(rest)
  })

  it('fail at once and say why: 20,000 levels', () => {
    const nested = '['.repeat(20_000) + ']'.repeat(20_000)
    const event = stripeEventOf('customer.subscription.updated', stripeSubscription({ metadata: 'here' }))
    const body = JSON.stringify(event).replace('"metadata":"here"', `"metadata":${nested}`)
    const contents = contentsOf(
      { id: 'evt_1', vendor: 'stripe', livemode: true, customer_is_external_id: false },
      { text: body, headers: {} },
      settingsOf(null),
    )
    expect(decide({ vendor: 'stripe', vendor_event_id: event.id }, contents)).toMatchObject({
      status: 'failed',
      error: { code: 'payload_invalid', message: 'the payload is nested too deeply' },
    })
  })

  it('are ambiguous where more events tie than a row keeps, whatever their order', async () => {
    const shown: string[] = []
    for (const reversed of [false, true]) {
      const own = await billingWorld()
      const events = Array.from({ length: 20 }, (_, n) => ({
        ...stripeEventOf('customer.subscription.updated', stripeSubscription({ id: 'sub_tied', description: `${n}` })),
        id: `evt_tied_${String(n).padStart(2, '0')}`,
        created: T0,
      }))
      for (const event of reversed ? events.reverse() : events) await own.send(event)
      await own.queue.pump()
      const { body } = await own.api('/subscriptions/sub_tied')
      expect(body.ambiguous).toBe(true)
      shown.push((await own.event(body.source_event_id)).vendor_event_id)
    }
    expect(shown).toEqual(['evt_tied_19', 'evt_tied_19'])
  })
})
