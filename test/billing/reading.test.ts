import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { rows } from '../inbox/pipeline'
import { walk } from '../inbox/seeding'
import {
  anId,
  type Fields,
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
import { insertTimeline } from './rows'
import { type BillingWorld, billingWorld, type List, type Shown } from './world'

/* Lists and their filters, compared with a filter in the test; objects by id; timelines. */

type Whole = Exclude<List, 'purchases'>
const LISTS: readonly Whole[] = ['subscriptions', 'invoices', 'payment-methods']
const STATUS: Record<Whole, readonly string[]> = {
  subscriptions: ['active', 'past_due', 'paused', 'canceled', 'unpaid'],
  invoices: ['draft', 'open', 'paid', 'void', 'uncollectible', 'deleted'],
  'payment-methods': ['attached', 'detached'],
}
const CUSTOMERS = ['cus_a', 'cus_b', "cus_'quoted'", null]
const SUBSCRIPTIONS = ['sub_a', 'sub_b', null]
const FILTERS = ['customer', 'status', 'subscription', 'vendor'] as const
type Filter = Partial<Record<(typeof FILTERS)[number], string>>

let world: BillingWorld
const known = {} as Record<Whole, Shown[]>

/** Objects in every combination of filter values. Every third one is Paddle's. */
function objects(): object[] {
  const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T
  return Array.from({ length: 90 }, (_, i) => {
    const [customer, subscription] = [pick(CUSTOMERS, i >> 1), pick(SUBSCRIPTIONS, i >> 2)]
    // In no order, some at the same time, some with digits after the second.
    const seconds = (i * 7) % 20
    const at = `2026-01-01T00:00:${String(seconds).padStart(2, '0')}${pick(['', '.5', '.45', '.500001'], i)}Z`
    const metadata = pick([{}, { plan: 'pro' }, { plan: 'free', n: '1' }, { 'a "quoted" key\\': 'ż' }], i >> 1)
    if (i % 3 === 0) {
      const status = pick(['active', 'past_due', 'paused', 'canceled'], i >> 3)
      const word = pick(['ready', 'billed', 'completed', 'canceled'], i >> 3)
      const custom_data = pick([null, { plan: 'pro', n: 1 }, { yes: true }], i)
      const own = { customer_id: customer, custom_data, created_at: `2025-12-0${1 + (i % 9)}T00:00:00.5Z` }
      return pick(
        [
          paddleEventOf('subscription.updated', paddleSubscription({ ...own, status }), { at }),
          paddleEventOf(
            'transaction.updated',
            paddleTransaction({ ...own, status: word, subscription_id: subscription }),
            { at },
          ),
          paddleEventOf(`payment_method.${pick(['saved', 'deleted'], i >> 3)}`, paddlePaymentMethod(own), { at }),
        ],
        i / 3,
      )
    }
    const status = pick(STATUS.subscriptions, i >> 2)
    const word = pick(STATUS.invoices, i >> 3)
    const own = { customer, metadata, created: T0 - (i % 9) * 86_400 }
    const when = { at: T0 + seconds }
    return pick(
      [
        stripeEventOf('customer.subscription.updated', stripeSubscription({ ...own, status }), when),
        stripeEventOf('invoice.updated', stripeInvoice({ ...own, status: word, subscription }), when),
        stripeEventOf('payment_method.updated', stripePaymentMethod(own), when),
      ],
      i >> 1,
    )
  })
}

const read = (path: string) => world.api(path)
const query = (filter: Filter) => new URLSearchParams(filter as Record<string, string>).toString()
/** What lists are sorted by: the time of the last change, then the id. */
const placeOf = ({ updated_at, id, vendor }: Shown) => `${updated_at?.replace('Z', '')} ${id} ${vendor}`
const latestFirst = (a: Shown, b: Shown) => (placeOf(a) < placeOf(b) ? 1 : -1)
const idsOf = (list: Shown[]) => list.map(({ id }) => id)
const all = async (list: List, filter: Filter, limit = 7) =>
  (await walk(read, `/${list}?${query(filter)}`, limit)).flatMap(({ data }) => data)

beforeAll(async () => {
  world = await billingWorld()
  await world.deliverTogether(objects())
  for (const list of LISTS) {
    const deleted = list === 'invoices' ? await all(list, { status: 'deleted' }) : []
    known[list] = [...(await all(list, {}, 100)), ...deleted].sort(latestFirst)
  }
})

describe.each(LISTS)('the list of %s', (list) => {
  it('has objects for every filter value', () => {
    const kind = list.replace('-', '_').slice(0, -1)
    return world.objects().then((stored) => {
      const ids = stored.filter((row) => row.kind === kind).map((row) => row.vendor_id)
      expect(idsOf(known[list]).sort()).toEqual(ids)
      expect(new Set(known[list].map(({ vendor }) => vendor))).toEqual(new Set(['stripe', 'paddle']))
      expect(new Set(known[list].map(({ status }) => status))).toEqual(new Set(STATUS[list]))
    })
  })

  it('returns for every combination of filters what a filter in the test returns', async () => {
    const values: Record<string, readonly (string | null)[]> = {
      customer: [...CUSTOMERS, 'cus_none'],
      status: STATUS[list],
      subscription: list === 'invoices' ? [...SUBSCRIPTIONS, 'sub_none'] : [null],
      vendor: ['stripe', 'paddle', 'gocardless', null],
    }
    let combinations: Filter[] = [{}]
    for (const name of FILTERS) {
      const each = new Set([null, ...(values[name] as string[])])
      combinations = combinations.flatMap((filter) =>
        [...each].map((value) => (value === null ? filter : { ...filter, [name]: value })),
      )
    }
    let found = 0
    for (const filter of combinations) {
      const wanted = known[list].filter((row) =>
        FILTERS.every((name) => filter[name] === undefined || row[name] === filter[name]),
      )
      const shown = filter.status === undefined ? wanted.filter(({ status }) => status !== 'deleted') : wanted
      const { body } = await read(`/${list}?limit=100&${query(filter)}`)
      expect(body, query(filter)).toEqual({ data: shown, has_more: false, next_cursor: null, truncated: false })
      if (shown.length > 2 && shown.length < 9) expect(await all(list, filter, 2), query(filter)).toEqual(shown)
      found += Number(shown.length > 0)
    }
    expect(found).toBeGreaterThan(12)
  })

  it('filters by times and metadata as a filter in the test does, alone and with others', async () => {
    const plain = (time: string | null) => time?.replace('Z', '') ?? ''
    const meta = (key: string, value: string) => (row: Shown) => String(row.metadata?.[key]) === value
    const CASES: [string, (row: Shown) => boolean][] = [
      ['updated_after=2026-01-01T00:00:10Z', (row) => plain(row.updated_at) >= '2026-01-01T00:00:10'],
      ['updated_after=2026-01-01T00:00:07.5Z', (row) => plain(row.updated_at) >= '2026-01-01T00:00:07.5'],
      ['updated_after=2026-01-01T00:00:07.50000Z', (row) => plain(row.updated_at) >= '2026-01-01T00:00:07.5'],
      [
        'updated_after=2026-01-01T02:00:07.5000000000001%2B02:00',
        (row) => plain(row.updated_at) >= '2026-01-01T00:00:07.5',
      ],
      ['updated_after=2027-01-01T00:00:00Z', () => false],
      ['created_after=2025-12-28T00:00:00Z', (row) => plain(row.created_at) >= '2025-12-28T00:00:00'],
      ['created_after=2025-12-05T00:00:00.500Z', (row) => plain(row.created_at) >= '2025-12-05T00:00:00.5'],
      ['livemode=true', (row) => row.livemode !== false],
      ['livemode=false', (row) => row.livemode === false],
      ['livemode=true&metadata[plan]=pro', (row) => row.livemode !== false && meta('plan', 'pro')(row)],
      ['livemode=false&metadata[plan]=pro', (row) => row.livemode === false && meta('plan', 'pro')(row)],
      ['metadata[plan]=pro', meta('plan', 'pro')],
      ['metadata[n]=1', meta('n', '1')],
      ['metadata[yes]=true', meta('yes', 'true')],
      ['metadata[yes]=1', () => false],
      [`metadata[${encodeURIComponent('a "quoted" key\\')}]=${encodeURIComponent('ż')}`, meta('a "quoted" key\\', 'ż')],
      ['metadata[plan]=pro&metadata[n]=1', (row) => meta('plan', 'pro')(row) && meta('n', '1')(row)],
      ['metadata[plan]=', () => false],
      ['metadata[$.plan]=pro', () => false],
    ]
    const OTHERS: [string, (row: Shown) => boolean][] = [
      ['', () => true],
      ['&vendor=stripe', (row) => row.vendor === 'stripe'],
      ['&customer=cus_a', (row) => row.customer === 'cus_a'],
      [
        '&updated_after=2026-01-01T00:00:05Z&customer=cus_b',
        (row) => row.customer === 'cus_b' && plain(row.updated_at) >= '2026-01-01T00:00:05',
      ],
    ]
    let found = 0
    for (const [search, matches] of CASES) {
      for (const [more, also] of OTHERS) {
        if (search.includes('updated_after') && more.includes('updated_after')) continue
        const wanted = known[list].filter((row) => row.status !== 'deleted' && matches(row) && also(row))
        const pages = await walk(read, `/${list}?${search}${more}`, 4)
        expect(
          pages.flatMap(({ data }) => data.map(({ id }: Shown) => id)),
          `${search}${more}`,
        ).toEqual(idsOf(wanted))
        found += Number(wanted.length > 0)
      }
    }
    expect(found).toBeGreaterThan(20)
  })

  it('refuses unknown filters and invalid values', async () => {
    const wrong: [string, string][] = [
      ['status=gone', '/status'],
      ['status=', '/status'],
      ['status=ACTIVE', '/status'],
      ['customer=', '/customer'],
      [`customer=${'x'.repeat(201)}`, '/customer'],
      ['vendor=', '/vendor'],
      ['updated_after=yesterday', '/updated_after'],
      ['updated_after=2026-01-01', '/updated_after'],
      ['updated_after=2026-01-01T00:00Z', '/updated_after'],
      ['created_after=', '/created_after'],
      ['created_after=0000-01-01T00:00:00%2B14:00', '/created_after'],
      ['metadata=pro', '/metadata'],
      ['metadata[]=pro', '/metadata/'],
      ['metadata[plan]=pro&metadata[plan]=free', '/metadata/plan'],
      [`metadata[${'k'.repeat(101)}]=pro`, `/metadata/${'k'.repeat(100)}`],
      [`metadata[plan]=${'v'.repeat(501)}`, '/metadata/plan'],
      ['metadata[__proto__]=pro', '/metadata[__proto__]'],
      ['metadata[a]=1&metadata[b]=2&metadata[c]=3&metadata[d]=4&metadata[e]=5&metadata[f]=6', '/metadata'],
      ['vendor[x]=stripe', '/vendor[x]'],
      ['ambiguous=true', '/ambiguous'],
      ['livemode=1', '/livemode'],
      ['id=sub_1', '/id'],
      ...(list === 'invoices' ? [] : ([['subscription=sub_a', '/subscription']] as [string, string][])),
    ]
    for (const [search, pointer] of wrong) {
      const { status, body } = await read(`/${list}?${search}`)
      expect([status, body.code, body.errors?.[0]?.pointer], search).toEqual([422, 'validation_failed', pointer])
    }
  })

  it('returns each object by its id, to its own project only', async () => {
    const other = await billingWorld()
    for (const row of known[list].slice(0, 5)) {
      expect(await world.one(list, row.id)).toEqual(row)
      expect(await world.one(list, row.id, `?vendor=${row.vendor}`)).toEqual(row)
      const away = row.vendor === 'stripe' ? 'paddle' : 'stripe'
      for (const answer of [
        await read(`/${list}/${row.id}?vendor=${away}`),
        await other.api(`/${list}/${row.id}`),
        await other.api(`/${list}/${row.id}/timeline`),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
      }
    }
    expect((await other.api(`/${list}`)).body.data).toEqual([])
    for (const kind of LISTS.filter((kind) => kind !== list)) {
      expect((await read(`/${kind}/${known[list][0]?.id}`)).status).toBe(404)
    }
  })
})

it('two vendors may use the same id: ?vendor= selects one, and the list has both', async () => {
  const id = 'sub_shared_by_two'
  await world.deliver(
    stripeEventOf('customer.subscription.updated', stripeSubscription({ id, status: 'unpaid', customer: 'cus_two' })),
    paddleEventOf('subscription.updated', paddleSubscription({ id, status: 'paused', customer_id: 'cus_two' })),
  )
  expect(await world.one('subscriptions', id, '?vendor=stripe')).toMatchObject({ vendor: 'stripe', status: 'unpaid' })
  expect(await world.one('subscriptions', id, '?vendor=paddle')).toMatchObject({ vendor: 'paddle', status: 'paused' })
  expect(await world.one('subscriptions', id)).toMatchObject({ vendor: 'paddle' })
  expect((await read(`/subscriptions/${id}?vendor=square`)).status).toBe(404)
  // One row a page: the cursor is between the two.
  expect((await all('subscriptions', { customer: 'cus_two' }, 1)).map(({ vendor }) => vendor)).toEqual([
    'paddle',
    'stripe',
  ])
})

describe('the timeline', () => {
  const sub = (id: string, fields: Fields = {}) => stripeSubscription({ id, ...fields })
  const eventOf = (object: Fields, at: number, type = 'updated') =>
    stripeEventOf(`customer.subscription.${type}`, object, { at })

  it('lists the events of the object with their results, the latest by the vendor’s time first', async () => {
    const id = anId('sub')
    const entitled = stripeEventOf('customer.subscription.updated', sub(id, { status: 'paused' }), {
      at: T0 + 9,
      id: `evt_z${id}`,
    })
    const tied = stripeEventOf('customer.subscription.updated', sub(id, { status: 'unpaid' }), {
      at: T0 + 9,
      id: `evt_zz${id}`,
    })
    const ids = await world.deliver(
      eventOf(sub(id), T0, 'created'),
      eventOf(sub(id, { status: 'past_due' }), T0 + 5),
      eventOf(sub(id, { status: 'active' }), T0 + 2),
      // About this object, but of a type that does not change billing state.
      stripeEventOf('billing.credit_grant.created', { id, object: 'subscription' }),
      // Refers to the object, but is about another one.
      stripeEventOf('invoice.created', stripeInvoice({ subscription: id })),
      eventOf(sub(id, { status: 'past_due' }), T0 + 7),
      entitled,
      tied,
    )
    const change = (from: string | null, to: string) => ({ status: { from, to }, vendor_status: { from, to } })
    const at = (from: number, to: number) => ({ updated_at: { from: iso(from), to: iso(to) } })
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
    const entries = await world.timeline('subscriptions', id)
    expect(entries.map(({ event_id, result, change }) => [ids.indexOf(event_id), result, change])).toEqual([
      [7, 'ambiguous', change('paused', 'unpaid')],
      [6, 'applied', { ...change('past_due', 'paused'), ...at(T0 + 7, T0 + 9) }],
      [5, 'applied', at(T0 + 5, T0 + 7)],
      // Received later, but of an earlier time.
      [1, 'applied', { ...change('active', 'past_due'), ...at(T0, T0 + 5) }],
      [2, 'superseded', null],
      [3, 'ignored', null],
      [0, 'applied', expect.objectContaining(change(null, 'active'))],
    ])
    expect(entries.at(-1)).toMatchObject({
      event_type: 'customer.subscription.created',
      status: 'processed',
      occurred_at: iso(T0),
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    // The same, page by page.
    for (const limit of [1, 2, 3]) {
      const pages = await walk(read, `/subscriptions/${id}/timeline`, limit)
      expect(pages.flatMap(({ data }) => data)).toEqual(entries)
      expect(pages.map(({ data }) => data.length).every((n) => n <= limit)).toBe(true)
    }
    expect((await read(`/invoices/${id}/timeline`)).status).toBe(404)
  })

  it('shows an event whose replay is still queued, with the result of before', async () => {
    const id = anId('sub')
    await world.deliver(eventOf(sub(id), T0))
    const { body } = await world.replay((await world.timeline('subscriptions', id))[0]?.event_id as string)
    expect(body.event.status).toBe('queued')
    expect((await world.timeline('subscriptions', id))[0]).toMatchObject({ status: 'queued', result: 'applied' })
    await world.queue.pump()
    expect((await world.timeline('subscriptions', id))[0]).toMatchObject({ status: 'processed', result: 'applied' })
  })

  it('goes on past a thousand events', async () => {
    const id = anId('sub')
    const [first] = await world.deliver(eventOf(sub(id), T0))
    const more = Array.from({ length: 1005 }, (_, i) => newId('evt', Date.now() - 10_000 + i))
    await insertTimeline(world.project, world.connection.id, 'subscription', id, more)
    const pages = await walk(read, `/subscriptions/${id}/timeline`, 100)
    const found = pages.flatMap(({ data }) => data.map(({ event_id }: { event_id: string }) => event_id))
    expect(found.toSorted()).toEqual([first, ...more].toSorted())
  })

  it('skips many events that only refer to the object', async () => {
    const id = anId('sub')
    const [first] = await world.deliver(eventOf(sub(id), T0))
    const invoices = Array.from({ length: 30 }, () =>
      stripeEventOf('invoice.created', stripeInvoice({ subscription: id })),
    )
    await world.deliverTogether(invoices)
    expect(await rows('SELECT event_id FROM refs WHERE project_id = ? AND ref = ?', world.project, id)).toHaveLength(31)
    const { body } = await read(`/subscriptions/${id}/timeline?limit=1`)
    expect(body).toMatchObject({ data: [{ event_id: first }], has_more: false, next_cursor: null })
  })
})
