import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import Stripe from 'stripe'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOUR } from '../../src/lib/time'
import type { VendorName } from '../../src/vendors'
import { paddleSamples } from '../../src/vendors/paddle-samples'
import type { Samples } from '../../src/vendors/samples'
import { stripeSamples } from '../../src/vendors/stripe-samples'
import { setClock, stopClock } from '../clock'
import {
  type Answer,
  addMember,
  call,
  countingD1,
  freshProject,
  inStore,
  mint,
  newPaddleAccount,
  newPaddleKey,
  newStripeAccount,
  newStripeKey,
  ORIGIN,
  STORE,
  STRIPE_SECRET,
  seenBy,
  settled,
} from '../harness'
import { SAMPLES } from '../vendors/samples'
import { auditRows, submit, visit } from './visit'

const AT = '/platform/billing/connections'
const PADDLE_SECRET = 'pdl_ntfset_0123456789abcdef'
const SECRETS: Partial<Record<VendorName, string>> = { paddle: PADDLE_SECRET, stripe: STRIPE_SECRET }
const OF: [vendor: VendorName, samples: Samples, price: string][] = [
  ['paddle', paddleSamples, 'pri_test_team'],
  ['stripe', stripeSamples, 'price_test_team'],
]

type Made = Awaited<ReturnType<typeof project>>

/** A project whose owner connects vendors, sends test events and reads what became of them. */
async function project() {
  const { project, owner } = await freshProject()
  const { token } = owner
  const api = (path: string, json?: object, method = json ? 'POST' : 'GET') =>
    call(`/platform/v1/${path}`, { token, project, ...(json && { method, json }) })
  const path = (of: string) => `/console/p/${project}${AT}/${of}`
  const send = (of: string, sample: string, by = token) =>
    submit(`${path(of)}/test-events`, by, { sample }, { bindings: {} }) // with the real Queue
  const connect = async (vendor: VendorName, more: object = {}) => {
    const json = {
      vendor,
      name: vendor,
      livemode: false,
      signing_secret: SECRETS[vendor] ?? 'a0b1c2d3e4f5a6b7c8d9',
      ...more,
    }
    const { status, body } = await api('billing/connections', json)
    if (status !== 201) throw new Error(`connecting ${vendor} answered ${status}: ${JSON.stringify(body)}`)
    return body.id as string
  }
  /** Sends a test event that must be accepted; its id once it is processed. */
  const sent = async (of: string, sample: string) => {
    const event = eventIn(await send(of, sample))
    await settled(project, token, event)
    return event
  }
  return { project, token, api, path, send, connect, sent }
}

function eventIn({ status, headers }: Answer): string {
  const to = new URL(headers.get('Location') ?? '', ORIGIN)
  expect([status, to.search]).toEqual([303, '?done=test_event_sent'])
  return to.pathname.split('/').at(-1) ?? ''
}

const eventsOf = (of: string) =>
  STORE.prepare('SELECT count(*) AS n FROM events WHERE connection_id = ?').bind(of).first<number>('n')

describe.each(OF)('a test event of %s', (vendor, samples, price) => {
  it('is recorded and processed like one of the vendor, and leaves an audit entry', async () => {
    const made = await project()
    const { api, connect, sent } = made
    const id = await connect(vendor)
    const before = await auditRows(made.project)
    const subscribed = async () => (await api('billing/subscriptions')).body.data
    for (const [name, { type }] of Object.entries(samples.list)) {
      const { body } = await api(`billing/webhooks/${await sent(id, name)}`)
      expect([body.status, body.event_type, body.connection_id, body.livemode]).toEqual(['processed', type, id, false])
      if (name === 'subscription_past_due') expect(await subscribed()).toMatchObject([{ status: 'past_due' }])
      if (name === 'subscription_ending')
        expect(await subscribed()).toMatchObject([
          {
            status: 'active',
            cancel_at_period_end: true,
            items: [{ quantity: 5, price, amount: 1900, currency: 'EUR' }],
          },
        ])
    }
    expect(await auditRows(made.project)).toBe(before + Object.keys(samples.list).length)
    const { body: log } = await api('audit-log?limit=1')
    expect(log.data[0]).toMatchObject({ action: 'connection.test_event_sent', object: { type: 'connection', id } })
    expect(await subscribed()).toMatchObject([{ status: 'canceled' }])
    const { body: invoices } = await api('billing/invoices')
    const ofInvoice = ({ status, total, amount_remaining }: Record<string, unknown>) => [
      status,
      total,
      amount_remaining,
    ]
    expect(invoices.data.map(ofInvoice).sort()).toEqual([
      ['open', 9500, 9500],
      ['paid', 9500, 0],
    ])
    const { body: customers } = await api('billing/customers')
    expect(customers.data).toMatchObject([{ external_id: 'test_user_1', linked_by: 'customer' }])
    // We signed, not the vendor: a secret that the vendor no longer uses can still be told.
    const { body: connection } = await api(`billing/connections/${id}`)
    expect(connection.secrets).toMatchObject([{ last_used_at: null }])
  })

  it('never says another time at which its customer or its subscription was made', async () => {
    const at = stopClock()
    const made = await project()
    const id = await made.connect(vendor)
    const times = async () => {
      const first = async (kind: string) => (await made.api(`billing/${kind}`)).body.data[0]
      const [customer, subscription] = [await first('customers'), await first('subscriptions')]
      return [customer.created_at, subscription.created_at, subscription.started_at]
    }
    for (const name of ['customer', 'subscription_started']) await made.sent(id, name)
    const first = await times()
    setClock(at + HOUR)
    for (const name of ['customer', 'subscription_past_due']) await made.sent(id, name)
    expect(await times()).toEqual(first)
    expect((await made.api('billing/subscriptions')).body.data[0].status).toBe('past_due')
  })

  it('is the start of the road: a feature, a plan for its price, its consumer, and an answer', async () => {
    const { project: of, token, api, connect, sent } = await project()
    const { secret } = await mint(token, of)
    await call('/platform/v1/projects', { token: secret, project: of })
    await sent(await connect(vendor), 'subscription_started')
    const next = async () => (await visit(`/console/p/${of}`, token)).text
    const [feature] = /href="([^"]+\/features\/new\?[^"]+)"/.exec(await next())?.slice(1) ?? []
    expect((await visit(feature?.replaceAll('&amp;', '&') ?? 'none', token)).status).toBe(200)
    await api('billing/features/seats', { name: 'Seats', type: 'quantity' }, 'PUT')
    const [plan] = /href="([^"]+\/plans\/new\?[^"]+)"/.exec(await next())?.slice(1) ?? []
    expect(plan).toContain(`/plans/new?vendor=${vendor}&amp;ref=${price}&amp;`)
    const form = (await visit(plan?.replaceAll('&amp;', '&') ?? 'none', token)).text
    expect(form).toContain(price)
    const prices = [{ vendor, ref: price }]
    await api('billing/plans', { key: 'team', name: 'Team', features: { seats: { value: 5 } }, prices })
    expect(await next()).toContain('<input type="hidden" name="external_id" value="test_user_1"')
    const created = await submit(`/console/p/${of}/platform/consumers`, token, { external_id: 'test_user_1' })
    const consumer = new URL(created.headers.get('Location') ?? '', ORIGIN).pathname
    expect(await next()).toContain(`href="${consumer}"`)
    expect((await visit(consumer, token)).text).toContain('Not allowed: Seats')
    await api(`projects/${of}`, { settings: { test_mode_counts: true } }, 'PATCH')
    expect((await visit(consumer, token)).text).toContain('Allowed: Seats (5)')
    const { body } = await api('consumers/ext:test_user_1/entitlements')
    expect(body.features).toMatchObject({ seats: { allowed: true, value: 5 } })
  })

  it('is offered on the page of a connection in test mode that can verify it, with what it does', async () => {
    const { project: of, token, path, connect, send } = await project()
    const id = await connect(vendor)
    const { text } = await visit(path(id), token)
    for (const [name, { type, does }] of Object.entries(samples.list))
      expect(text).toContain(`<option value="${name}">${type}: ${does}</option>`)
    const developer = (await addMember(of, 'developer')).token
    const offers = async (at: string, by = token) => (await visit(path(at), by)).text.includes('/test-events"')
    expect([await offers(id), await offers(id, developer)]).toEqual([true, false])
    const others = [await connect(vendor, { livemode: true }), await connect(vendor, { signing_secret: undefined })]
    expect(await Promise.all(others.map((one) => offers(one)))).toEqual([false, false])
    // On a local server, the step of the first event has a command too: below the form.
    const local = await visit(`http://localhost:8787${path(id)}`, token, { bindings: { PUBLIC_ORIGIN: '' } })
    expect(local.text.match(/\/test-events"|id="send"/g)).toEqual(['/test-events"', 'id="send"'])
    const event = eventIn(await send(id, 'customer'))
    const page = await visit(`/console/p/${of}/platform/billing/webhooks/${event}?done=test_event_sent`, token)
    expect(page.text).toContain(`The <a href="/console/p/${of}">overview</a> shows what comes next.`)
    expect(await offers(id)).toBe(true)
  })

  it('is among the links to the parts of the page, where it is offered', async () => {
    const { project: of, token, api, path, connect, sent } = await project()
    const id = await connect(vendor)
    await sent(id, 'customer')
    const linked = async (by = token) =>
      (await visit(path(id), by)).text.includes('<a href="#test-event">Test event</a>')
    const developer = (await addMember(of, 'developer')).token
    expect([await linked(), await linked(developer)]).toEqual([true, false])
    await api(`billing/connections/${id}`, { livemode: true }, 'PATCH')
    expect(await linked()).toBe(false)
  })

  it('has the external id under the key that the project reads', async () => {
    const { project: of, api, connect, sent } = await project()
    await api(`projects/${of}`, { settings: { consumer_keys: ['user_id', 'account'] } }, 'PATCH')
    await sent(await connect(vendor), 'customer')
    expect((await api('billing/customers')).body.data).toMatchObject([{ external_id: 'test_user_1' }])
  })

  it('tells nothing about the account of an API key', async () => {
    const { api, connect, sent } = await project()
    const id = await connect(vendor)
    await sent(id, 'subscription_started')
    const key =
      vendor === 'paddle'
        ? await newPaddleAccount({}, newPaddleKey('sdbx'))
        : await newStripeAccount({}, newStripeKey('test'))
    const set = await api(`billing/connections/${id}/api-key`, { api_key: key }, 'PUT')
    expect([set.status, set.body.account]).toEqual([200, null])
    expect((await seenBy(key)).filter(({ url }) => /_test_|evt_/.test(url))).toEqual([])
  })
})

describe('the libraries of the vendors accept a test event:', () => {
  beforeEach(() => {
    stopClock() // the library of Paddle accepts a signature for five seconds
  })
  const body = (samples: Samples, name: string) =>
    samples.body(name, { seed: 'x', since: Date.now(), now: Date.now(), consumer_key: 'consumer_external_id' })

  it('that of Stripe', async () => {
    const text = body(stripeSamples, 'invoice_paid')
    const { 'Stripe-Signature': signature = '' } = await stripeSamples.sign(text, STRIPE_SECRET, Date.now())
    const { type, data } = await Stripe.webhooks.constructEventAsync(text, signature, STRIPE_SECRET)
    expect([type, data.object]).toMatchObject(['invoice.paid', { livemode: false }])
  })

  it.each(Object.entries(paddleSamples.list))('that of Paddle, %s', async (name, { type }) => {
    const text = body(paddleSamples, name)
    const { 'Paddle-Signature': signature = '' } = await paddleSamples.sign(text, PADDLE_SECRET, Date.now())
    const sdk = new Paddle('pdl_sdbx_apikey_x', { environment: Environment.sandbox })
    const { eventType, data } = await sdk.webhooks.unmarshal(text, PADDLE_SECRET, signature)
    expect([eventType, data]).toMatchObject([type, { customData: { consumer_external_id: 'test_user_1' } }])
    expect(undefinedIn(data)).toEqual([])
  })

  /** The fields that an entity should have and lacks. */
  function undefinedIn(entity: object): string[] {
    return Object.entries(entity).flatMap(([name, value]) => {
      if (value === undefined) return [name]
      return value !== null && typeof value === 'object' ? undefinedIn(value).map((one) => `${name}.${one}`) : []
    })
  }
})

describe('a test event', () => {
  let made: Made
  let id: string
  beforeAll(async () => {
    made = await project()
    id = await made.connect('stripe')
  })

  it('is refused by a connection that cannot take it, and from those who may not send it', async () => {
    const { connect, send } = made
    const refused = async (of: string, name = 'invoice_paid') => {
      const { status, text } = await send(of, name)
      return [status, /Nothing was sent: ([^.]+)\./.exec(text)?.[1], await eventsOf(of)]
    }
    const live = await connect('stripe', { livemode: true })
    expect(await refused(live)).toEqual([409, 'the connection receives live events', 0])
    const bare = await connect('stripe', { signing_secret: undefined })
    expect(await refused(bare)).toEqual([409, 'the connection has no signing secret', 0])
    const other = await connect('polar', { signing_secret: 'polar_whs_0123456789abcdef' })
    expect(await refused(other)).toEqual([409, 'choose a test event from the list', 0])
    expect(await refused(id, 'constructor')).toEqual([409, 'choose a test event from the list', 0])
    const developer = (await addMember(made.project, 'developer')).token
    expect((await send(id, 'invoice_paid', developer)).status).toBe(403)
    expect((await send(id, 'invoice_paid', (await freshProject()).owner.token)).status).toBe(404)
  })

  it('of another vendor does not exist, and the page says what to do instead, to those who may connect', async () => {
    const { connect, path, token } = made
    const secret = 'Bearer a0b1c2d3e4f5a6b7c8d9'
    const id = await connect('revenuecat', { signing_secret: secret })
    const shown = async (by = token) =>
      /<h2 id="test-event">.*?<p class="quiet">(.*?)<\/p>/s.exec((await visit(path(id), by)).text)?.[1]
    const only = 'We write test events for Paddle and Stripe only.'
    expect(await shown()).toBe(`${only} The step above says how to get a first event.`)
    const headers = { Authorization: secret }
    const { status } = await call(`/ingest/${id}`, { method: 'POST', headers, json: SAMPLES.revenuecat as object })
    expect(status).toBe(200)
    expect(await shown()).toBe(`${only} Make a purchase in the sandbox.`)
    expect(await shown((await addMember(made.project, 'developer')).token)).toBeUndefined()
    // No vendor reaches a local server: the page has a command.
    const local = await visit(`http://localhost:8787${path(id)}`, token, { bindings: { PUBLIC_ORIGIN: '' } })
    expect(local.text).toMatch(/only\.<\/p>.*id="send">SIGNING_SECRET=.*--vendor revenuecat/s)
  })

  it('is not sent while no encryption key opens the secret', async () => {
    const sealed = await made.connect('stripe')
    const { secrets } = (await STORE.prepare('SELECT secrets FROM connections WHERE id = ?').bind(sealed).first()) as {
      secrets: string
    }
    const lost = JSON.stringify(JSON.parse(secrets).map((one: object) => ({ ...one, key: 9 })))
    await STORE.prepare('UPDATE connections SET secrets = ? WHERE id = ?').bind(lost, sealed).run()
    expect([(await made.send(sealed, 'customer')).status, await eventsOf(sealed)]).toEqual([503, 0])
    await STORE.prepare('DELETE FROM connections WHERE id = ?').bind(sealed).run() // other tests would find the key wrong
  })

  it('is not sent once the connection is in live mode or disabled, whatever this isolate remembers', async () => {
    const fresh = await made.connect('stripe')
    const send = () => made.send(fresh, 'customer')
    expect((await send()).status).toBe(303)
    const change = (json: object) => made.api(`billing/connections/${fresh}`, json, 'PATCH')
    await change({ livemode: true })
    expect((await send()).status).toBe(409)
    await change({ livemode: false, status: 'disabled' })
    const before = await auditRows(made.project)
    const refused = await send()
    expect([refused.status, refused.text.includes('Enable the connection')]).toEqual([403, true])
    expect([await eventsOf(fresh), await auditRows(made.project)]).toEqual([1, before])
  })

  it('costs a few trips', async () => {
    const { DB, count } = countingD1()
    await submit(`${made.path(id)}/test-events`, made.token, { sample: 'customer' }, { bindings: inStore(DB) })
    expect(count.trips).toBeLessThanOrEqual(6)
  })
})
