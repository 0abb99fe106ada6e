import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { STATUSES } from '../../src/lib/statuses'
import {
  freshReader,
  insertConnection,
  insertEvents,
  insertPayload,
  type Reader,
  type Seed,
  seedEvent,
  walk,
} from './seeding'

const BASE = Date.parse('2026-05-04T10:00:00.000Z')
const MIB = 1024 * 1024

const TYPES = [
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.created',
  'customer',
  'customers.merged',
  'CUSTOMER.created',
  'invoice.paid',
  'invoice%paid',
  'invoice_paid',
  'invoiceXpaid',
  'zahlung.größe',
  'a"quoted","type',
]
const ERRORS = [
  null,
  null,
  null,
  'the amount is 100% wrong',
  'the amount is 100 times wrong',
  'object_id is missing',
  'objectXid is missing',
  'No Such Currency',
  'Échec du paiement',
]
const REFS = ['cus_1', 'cus_2', 'sub_1', 'cus%', 'cus_%']

type Vendors = Record<string, { vendor: string; livemode: boolean }>

/** Connections of every kind, and events of every mix of what can be searched for. */
async function world(count: number) {
  const { project, read } = await freshReader()
  const vendors: Vendors = {}
  for (const [vendor, livemode, deleted] of [
    ['stripe', true, false],
    ['stripe', false, false],
    ['paddle', true, false],
    ['shopify', false, true],
  ] as const) {
    vendors[await insertConnection(project, vendor, { livemode, deleted })] = { vendor, livemode }
  }
  const quiet = await insertConnection(project, 'recurly')
  const connections = Object.keys(vendors)
  const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T
  const events = Array.from({ length: count }, (_, i) => {
    const mix = (i * 2654435761) >>> 4
    return seedEvent({
      received_at: BASE + Math.floor(i / 3) * 1000, // three at a time share their millisecond
      connection: pick(connections, mix),
      vendor_event_id: `evt_${i}`,
      event_type: pick(TYPES, mix >>> 3),
      status: pick(STATUSES, mix >>> 5),
      attempts: (mix >>> 7) % 5,
      last_error: pick(ERRORS, mix >>> 9),
      refs: REFS.filter((_, bit) => ((mix >>> 11) >> bit) % 2 === 1),
    })
  })
  await insertEvents(project, events)
  return { project, read, vendors, connections, quiet, events }
}

type Query = {
  event_type?: string[]
  status?: string[]
  vendor?: string
  connection_id?: string
  vendor_event_id?: string
  ref?: string
  received_after?: string
  received_before?: string
  min_attempts?: number
  error?: string
  livemode?: boolean
  order?: 'asc' | 'desc'
}

function pathOf(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one))
  }
  return `/search?view=summary&${parameters}`
}

const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** What a search has to find: by looking at every event there is. */
function expected(events: readonly Seed[], vendors: Vendors, query: Query): string[] {
  const found = events.filter((event) => {
    const of = vendors[event.connection]
    return (
      (query.event_type === undefined ||
        query.event_type.some((type) =>
          type.endsWith('*') ? event.event_type.startsWith(type.slice(0, -1)) : event.event_type === type,
        )) &&
      (query.status === undefined || query.status.includes(event.status)) &&
      (query.vendor === undefined || of?.vendor === query.vendor) &&
      (query.livemode === undefined || of?.livemode === query.livemode) &&
      (query.connection_id === undefined || event.connection === query.connection_id) &&
      (query.vendor_event_id === undefined || event.vendor_event_id === query.vendor_event_id) &&
      (query.ref === undefined || event.refs.includes(query.ref)) &&
      (query.received_after === undefined || event.received_at >= Date.parse(query.received_after)) &&
      (query.received_before === undefined || event.received_at < Date.parse(query.received_before)) &&
      (query.min_attempts === undefined || event.attempts >= query.min_attempts) &&
      (query.error === undefined || lower(event.last_error ?? '').includes(lower(query.error)))
    )
  })
  const ids = found.map(({ id }) => id).sort()
  return query.order === 'asc' ? ids : ids.reverse()
}

const idsOf = (pages: { data: { id: string }[] }[]) => pages.flatMap(({ data }) => data.map(({ id }) => id))
const at = (ms: number) => new Date(ms).toISOString()

let here: Awaited<ReturnType<typeof world>>
let there: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  there = await world(60)
  here = await world(210)
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

  it('of each connection, a quiet one and another project’s', async () => {
    for (const connection_id of [...here.connections, here.quiet, ...there.connections, 'con_none']) {
      const pages = await walk(here.read, pathOf({ connection_id }), 30)
      expect(idsOf(pages)).toEqual(expected(here.events, here.vendors, { connection_id }))
    }
  })

  it('by any combination of filters, in both orders, in pages of any size', async () => {
    const some = <T>(list: readonly T[]) => fc.option(fc.constantFrom(...list), { nil: undefined, freq: 2 })
    const several = <T>(list: readonly T[]) =>
      fc.option(fc.array(fc.constantFrom(...list), { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 })
    const seconds = fc.option(fc.integer({ min: -1, max: 81 }), { nil: undefined, freq: 2 })
    const query = fc.record({
      event_type: several([...TYPES, 'customer.*', 'invoice*', '*']),
      status: several(STATUSES),
      vendor: some(['stripe', 'stripe', 'paddle', 'shopify']),
      connection_id: some(here.connections),
      vendor_event_id: some(['evt_3', 'evt_100']),
      ref: some(REFS),
      received_after: seconds,
      received_before: seconds,
      min_attempts: some([1, 2, 3]),
      error: some(['amount', 'IS MISSING', '100%', 'Échec']),
      livemode: some([true, false]),
      order: fc.constantFrom('asc', 'desc'),
    })
    /** At most four filters of a query: with all of them nothing is ever found. */
    const combination = fc
      .tuple(
        query,
        fc.subarray(
          [
            'event_type',
            'status',
            'vendor',
            'connection_id',
            'vendor_event_id',
            'ref',
            'received_after',
            'received_before',
            'min_attempts',
            'error',
            'livemode',
          ] as const,
          { maxLength: 4 },
        ),
      )
      .map(([all, kept]) => {
        const { order, received_after: after, received_before: before } = all
        const out: Record<string, unknown> = { order }
        for (const name of kept) if (all[name] !== undefined) out[name] = all[name]
        if (out.received_after !== undefined) out.received_after = at(BASE + (after ?? 0) * 1000)
        if (out.received_before !== undefined) out.received_before = at(BASE + (before ?? 0) * 1000)
        if (out.received_after && out.received_before && (after ?? 0) >= (before ?? 0)) delete out.received_before
        return out as Query
      })
    let found = 0
    await fc.assert(
      fc.asyncProperty(combination, fc.constantFrom(9, 40, 100), async (one, limit) => {
        const wanted = expected(here.events, here.vendors, one)
        if (wanted.length > 0) found += 1
        expect(idsOf(await walk(here.read, pathOf(one), limit))).toEqual(wanted)
      }),
      { numRuns: 300, seed: 20260504 },
    )
    expect(found).toBeGreaterThan(100)
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

describe('refused', () => {
  it.each([
    ['colour=red', '/colour', 'unknown_field'],
    ['event_types=a', '/event_types', 'unknown_field'],
    ['limit=0', '/limit', 'too_small'],
    ['limit=101', '/limit', 'too_big'],
    ['status=done', '/status', 'invalid_union'],
    ['vendor=acme', '/vendor', 'invalid_value'],
    ['vendor=stripe&vendor=paddle', '/vendor', 'invalid_value'],
    ['event_type=', '/event_type', 'invalid_union'],
    ['event_type=a*b', '/event_type', 'invalid_union'],
    ['event_type=*.created', '/event_type', 'invalid_union'],
    ['error=ab', '/error', 'too_small'],
    ['min_attempts=0', '/min_attempts', 'too_small'],
    ['min_attempts=many', '/min_attempts', 'invalid_type'],
    ['received_after=yesterday', '/received_after', 'invalid_format'],
    ['received_after=2026-05-04T10:00:00', '/received_after', 'invalid_format'],
    ['received_after=2026-05-04T10:00:00Z&received_before=2026-05-04T10:00:00Z', '/received_before', 'out_of_range'],
    ['livemode=maybe', '/livemode', 'invalid_union'],
    ['order=up', '/order', 'invalid_value'],
    ['view=raw', '/view', 'invalid_value'],
  ])('%s', async (query, pointer, code) => {
    const { status, body } = await here.read(`/search?${query}`)
    expect([status, body.code, body.errors.map((error: any) => [error.pointer, error.code])]).toEqual([
      422,
      'validation_failed',
      [[pointer, code]],
    ])
  })

  it('a cursor of another search, order, view, list or of none', async () => {
    const next = async (path: string) => (await here.read(`${path}&limit=5`)).body.next_cursor as string
    const cursor = await next('/search?status=processed')
    const listed = await next('?view=summary')
    const tried = async (path: string) => {
      const { status, body } = await here.read(path)
      return status === 200 ? 200 : [status, body.code]
    }
    const own = `cursor=${cursor}`
    // Its own, with another limit; an explicit default changes nothing.
    expect(await tried(`/search?status=processed&limit=7&${own}`)).toBe(200)
    expect(await tried(`/search?status=processed&order=desc&view=full&${own}`)).toBe(200)
    const damaged = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')
    for (const path of [
      `/search?${own}`,
      `/search?status=failed&${own}`,
      `/search?status=processed&status=failed&${own}`,
      `/search?status=processed&ref=cus_1&${own}`,
      `/search?status=processed&order=asc&${own}`,
      `/search?status=processed&view=summary&${own}`,
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

describe('a search that meets its bound before its page is full', () => {
  const COUNT = 9000
  let big: { read: Reader; vendors: Vendors; events: Seed[]; rare: string }
  beforeAll(async () => {
    const { project, read } = await freshReader()
    const busy = await insertConnection(project, 'stripe')
    const rare = await insertConnection(project, 'paddle')
    const events = Array.from({ length: COUNT }, (_, i) =>
      seedEvent({
        connection: i % 1500 === 700 ? rare : busy,
        received_at: BASE + i,
        event_type: i % 2 === 0 ? 'bulk.even' : `bulk.${String(i % 1000).padStart(3, '0')}`,
        status: i % 1500 === 701 ? 'retrying' : i % 3 === 0 ? 'failed' : 'processed',
        attempts: i % 1500 === 702 ? 7 : 2,
        last_error: i % 1500 === 703 ? 'rare words' : 'common words',
        refs: ['cus_all'],
      }),
    )
    await insertEvents(project, events)
    big = {
      read,
      events,
      rare,
      vendors: { [busy]: { vendor: 'stripe', livemode: true }, [rare]: { vendor: 'paddle', livemode: true } },
    }
  })

  it.each<[string, () => Query, boolean]>([
    ['type driver', () => ({ event_type: ['bulk.even'], connection_id: big.rare }), true],
    ['trouble driver, error', () => ({ error: 'rare words' }), true],
    ['trouble driver, attempts', () => ({ min_attempts: 7 }), true],
    ['trouble driver, nothing', () => ({ error: 'no such words' }), true],
    ['ref driver', () => ({ ref: 'cus_all', connection_id: big.rare }), true],
    ['final driver, two streams', () => ({ status: ['processed', 'failed'], connection_id: big.rare }), true],
    ['time driver', () => ({ status: ['retrying', 'ignored'], event_type: ['bulk.*'] }), true],
    ['time driver, a final and an open status', () => ({ status: ['retrying', 'ignored', 'queued'] }), true],
    ['more types than have a stream each', () => ({ event_type: ['bulk.*'], connection_id: big.rare }), false],
    [
      'more types than have a stream each, a final status',
      () => ({ event_type: ['bulk.*'], status: ['processed'], connection_id: big.rare }),
      true,
    ],
    [
      'prefixes with more types together than have a stream each',
      () => ({
        event_type: ['bulk.1*', 'bulk.2*', 'bulk.3*', 'bulk.5*', 'bulk.7*', 'bulk.9*', 'bulk.e*'],
        min_attempts: 1,
        status: ['processed'],
        connection_id: big.rare,
      }),
      true,
    ],
    ['a prefix of many types', () => ({ event_type: ['bulk.1*', 'bulk.3*'] }), false],
    ['every type', () => ({ event_type: ['bulk.*'] }), false],
  ])('%s', async (_, query, truncates) => {
    for (const order of ['asc', 'desc'] as const) {
      const wanted = expected(big.events, big.vendors, { ...query(), order })
      expect(wanted.length > 0).toBe(query().error !== 'no such words')
      for (const limit of wanted.length > 500 ? [100] : [2, 100]) {
        const pages = await walk(big.read, pathOf({ ...query(), order }), limit)
        expect(idsOf(pages)).toEqual(wanted)
        const cut = pages.filter(({ truncated }) => truncated)
        if (limit === 100) expect(cut.length > 0).toBe(truncates)
        // A page that was cut has a cursor to go on, full or empty.
        expect(cut.every(({ has_more, next_cursor }) => has_more && next_cursor !== null)).toBe(true)
      }
    }
  })
})

describe('payloads of a page', () => {
  it('come as they were stored in the full view, and not at all in the summary', async () => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const events = [0, 1, 2].map((ms) => seedEvent({ connection, received_at: BASE + ms }))
    await insertEvents(project, events)
    const [text, bytes] = ['{"größe": "€"}', Uint8Array.of(0xff, 0, 0x7b)]
    await insertPayload(project, events[0] as Seed, text)
    await insertPayload(project, events[1] as Seed, bytes.buffer)
    const stored = [null, bytes.toBase64(), new TextEncoder().encode(text).toBase64()] // the newest has none any more
    for (const path of ['?', '/search?', '/search?event_type=customer.updated&']) {
      const full = (await read(`${path}view=full`)).body
      expect((await read(path)).body).toEqual(full)
      expect(full.data.map((row: any) => row.raw_payload_b64)).toEqual(stored)
      const summary = (await read(`${path}view=summary`)).body
      expect(summary).toEqual({ ...full, data: full.data.map((row: any) => ({ ...row, raw_payload_b64: null })) })
    }
  })

  it('pass 4 MiB of raw bytes on no page, but for a first one that is larger alone', async () => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    // Newest first. Two bytes a character: what counts is bytes. 2 MiB + 2 MiB is exactly the bound.
    const sizes = [1.5 * MIB, 1.5 * MIB, 1.5 * MIB, 2, 2 * MIB, 2 * MIB - 2, 2, 2 * MIB, 2 * MIB, 0, 2]
    const events = sizes.map((_, i) => seedEvent({ connection, received_at: BASE - i }))
    await insertEvents(project, events)
    for (const [i, event] of events.entries()) await insertPayload(project, event, 'é'.repeat((sizes[i] ?? 0) / 2))
    const ids = events.map(({ id }) => id)
    for (const [path, order] of [
      ['?', 'desc'],
      ['/search?', 'desc'],
      ['/search?order=asc&', 'asc'],
    ] as const) {
      const pages = await walk(read, `${path}view=full`, 100)
      expect(idsOf(pages)).toEqual(order === 'asc' ? ids.toReversed() : ids)
      const lengths = pages.map(({ data }) => data.map((row: any) => atob(row.raw_payload_b64).length))
      // Greedy: as many as fit, none more.
      const greedy: number[][] = [[]]
      for (const size of order === 'asc' ? sizes.toReversed() : sizes) {
        const page = greedy.at(-1) as number[]
        if (page.length > 0 && page.reduce((a, b) => a + b, 0) + size > 4 * MIB) greedy.push([size])
        else page.push(size)
      }
      expect(lengths).toEqual(greedy)
      expect(pages.map(({ has_more }) => has_more)).toEqual(pages.map((_, i) => i < pages.length - 1))
      expect(await walk(read, `${path}view=summary`, 100)).toHaveLength(1)
    }
  })
})

describe('the list and the attempts', () => {
  it.each([1, 7, 100])('lists every event of the project once, newest first, %i a page', async (limit) => {
    const pages = await walk(there.read, '?view=summary', limit)
    expect(idsOf(pages)).toEqual(
      there.events
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    expect(pages).toHaveLength(Math.ceil(60 / limit))
  })

  it.each([1, 7, 100])('lists every attempt once, first one first, %i a page', async (limit) => {
    const event = seedEvent({ connection: there.connections[0] ?? '', received_at: BASE - limit, attempts: 25 })
    await insertEvents(there.project, [event])
    await env.DB.prepare(
      `INSERT INTO attempts WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 25)
        SELECT ?1, n, 'retry', NULL, ?2 + n, ?2 + n + 5, 'retrying', 'again' FROM g`,
    )
      .bind(event.id, BASE)
      .run()
    const pages = await walk(there.read, `/${event.id}/attempts`, limit)
    expect(pages.flatMap(({ data }) => data.map((row: any) => row.number))).toEqual(
      Array.from({ length: 25 }, (_, i) => i + 1),
    )
    expect(pages).toHaveLength(Math.ceil(25 / limit))
    expect((await there.read(`/${event.id}`)).body.processing_attempts).toBe(25)
    // Neither is shown to another project.
    for (const path of [`/${event.id}`, `/${event.id}/attempts`]) {
      const { status, body } = await here.read(path)
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
    await env.DB.prepare('DELETE FROM events WHERE project_id = ? AND id = ?').bind(there.project, event.id).run()
  })
})
