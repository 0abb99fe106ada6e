import { describe, expect, it } from 'vitest'
import {
  addMember,
  call,
  countingD1,
  deliver,
  freshProject,
  lossyQueue,
  mint,
  ORIGIN,
  STORE,
  settled,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { insertConnection, insertEvents, seedEvent } from '../inbox/seeding'
import { submit, visit } from './visit'

describe('webhook events in the console', () => {
  it('links an event to its customer and subscription, and names who replayed it', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const object = { id: 'sub_1', object: 'subscription', customer: 'cus_1', status: 'active' }
    const event = (await deliver(connection.id, stripeEvent('customer.subscription.updated', object))).body.event_ids[0]
    const parent = { type: 'subscription_details', subscription_details: { subscription: 'sub_2' } }
    const invoice = { id: 'in_1', object: 'invoice', customer: 'cus_1', parent, status: 'open' }
    const other = (await deliver(connection.id, stripeEvent('invoice.created', invoice))).body.event_ids[0]
    for (const id of [event, other]) await settled(project, owner.token, id)
    const { secret } = await mint(owner.token, project, { name: 'Nightly <job>' })
    for (const token of [secret, owner.token]) {
      await call(`/platform/v1/billing/webhooks/${event}/replay`, { method: 'POST', token, project })
      await settled(project, owner.token, event)
    }
    const events = `/console/p/${project}/platform/billing/webhooks`
    const subscriptions = `/console/p/${project}/platform/billing/subscriptions`
    const { text } = await visit(`${events}/${event}`, owner.token)
    expect(text).toContain(`href="${subscriptions.replace('subscriptions', 'customers')}/stripe/cus_1"`)
    expect(text).toContain(`href="${subscriptions}/sub_1?vendor=stripe"`)
    expect(text).toContain('Nightly &lt;job&gt;')
    expect(text).toContain(`Replay by ${owner.email}`)
    expect(text).not.toMatch(/>\d{4}-\d\d-\d\dT/)
    // There is no page for a subscription that no event has described.
    const without = (await visit(`${events}/${other}`, owner.token)).text
    expect(without).toContain('<dd><code class="id">sub_2</code></dd>')
    expect(without).not.toContain('sub_2?vendor')
  })

  it('has the search of the API, and replays what it finds', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const ids: string[] = []
    for (const type of ['invoice.paid', 'invoice.paid', 'customer.created']) {
      const { body } = await deliver(connection.id, stripeEvent(type))
      ids.push(body.event_ids[0])
    }
    for (const id of ids) await settled(project, owner.token, id)
    const events = `/console/p/${project}/platform/billing/webhooks`
    const rows = (text: string) => [...text.matchAll(/<tr id="(evt_\w+)"/g)].map(([, id]) => id)
    expect(rows((await visit(events, owner.token)).text)).toEqual(ids.toReversed())
    const search = '?event_type=invoice.*&vendor=stripe&status=processed&received_after=2020-01-01T00:00&ref='
    expect(rows((await visit(events + search, owner.token)).text)).toEqual([ids[1], ids[0]])
    const asc = await visit(`${events}?order=asc`, owner.token)
    expect(rows(asc.text)).toEqual(ids)
    expect(asc.text).not.toContain('webhooks/live')
    // The heading says the order, and leads to the other one with the same filters.
    const heading = (text: string) => /aria-sort="(\w+)"><a href="([^"]*)">Received</.exec(text)?.slice(1)
    expect(heading(asc.text)).toEqual(['ascending', '?'])
    const some = (await visit(`${events}?status=processed`, owner.token)).text
    expect(heading(some)).toEqual(['descending', '?status=processed&amp;order=asc'])
    const wrong = await visit(`${events}?error=x&livemode=maybe`, owner.token)
    expect([wrong.status, wrong.text.includes('id="error-wrong"')]).toEqual([422, true])

    const question = await visit(`${events}/replay${search}`, owner.token)
    expect(question.text).toContain('Replay 2 events?')
    const done = await submit(`${events}/replay`, owner.token, { search: 'event_type=invoice.paid' })
    const progress = done.headers.get('Location') ?? ''
    expect(progress).toContain('/replays/rpl_')
    expect((await visit(progress, owner.token)).text).toContain('0 of 2 events processed again')
    const again = await submit(`${events}/replay`, owner.token, { search: 'event_type=invoice.paid' })
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('is running')])
  })

  it('updates the list with new and changed events only', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const lost = { bindings: { EVENTS: lossyQueue().EVENTS } }
    const first = (await deliver(connection.id, stripeEvent(), lost)).body.event_ids[0]
    const live = `/console/p/${project}/platform/billing/webhooks/live`
    const poll = (query: string) => visit(`${live}?${query}`, owner.token, { headers: { 'HX-Request': 'true' } })
    expect((await poll(`newest=${first}&open=${first}:received`)).status).toBe(204)
    const changed = await poll(`newest=${first}&open=${first}:processing`)
    expect(changed.text).toContain(`id="${first}"`)
    expect(changed.text).toContain('hx-swap-oob="true"')
    expect(changed.headers.get('X-New-Rows')).toBe('0')
    const second = (await deliver(connection.id, stripeEvent('invoice.paid'), lost)).body.event_ids[0]
    const fresh = await poll(`newest=${first}`)
    expect(fresh.text).toContain(`id="${second}"`)
    expect(fresh.text).not.toContain(`id="${first}"`)
    expect(fresh.headers.get('X-New-Rows')).toBe('1')
    expect((await poll(`newest=${first}&event_type=customer.*`)).text).not.toContain(second)
    expect((await poll('newest=')).headers.get('X-New-Rows')).toBe('2')
    const { DB, count } = countingD1()
    await visit(`${live}?newest=${second}`, owner.token, { bindings: { ...lost.bindings, DB } })
    expect(count.trips).toBeLessThanOrEqual(2)
    expect(count.rows_read).toBeLessThanOrEqual(6) // the session, its user, role and project; and what is new
    const out = await visit(live, null, { headers: { 'HX-Request': 'true', 'HX-Current-URL': `${ORIGIN}/console/x` } })
    expect([out.status, out.headers.get('HX-Redirect')]).toEqual([401, '/console/sign-in?next=%2Fconsole%2Fx'])
  })

  it('shows failed events by cause above the list of all of them, with links to those and to their replay', async () => {
    const { project, owner } = await freshProject()
    const connection = await insertConnection(project, 'stripe')
    const events = `/console/p/${project}/platform/billing/webhooks`
    const causes = async (query: string, token = owner.token) => {
      const { status, text } = await visit(events + query, token)
      expect(status).toBe(200)
      const [, table] = /aria-label="Failed events by cause".*?<tbody>(.*?)<\/tbody>/s.exec(text) ?? []
      if (table === undefined) return null
      return { links: [...table.matchAll(/href="([^"]+)"/g)].map(([, href]) => href), table }
    }
    const failed = (last_error_code: 'payload_invalid' | 'vendor_failed') =>
      seedEvent({ connection, received_at: Date.now(), status: 'failed', last_error: 'so <it> was', last_error_code })
    await insertEvents(project, [failed('vendor_failed')])
    expect(await causes('?status=failed')).toBe(null) // one event says it all itself
    await insertEvents(project, [failed('vendor_failed'), failed('payload_invalid')])
    const query = (code: string) => `?status=failed&amp;connection_id=${connection}&amp;error_code=${code}`
    const shown = await causes('?status=failed')
    const muting = (code: string) => `${events}/failures/${connection}/${code}/mute`
    expect(shown?.links).toEqual([
      events + query('vendor_failed'),
      `${events}/replay${query('vendor_failed')}`,
      muting('vendor_failed'),
      events + query('payload_invalid'),
      muting('payload_invalid'),
    ])
    expect(shown?.table).toContain('Replay these…')
    const [passing, failing] = shown?.table.split('</tr>').map((row) => row.includes('A replay would fail')) ?? []
    expect([passing, failing]).toEqual([false, true])
    expect(shown?.table).toMatch(/aria-label="Received by day: \d{4}-\d\d-\d\d: 2"/)
    for (const other of ['', '?status=failed&status=ignored', '?status=failed&vendor=stripe'])
      expect(await causes(other)).toBe(null)
    const seen = await causes('?status=failed', (await addMember(project, 'viewer')).token)
    expect(seen?.links).toEqual([events + query('vendor_failed'), events + query('payload_invalid')])
    expect(seen?.table).not.toContain('eplay')
    const ofOne = query('vendor_failed').replaceAll('&amp;', '&')
    const { text } = await visit(events + ofOne, owner.token)
    expect(text).toContain('Error code: vendor_failed')
    const [first, second, ...more] = [...text.matchAll(/<tr id="(evt_[^"]+)"/g)].map(([, id]) => id)
    expect([second === undefined, more]).toEqual([false, []])
    // The list of a cause keeps its row, and an event leads to that list.
    expect((await causes(ofOne))?.links).toEqual(shown?.links.slice(0, 3))
    expect((await visit(`${events}/${first}`, owner.token)).text).toContain(
      `<a href="${events}${query('vendor_failed')}">All 2 failed events with this cause</a>`,
    )
  })

  it('is smaller than 60 KB with 50 rows, each with a customer that nobody has linked', async () => {
    const { project, owner } = await freshProject()
    const { id: connection } = await stripeConnection(owner.token, project)
    const customer = { object: 'customer', id: 'cus_1', name: 'Ada Lovelace' }
    const { body } = await deliver(connection, stripeEvent('customer.created', customer))
    await settled(project, owner.token, body.event_ids[0])
    const event_type = 'customer.subscription.trial_will_end'
    // Times such as "59 min ago" are the longest.
    const received_at = Date.now() - 59.5 * 60_000
    const events = Array.from({ length: 50 }, () => seedEvent({ connection, received_at, event_type }))
    await insertEvents(project, events)
    const object = { type: 'subscription', id: `sub_${'x'.repeat(30)}` }
    const summary = JSON.stringify({
      vendor: 'stripe',
      object,
      customer: customer.id,
      livemode: false,
      refs: [],
      effects: [],
    })
    await STORE.prepare('UPDATE events SET summary = ? WHERE project_id = ? AND event_type = ?')
      .bind(summary, project, event_type)
      .run()
    const { text } = await visit(`/console/p/${project}/platform/billing/webhooks`, owner.token)
    expect(text.match(/<tr id="evt_/g)).toHaveLength(50)
    expect(text.match(/Ada Lovelace<\/span> <small>Not linked</g)).toHaveLength(50)
    expect(text).toContain('Next page')
    expect(text.length).toBeLessThan(59_500)
  })
})
