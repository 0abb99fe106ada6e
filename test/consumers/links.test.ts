import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND } from '../../src/lib/time'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { countingD1, tamperedD1 } from '../harness'
import { rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as } from './consumers'
import { checkout, ofCustomer, ofPaddle, ofSubscription } from './events'
import { insertConsumer, insertLink } from './rows'

async function newPlace() {
  const world = await billingWorld()
  const api = as(world.project, world.token)
  /** Which consumer a customer is: the consumer's id, the external id that counts, what says so. */
  const link = async (id: string, vendor = 'stripe') => {
    const { body } = await api.customer(id, vendor)
    return [body.consumer_id, body.external_id, body.linked_by]
  }
  return { ...world, consumers: api, link }
}

describe('a customer', () => {
  beforeEach(() => stopClock())

  it('is the consumer that an event names, whether the event comes before the consumer or after it', async () => {
    const { consumers, deliver, link } = await newPlace()
    const early = (await deliver(ofCustomer('cus_a', 'early')))[0]
    expect(await link('cus_a')).toEqual([null, 'early', 'customer'])
    expect((await consumers.customers('?linked=false')).body.data).toEqual([
      {
        vendor: 'stripe',
        id: 'cus_a',
        consumer_id: null,
        external_id: 'early',
        linked_by: 'customer',
        event_id: early,
      },
    ])
    const { id } = (await consumers.put('early')).body
    expect(await link('cus_a')).toEqual([id, 'early', 'customer'])
    const late = (await consumers.put('late')).body.id
    await deliver(checkout('cus_b', 'late'), ofPaddle('ctm_c', 'late'))
    expect(await link('cus_b')).toEqual([late, 'late', 'checkout'])
    expect(await link('ctm_c', 'paddle')).toEqual([late, 'late', 'checkout'])
    expect((await consumers.get('ext:late')).body.customers).toEqual([
      { vendor: 'paddle', id: 'ctm_c', linked_by: 'checkout' },
      { vendor: 'stripe', id: 'cus_b', linked_by: 'checkout' },
    ])
    expect((await consumers.customers('?consumer=ext:late&limit=1')).body).toMatchObject({
      data: [{ id: 'ctm_c' }],
      has_more: true,
    })
    expect((await consumers.customers('?linked=true&vendor=stripe')).body.data.map((one) => one.id)).toEqual([
      'cus_a',
      'cus_b',
    ])
    expect((await consumers.customers('?linked=false')).body.data).toEqual([])
  })

  it('follows the newest event of itself, and no checkout after that', async () => {
    const { deliver, link } = await newPlace()
    await deliver(checkout('cus_a', 'first', 10))
    await deliver(checkout('cus_a', 'second', 20))
    expect(await link('cus_a')).toEqual([null, 'first', 'checkout'])
    await deliver(checkout('cus_a', 'before', 5)) // it occurred earlier and arrives later
    expect(await link('cus_a')).toEqual([null, 'before', 'checkout'])
    await deliver(ofCustomer('cus_a', 'said', 30))
    expect(await link('cus_a')).toEqual([null, 'said', 'customer'])
    await deliver(ofCustomer('cus_a', 'older', 29), checkout('cus_a', 'attacker', 40), checkout('cus_a', 'attacker', 1))
    expect(await link('cus_a')).toEqual([null, 'said', 'customer'])
    await deliver(ofCustomer('cus_a', null, 50)) // the key was removed
    expect(await link('cus_a')).toEqual([null, 'said', 'customer'])
    await deliver(ofCustomer('cus_a', 'newest', 60))
    expect(await link('cus_a')).toEqual([null, 'newest', 'customer'])
  })

  it.each([
    ['the greater id', { event: 'evt_b' }, { event: 'evt_a' }],
    ['an update after the creation', { event: 'evt_a' }, { event: 'evt_b', happened: 'created' }],
    ['a deletion after an update', { event: 'evt_a', happened: 'deleted' }, { event: 'evt_b' }],
  ] as const)('follows the newer of two events of one second, in either order: %s', async (_, newer, older) => {
    const { deliver, link } = await newPlace()
    for (const order of ['cus_a', 'cus_b']) {
      const named = ({ event, ...more }: typeof newer | typeof older) => ({ ...more, event: `${event}_${order}` })
      const events = [ofCustomer(order, 'newer', 0, named(newer)), ofCustomer(order, 'older', 0, named(older))]
      await deliver(...(order === 'cus_a' ? events : events.reverse()))
      expect(await link(order)).toEqual([null, 'newer', 'customer'])
    }
  })

  it('is nobody where the text is no external id', async () => {
    const { deliver, link, consumers } = await newPlace()
    await deliver(ofCustomer('cus_a', 'a b'), checkout('cus_b', 'csm_1'), checkout('cus_c', 'x'.repeat(201)))
    expect(await link('cus_a')).toEqual([null, null, null])
    expect((await consumers.customer('cus_b')).status).toBe(404)
    expect((await consumers.customers()).body.data.map((one) => [one.id, one.linked_by])).toEqual([['cus_a', null]])
  })

  it('is the consumer that the first usable value names', async () => {
    const { deliver, link } = await newPlace()
    await deliver(checkout('cus_a', 'u1', 0, { metadata: { consumer_external_id: 'not an id' } }))
    expect(await link('cus_a')).toEqual([null, 'u1', 'checkout'])
  })

  it('is the consumer that it is pinned to, until it is not', async () => {
    const { project, consumers, deliver, link } = await newPlace()
    const a = (await consumers.put('a')).body.id
    await deliver(ofCustomer('cus_a', 'said'))
    const pinned = await consumers.pin('cus_a', 'ext:a')
    expect([pinned.status, pinned.body]).toEqual([
      200,
      { vendor: 'stripe', id: 'cus_a', consumer_id: a, external_id: 'a', linked_by: 'manual', event_id: null },
    ])
    await deliver(ofCustomer('cus_a', 'again', 99))
    await consumers.pin('cus_a', a)
    expect(await link('cus_a')).toEqual([a, 'a', 'manual'])
    expect((await consumers.get(a)).body.customers).toEqual([{ vendor: 'stripe', id: 'cus_a', linked_by: 'manual' }])
    advance(SECOND)
    expect((await consumers.pin('cus_a', null)).body).toMatchObject({ consumer_id: null, linked_by: 'manual' })
    expect((await consumers.get(a)).body.customers).toEqual([])
    advance(SECOND)
    for (const _ of 'two') expect((await consumers.unpin('cus_a')).status).toBe(204)
    expect(await link('cus_a')).toEqual([null, 'again', 'customer'])
    expect(await logged(project, 'cus_a')).toEqual([
      ['customer.pinned', { vendor: 'stripe', consumer: a }],
      ['customer.pinned', { vendor: 'stripe', consumer: null }],
      ['customer.unpinned', { vendor: 'stripe', consumer: null }],
    ])
  })

  it('is listed where only its subscriptions or invoices name it', async () => {
    const { project, consumers, deliver } = await newPlace()
    await deliver(ofSubscription('cus_a'), ofPaddle('ctm_b', null), ofSubscription('cus_c'), ofCustomer('cus_d', 'u1'))
    await consumers.put('u1')
    await consumers.put('u2')
    await consumers.pin('cus_c', 'ext:u2')
    const ids = async (query: string) => (await consumers.customers(query)).body.data.map(({ id }) => id)
    expect(await ids('')).toEqual(['ctm_b', 'cus_a', 'cus_c', 'cus_d'])
    expect(await ids('?linked=false')).toEqual(['ctm_b', 'cus_a'])
    expect(await ids('?linked=true')).toEqual(['cus_c', 'cus_d'])
    expect(await ids('?linked=false&vendor=stripe')).toEqual(['cus_a'])
    const { body } = await consumers.customers('?limit=1')
    expect((await consumers.customers(`?limit=1&cursor=${body.next_cursor}`)).body.data[0]?.id).toEqual('cus_a')
    // Two vendors can use one id.
    await rows("UPDATE billing_objects SET customer = 'cus_a' WHERE project_id = ? AND customer = 'ctm_b'", project)
    expect((await consumers.customers()).body.data.slice(0, 2).map(({ id, vendor }) => [id, vendor])).toEqual([
      ['cus_a', 'paddle'],
      ['cus_a', 'stripe'],
    ])
  })

  it('can be pinned before any event names it, and then again be unknown', async () => {
    const { project, consumers } = await newPlace()
    await consumers.put('a')
    expect((await consumers.pin('cus_new', 'ext:a')).status).toBe(200)
    expect((await consumers.customer('cus_new')).body).toMatchObject({
      id: 'cus_new',
      linked_by: 'manual',
      email: null,
    })
    await consumers.unpin('cus_new')
    expect((await consumers.customer('cus_new')).status).toBe(404)
    expect(await rows('SELECT * FROM customer_links WHERE project_id = ?', project)).toEqual([])
    expect(told(await consumers.pin('cus_new', 'ext:unknown'))).toEqual([404, 'not_found'])
    expect(told(await consumers.pin('cus_new', 'unknown'))).toEqual([422, 'validation_failed'])
    expect(told(await consumers.pin('cus_new', 'ext:a', 'nobody'))).toEqual([404, 'not_found'])
    expect(told(await consumers.unpin('cus%20new'))).toEqual([404, 'not_found'])
  })

  it('moves with a merge: by its claims and by its pins', async () => {
    const { project, consumers, deliver, link } = await newPlace()
    const a = (await consumers.put('a')).body.id
    const b = (await consumers.put('b')).body.id
    await deliver(ofCustomer('cus_said', 'a'))
    await consumers.pin('cus_pinned', a)
    await consumers.merge(a, b)
    expect(await link('cus_said')).toEqual([b, 'a', 'customer'])
    expect(await link('cus_pinned')).toEqual([b, 'b', 'manual'])
    expect(told(await consumers.pin('cus_other', a))).toEqual([409, 'consumer_merged'])
    expect(await logged(project, a)).toEqual([
      ['consumer.merged', { into: b, external_ids: 1, customers: [{ vendor: 'stripe', id: 'cus_pinned' }] }],
    ])
  })

  it('is refused beyond the pins of a consumer, and so is a merge', async () => {
    const { project, consumers } = await newPlace()
    const full = await insertConsumer(project, 'full')
    for (let n = 0; n < 100; n++) await insertLink(project, `cus_${n}`, { pinned: full })
    expect(told(await consumers.pin('cus_new', full))).toEqual([409, 'pin_limit_reached'])
    expect((await consumers.pin('cus_99', full)).status).toBe(200)
    await consumers.put('b')
    await consumers.pin('cus_b', 'ext:b')
    expect(told(await consumers.merge('ext:b', full))).toEqual([409, 'merge_limit_reached'])
    expect((await consumers.get(full)).body.customers).toHaveLength(100)
  })
})

describe('a move of a customer', () => {
  it('is recorded where events link it to another external id, and where it is pinned or unpinned', async () => {
    const { project, consumers, deliver } = await newPlace()
    const moved = async () => {
      const found = await rows<{ ref: string }>('SELECT ref FROM customer_moves WHERE project_id = ?', project)
      return found.map(({ ref }) => ref).sort()
    }
    await consumers.put('a')
    await deliver(checkout('cus_a', 'h2', 20), checkout('cus_a', 'h3', 30))
    expect(await moved()).toEqual([])
    await deliver(checkout('cus_a', 'h1', 10))
    expect(await moved()).toEqual(['h2'])
    await deliver(ofCustomer('cus_a', 'h1', 20))
    await deliver(checkout('cus_a', 'h0', 5)) // it no longer decides
    expect(await moved()).toEqual(['h2'])
    await deliver(ofCustomer('cus_a', 's1', 30))
    expect(await moved()).toEqual(['h1', 'h2'])
    const { id } = (await consumers.get('ext:a')).body
    for (let again = 0; again < 2; again++) await consumers.pin('cus_a', 'ext:a')
    expect(await moved()).toEqual(['h1', 'h2', 's1'])
    // What events say under a pin moves nobody.
    await deliver(ofCustomer('cus_a', 's2', 40))
    expect(await moved()).toEqual(['h1', 'h2', 's1'])
    await consumers.unpin('cus_a')
    expect(await moved()).toEqual([id, 'h1', 'h2', 's1'])
    // Without a claim, the row of the customer is gone, and its move is not.
    await consumers.pin('cus_b', 'ext:a')
    await consumers.unpin('cus_b')
    expect(await moved()).toEqual([id, id, 'h1', 'h2', 's1'])
    // An erasure leaves none of its consumer.
    await consumers.erase('ext:a')
    expect(await moved()).toEqual(['h1', 'h2', 's1'])
    // Away and back and away in one batch.
    await deliver(ofCustomer('cus_a', 's3', 50), ofCustomer('cus_a', 's2', 60), ofCustomer('cus_a', 's3', 70))
    expect(await moved()).toContain('s2')
  })
})

describe('an event with a claim', () => {
  it('is processed, and its effect names the customer but not the consumer', async () => {
    const { deliver, event, api } = await newPlace()
    const [id] = await deliver(checkout('cus_a', 'secret-id'))
    const { status, decoded_summary } = await event(id as string)
    expect([status, decoded_summary?.effects]).toEqual([
      'processed',
      [{ kind: 'customer_link', id: 'cus_a', result: 'applied', change: null }],
    ])
    expect(JSON.stringify(decoded_summary)).not.toContain('secret-id')
    const preview = await api(`/webhooks/${id}/replay?dry_run=true`, { method: 'POST' })
    expect([preview.body.status, preview.body.effects]).toEqual(['processed', decoded_summary?.effects])
  })

  it('is recorded again by a replay, which changes nothing', async () => {
    const { project, deliver, api, queue } = await newPlace()
    await deliver(checkout('cus_a', 'u1', 10), ofCustomer('cus_a', 'u2', 20), ofCustomer('cus_a', 'u3', 15))
    const stored = () => rows('SELECT * FROM customer_links WHERE project_id = ?', project)
    const before = await stored()
    expect(before).toMatchObject([{ customer: 'cus_a', said: 'u2', hint: 'u1', ref: 'u2' }])
    expect((await api('/webhooks/replay', { method: 'POST', json: { filter: {} } })).status).toBe(202)
    const { DB, count } = countingD1()
    expect(await queue.pump({ DB })).toBe(1)
    expect(count.trips).toBeLessThanOrEqual(3)
    expect(await stored()).toEqual(before)
  })

  it('is not recorded by a worker that has lost its lease', async () => {
    const { project, send, queue } = await newPlace()
    await send(checkout('cus_a', 'u1'))
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/insert into "customer_links"/i.test(sql)) {
        await rows("UPDATE events SET lease_token = 'another' WHERE project_id = ?", project)
      }
      return run()
    })
    await queue.pump({ DB })
    expect(await rows('SELECT * FROM customer_links WHERE project_id = ?', project)).toEqual([])
  })

  it('costs no trip, and two rows if it is the first; later, none if it changes nothing, one for a newer rank, four for a move', async () => {
    stopClock() // a new minute has rows of its own
    const { project, send, queue } = await newPlace()
    const cost = async (event: object) => {
      await send(event)
      const { DB, count } = countingD1()
      await queue.pump({ DB })
      return { trips: count.trips, written: count.rows_written }
    }
    const plain = await cost(checkout('cus_a', null, 10))
    const first = await cost(checkout('cus_a', 'u1', 10))
    const later = await cost(checkout('cus_a', 'u2', 20))
    // An ignored event writes a row more: the index of events that ended otherwise than processed.
    const none = (await cost(checkout('cus_b', null, 10))).written - 1
    const own = (await cost(checkout('cus_b', 'u1', 10))).written - none
    expect([first.trips, later.trips]).toEqual([plain.trips, plain.trips])
    // A row of the feed each time that another consumer has the customer.
    expect([own, later.written - none]).toEqual([2 + 1, 0])

    // The newest event of the customer itself decides, so its rank is kept, even if it says the same again.
    await cost(ofCustomer('cus_c', null, 0))
    const said = async (externalId: string | null, moment: number) =>
      (await cost(ofCustomer('cus_c', externalId, moment))).written
    const nothing = await said(null, 10)
    expect((await said('u1', 20)) - nothing).toBe(2 + 1)
    expect((await said('u1', 30)) - nothing).toBe(1)
    const old = await said(null, 15) // an older event writes less for the customer itself
    expect((await said('u1', 16)) - old).toBe(0)
    expect((await said('u2', 17)) - old).toBe(0)

    // Only another id is a move, which is recorded: a row and its index.
    const moves = () => rows('SELECT ref, customer, vendor FROM customer_moves WHERE project_id = ?', project)
    expect(await moves()).toEqual([])
    expect((await said('u2', 40)) - nothing).toBe(4 + 1)
    expect(await moves()).toEqual([{ ref: 'u1', customer: 'cus_c', vendor: 'stripe' }])
  })
})
