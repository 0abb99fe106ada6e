import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time'
import {
  type Fields,
  paddleEventOf,
  paddlePayment,
  paddlePaymentMethod,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from '../billing/payloads'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { addMember, captureConsole, lossyQueue, STORE, storedText, tamperedD1 } from '../harness'
import { cron, rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as } from './consumers'
import { checkout, ofCustomer } from './events'
import { insertMerged } from './rows'

beforeEach(() => stopClock())

async function newPlace() {
  const world = await billingWorld()
  const consumers = as(world.project, world.token)
  /** Runs the cron until nothing of an erasure is left to do now. */
  const upkeep = async () => {
    for (let runs = 0; runs < 50; runs++) {
      await cron({ EVENTS: world.queue.EVENTS })
      const due = await rows('SELECT id FROM erasures WHERE project_id = ? AND due_at <= ?', world.project, Date.now())
      if (due.length === 0) return
    }
    throw new Error('erasures are still due')
  }
  const put = async (external_id: string, fields: object = {}) => (await consumers.put(external_id, fields)).body.id
  return { ...world, consumers, upkeep, put }
}

/** What is about the person of these tests, wherever a vendor puts it. */
const PERSON = {
  external_id: 'user_zqulo-ext',
  email: 'zqulo-ada@example.com',
  name: 'Zquloada Lovelace',
  phone: '+44 20 9Zqulo 0000',
  note: 'Zqulonote about her',
}
// Random ids cannot contain it: they have no i, l, o or u.
const MARK = /zqulo/i

const pairs = { consumer_external_id: PERSON.external_id }
const details = {
  name: PERSON.name,
  email: PERSON.email,
  phone: PERSON.phone,
  address: { line1: '1 Zqulo Street', city: 'London', country: 'GB' },
}

/** Everything that Stripe sends about a customer of hers. */
function stripeLife(customer: string, at = T0): object[] {
  const own = { id: customer, object: 'customer', description: PERSON.note, metadata: pairs, ...details }
  const subscription = stripeSubscription({
    customer,
    description: PERSON.note,
    metadata: pairs,
    cancellation_details: { reason: 'other', comment: PERSON.note, feedback: null },
  })
  const line = { id: 'il_1', object: 'line_item', amount: 2400, currency: 'usd', description: PERSON.note }
  const invoice = stripeInvoice({
    customer,
    customer_email: PERSON.email,
    customer_name: PERSON.name,
    description: PERSON.note,
    metadata: pairs,
    hosted_invoice_url: 'https://invoice.stripe.com/i/zqulo',
    lines: { object: 'list', data: [line], has_more: false, total_count: 1 },
  })
  const method = stripePaymentMethod({ customer, billing_details: details, metadata: pairs })
  const detached = { ...method, customer: null }
  return [
    stripeEventOf('customer.created', own, { at }),
    stripeEventOf('customer.updated', { ...own, description: `${PERSON.note} 2` }, { at: at + 1 }),
    checkout(customer, PERSON.external_id, at),
    stripeEventOf('customer.subscription.created', subscription, { at }),
    stripeEventOf('invoice.created', invoice, { at }),
    stripeEventOf('invoice.updated', { ...invoice, description: `${PERSON.note} 2` }, { at: at + 1 }),
    stripeEventOf('payment_method.attached', method, { at }),
    stripeEventOf('payment_method.detached', detached, { at: at + 1, previous: { customer } }),
  ]
}

/** Everything that Paddle sends about a customer of hers. */
function paddleLife(customer_id: string): object[] {
  const { email, name } = PERSON
  return [
    paddleEventOf('customer.created', { id: customer_id, email, name, custom_data: pairs, status: 'active' } as Fields),
    paddleEventOf('payment_method.saved', paddlePaymentMethod({ id: 'paymtd_zz1', customer_id })),
    paddleEventOf(
      'transaction.completed',
      paddleTransaction({
        customer_id,
        status: 'completed',
        custom_data: pairs,
        payments: [paddlePayment('paymtd_zz1', { last4: '4242', cardholder_name: PERSON.name })],
      }),
    ),
  ]
}

/** Where something about the person is found: in tables, KV and messages, by their JSON. */
async function found(place: Awaited<ReturnType<typeof newPlace>>): Promise<string[]> {
  const texts = [await storedText(), JSON.stringify(place.queue.waiting())]
  return texts.flatMap((text) => [...text.matchAll(/.{0,80}zqulo.{0,40}/gi)].map(([hit]) => hit))
}

describe('an erased consumer', () => {
  it('is nowhere: not in a table, KV, a message or a log, not after all is replayed, and not after later events', async () => {
    const lines = captureConsole()
    const place = await newPlace()
    const { consumers, deliver, upkeep, project } = place
    const id = await place.put(PERSON.external_id, {
      email: PERSON.email,
      name: PERSON.name,
      metadata: { note: PERSON.note },
    })
    const old = await place.put(`${PERSON.external_id}-old`, { email: PERSON.email, name: PERSON.name })
    await place.api('/features/sso', { method: 'PUT', json: { name: 'SSO', type: 'boolean' } })
    for (const consumer of [id, old]) {
      const grant = { consumer, feature: 'sso', reason: PERSON.note }
      await consumers.patch(consumer, { name: `${PERSON.name} 2`, metadata: { note: `${PERSON.note} 2` } })
      expect((await place.api('/grants', { method: 'POST', json: grant })).status).toBe(201)
    }
    await consumers.merge(old, id)
    await consumers.pin('cus_pinned', id)
    const events = [
      ...(await deliver(...stripeLife('cus_hers'))),
      ...(await deliver(...stripeLife('cus_pinned'))),
      ...(await deliver(...paddleLife('ctm_hers'))),
    ]
    expect((await consumers.get(id)).body.customers).toHaveLength(3)
    expect((await found(place)).join()).toContain('\\"was\\":')

    const erased = await consumers.erase(`ext:${PERSON.external_id}`)
    expect([erased.status, erased.body]).toMatchObject([202, { state: 'running', finished_at: null, consumer_id: id }])
    // A replay of what is still there brings nothing back.
    await place.replay(events[0] ?? '')
    await place.queue.pump()
    expect((await consumers.customer('cus_hers')).body).toMatchObject({ email: null, name: null, consumer_id: null })
    advance(MINUTE)
    await upkeep()
    expect(await found(place)).toEqual([])
    const { body } = await consumers.erasure(id)
    expect(body).toMatchObject({ id: erased.body.id, state: 'done', payloads_removed: events.length })
    expect(body.kept.length).toBeGreaterThan(2)

    // What is kept.
    const objects = (await place.objects()).map(({ kind, status }) => `${kind} ${status}`).sort()
    expect(objects).toEqual([
      'customer active',
      'customer active',
      'customer active',
      'invoice open',
      'invoice open',
      'invoice paid',
      'payment_card seen',
      'payment_method attached',
      'payment_method detached',
      'payment_method detached',
      'subscription active',
      'subscription active',
    ])
    const { data: invoices } = (await place.api<{ data: Fields[] }>('/invoices?customer=cus_hers')).body
    expect(invoices).toMatchObject([{ total: 2400, customer: 'cus_hers', number: 'TESTS-0001', customer_email: null }])
    expect((await place.one('payment-methods', 'paymtd_zz1')).card).toMatchObject({ brand: 'visa', last4: '4242' })

    // Replayed one by one, and all at once.
    for (const event of events) expect(told(await place.replay(event))).toEqual([409, 'payload_gone'])
    const bulk = { method: 'POST', json: { filter: {}, limit: 100 } }
    expect((await place.api('/webhooks/replay', bulk)).body).toMatchObject({ matched: events.length, queued: 0 })
    expect(await found(place)).toEqual([])

    // Later events: of known objects, of new ones, and one that names no customer.
    const method = (await place.objects()).find(
      (row) => row.kind === 'payment_method' && row.vendor === 'stripe',
    )?.vendor_id
    const stray = { ...stripePaymentMethod({ id: method, billing_details: details }), customer: null }
    await deliver(
      ...stripeLife('cus_hers', T0 + 100),
      ...paddleLife('ctm_hers'),
      stripeEventOf('payment_method.updated', stray, { at: T0 + 200 }),
    )
    const inObjects = (await place.objects()).filter((row) => MARK.test(JSON.stringify(row)))
    expect(inObjects).toEqual([])
    const links = await rows('SELECT said, hint FROM customer_links WHERE project_id = ?', project)
    expect(links).toEqual([1, 2, 3].map(() => ({ said: null, hint: null })))
    // The payload of an event without a customer is not found.
    const own = "SELECT CAST(payload_id AS INTEGER) FROM events WHERE event_type = 'payment_method.updated'"
    await STORE.prepare(`DELETE FROM packed_bodies WHERE key IN (${own})`).run()
    advance(DAY)
    await upkeep()
    expect(await found(place)).toEqual([])
    // A new consumer with the same id has nothing of it.
    const reused = await place.put(PERSON.external_id)
    expect(reused).not.toBe(id)
    expect((await consumers.get(reused)).body.customers).toEqual([])
    await consumers.erase(reused)
    expect(await found(place)).toEqual([])
    expect(lines.filter((line) => MARK.test(line))).toEqual([])
  })

  it('has its state, no fields, and refuses every change', async () => {
    const { consumers, put, project, owner, api } = await newPlace()
    const id = await put('u', { email: 'a@example.com', name: 'A', metadata: { a: 'b' } })
    await api('/features/sso', { method: 'PUT', json: { name: 'SSO', type: 'boolean' } })
    const grant = () => api('/grants', { method: 'POST', json: { consumer: id, feature: 'sso' } })
    expect((await grant()).status).toBe(201)
    await consumers.block(id, { reason: 'chargeback' })
    await consumers.pin('cus_a', id)
    const other = await put('other')
    const first = await consumers.erase(id)
    expect(first.status).toBe(202)
    expect((await consumers.get(id)).body).toMatchObject({
      state: 'erased',
      external_id: null,
      external_ids: [],
      email: null,
      name: null,
      metadata: {},
      blocked_reason: null,
      customers: [],
    })
    expect((await consumers.get('ext:u')).status).toBe(404)
    const refused = [
      await consumers.patch(id, { name: 'B' }),
      await consumers.block(id),
      await consumers.unblock(id),
      await consumers.merge(id, other),
      await consumers.merge(other, id),
      await consumers.pin('cus_b', id),
      await consumers.pin('cus_a', other),
      await consumers.pin('cus_a', null),
      await consumers.unpin('cus_a'),
      await grant(),
    ]
    expect(refused.map(told)).toEqual(refused.map(() => [409, 'consumer_erased']))
    // What it was granted gives it nothing any more.
    const asked = { consumers: [id], features: ['sso'] }
    const { body } = await api<object>('/entitlements/check', { method: 'POST', json: asked })
    expect(body).toMatchObject({ data: [{ features: { sso: { allowed: false, reason: 'consumer_erased' } } }] })
    expect((await consumers.erase(id)).body).toEqual(first.body)
    expect((await consumers.erase(id)).status).toBe(202)
    expect((await consumers.list('?state=erased')).body.data.map((one) => one.id)).toEqual([id])
    expect((await consumers.erasure(other)).status).toBe(404)
    expect((await consumers.erase('ext:nobody')).status).toBe(404)
    expect((await logged(project, id)).filter(([action]) => action === 'consumer.erased')).toEqual([
      ['consumer.erased', { erasure: first.body.id }],
    ])
    expect(await logged(project, 'cus_a')).toHaveLength(1)
    // Only admins and owners.
    const developer = await addMember(project, 'developer')
    expect(told(await as(project, developer.token).erase(other))).toEqual([403, 'insufficient_role'])
    expect((await as(project, owner.token).erase(other)).status).toBe(202)
  })

  it('without customers is done at once, and the cron looks once more for identities', async () => {
    const { consumers, put, upkeep } = await newPlace()
    const { body } = await consumers.erase(await put('alone', { email: 'alone@example.com' }))
    expect(body).toMatchObject({ state: 'done', finished_at: body.requested_at, payloads_removed: 0 })
    const due = () => rows('SELECT due_at FROM erasures WHERE id = ?', body.id)
    expect(await due()).toEqual([{ due_at: Date.now() + 2 * MINUTE }])
    advance(2 * MINUTE)
    await upkeep()
    expect(await due()).toEqual([{ due_at: null }])
  })

  it('takes along which customers it had before, of all its external ids', async () => {
    const { project, consumers, put, deliver } = await newPlace()
    const id = await put('mine')
    await consumers.patch(id, { external_id: 'mine_too' })
    await put('other')
    for (const [n, name] of ['mine', 'mine_too', 'other'].entries()) {
      await deliver(ofCustomer(`cus_${n}`, name))
      await deliver(ofCustomer(`cus_${n}`, 'next', 10))
    }
    const moves = () => rows('SELECT ref FROM customer_moves WHERE project_id = ? ORDER BY ref', project)
    expect(await moves()).toHaveLength(3)
    expect((await consumers.erase(id)).status).toBe(202)
    expect(await moves()).toEqual([{ ref: 'other' }])
    // An erased customer is moved by no event.
    await consumers.erase((await consumers.put('next')).body.id)
    await deliver(ofCustomer('cus_0', 'another', 20))
    expect(await moves()).toEqual([{ ref: 'other' }])
  })

  it('is reached by the cron before all later passes of other erasures, however late those are', async () => {
    const { consumers, put } = await newPlace()
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
       INSERT INTO erasures (project_id, id, consumer_id, requested_at, finished_at, due_at)
       SELECT 'prj_other', printf('ers_%05d', v), 'csm_other', 1, 1, 1 FROM n`,
    ).run()
    const id = await put('next')
    await consumers.pin('cus_next', id)
    await consumers.erase(id)
    await cron({ EVENTS: lossyQueue().EVENTS })
    expect((await consumers.erasure(id)).body.state).toBe('done')
    expect(await rows("SELECT count(*) AS n FROM erasures WHERE project_id = 'prj_other' AND due_at = 1")).not.toEqual([
      { n: 0 },
    ])
    await rows("DELETE FROM erasures WHERE project_id = 'prj_other'")
  })

  it('takes those that were merged into it along', async () => {
    const { consumers, put, project } = await newPlace()
    const id = await put('u')
    const merged = await put('m', { email: 'm@example.com', name: 'M', metadata: { m: 'm' } })
    await consumers.merge(merged, id)
    expect(told(await consumers.erase(merged))).toEqual([409, 'consumer_merged'])
    await insertMerged(project, id, 999)
    const { body } = await consumers.erase(id)
    expect((await consumers.get(merged)).body).toMatchObject({ state: 'erased', email: null, name: null, metadata: {} })
    expect((await consumers.erasure(merged)).body).toMatchObject({ id: body.id, consumer_id: id })
    expect((await consumers.erase(merged)).body.id).toBe(body.id)
    const states = await rows('SELECT state, count(*) AS n FROM consumers WHERE project_id = ? GROUP BY 1', project)
    expect(states).toEqual([{ state: 'erased', n: 1001 }])
  })

  it('is erased with all its customers, however many: at once, and their objects and payloads in steps', async () => {
    const place = await newPlace()
    const { consumers, upkeep, project } = place
    const id = await place.put('many')
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
       INSERT INTO customer_links (project_id, customer, vendor, hint, hint_rank)
       SELECT ?, printf('cus_%05d', v), 'stripe', 'many', 'x' FROM n`,
    )
      .bind(project)
      .run()
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
       INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
       SELECT ?, k.value, printf('id_%05d', v), 'stripe', CASE k.value WHEN 'customer' THEN NULL ELSE printf('cus_%05d', v / 3) END,
         'active', 1, '[{"rank":"0","vendor_event_id":"e","event_id":"evt_0","before":null,"after":"a","body":{"status":"active","version":2,"metadata":{"a":"zqulo"}}}]'
       FROM n CROSS JOIN json_each('["invoice","subscription"]') k`,
    )
      .bind(project)
      .run()
    await place.deliver(ofCustomer('cus_00500', 'many'))
    const pins = () => rows('SELECT pinned, count(*) AS n FROM customer_links WHERE project_id = ? GROUP BY 1', project)
    expect(await pins()).toEqual([{ pinned: null, n: 1000 }])
    const erased = await consumers.erase(id)
    expect(erased.status).toBe(202)
    expect(await pins()).toEqual([{ pinned: erased.body.id, n: 1000 }])
    advance(MINUTE)
    await upkeep()
    expect((await consumers.erasure(id)).body).toMatchObject({ state: 'done', payloads_removed: 1 })
    const others = (await place.objects()).filter(({ candidates }) => MARK.test(candidates))
    expect(others.map(({ customer }) => customer)).toEqual(['cus_00000', 'cus_00000', 'cus_00000', 'cus_00000'])
  })
})

describe('while a consumer is erased', () => {
  it('an event in flight writes nothing about it', async () => {
    const place = await newPlace()
    const { consumers, queue, project } = place
    const id = await place.put('flying')
    await place.deliver(ofCustomer('cus_f', 'flying'))
    const own = { id: 'cus_f', object: 'customer', email: PERSON.email, metadata: { consumer_external_id: 'flying' } }
    await place.send(stripeEventOf('customer.updated', own, { at: T0 + 2_000_000_000 }))
    let erased = 0
    const DB = tamperedD1(async (trip) => {
      if (/insert into "billing_objects"/i.test(trip.sql) && erased++ === 0) await consumers.erase(id)
      return trip.run()
    })
    await queue.pump({ DB })
    expect(erased).toBe(2)
    expect((await place.objects()).filter(({ candidates }) => MARK.test(candidates))).toEqual([])
    const links = await rows('SELECT said, hint FROM customer_links WHERE project_id = ?', project)
    expect(links).toEqual([{ said: null, hint: null }])
  })

  it('an open event keeps its payload until it is final; the erasure is running until then', async () => {
    const place = await newPlace()
    const { consumers, upkeep } = place
    const id = await place.put('open')
    const [event] = await place.deliver(ofCustomer('cus_o', 'open'))
    await place.replay(event ?? '')
    await consumers.erase(id)
    await upkeep()
    expect((await consumers.erasure(id)).body).toMatchObject({ state: 'running', payloads_removed: 0 })
    await place.queue.pump()
    expect(await place.event(event ?? '')).toMatchObject({ status: 'processed' })
    advance(MINUTE)
    await upkeep()
    expect((await consumers.erasure(id)).body).toMatchObject({ state: 'done', payloads_removed: 1 })
  })
})
