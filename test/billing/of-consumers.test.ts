import { beforeAll, describe, expect, it } from 'vitest'
import { as } from '../consumers/consumers'
import { ofCustomer } from '../consumers/events'
import { countingD1 } from '../harness'
import { walk } from '../inbox/seeding'
import {
  type Fields,
  isoOf,
  paddleEventOf,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { type BillingWorld, billingWorld, type List, type Shown } from './world'

/* Which consumer a billing object or an event belongs to, and the lists of one consumer's objects, compared with a filter in the test. */

const LISTS: readonly Exclude<List, 'purchases'>[] = ['subscriptions', 'invoices', 'payment-methods']
/** The customers, as vendor and id. Two vendors use one id, which is linked at one of them alone. */
const CUSTOMERS = [
  ['stripe', 'cus_said'],
  ['paddle', 'ctm_pinned'],
  ['stripe', 'cus_of_merged'],
  ['stripe', 'cus_same'],
  ['paddle', 'cus_same'],
  ['stripe', 'cus_other'],
  ['stripe', 'cus_nobody'],
] as const
const STRIPE = {
  subscriptions: ['customer.subscription.updated', stripeSubscription],
  invoices: ['invoice.updated', stripeInvoice],
  'payment-methods': ['payment_method.updated', stripePaymentMethod],
} as const
const PADDLE = {
  subscriptions: ['subscription.updated', paddleSubscription],
  invoices: ['transaction.updated', paddleTransaction],
  'payment-methods': ['payment_method.saved', paddlePaymentMethod],
} as const

/** Three objects of each kind for each customer, changed in an order that mixes the customers, some at the same time. */
function objects(): object[] {
  return LISTS.flatMap((list) =>
    Array.from({ length: 3 * CUSTOMERS.length }, (_, n) => {
      const [vendor, customer] = CUSTOMERS[n % CUSTOMERS.length] as (typeof CUSTOMERS)[number]
      const [id, at] = [`${list}_${String((n * 5) % 21).padStart(2, '0')}`, T0 + ((n * 4) % 13)]
      if (vendor === 'paddle') {
        const [type, make] = PADDLE[list]
        return paddleEventOf(type, make({ id, customer_id: customer }), { at: isoOf(at) })
      }
      const [type, make] = STRIPE[list]
      return stripeEventOf(type, (make as (fields: Fields) => Fields)({ id, customer }), { at })
    }),
  )
}

const callsOf = ({ project, token }: BillingWorld) => as(project, token)

let world: BillingWorld
let api: ReturnType<typeof callsOf>
/** The consumers' ids. `gone` was merged into `mine`. */
const ids = { mine: '', other: '', gone: '' }
const all = {} as Record<List, Shown[]>
beforeAll(async () => {
  const away = await billingWorld()
  world = await billingWorld()
  api = callsOf(world)
  for (const name of ['mine', 'other', 'gone'] as const) ids[name] = (await api.put(name)).body.id
  await world.deliverTogether([
    ...objects(),
    // It refers to two customers of one consumer.
    stripeEventOf('payment_method.updated', stripePaymentMethod({ id: 'pm_moved', customer: 'cus_moved' }), {
      previous: { customer: 'cus_said' },
    }),
    ofCustomer('cus_said', 'mine'),
    ofCustomer('cus_moved', 'mine'),
    ofCustomer('cus_of_merged', 'gone'),
    ofCustomer('cus_other', 'other'),
    ofCustomer('cus_nobody', 'a_consumer_that_does_not_exist'),
  ])
  await api.pin('ctm_pinned', ids.mine, 'paddle')
  await api.pin('cus_same', 'ext:mine')
  expect((await api.merge('ext:gone', 'ext:mine')).status).toBe(200)
  // The same customers and objects in another project, all of one consumer there.
  await callsOf(away).put('mine')
  await away.deliverTogether([...objects(), ...CUSTOMERS.map(([, id]) => ofCustomer(id, 'mine'))])
  for (const list of LISTS) all[list] = (await world.api(`/${list}?limit=100`)).body.data
}, 60_000)

const OWNERS: Record<string, keyof typeof ids> = {
  'stripe cus_said': 'mine',
  'paddle ctm_pinned': 'mine',
  'stripe cus_of_merged': 'mine',
  'stripe cus_same': 'mine',
  'stripe cus_moved': 'mine',
  'stripe cus_other': 'other',
}
const ownerOf = ({ vendor, customer }: Shown) => ids[OWNERS[`${vendor} ${customer}`] as 'mine'] ?? null

describe.each(LISTS)('%s', (list) => {
  const listed = async (query: string, limit = 100): Promise<Shown[]> =>
    (await walk((path) => world.api(path), `/${list}?${query}`, limit)).flatMap(({ data }) => data)

  it('have the consumer that their customer is linked to, in the list, alone, and with their customer', async () => {
    expect(all[list].map(({ consumer_id }) => consumer_id)).toEqual(all[list].map(ownerOf))
    expect(all[list].length).toBeGreaterThanOrEqual(21)
    for (const row of all[list]) expect(await world.one(list, row.id, `?vendor=${row.vendor}`)).toEqual(row)
    for (const [vendor, id] of CUSTOMERS) {
      const { body } = await world.api<Record<string, { data: Shown[] }>>(`/customers/${vendor}/${id}`)
      expect(body[list.replace('-', '_')]?.data).toEqual(
        all[list].filter((row) => row.vendor === vendor && row.customer === id),
      )
    }
  })

  it('filtered by consumer include those of all its customers, in the order of the list, on pages of any size', async () => {
    const own = all[list].filter((row) => ownerOf(row) === ids.mine)
    expect(own.length).toBeGreaterThanOrEqual(12)
    for (const limit of [1, 2, 5, 12, 100]) expect(await listed(`consumer=${ids.mine}`, limit)).toEqual(own)
    // Its own external id, and the one that it has from the consumer that was merged.
    for (const name of ['mine', 'gone']) expect(await listed(`consumer=ext:${name}`, 4)).toEqual(own)
    expect(await listed('consumer=ext:other')).toEqual(all[list].filter((row) => ownerOf(row) === ids.other))
  })

  it('of a consumer can be filtered further', async () => {
    const own = all[list].filter((row) => ownerOf(row) === ids.mine)
    const statuses = [...new Set(all[list].map(({ status }) => status))]
    const cases: [string, (row: Shown) => boolean][] = [
      ...['stripe', 'paddle'].map((vendor): [string, (row: Shown) => boolean] => [
        `vendor=${vendor}`,
        (row) => row.vendor === vendor,
      ]),
      ...CUSTOMERS.map(([, id]): [string, (row: Shown) => boolean] => [`customer=${id}`, (row) => row.customer === id]),
      ...statuses.map((status): [string, (row: Shown) => boolean] => [
        `status=${status}`,
        (row) => row.status === status,
      ]),
      [`updated_after=${isoOf(T0 + 6)}`, ({ updated_at }) => (updated_at ?? '') >= isoOf(T0 + 6).slice(0, -1)],
      ['metadata[no]=such', () => false],
      ['customer=cus_same&vendor=paddle', () => false],
    ]
    for (const [query, holds] of cases) {
      expect([query, await listed(`consumer=ext:mine&${query}`, 2)]).toEqual([query, own.filter(holds)])
    }
  })

  it('are empty for an unknown consumer, and an invalid name is refused', async () => {
    for (const consumer of ['ext:nobody', 'csm_00000000000000000000000000', ids.gone]) {
      const { status, body } = await world.api(`/${list}?consumer=${consumer}`)
      expect([status, body]).toEqual([200, { data: [], has_more: false, next_cursor: null, truncated: false }])
    }
    for (const consumer of ['', 'mine', 'ext:', 'csm_1', 'ext:a%20b']) {
      const { status, body } = await world.api(`/${list}?consumer=${consumer}`)
      expect([status, body.code, body.errors?.[0]?.pointer], consumer).toEqual([422, 'validation_failed', '/consumer'])
    }
    const { body } = await world.api(`/${list}?consumer=${ids.mine}&limit=2`)
    for (const other of ['', `consumer=${ids.other}&`]) {
      const answer = await world.api(`/${list}?${other}limit=2&cursor=${body.next_cursor}`)
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_cursor'])
    }
  })
})

it('an event has the consumer of its customer once it is processed, in every answer', async () => {
  const { body } = await world.send(stripeEventOf('invoice.updated', stripeInvoice({ customer: 'cus_said' })))
  const [id] = body.event_ids
  expect(await world.event(id)).toMatchObject({ status: 'received', consumer_id: null })
  await world.queue.pump()
  expect(await world.event(id)).toMatchObject({ status: 'processed', consumer_id: ids.mine })
  for (const path of ['', '?view=summary', '/search', '/search?view=summary']) {
    const pages = await walk((path) => world.api(path), `/webhooks${path}`, 30)
    const events = pages.flatMap(({ data }) => data)
    expect(events.length).toBeGreaterThan(60)
    for (const { consumer_id, vendor, decoded_summary } of events) {
      const { customer } = decoded_summary
      expect([vendor, customer, consumer_id]).toEqual([vendor, customer, ownerOf({ vendor, customer } as Shown)])
    }
  }
  // As many trips as without: a page that is small takes one, a search one more to find its events.
  for (const [path, trips] of [
    ['?limit=50', 1],
    ['/search?limit=50', 3],
  ] as const) {
    const { DB, count } = countingD1()
    expect((await world.api(`/webhooks${path}`, { bindings: { DB } })).status).toBe(200)
    expect([path, count.trips, count.rows_read <= 50 * 14]).toEqual([path, trips, true])
  }
  expect((await world.replay(id)).body.event).toMatchObject({ consumer_id: ids.mine })
  await world.queue.pump()
})

it('a search by consumer finds the events of all its customers, once each, and combines with all other filters', async () => {
  type Found = { id: string; vendor: string; event_type: string; consumer_id: string | null }
  const search = async (query: string, limit = 100): Promise<Found[]> =>
    (await walk((path) => world.api(path), `/webhooks/search?view=summary&${query}`, limit)).flatMap(({ data }) => data)
  for (const order of ['desc', 'asc']) {
    const own = (await search(`order=${order}`)).filter(({ consumer_id }) => consumer_id === ids.mine)
    expect(own.length).toBeGreaterThan(36)
    for (const limit of [1, 5, 100]) expect(await search(`order=${order}&consumer=${ids.mine}`, limit)).toEqual(own)
    expect(await search(`order=${order}&consumer=ext:gone`)).toEqual(own)
    for (const [query, holds] of [
      ['vendor=paddle', ({ vendor }) => vendor === 'paddle'],
      ['event_type=invoice.*', ({ event_type }) => event_type.startsWith('invoice.')],
      ['status=processed', () => true],
      ['status=failed', () => false],
      ['ref=cus_nobody', () => false],
    ] satisfies [string, (event: Found) => boolean][]) {
      expect([query, await search(`order=${order}&consumer=ext:mine&${query}`, 4)]).toEqual([query, own.filter(holds)])
    }
  }
  for (const consumer of ['ext:nobody', ids.gone]) expect(await search(`consumer=${consumer}`)).toEqual([])
  const { status, body } = await world.api('/webhooks/search?consumer=mine')
  expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([422, 'validation_failed', '/consumer'])
  // A replay keeps its filter, so it takes none that names somebody.
  const replay = await world.api('/webhooks/replay', { method: 'POST', json: { filter: { consumer: 'ext:mine' } } })
  expect([replay.status, replay.body.errors?.[0]?.code]).toEqual([422, 'unknown_field'])
})

it('objects and events follow their customer at once: pinned to nobody, to another consumer, and erased', async () => {
  const { id: consumer } = (await api.put('erased')).body
  const [event] = await world.deliver(
    stripeEventOf('customer.subscription.updated', stripeSubscription({ id: 'sub_moves', customer: 'cus_moves' })),
    ofCustomer('cus_moves', 'erased'),
  )
  const owner = async () => [
    (await world.one('subscriptions', 'sub_moves')).consumer_id,
    (await world.event(event as string)).consumer_id,
    ...(await world.api('/subscriptions?customer=cus_moves')).body.data.map(({ consumer_id }: Shown) => consumer_id),
  ]
  const of = async (name: string) => (await world.api(`/subscriptions?customer=cus_moves&consumer=${name}`)).body.data
  expect(await owner()).toEqual([consumer, consumer, consumer])
  await api.pin('cus_moves', null)
  expect([await owner(), await of(consumer)]).toEqual([[null, null, null], []])
  await api.pin('cus_moves', ids.other)
  expect([await owner(), await of(consumer)]).toEqual([[ids.other, ids.other, ids.other], []])
  expect(await of('ext:other')).toHaveLength(1)
  await api.unpin('cus_moves')
  expect(await of(consumer)).toHaveLength(1)
  expect((await api.erase(consumer)).status).toBe(202)
  expect([await owner(), await of(consumer)]).toEqual([[null, null, null], []])
})
