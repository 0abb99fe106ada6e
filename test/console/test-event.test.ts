import Stripe from 'stripe'
import { beforeAll, describe, expect, it } from 'vitest'
import { stripeApi } from '../../src/vendors/stripe-api'
import { stripeSamples } from '../../src/vendors/stripe-samples'
import {
  addMember,
  call,
  countingD1,
  freshProject,
  inStore,
  ORIGIN,
  STORE,
  STRIPE_SECRET,
  settled,
  stripeConnection,
} from '../harness'
import { auditRows, submit, visit } from './visit'

const AT = '/platform/billing/connections'
const NAMES = Object.keys(stripeSamples.list)

describe('a test event', () => {
  let project: string
  let owner: string
  let id: string
  const path = (of = id) => `/console/p/${project}${AT}/${of}`
  const send = (sample: string, token = owner, of = id) =>
    submit(`${path(of)}/test-events`, token, { sample }, { bindings: {} }) // with the real Queue
  const events = (of: string) =>
    STORE.prepare('SELECT count(*) AS n FROM events WHERE connection_id = ?').bind(of).first<number>('n')

  beforeAll(async () => {
    const made = await freshProject()
    project = made.project
    owner = made.owner.token
    id = (await stripeConnection(owner, project, STRIPE_SECRET, false)).id
  })

  it('is offered on the page of a connection in test mode that can verify it, with what it does', async () => {
    const { text } = await visit(path(), owner)
    for (const [name, { type, does }] of Object.entries(stripeSamples.list))
      expect(text).toContain(`<option value="${name}">${type}: ${does}</option>`)
    const offers = async (token: string, of = id) => (await visit(path(of), token)).text.includes('/test-events"')
    const developer = (await addMember(project, 'developer')).token
    const live = (await stripeConnection(owner, project)).id
    const json = { vendor: 'stripe', name: 'No secret', livemode: false }
    const at = '/platform/v1/billing/connections'
    const bare = (await call(at, { method: 'POST', project, token: owner, json })).body.id
    const paddle = { ...json, vendor: 'paddle', signing_secret: 'pdl_ntfset_0123456789abcdef' }
    const other = (await call(at, { method: 'POST', project, token: owner, json: paddle })).body.id
    expect([await offers(owner), await offers(developer)]).toEqual([true, false])
    expect([await offers(owner, live), await offers(owner, bare), await offers(owner, other)]).toEqual([
      false,
      false,
      false,
    ])
    const refused = async (of: string, name = 'invoice_paid') => {
      const { status, text } = await send(name, owner, of)
      return [status, /Nothing was sent: ([^.]+)\./.exec(text)?.[1], await events(of)]
    }
    expect(await refused(live)).toEqual([409, 'the connection receives live events', 0])
    expect(await refused(bare)).toEqual([409, 'the connection has no signing secret', 0])
    expect(await refused(other)).toEqual([409, 'choose a test event from the list', 0])
    expect(await refused(id, 'constructor')).toEqual([409, 'choose a test event from the list', 0])
    expect((await send('invoice_paid', developer)).status).toBe(403)
    expect((await send('invoice_paid', (await freshProject()).owner.token)).status).toBe(404)
  })

  it('is recorded and processed like one of the vendor, and leaves an audit entry', async () => {
    const before = await auditRows(project)
    for (const name of NAMES) {
      const { status, headers } = await send(name)
      const to = new URL(headers.get('Location') ?? '', ORIGIN)
      expect([status, to.search]).toEqual([303, '?done=test_event_sent'])
      const event = to.pathname.split('/').at(-1) ?? ''
      await settled(project, owner, event)
      const { body } = await call(`/platform/v1/billing/webhooks/${event}`, { token: owner, project })
      const { type } = stripeSamples.list[name] as { type: string }
      expect([body.status, body.event_type, body.connection_id, body.livemode]).toEqual(['processed', type, id, false])
    }
    expect(await auditRows(project)).toBe(before + NAMES.length)
    const { body: log } = await call('/platform/v1/audit-log?limit=1', { token: owner, project })
    expect(log.data[0]).toMatchObject({ action: 'connection.test_event_sent', object: { type: 'connection', id } })
    const { body } = await call('/platform/v1/billing/subscriptions', { token: owner, project })
    expect(body.data).toMatchObject([{ status: 'active', cancel_at_period_end: true, items: [{ quantity: 5 }] }])
    const { body: invoices } = await call('/platform/v1/billing/invoices', { token: owner, project })
    expect(invoices.data.map(({ status }: { status: string }) => status).sort()).toEqual(['open', 'paid'])
    const { body: customers } = await call('/platform/v1/billing/customers', { token: owner, project })
    expect(customers.data).toMatchObject([{ external_id: 'test_user_1', linked_by: 'customer' }])
    // We signed, not the vendor: a secret that the vendor no longer uses can still be told.
    const { body: connection } = await call(`/platform/v1/billing/connections/${id}`, { token: owner, project })
    expect(connection.secrets).toMatchObject([{ last_used_at: null }])
  })

  it('has the external id under the key that the project reads', async () => {
    const made = await freshProject()
    const { token } = made.owner
    const settings = { consumer_keys: ['user_id', 'account'] }
    const at = `/platform/v1/projects/${made.project}`
    await call(at, { method: 'PATCH', token, project: made.project, json: { settings } })
    const own = (await stripeConnection(token, made.project, STRIPE_SECRET, false)).id
    const to = `/console/p/${made.project}${AT}/${own}/test-events`
    const { headers } = await submit(to, token, { sample: 'customer' }, { bindings: {} })
    await settled(made.project, token, new URL(headers.get('Location') ?? '', ORIGIN).pathname.split('/').at(-1) ?? '')
    const { body } = await call('/platform/v1/billing/customers', { token, project: made.project })
    expect(body.data).toMatchObject([{ external_id: 'test_user_1' }])
  })

  it('is not sent while no encryption key opens the secret', async () => {
    const sealed = (await stripeConnection(owner, project, STRIPE_SECRET, false)).id
    const { secrets } = (await STORE.prepare('SELECT secrets FROM connections WHERE id = ?').bind(sealed).first()) as {
      secrets: string
    }
    const lost = JSON.stringify(JSON.parse(secrets).map((one: object) => ({ ...one, key: 9 })))
    await STORE.prepare('UPDATE connections SET secrets = ? WHERE id = ?').bind(lost, sealed).run()
    expect([(await send('customer', owner, sealed)).status, await events(sealed)]).toEqual([503, 0])
    await STORE.prepare('DELETE FROM connections WHERE id = ?').bind(sealed).run() // other tests would find the key wrong
  })

  it('is not sent once the connection is in live mode or disabled, whatever this isolate remembers', async () => {
    const fresh = (await stripeConnection(owner, project, STRIPE_SECRET, false)).id
    expect((await send('customer', owner, fresh)).status).toBe(303)
    const change = (json: object) =>
      call(`/platform/v1/billing/connections/${fresh}`, { method: 'PATCH', token: owner, project, json })
    await change({ livemode: true })
    expect((await send('customer', owner, fresh)).status).toBe(409)
    await change({ livemode: false, status: 'disabled' })
    const before = await auditRows(project)
    const refused = await send('customer', owner, fresh)
    expect([refused.status, refused.text.includes('Enable the connection')]).toEqual([403, true])
    expect([await events(fresh), await auditRows(project)]).toEqual([1, before])
  })

  it('costs a few trips', async () => {
    const { DB, count } = countingD1()
    await submit(`${path()}/test-events`, owner, { sample: 'customer' }, { bindings: inStore(DB) })
    expect(count.trips).toBeLessThanOrEqual(6)
  })

  it('has a signature that the library of Stripe accepts, and tells nothing about an account', async () => {
    const now = Date.now()
    const body = stripeSamples.body('invoice_paid', { seed: 'x', now, consumer_key: 'consumer_external_id' })
    const { 'Stripe-Signature': signature = '' } = await stripeSamples.sign(body, STRIPE_SECRET, now)
    const { id, type, data } = await Stripe.webhooks.constructEventAsync(body, signature, STRIPE_SECRET)
    expect([type, data.object]).toMatchObject(['invoice.paid', { livemode: false }])
    const event = { vendor_event_id: id, event_type: type, object: { type: null, id: null }, customer: null }
    expect(stripeApi.sightOf(event)).toBeNull()
    expect(stripeApi.sightOf({ ...event, vendor_event_id: 'evt_1' })).not.toBeNull()
  })
})
