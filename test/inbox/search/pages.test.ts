import { beforeAll, describe, expect, it } from 'vitest'
import { STORE } from '../../harness'
import {
  freshReader,
  insertConnection,
  insertEvents,
  insertPayload,
  type Reader,
  type Seed,
  seedEvent,
  walk,
} from '../seeding'
import { BASE, expected, idsOf, oracleWorld, pathOf, type Query, type Vendors } from './oracle'

const MIB = 1024 * 1024

let here: Awaited<ReturnType<typeof oracleWorld>>
let there: Awaited<ReturnType<typeof oracleWorld>>
beforeAll(async () => {
  there = await oracleWorld(60)
  here = await oracleWorld(1)
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
        status: i % 1500 === 701 ? 'retrying' : i % 3 !== 1 || i % 3000 === 700 ? 'failed' : 'processed',
        attempts: i % 1500 === 702 ? 7 : 2,
        last_error: i % 1500 === 703 ? 'rare words' : 'common words',
        refs: ['cus_all'],
      }),
    )
    // What is rare has many events of another kind, or all of its events would be looked at.
    const others = Array.from({ length: 1100 }, (_, i) =>
      seedEvent({ connection: rare, received_at: BASE - 1 - i, event_type: 'other', status: 'received', attempts: 0 }),
    )
    events.unshift(...others.toReversed())
    await insertEvents(project, events)
    big = {
      read,
      events,
      rare,
      vendors: { [busy]: { vendor: 'stripe', livemode: true }, [rare]: { vendor: 'paddle', livemode: true } },
    }
  })

  const CASES: [string, () => Query, boolean][] = [
    ['the type index', () => ({ event_type: ['bulk.even'], connection_id: big.rare }), true],
    ['the trouble index, error', () => ({ error: 'rare words' }), true],
    ['the trouble index, attempts', () => ({ min_attempts: 7 }), true],
    ['the trouble index, nothing', () => ({ error: 'no such words' }), true],
    ['the ref index', () => ({ ref: 'cus_all', connection_id: big.rare }), true],
    [
      'the index of final statuses, two lists',
      () => ({ status: ['ignored', 'failed'], connection_id: big.rare }),
      true,
    ],
    ['the primary key', () => ({ status: ['retrying', 'ignored'], event_type: ['bulk.*'] }), true],
    ['the primary key, a final and an open status', () => ({ status: ['retrying', 'ignored', 'queued'] }), true],
    ['too many types to read one by one', () => ({ event_type: ['bulk.*'], connection_id: big.rare }), false],
    [
      'too many types to read one by one, a final status',
      () => ({ event_type: ['bulk.*'], status: ['failed'], connection_id: big.rare }),
      true,
    ],
    [
      'prefixes with too many types together',
      () => ({
        event_type: ['bulk.1*', 'bulk.2*', 'bulk.3*', 'bulk.5*', 'bulk.7*', 'bulk.9*', 'bulk.e*'],
        min_attempts: 1,
        status: ['failed'],
        connection_id: big.rare,
      }),
      true,
    ],
    ['processed ones: of the connection', () => ({ status: ['processed'], connection_id: big.rare }), false],
    ['processed ones: the primary key', () => ({ status: ['processed', 'failed'], event_type: ['bulk.*'] }), false],
    ['a prefix of many types', () => ({ event_type: ['bulk.1*', 'bulk.3*'] }), false],
    ['every type', () => ({ event_type: ['bulk.*'] }), false],
  ]
  describe.each(['asc', 'desc'] as const)('%s', (order) => {
    it.each(CASES)('%s', async (_, query, truncates) => {
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
    })
  })
})

describe('payloads', () => {
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
      expect(full.data.map((row) => row.raw_payload_b64)).toEqual(stored)
      const summary = (await read(`${path}view=summary`)).body
      expect(summary).toEqual({ ...full, data: full.data.map((row) => ({ ...row, raw_payload_b64: null })) })
    }
  })
})

describe('the payloads of a page', () => {
  // Newest first. Two bytes a character: what counts is bytes. 1 MiB + 1 MiB is exactly the bound.
  const sizes = [0.75, 0.75, 0.75, 2 / MIB, 1, 1 - 2 / MIB, 2 / MIB, 1, 1, 0, 2 / MIB].map((size) => size * MIB)
  let read: Reader
  let ids: string[]
  beforeAll(async () => {
    const fresh = await freshReader()
    const connection = await insertConnection(fresh.project, 'stripe')
    const events = sizes.map((_, i) => seedEvent({ connection, received_at: BASE - i }))
    await insertEvents(fresh.project, events)
    for (const [i, event] of events.entries()) {
      await insertPayload(fresh.project, event, 'é'.repeat((sizes[i] ?? 0) / 2))
    }
    read = fresh.read
    ids = events.map(({ id }) => id)
  })

  it.each([
    ['?', 'desc'],
    ['/search?', 'desc'],
    ['/search?order=asc&', 'asc'],
  ] as const)('never pass 2 MiB, and a page has as many as fit: %s', async (path, order) => {
    const pages = await walk(read, `${path}view=full`, 100)
    expect(idsOf(pages)).toEqual(order === 'asc' ? ids.toReversed() : ids)
    const lengths = pages.map(({ data }) => data.map((row) => atob(row.raw_payload_b64).length))
    // Greedy: as many as fit, none more.
    const greedy: number[][] = [[]]
    for (const size of order === 'asc' ? sizes.toReversed() : sizes) {
      const page = greedy.at(-1) as number[]
      if (page.length > 0 && page.reduce((a, b) => a + b, 0) + size > 2 * MIB) greedy.push([size])
      else page.push(size)
    }
    expect(lengths).toEqual(greedy)
    expect(pages.map(({ has_more }) => has_more)).toEqual(pages.map((_, i) => i < pages.length - 1))
    expect(await walk(read, `${path}view=summary`, 100)).toHaveLength(1)
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
    await STORE.prepare(
      `INSERT INTO attempts WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 25)
        SELECT ?1, n, 'retry', NULL, ?2 + n, ?2 + n + 5, 'retrying', 'again' FROM g`,
    )
      .bind(event.id, BASE)
      .run()
    const pages = await walk(there.read, `/${event.id}/attempts`, limit)
    expect(pages.flatMap(({ data }) => data.map((row) => row.number))).toEqual(
      Array.from({ length: 25 }, (_, i) => i + 1),
    )
    expect(pages).toHaveLength(Math.ceil(25 / limit))
    expect((await there.read(`/${event.id}`)).body.processing_attempts).toBe(25)
    // Neither is shown to another project.
    for (const path of [`/${event.id}`, `/${event.id}/attempts`]) {
      const { status, body } = await here.read(path)
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
    await STORE.prepare('DELETE FROM events WHERE project_id = ? AND id = ?').bind(there.project, event.id).run()
  })
})
