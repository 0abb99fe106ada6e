import { beforeAll, describe, expect, it } from 'vitest'
import { Value } from '../../src/console/pages/billing/value'
import { insertObjects } from '../billing/rows'
import { as } from '../consumers/consumers'
import {
  countingD1,
  deliver,
  freshProject,
  lossyQueue,
  ORIGIN,
  settled,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { visit } from './visit'

const SUBSCRIPTION = {
  id: 'sub_1',
  object: 'subscription',
  customer: 'cus_1',
  status: 'active',
  currency: 'eur',
  metadata: { plan: 'pro' },
  items: {
    data: [
      {
        id: 'si_1',
        quantity: 3,
        current_period_end: 1798761600,
        price: {
          id: 'price_1',
          product: 'prod_1',
          unit_amount: 1900,
          currency: 'eur',
          recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
        },
      },
    ],
    has_more: false,
  },
}
const invoice = (total: number, status: string) => ({
  id: 'in_1',
  object: 'invoice',
  customer: 'cus_1',
  status,
  currency: 'jpy',
  number: 'A-0001',
  total,
  amount_remaining: status === 'paid' ? 0 : total,
  hosted_invoice_url: 'https://invoice.stripe.com/i/1',
  lines: { data: [{ id: 'il_1', description: 'Pro, monthly', amount: total, quantity: 1 }], has_more: true },
})
const CUSTOMER = {
  id: 'cus_1',
  object: 'customer',
  email: 'ada@example.com',
  name: 'Ada',
  balance: -500,
  currency: 'eur',
}

describe('billing state in the console', () => {
  let token: string
  let project: string
  let billing: string
  const textOf = async (path: string) => {
    const { status, text } = await visit(billing + path, token)
    expect(status).toBe(200)
    return text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  }

  beforeAll(async () => {
    const fresh = await freshProject()
    token = fresh.owner.token
    project = fresh.project
    billing = `/console/p/${project}/platform/billing`
    const { id } = await stripeConnection(token, project)
    const sent: [string, Record<string, unknown>][] = [
      ['customer.subscription.updated', SUBSCRIPTION],
      ['invoice.finalized', invoice(1000, 'open')],
      ['customer.updated', CUSTOMER],
      ['invoice.paid', invoice(1900, 'paid')],
      ['customer.updated', { ...CUSTOMER, id: 'cus_a1', name: 'Adam One', email: 'one@example.com' }],
      ['customer.updated', { ...CUSTOMER, id: 'cus_a2', name: 'Adam Two', email: 'two@example.com' }],
    ]
    const now = Math.floor(Date.now() / 1000)
    const ids: string[] = []
    for (const [n, [type, object]] of sent.entries()) {
      const { body } = await deliver(id, { ...stripeEvent(type, object), created: now + n })
      ids.push(body.event_ids[0])
    }
    const old = {
      ...stripeEvent('customer.subscription.updated', { ...SUBSCRIPTION, id: 'sub_old' }),
      created: now - 200_000,
    }
    ids.push((await deliver(id, old)).body.event_ids[0])
    const over = { ...SUBSCRIPTION, id: 'sub_over', status: 'canceled', customer: 'cus_over' }
    ids.push((await deliver(id, stripeEvent('customer.subscription.deleted', over))).body.event_ids[0])
    for (const event of ids) await settled(project, token, event)
  })

  it('never says of a subscription that is over that it is renewed, though the vendor did not say when it ended', async () => {
    expect(await textOf('/subscriptions/sub_1')).toMatch(/Renews 2027-01-01/)
    expect(await textOf('/subscriptions/sub_over')).not.toContain('Renews')
    expect(await textOf('/subscriptions?status=canceled')).not.toContain('2027-01-01')
  })

  it.each([
    ['/subscriptions', ['3 × €19.00 / month', '2027-01-01', 'Ada']],
    ['/invoices', ['A-0001', 'paid', '¥1,900']],
    [
      '/subscriptions/sub_1',
      ['Customer Ada cus_1', 'Items', 'prod_1', '€19.00 / month', 'licensed', 'plan&quot;: &quot;pro'],
    ],
    [
      '/invoices/in_1',
      ['Customer Ada cus_1', 'Lines', 'Pro, monthly', 'The event did not contain all lines', 'Total: ¥1,000 → ¥1,900'],
    ],
    ['/customers/stripe/cus_1', ['ada@example.com', '-€5.00', 'sub_1', '3 × €19.00 / month', 'in_1', '¥1,900']],
  ])('shows on %s the amounts in their currency, and what belongs to it', async (path, expected) => {
    const text = await textOf(path)
    for (const part of expected) expect(text).toContain(part)
  })

  describe('the search box', () => {
    let ids: Record<string, string>
    beforeAll(async () => {
      const api = as(project, token)
      const put = async (id: string, name: string, email: string) => (await api.put(id, { name, email })).body.id
      ids = {
        grace: await put('user_1', 'Grace Hopper', 'grace@example.com'),
        vera: await put('user_2', 'Vera Molnár', 'vera@example.com'),
        other: await put('user_3', 'Vera Rubin', 'rubin@example.com'),
        like: await put('cus_10', 'Mary', 'mary@example.com'),
      }
    })
    const find = (q: string) =>
      visit(`${billing}/subscriptions?status=active&customer=x&q=${encodeURIComponent(q)}`, token)

    it.each([
      ['cus_2', () => 'customer=cus_2'],
      ['Nobody Known', () => 'customer=Nobody+Known'],
      ['ext:ada', () => 'consumer=ext%3Aada'],
      ['user_1', () => `consumer=${ids.grace}`],
      ['grace@', () => `consumer=${ids.grace}`],
      ['grace hop', () => `consumer=${ids.grace}`],
      ['molnár', () => `consumer=${ids.vera}`],
      ['Adam o', () => 'customer=cus_a1'],
      ['TWO@', () => 'customer=cus_a2'],
    ])('takes %j as the filter that it means, which the address then says', async (q, filter) => {
      const { status, headers } = await find(q)
      expect([status, headers.get('Location')]).toEqual([303, `${billing}/subscriptions?status=active&${filter()}`])
    })

    it.each([
      ['vera', ['vera', 'other']],
      // The whole id of a customer.
      ['cus_1', ['like']],
    ])('lets one choose what %j means', async (q, names) => {
      const { status, text } = await find(q)
      expect(status).toBe(200)
      for (const name of names) expect(text).toContain(`?status=active&amp;consumer=${ids[name]}"`)
      expect(text).toContain(`?status=active&amp;customer=${q}"`)
    })

    it('takes the number of an invoice as the invoice', async () => {
      const { status, headers } = await visit(`${billing}/invoices?q=a-0001`, token)
      expect([status, headers.get('Location')]).toEqual([303, `${billing}/invoices/in_1?vendor=stripe`])
    })

    it('reads few rows, however many invoices there are', async () => {
      const { project, owner } = await freshProject()
      const many = Array.from({ length: 300 }, (_, n) => `in_${n}`)
      await insertObjects(project, 'invoice', many)
      const { DB, count } = countingD1()
      const bindings = { EVENTS: lossyQueue().EVENTS, DB }
      await visit(`/console/p/${project}/platform/billing/invoices?q=a-0001`, owner.token, { bindings })
      expect(count.rows_read).toBeLessThan(100)
    })

    it('lets one choose between customers without a consumer', async () => {
      const { text } = await find('adam')
      for (const part of ['Adam One', 'two@example.com', '&amp;customer=cus_a2"', '&amp;customer=adam"'])
        expect(text).toContain(part)
    })

    it('leads on to the search of the project where nothing is found', async () => {
      const { text } = await visit(`${billing}/subscriptions?customer=Nobody`, token)
      expect(text).toMatch(/href="[^"]+\/search\?q=Nobody">Search the whole project for “Nobody”/)
    })
  })

  it('is narrowed by filters, each of which can be taken back', async () => {
    const path = '/subscriptions?customer=cus_1&updated_within=24h&overdue=&created_after=soon'
    const { text } = await visit(billing + path, token)
    expect([text.includes('sub_1?'), text.includes('sub_old?')]).toEqual([true, false])
    expect(text).toContain('<a href="?customer=cus_1" aria-label="Remove the filter Updated: last 24 hours">')
    expect(text).toContain('<a href="?updated_within=24h" aria-label="Remove the filter Customer: Ada">')
    expect(text).toContain('<a href="?customer=cus_1&amp;updated_within=24h&amp;status=past_due">Past due</a>')
    expect(text.match(/Remove the filter/g)).toHaveLength(2)
    const all = await textOf('/subscriptions?updated_after=2020-01-01T00:00')
    expect(all).toMatch(/Updated: custom .*Updated since 2020-01-01 00:00:00 UTC .*sub_old/)
  })

  it('leads to the invoice at the vendor, which does not learn from where', async () => {
    const { text } = await visit(`${billing}/invoices/in_1`, token)
    expect(text).toContain('<a href="https://invoice.stripe.com/i/1" rel="noreferrer"')
    expect(text).toContain('Open at invoice.stripe.com')
  })

  it.each([
    ['https://invoice.stripe.com/i/1', true],
    ['https://customer-portal.paddle.com/x', true],
    ['https://stripe.com.evil.dev/i/1', false],
    ['https://notstripe.com/i/1', false],
    ['https://stripe.com@evil.dev/', false],
    ['http://invoice.stripe.com/i/1', false],
    ['https://evil.dev/stripe.com', false],
    ['https://', false],
  ])('links to a page of a vendor alone: %s', async (address, linked) => {
    const html = String(Value({ name: 'hosted_url', value: address, now: 0, currency: null }))
    expect(html.includes('<a href=')).toBe(linked)
    expect(html).toContain(linked ? new URL(address).hostname : `<code>${address}</code>`)
  })

  it.each([
    ['', 'Subscriptions', '/billing/subscriptions'],
    ['/billing/subscriptions/sub_1?vendor=stripe', 'Subscriptions', '/billing/subscriptions'],
    ['/billing/invoices/in_1', 'Invoices', '/billing/invoices'],
    ['/billing/payment-methods?status=attached', 'Payment methods', '/billing/payment-methods?status=attached'],
    ['/billing/purchases/in_1', 'Purchases', '/billing/purchases'],
    ['/billing/webhooks/evt_1', 'Events', '/billing/webhooks'],
    ['/consumers/unlinked?settled=true', 'Unlinked customers', '/consumers/unlinked?settled=true'],
    ['/consumers/csm_1?tab=billing', 'Consumer', '/consumers/csm_1?tab=billing'],
    ['/consumers/csm_1/edit', 'Consumer', '/consumers/csm_1'],
    ['/settings/general', 'Subscriptions', '/billing/subscriptions'],
  ])('leads from a customer back to where one came from: %s', async (from, label, back) => {
    const platform = `/console/p/${project}/platform`
    const headers = from ? { Referer: ORIGIN + platform + from } : {}
    const { text } = await visit(`${billing}/customers/stripe/cus_1`, token, { headers })
    expect(/class="above"><a href="([^"]+)">← ([^<]+)</.exec(text)?.slice(1)).toEqual([platform + back, label])
  })

  it('has no page of a customer that no event has named', async () => {
    expect((await visit(`${billing}/customers/stripe/cus_2`, token)).status).toBe(404)
    expect((await visit(`${billing}/customers/paddle/cus_1`, token)).status).toBe(404)
  })
})
