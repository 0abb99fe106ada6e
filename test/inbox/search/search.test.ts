import { beforeAll, describe, expect, it } from 'vitest'
import { STATUSES } from '../../../src/inbox/lifecycle'
import { freshReader, insertConnection, insertEvents, seedEvent, walk } from '../seeding'
import { at, BASE, expected, idsOf, oracleWorld, pathOf, type Query, REFS, TYPES } from './oracle'

let here: Awaited<ReturnType<typeof oracleWorld>>
let there: Awaited<ReturnType<typeof oracleWorld>>
beforeAll(async () => {
  there = await oracleWorld(60)
  here = await oracleWorld(210)
})

/** Single filters; the number is how many of the 210 they find at least, so that none of them tests nothing. */
const SINGLE: [Query, number][] = [
  [{}, 210],
  ...TYPES.map((type): [Query, number] => [{ event_type: [type] }, 10]),
  [{ event_type: ['customer.*'] }, 40],
  [{ event_type: ['customer*'] }, 80],
  [{ event_type: ['invoice%*'] }, 10],
  [{ event_type: ['invoice_*'] }, 10],
  [{ event_type: ['invoice.paid', 'zahlung.*', 'customer.subscription.*'] }, 60],
  [{ event_type: ['customer.created', 'customer.created', 'customer.cr*'] }, 10],
  [{ event_type: ['zahlung.grö*'] }, 10],
  [{ event_type: ['a"*'] }, 10],
  [{ event_type: ['","'] }, 0],
  [{ event_type: ['*'] }, 210],
  [{ event_type: ['*', 'no.such'] }, 210],
  [{ event_type: ['no.such.*'] }, 0],
  ...STATUSES.map((status): [Query, number] => [{ status: [status] }, 20]),
  [{ status: ['processed', 'failed'] }, 40],
  [{ status: ['received', 'retrying', 'received'] }, 40],
  [{ status: ['failed', 'queued'] }, 40],
  [{ vendor: 'stripe' }, 80],
  [{ vendor: 'paddle' }, 40],
  [{ vendor: 'shopify' }, 40],
  [{ vendor: 'recurly' }, 0],
  [{ vendor: 'adyen' }, 0],
  [{ livemode: true }, 80],
  [{ livemode: false }, 80],
  [{ vendor_event_id: 'evt_17' }, 1],
  [{ vendor_event_id: 'evt_none' }, 0],
  [{ vendor_event_id: 'v'.repeat(300) }, 0], // as long as one may be
  ...REFS.map((ref): [Query, number] => [{ ref }, 40]),
  [{ ref: 'cus_' }, 0],
  [{ received_after: at(BASE + 20_000) }, 100],
  [{ received_before: at(BASE + 20_000) }, 60],
  [{ received_after: at(BASE + 20_000), received_before: at(BASE + 30_000) }, 30],
  [{ received_before: '2026-05-04T12:00:20+02:00' }, 60],
  [{ received_before: '1999-01-01T00:00:00Z' }, 0],
  ...[1, 2, 4].map((min_attempts): [Query, number] => [{ min_attempts }, 20]),
  [{ min_attempts: 5 }, 0],
  [{ error: '100%' }, 10],
  [{ error: '100' }, 20],
  [{ error: '%wrong' }, 0],
  [{ error: '___' }, 0],
  [{ error: 'object_id' }, 10],
  [{ error: 'no such CURRENCY' }, 10],
  [{ error: 'Échec' }, 10],
]

describe('search finds what looking at every event finds', () => {
  it.each(SINGLE.map(([query, least]) => ({ name: JSON.stringify(query), query, least })))(
    '$name',
    async ({ query, least }) => {
      for (const order of ['asc', 'desc'] as const) {
        const wanted = expected(here.events, here.vendors, { ...query, order })
        expect(wanted.length).toBeGreaterThanOrEqual(least)
        for (const limit of wanted.length < 15 ? [1, 7, 100] : [23, 100]) {
          const pages = await walk(here.read, pathOf({ ...query, order }), limit)
          expect(idsOf(pages)).toEqual(wanted)
          expect(pages.some(({ truncated }) => truncated)).toBe(false)
          // Every page but the last is full, and says that there is more.
          expect(pages.map(({ data, has_more }) => [data.length, has_more])).toEqual(
            pages.map((_, i) =>
              i < pages.length - 1 ? [limit, true] : [wanted.length - limit * (pages.length - 1), false],
            ),
          )
        }
      }
    },
  )

  it('of the ids, in any order and more than once, those of this project', async () => {
    const [first = '', second = ''] = here.events.map(({ id }) => id)
    const [foreign] = there.events
    for (const id of [[first], [second, first, second, foreign?.id ?? '', 'evt_none']]) {
      const wanted = expected(here.events, here.vendors, { id })
      expect(wanted.length).toBe(id.length === 1 ? 1 : 2)
      expect(idsOf(await walk(here.read, pathOf({ id }), 1))).toEqual(wanted)
    }
    const many = (n: number) => here.read(pathOf({ id: Array.from({ length: n }, (_, i) => `evt_${i}`) }))
    expect([(await many(100)).status, (await many(101)).status]).toEqual([200, 422])
  })

  it('of each connection, a quiet one and another project’s', async () => {
    for (const connection_id of [...here.connections, here.quiet, ...there.connections, 'con_none']) {
      const pages = await walk(here.read, pathOf({ connection_id }), 30)
      expect(idsOf(pages)).toEqual(expected(here.events, here.vendors, { connection_id }))
    }
  })
})

it('takes received_after in and received_before out, to the millisecond', async () => {
  const { project, read } = await freshReader()
  const connection = await insertConnection(project, 'stripe')
  const events = [-1, 0, 1].map((ms) => seedEvent({ connection, received_at: BASE + ms }))
  // The least and the greatest id of the millisecond.
  const first = { ...seedEvent({ connection, received_at: BASE }), id: `${events[1]?.id.slice(0, 14)}0000000000000001` }
  const last = { ...seedEvent({ connection, received_at: BASE }), id: `${events[1]?.id.slice(0, 14)}zzzzzzzzzzzzzzzz` }
  await insertEvents(project, [...events, first, last])
  const count = async (query: Query) => idsOf(await walk(read, pathOf(query), 100)).length
  const table: [number, number, number][] = [
    [-1, 4, 1], // ms, received from then on, received before it — of five
    [0, 4, 1],
    [1, 1, 4],
    [2, 0, 5],
  ]
  const seen: typeof table = []
  for (const [ms] of table) {
    seen.push([ms, await count({ received_after: at(BASE + ms) }), await count({ received_before: at(BASE + ms) })])
  }
  expect(seen).toEqual([[-1, 5, 0], ...table.slice(1)])
  expect(await count({ received_after: at(BASE), received_before: at(BASE + 1) })).toBe(3)
})

describe('another project', () => {
  it('is not found under its connections, and its cursor is a place in time and no more', async () => {
    for (const connection_id of there.connections) {
      expect(idsOf(await walk(there.read, pathOf({ connection_id }), 100))).not.toEqual([])
      expect(idsOf(await walk(here.read, pathOf({ connection_id }), 100))).toEqual([])
    }
    // Both projects have events of the same types, refs and times.
    for (const query of [{ event_type: ['customer.*'] }, { ref: 'cus_1' }, { vendor: 'stripe' }, {}]) {
      for (const order of ['asc', 'desc'] as const) {
        const path = pathOf({ ...query, order })
        const { data, next_cursor } = (await there.read(`${path}&limit=5`)).body
        const place = data.at(-1)?.id ?? ''
        const wanted = expected(here.events, here.vendors, { ...query, order })
        const { body } = await here.read(`${path}&limit=100&cursor=${next_cursor}`)
        expect(idsOf([body])).toEqual(wanted.filter((id) => (order === 'asc' ? id > place : id < place)).slice(0, 100))
      }
    }
  })
})

describe('refused', () => {
  it.each([
    ['colour=red', '/colour', 'unknown_field'],
    ['event_types=a', '/event_types', 'unknown_field'],
    ['limit=0', '/limit', 'out_of_range'],
    ['limit=101', '/limit', 'out_of_range'],
    ['status=done', '/status', 'not_one_of'],
    ['vendor=acme', '/vendor', 'not_one_of'],
    ['vendor=stripe&vendor=paddle', '/vendor', 'wrong_type'],
    ['event_type=', '/event_type', 'out_of_range'],
    ['event_type=a*b', '/event_type', 'malformed'],
    ['event_type=*.created', '/event_type', 'malformed'],
    ['error=ab', '/error', 'out_of_range'],
    ['min_attempts=0', '/min_attempts', 'out_of_range'],
    ['min_attempts=many', '/min_attempts', 'wrong_type'],
    ['received_after=yesterday', '/received_after', 'malformed'],
    ['received_after=2026-05-04T10:00:00', '/received_after', 'malformed'],
    ['received_after=2026-05-04T10:00:00Z&received_before=2026-05-04T10:00:00Z', '/received_before', 'out_of_range'],
    ['livemode=maybe', '/livemode', 'not_one_of'],
    ['order=up', '/order', 'not_one_of'],
    ['view=raw', '/view', 'not_one_of'],
  ])('%s', async (query, pointer, code) => {
    const { status, body } = await here.read(`/search?${query}`)
    expect([status, body.code, body.errors.map((error) => [error.pointer, error.code])]).toEqual([
      422,
      'validation_failed',
      [[pointer, code]],
    ])
  })

  it('a cursor of another search, order, list or of none; not one of another view', async () => {
    const next = async (path: string) => (await here.read(`${path}&limit=5`)).body.next_cursor as string
    const cursor = await next('/search?status=processed')
    const listed = await next('?view=summary')
    const tried = async (path: string) => {
      const { status, body } = await here.read(path)
      return status === 200 ? 200 : [status, body.code]
    }
    const own = `cursor=${cursor}`
    // Its own, with another limit; an explicit default changes nothing, and how much of a row is shown is no filter.
    expect(await tried(`/search?status=processed&limit=7&${own}`)).toBe(200)
    expect(await tried(`/search?status=processed&order=desc&view=full&${own}`)).toBe(200)
    expect(await tried(`/search?status=processed&view=summary&${own}`)).toBe(200)
    const brief = await next('/search?status=processed&view=summary')
    expect(await tried(`/search?status=processed&cursor=${brief}`)).toBe(200)
    expect(await tried(`/search?status=processed&order=desc&cursor=${brief}`)).toBe(200)
    for (const view of ['', '&view=full', '&view=summary']) expect(await tried(`?cursor=${listed}${view}`)).toBe(200)
    const damaged = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1) // the last character has bits that mean nothing
    for (const path of [
      `/search?${own}`,
      `/search?status=failed&${own}`,
      `/search?status=processed&status=failed&${own}`,
      `/search?status=processed&ref=cus_1&${own}`,
      `/search?status=processed&order=asc&${own}`,
      `/search?status=processed&cursor=${listed}`,
      `?${own}`,
      `/${here.events[0]?.id}/attempts?${own}`,
      `/search?status=processed&cursor=${damaged}`,
      '/search?cursor=none',
      '/search?cursor=',
    ]) {
      expect([path, await tried(path)]).toEqual([path, [400, 'invalid_cursor']])
    }
  })
})
