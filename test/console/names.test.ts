import { beforeAll, describe, expect, it } from 'vitest'
import { insertObjects } from '../billing/rows'
import { call, countingD1, deliver, freshProject, inStore, settled, stripeConnection, stripeEvent } from '../harness'
import { visit } from './visit'

const MONTHLY = { product: 'prod_1', unit_amount: 1900, currency: 'eur', recurring: { interval: 'month' } }
const item = (price: string) => ({ id: `si_${price}`, quantity: 2, price: { id: price, ...MONTHLY } })
const OBJECTS: [type: string, object: Record<string, unknown>][] = [
  [
    'customer.subscription.created',
    { id: 'sub_a', customer: 'cus_a', status: 'active', items: { object: 'list', data: [item('price_a')] } },
  ],
  [
    'customer.subscription.created',
    { id: 'sub_b', customer: 'cus_b', status: 'active', items: { data: [item('price_b')] } },
  ],
  ['customer.subscription.deleted', { id: 'sub_over', customer: 'cus_a', status: 'canceled', items: { data: [] } }],
  ['customer.created', { id: 'cus_a', object: 'customer', metadata: { consumer_external_id: 'ada' } }],
  ['customer.created', { id: 'cus_b', object: 'customer', name: 'Bea & Co', email: 'bea@example.com' }],
  [
    'invoice.finalized',
    { id: 'in_b', object: 'invoice', customer: 'cus_b', status: 'open', currency: 'eur', total: 1 },
  ],
  [
    'invoice.paid',
    {
      ...{ id: 'in_a', object: 'invoice', customer: 'cus_a', status: 'paid', currency: 'eur', total: 3800 },
      number: 'A-1',
      parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_a' } },
      lines: {
        data: [{ id: 'il_a', pricing: { price_details: { price: 'price_a', product: 'prod_1' } } }],
        has_more: false,
      },
    },
  ],
  ['payment_method.attached', { id: 'pm_a', object: 'payment_method', customer: 'cus_a', type: 'sepa_debit' }],
  ['payment_method.attached', { id: 'pm_odd', object: 'payment_method', customer: 'cus_c' }],
]

describe('names beside ids', () => {
  let project: string
  let token: string
  let base: string
  let consumer: string
  let plan: string
  const api = async (path: string, method: string, json: object) =>
    (await call(`/platform/v1/${path}`, { method, token, project, json })).body
  const textOf = async (path: string) =>
    (await visit(base + path, token)).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  const costOf = async (path: string) => {
    const { DB, count } = countingD1()
    await visit(base + path, token, { bindings: inStore(DB) })
    return count.trips
  }

  beforeAll(async () => {
    const made = await freshProject()
    project = made.project
    token = made.owner.token
    base = `/console/p/${project}/platform`
    const { id } = await stripeConnection(token, project)
    for (const [type, object] of OBJECTS) {
      const { body } = await deliver(id, stripeEvent(type, object))
      await settled(project, token, body.event_ids[0])
    }
    consumer = (await api('consumers/ext:ada', 'PUT', { name: 'Ada <Lovelace>' })).id
    await api('billing/features/seats', 'PUT', { name: 'Seats', type: 'quantity' })
    const features = { seats: { value: 5 } }
    const prices = ['price_a', 'price_unseen'].map((ref) => ({ vendor: 'stripe', ref }))
    plan = (await api('billing/plans', 'POST', { key: 'team', name: 'Team <1>', features, prices })).id
    await api(`consumers/${consumer}/block`, 'POST', {})
  })

  it.each(['subscriptions', 'invoices', 'payment-methods'])(
    'are in the list of %s, which costs as many trips as before',
    async (list) => {
      const { text } = await visit(`${base}/billing/${list}`, token)
      const rows = text.split('<tr').filter((row) => row.includes('<td'))
      const of = (id: string) => rows.find((row) => row.includes(id)) ?? ''
      const at = (id: string) => `<a class="name" href="${base}/billing/${list}/${id}?vendor=stripe">`
      const [a = 'pm_a', b] = { subscriptions: ['sub_a', 'sub_b'], invoices: ['in_a', 'in_b'] }[list] ?? []
      expect(of(a)).toContain(`${at(a)}Ada &lt;Lovelace&gt;</a>`)
      // Nobody has linked this customer, so it is called as the vendor calls it.
      if (b) expect(of(b)).toContain(`${at(b)}Bea &amp; Co</a>`)
      if (list === 'subscriptions') {
        expect(of(a)).toContain('Team &lt;1&gt;: 2 × ')
        expect(of(b ?? '')).not.toMatch(/Team|csm_/)
      }
      // The session; the list; the frame.
      expect(await costOf(`/billing/${list}`)).toBeLessThanOrEqual(4)
    },
  )

  it('are in the list of events, its updates and its file, in one trip', async () => {
    const events = '/billing/webhooks'
    const filter = '?event_type=invoice.*'
    const cell = '<td><span title="Ada &lt;Lovelace&gt;">Ada &lt;Lovelace&gt;</span></td>'
    const { text } = await visit(`${base}${events}${filter}`, token)
    const rows = text.split('<tr id="').slice(1)
    expect(rows.map((row) => [row.replace(/<[^>]+>/g, '').includes('invoice.paid'), row.includes(cell)])).toEqual([
      [true, true],
      [false, false],
    ])
    const ids = rows.map((row) => row.slice(0, row.indexOf('"')))
    const open = ids.map((id) => `open=${id}:received`).join('&')
    const live = await visit(`${base}${events}/live${filter}&newest=${ids[0]}&${open}`, token)
    expect(live.text.split(cell)).toHaveLength(2)
    const [, ...lines] = (await visit(`${base}${events}/csv${filter}`, token)).text.trim().split('\r\n')
    expect(lines.map((line) => line.includes(`,${consumer},"Ada <Lovelace>",`))).toEqual([true, false])
    // A customer who is linked to no consumer is named in the same trip.
    const unlinked = await costOf(`${events}?event_type=customer.created&ref=cus_b`)
    expect(await costOf(`${events}?event_type=customer.created&ref=cus_a`)).toBe(unlinked)
    expect(unlinked).toBeLessThanOrEqual(7)
  })

  it('are in the list of consumers, with the subscription that is not over, for one trip more', async () => {
    const { text } = await visit(`${base}/consumers`, token)
    const [row = ''] = text.split('<tr').filter((one) => one.includes(`${consumer}">`))
    const words = row.replace(/^[^>]*>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    expect(words).toContain(' Ada &lt;Lovelace&gt; blocked Team &lt;1&gt; active ')
    // The session; the consumers; their plans; the frame.
    expect(await costOf('/consumers')).toBeLessThanOrEqual(5)
  })

  it('are in the list of consumers, with the plans that are granted now', async () => {
    const { id } = await api('consumers/ext:granted', 'PUT', { name: 'Granted' })
    await api('billing/plans', 'POST', { key: 'other', name: 'Other', features: {}, prices: [] })
    const grant = (of: object) => api('billing/grants', 'POST', { consumer: id, ...of })
    const rowOf = async () => {
      const { text } = await visit(`${base}/consumers`, token)
      const [row = ''] = text.split('<tr').filter((one) => one.includes(`${id}">`))
      return row.replace(/^[^>]*>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    }
    await grant({ plan: 'other', starts_at: new Date(Date.now() + 60_000).toISOString() })
    await grant({ feature: 'seats', value: 3 })
    expect(await rowOf()).toContain(' Granted – ')
    const { id: ends } = await grant({ plan: 'team' })
    expect(await rowOf()).toContain(' Granted Team &lt;1&gt; granted ')
    await api(`billing/grants/${ends}`, 'DELETE', {})
    expect(await rowOf()).toContain(' Granted – ')
  })

  it('are what the prices of a plan cost, where a subscription says it', async () => {
    expect(await textOf('/billing/plans')).toContain(' €19.00 / month price_unseen ')
    expect(await textOf(`/billing/plans/${plan}`)).toMatch(/ price_a .*€19\.00 \/ month .*price_unseen /)
    expect(await costOf('/billing/plans')).toBeLessThanOrEqual(4)
  })

  it('lead from a consumer to the lists of all that it has', async () => {
    await insertObjects(
      project,
      'invoice',
      Array.from({ length: 11 }, (_, n) => `in_more_${n}`),
    ) // of cus_1
    await api('billing/customers/stripe/cus_1', 'PUT', { consumer })
    const { text } = await visit(`${base}/consumers/${consumer}?tab=billing`, token)
    const all = `/billing/invoices?consumer=${consumer}`
    expect(text).toContain(`<a href="${base}${all}">All invoices</a>`)
    expect(text).toContain('Team &lt;1&gt;: 2 × ')
    expect(text).not.toContain('All subscriptions')
    expect((await visit(base + all, token)).text.match(/class="name" href="[^"]*invoices\/in_(a|more_)/g)).toHaveLength(
      12,
    )
    expect(await costOf(all)).toBeLessThanOrEqual(4)
    expect(await textOf('/billing/subscriptions?consumer=ext:ada')).toMatch(/^(?!.*sub_b).*sub_a/)
    for (const other of ['ext:nobody', 'ada'])
      expect(await textOf(`/billing/subscriptions?consumer=${other}`)).toContain('No subscriptions match this search.')
  })

  it('are on the pages of a subscription and an invoice, which cost as many trips as before', async () => {
    expect(await textOf('/billing/subscriptions/sub_a')).toMatch(
      /Consumer Ada &lt;Lovelace&gt; .*Items .*Plan .*Team &lt;1&gt;/,
    )
    expect(await textOf('/billing/subscriptions/sub_b')).not.toMatch(/Consumer Ada|Team/)
    expect(await textOf('/billing/invoices/in_a')).toMatch(/Consumer Ada &lt;Lovelace&gt; .*Lines .*Team &lt;1&gt;/)
    for (const path of ['/billing/subscriptions/sub_a', '/billing/invoices/in_a'])
      expect([path, await costOf(path)]).toEqual([path, 4])
  })

  it.each([
    ['subscriptions/sub_a', 'Team &lt;1&gt;: 2 × €19.00 / month'],
    ['subscriptions/sub_over', 'sub_over'],
    ['invoices/in_a', 'A-1'],
    ['invoices/in_b', 'in_b'],
    ['payment-methods/pm_a', 'SEPA debit'],
    ['payment-methods/pm_odd', 'pm_odd'],
  ])('are the title of the page of an object, or else its id is: %s', async (path, title) => {
    const { text } = await visit(`${base}/billing/${path}`, token)
    const [, heading = ''] = /<h1>(.*?)<\/h1>/s.exec(text) ?? []
    expect(heading.replace(/<span.*/s, '').trim()).toBe(title)
  })

  it('are what a page calls an object that it names: a plan or a number, with the id beside it', async () => {
    const link = (list: string, id: string, name: string) =>
      `<a href="${base}/billing/${list}/${id}?vendor=stripe">${name}</a> <span class="aside quiet"><code class="id">${id}</code>`
    const subscription = link('subscriptions', 'sub_a', 'Team &lt;1&gt;: 2 × €19.00 / month')
    const invoice = link('invoices', 'in_a', 'A-1')
    expect((await visit(`${base}/billing/invoices/in_a`, token)).text).toContain(subscription)
    const { data } = (await call('/platform/v1/billing/webhooks/search?ref=in_a', { token, project })).body
    const event = `/billing/webhooks/${data[0].id}`
    const { text } = await visit(base + event, token)
    expect(text).toContain(`<dt>Object</dt><dd>Invoice ${invoice}`)
    expect(text).toContain(`<dt>Subscription</dt><dd>${subscription}`)
    expect(text).not.toContain('<dt>Invoice</dt>')
    expect(text).toMatch(new RegExp(`aria-label="Effects".*Invoice ${invoice.replace('?', '\\?')}`, 's'))
  })

  it('are on the page of a customer, which costs as many trips as before', async () => {
    expect(await textOf('/billing/customers/stripe/cus_a')).toMatch(/ Subscriptions Plan .* Team &lt;1&gt;: 2 × /)
    expect(await textOf('/billing/customers/stripe/cus_b')).not.toContain('Team')
    expect(await costOf('/billing/customers/stripe/cus_a')).toBeLessThanOrEqual(4)
  })

  it('are in the audit log', async () => {
    const { text } = await visit(`${base}/settings/audit-log`, token)
    expect(text).toContain(`<span class="line">Ada &lt;Lovelace&gt;</span><code class="id">${consumer}</code>`)
    expect(text).toContain(`<span class="line">Team &lt;1&gt;</span><code class="id">team</code>`)
  })
})
