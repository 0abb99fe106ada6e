import { describe, expect, it } from 'vitest'
import { stripeInvoice, stripeSubscription } from '../billing/payloads'
import { stripeInvoicePayment, stripeRefund } from '../billing/purchases/payloads'
import { stopClock } from '../clock'
import { follow, newWorld } from '../feed/world'
import { addMember, call, countingD1, inStore } from '../harness'
import { watchWorld } from '../watch/world'
import { visit } from './visit'

/** What the first cells of rows begin with: they have no label. */
const UNLABELED: Record<string, string> = { Type: '<tr><td' }
/** The cells of a column. The mark of test mode is left out: test/console/modes.test.ts has it. */
const cellsOf = (text: string, label: string) =>
  [
    ...text
      .replaceAll(' <span class="badge test">Test</span>', '')
      .matchAll(new RegExp(`${UNLABELED[label] ?? `data-label="${label}"`}>(.*?)</td>`, 'g')),
  ].map(([, cell = '']) => cell)

/** The text of a cell. */
const plain = (cell: string) =>
  cell
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

async function changesPage() {
  const world = await newWorld()
  const base = `/console/p/${world.project}/platform`
  return { ...world, base, open: (query = '') => visit(`${base}/changes${query}`, world.owner.token) }
}

describe('the changes in the console', () => {
  it('are shown newest first, in words, with links to the object, its consumer and the event', async () => {
    const { base, open, put, happens, queue } = await changesPage()
    const { body } = await put('consumers/ext:ada', { name: '<b>Ada</b>' })
    await put('consumers/ext:ada', { name: '<i>Ada</i>' })
    const customer = { id: 'cus_1', object: 'customer', metadata: { consumer_external_id: 'ada' } }
    const event = await happens('customer.created', customer)
    await queue.pump()
    // There is one for each event, so they are left out until they are asked for.
    const usual = (await open()).text
    expect(usual).not.toContain('Event processed')
    expect(usual).toContain('<a href="?types=all" aria-label="Remove the filter Without webhook events">')
    const { status, text } = await open('?types=all')
    expect(status).toBe(200)
    const said = cellsOf(text, 'Type').map((cell) => cell.replace(/<span.*/, ''))
    expect(said.slice(0, 5)).toEqual([
      'Event processed',
      'Customer created',
      'Customer link changed',
      'Consumer changed',
      'Consumer created',
    ])
    // What the event did to the customer is no change of its link.
    expect(
      cellsOf(text, 'Type')
        .slice(0, 5)
        .map((cell) => cell.includes('Active')),
    ).toEqual([false, true, false, false, false])
    expect(said.at(-1)).toBe('Project created')
    expect(cellsOf(text, 'Type')[3]).toContain('<span class="line quiet">name</span>')
    const type = `<a href="${base}/billing/webhooks/${event}">customer.<wbr/>created</a>`
    expect(cellsOf(text, 'Object').slice(0, 2)).toEqual([
      type,
      `<a href="${base}/billing/customers/stripe/cus_1"><code class="id">cus_1</code></a>`,
    ])
    expect(cellsOf(text, 'Consumer')[1]).toBe(`<a href="${base}/consumers/${body.id}">&lt;i&gt;Ada&lt;/i&gt;</a>`)
    expect(cellsOf(text, 'Cause')[1]).toBe(type)
  })

  it('name a grant by what it gives and to whom, and who made it for those who may read the audit log', async () => {
    const { base, open, put, post, owner, token, project } = await changesPage()
    const ada = (await put('consumers/ext:ada', { name: 'Ada <1>' })).body.id
    await put('consumers/ext:nameless', {})
    await put('billing/features/seats', { name: 'Seats & more', type: 'boolean' })
    await post('billing/plans', { key: 'team', name: 'Team', features: {}, prices: [] })
    const json = { consumer: ada, effect: 'deny', feature: 'seats' }
    const denied = (await call('/platform/v1/billing/grants', { method: 'POST', token, project, json })).body.id
    const given = (await post('billing/grants', { consumer: 'ext:nameless', effect: 'allow', plan: 'team' })).body.id
    const named = (await post('billing/grants', { consumer: ada, effect: 'allow', feature: 'seats' })).body.id
    const { text } = await open('?types=grant.*')
    const objects = cellsOf(text, 'Object').map((cell) => / title="(.*)">(.*)<\/a>/.exec(cell)?.slice(1))
    expect(objects).toEqual([
      [named, 'Seats &amp; more for Ada &lt;1&gt;'],
      [given, 'Team for nameless'],
      [denied, 'Denied Seats &amp; more for Ada &lt;1&gt;'],
    ])
    const by = (grant: string, who: string) =>
      `<a href="${base}/settings/audit-log?object_id=${grant}" title="Created a grant"><span class="cut">${who}</span></a>`
    expect(cellsOf(text, 'Cause')).toEqual([
      by(named, owner.email),
      by(given, owner.email),
      by(denied, 'API key “test key”'),
    ])
    const developer = await addMember(project, 'developer')
    const seen = (await visit(`${base}/changes?types=grant.*`, developer.token)).text
    expect(cellsOf(seen, 'Object')).toEqual(cellsOf(text, 'Object'))
    expect(cellsOf(seen, 'Cause').join()).toMatch(/^(<span><code class="id">aud_\w+<\/code><\/span>,?){3}$/)
  })

  it('say what a consumer may do now, what it might do before, and why', async () => {
    stopClock()
    const world = await watchWorld()
    await world.sell({})
    const { id } = await world.must('PUT', 'consumers/ext:ada', {})
    await world.set({ watch_entitlements: true })
    await world.told()
    const of = { consumer: 'ext:ada', effect: 'allow' }
    await world.must('POST', 'billing/grants', { ...of, feature: 'sso' })
    await world.must('POST', 'billing/grants', { ...of, feature: 'limits', value: { text: '<b>'.repeat(50) } })
    await world.must('POST', 'billing/grants', { ...of, feature: 'seats', value: 5 })
    await world.told()
    const path = `/console/p/${world.project}/platform`
    const { text } = await visit(`${path}/changes?types=entitlements.*`, world.owner.token)
    const [changed, watching] = cellsOf(text, 'Type')
    expect(changed).toMatch(
      /^Entitlements changed<.*limits: not allowed → {&quot;text&quot;:&quot;(&lt;b&gt;)+(&lt;)?…<.*seats: not allowed → 5<.*sso: not allowed → allowed</,
    )
    expect(watching).toBe('Entitlement tracking started')
    expect(cellsOf(text, 'Object')).toEqual([
      `<a href="${path}/consumers/${id}">ada</a>`,
      `<a href="${path}/settings/general" title="${world.project}">This project</a>`,
    ])
    expect(cellsOf(text, 'Cause')[0]).toMatch(/>API key “.*<span class="line quiet">Created a grant<\/span>$/)
    const settings = await visit(`${path}/changes?types=project.*`, world.owner.token)
    expect(cellsOf(settings.text, 'Type')[0]).toMatch(
      /^Setting changed<.*>Publish entitlement changes to the feed: off → on</,
    )
  })

  it('say what changed, before and after, as far as what made the change says it; a new object is created', async () => {
    const { open, put, post, happens, queue, owner, project } = await changesPage()
    const at = (status: string) => stripeSubscription({ id: 'sub_1', customer: 'cus_1', status })
    await happens('customer.subscription.created', at('active'))
    await queue.pump()
    await happens('customer.subscription.updated', at('past_due'))
    await queue.pump()
    await put('billing/features/seats', { name: 'Seats', type: 'boolean' })
    await put('billing/features/seats', { name: 'Team <seats>', type: 'boolean' })
    const { id } = (await post('billing/plans', { key: 'pro', name: 'Pro', features: {}, prices: [] })).body
    const of = { method: 'PATCH', token: owner.token, project }
    await call(`/platform/v1/billing/plans/${id}`, { ...of, json: { name: 'Pro 2' } })
    await call(`/platform/v1/projects/${project}`, { ...of, json: { settings: { default_plan: id } } })
    const { text } = await open('?types=subscription.*,feature.*,plan.*,project.*')
    expect(cellsOf(text, 'Type').map(plain).slice(0, 7)).toEqual([
      'Setting changed Default plan: none → Pro 2',
      'Plan changed Name: Pro → Pro 2',
      'Plan created Key: pro',
      'Feature changed Name: Seats → Team &lt;seats&gt;',
      'Feature created Type: On or off',
      'Subscription changed Status: Active → Past due',
      'Subscription created Active',
    ])
    expect(cellsOf(text, 'Object')[3]).toContain('>Team &lt;seats&gt;<')
    await call('/platform/v1/billing/features/seats', { ...of, method: 'DELETE' })
    expect(plain(cellsOf((await open('?types=feature.*')).text, 'Object')[0] ?? '')).toBe('Team &lt;seats&gt;')
    // Who may not read the audit log is told which fields changed.
    const { token } = await addMember(project, 'developer')
    const names = cellsOf((await visit(`/console/p/${project}/platform/changes`, token)).text, 'Type').map(plain)
    expect(names.slice(1, 3)).toEqual(['Setting changed Default plan', 'Plan changed name'])
  })

  it('call the objects of vendors as their pages do, with the id beside, for no trip more; a new object has its state alone', async () => {
    const { base, open, put, post, happens, queue, owner } = await changesPage()
    await post('billing/plans', {
      ...{ key: 'team', name: 'Team <1>', features: {} },
      prices: [{ vendor: 'stripe', ref: 'price_monthly' }],
    })
    await happens('customer.created', { id: 'cus_1', object: 'customer', name: 'Bea & Co' })
    const at = (status: string) => stripeSubscription({ id: 'sub_1', customer: 'cus_1', status })
    // Both make one change.
    await happens('customer.subscription.created', at('active'))
    await happens('customer.subscription.updated', at('unpaid'))
    await queue.pump()
    await happens('invoice.paid', stripeInvoice({ id: 'in_1', customer: 'cus_1', number: 'A-1', status: 'paid' }))
    await queue.pump()
    await happens('invoice_payment.paid', stripeInvoicePayment('in_1', 'pi_1'))
    await happens('refund.created', stripeRefund('pi_1'))
    await queue.pump()
    const { text } = await open('?types=subscription.*,invoice.*,customer.changed')
    expect(cellsOf(text, 'Type').map(plain)).toEqual([
      'Invoice changed Refunded amount: $0.00 → $10.00',
      'Invoice created Paid, $24.00',
      'Subscription created Unpaid',
      'Customer created Active',
    ])
    const objects = cellsOf(text, 'Object')
    expect(objects.map(plain)).toEqual([
      'A-1 in_1',
      'A-1 in_1',
      'Team &lt;1&gt;: 2 × $12.00 / month sub_1',
      'Bea &amp; Co cus_1',
    ])
    expect(objects[0]).toContain(`<a href="${base}/billing/invoices/in_1?vendor=stripe">A-1</a>`)
    const tripsOf = async (types: string) => {
      const { DB, count } = countingD1()
      await visit(`${base}/changes?types=${types}`, owner.token, { bindings: inStore(DB) })
      return count.trips
    }
    expect(await tripsOf('subscription.*')).toBe(await tripsOf('webhook_event.*'))
    // A grant is called as the audit log calls it.
    await put('consumers/ext:ada', {})
    await post('billing/grants', { consumer: 'ext:ada', effect: 'allow', plan: 'team' })
    const grants = await open('?types=grant.*')
    expect(cellsOf(grants.text, 'Type').map(plain)).toEqual(['Grant created Team &lt;1&gt;'])
  })

  it('are filtered by type; a filter that names nothing is refused in place', async () => {
    const { open, put } = await changesPage()
    await put('consumers/ext:ada', {})
    const { text } = await open('?types=consumer.*')
    expect(cellsOf(text, 'Type')).toEqual(['Consumer created'])
    expect((await open('?types=grant.*')).text).toContain('No matching changes in the last 30 days.')
    const wrong = await open('?types=nothing')
    expect([wrong.status, wrong.text.includes('Is not a type of change: nothing.')]).toEqual([422, true])
  })

  it('fill several pages, each of which goes on where the one before ended', async () => {
    const world = await changesPage()
    const { open, put, happens, queue } = world
    for (let i = 0; i < 120; i++) await put(`consumers/ext:${i}`, {})
    // More changes in one transaction than a page shows.
    for (let i = 0; i < 30; i++)
      await happens('customer.created', { id: `cus_${i}`, object: 'customer', metadata: { consumer_external_id: '7' } })
    await queue.pump()
    const columnOf = async (name: string, query: string | undefined) => {
      const cells: string[] = []
      while (query !== undefined) {
        const { status, text } = await open(query)
        expect(status).toBe(200)
        const more = cellsOf(text, name)
        expect(more.length).toBeLessThanOrEqual(50)
        cells.push(...more)
        query = /href="(\?[^"]*cursor=[^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
      }
      return cells
    }
    const objects = await columnOf('Object', '?types=all')
    expect(await columnOf('Object', '?types=all&order=asc')).toEqual(objects.toReversed())
    const created = await columnOf('Number', '?types=consumer.created')
    expect(created).toHaveLength(120)
    expect(await columnOf('Number', '?types=consumer.created&order=asc')).toEqual(created.toReversed())
    const numbers = await columnOf('Number', '?types=all')
    expect(new Set(numbers).size).toBe(objects.length)
    const { found } = await follow(world)
    expect(objects).toHaveLength(found.length)
    const [alone, ...others] = cellsOf((await open(`?number=${found[7]?.number}`)).text, 'Object')
    expect(others).toEqual([])
    expect(alone).toContain(found[7]?.object.id)
    expect((await open('?cursor=nonsense')).status).toBe(400)
  })
})
