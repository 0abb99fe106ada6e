import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { newSessionToken } from '../../src/sessions/secret'
import { insertObjects, insertTimeline } from '../billing/rows'
import { type Answer, call, deliver, head, lossyQueue, mint, stripeConnection, stripeEvent } from '../harness'
import { callRoute, isList, nameOf, newWorld, pathIn, ROUTES, tokenFor, type World } from '../routes'

type List = {
  /** Adds rows to the list, one after the other. */
  add: (world: World, n: number) => Promise<void>
  /** What tells a row from another, and by what the list is sorted. */
  id: (row: any) => string | number
  /** Oldest first: what is added while a reader walks it comes at the end. */
  ascending?: true
  /** Filters: a cursor made under the first belongs to no other. */
  filters?: [string, ...string[]]
}

const EVENTS = () => ({ bindings: { EVENTS: lossyQueue().EVENTS } })
const byId = (row: any) => row.id as string

async function times(n: number, work: (i: number) => Promise<unknown>) {
  for (let i = 0; i < n; i++) await work(i)
}

const addEvents = (world: World, n: number) =>
  times(n, () => deliver(world.connection.id, stripeEvent('invoice.paid'), EVENTS()))

async function addAttempts(world: World, n: number) {
  const last = await env.DB.prepare('SELECT coalesce(max(number), 0) AS n FROM attempts WHERE event_id = ?')
    .bind(world.event)
    .first<{ n: number }>()
  const insert = env.DB.prepare(
    `INSERT INTO attempts (event_id, number, trigger, started_at, finished_at, outcome) VALUES (?, ?, 'retry', 1, 2, 'retrying')`,
  )
  await env.DB.batch(Array.from({ length: n }, (_, i) => insert.bind(world.event, (last?.n ?? 0) + 1 + i)))
}

async function addSessions(world: World, n: number) {
  await times(n, async () => {
    const now = Date.now()
    await env.DB.prepare(
      'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)',
    )
      .bind(newId('ses', now), world.owner.user, newSessionToken(), now, now + 3_600_000, now)
      .run()
  })
}

const LISTS: Record<string, List> = {
  'GET /platform/v1/api-keys': {
    id: byId,
    add: (world, n) => times(n, () => mint(world.owner.token, world.project)),
  },
  'GET /platform/v1/projects': {
    id: byId,
    add: (world, n) =>
      times(n, () =>
        call('/platform/v1/projects', { method: 'POST', token: world.owner.token, json: { name: 'another' } }),
      ),
  },
  'GET /platform/v1/audit-log': {
    id: byId,
    add: (world, n) => times(n, () => mint(world.owner.token, world.project)),
  },
  'GET /platform/v1/billing/connections': {
    id: byId,
    add: (world, n) => times(n, () => stripeConnection(world.owner.token, world.project)),
  },
  'GET /platform/v1/billing/webhooks': {
    id: byId,
    add: addEvents,
  },
  'GET /platform/v1/billing/webhooks/search': {
    id: byId,
    add: addEvents,
    filters: [
      'event_type=invoice.*',
      'event_type=invoice.paid',
      'event_type=invoice.*&event_type=charge.*',
      'event_type=invoice.*&status=received',
      'event_type=invoice.*&order=asc',
      'event_type=invoice.*&livemode=true',
      'status=received',
      '',
    ],
  },
  'GET /platform/v1/billing/webhooks/:event_id/attempts': {
    id: (row) => row.number,
    add: addAttempts,
    ascending: true,
  },
  'GET /platform/v1/billing/subscriptions': objectList('subscription', [
    'status=active',
    'customer=cus_1',
    'vendor=stripe',
    '',
  ]),
  'GET /platform/v1/billing/invoices': objectList('invoice', [
    'status=open',
    'customer=cus_1',
    'subscription=sub_1',
    '',
  ]),
  'GET /platform/v1/billing/payment-methods': objectList('payment_method', ['status=attached', 'customer=cus_1', '']),
  'GET /platform/v1/billing/subscriptions/:id/timeline': timelineOf('subscription', 'sub_sample'),
  'GET /platform/v1/billing/invoices/:id/timeline': timelineOf('invoice', 'in_sample'),
  'GET /platform/v1/billing/payment-methods/:id/timeline': timelineOf('payment_method', 'pm_sample'),
  'GET /auth/sessions': { id: byId, add: addSessions },
}

/** Vendors' ids of no order of ours: theirs rise here, as the reader of a list from the end expects. */
function objectList(kind: 'subscription' | 'invoice' | 'payment_method', filters: [string, ...string[]]): List {
  const add = (world: World, n: number) =>
    insertObjects(
      world.project,
      kind,
      Array.from({ length: n }, () => `zz_${newId('evt', Date.now())}`),
    )
  return { id: byId, add, filters }
}

function timelineOf(kind: 'subscription' | 'invoice' | 'payment_method', object: string): List {
  const add = ({ project, connection }: World, n: number) =>
    insertTimeline(
      project,
      connection.id,
      kind,
      object,
      Array.from({ length: n }, () => newId('evt', Date.now())),
    )
  return { id: (row) => row.event_id, add }
}

const ALL = ROUTES.filter(isList)
const table = ALL.map((route) => [nameOf(route), route] as const)
const get = (world: World, route: (typeof ALL)[number], query?: string) =>
  callRoute(world, route, { token: tokenFor(world, route), ...(query && { query }) })

function expectInvalidCursor(answer: Answer, what: string) {
  expect([answer.status, answer.body.code], `${what}: ${answer.text.slice(0, 200)}`).toEqual([400, 'invalid_cursor'])
}

it('every list has a line here', () => {
  expect(Object.keys(LISTS).sort()).toEqual(ALL.map(nameOf).sort())
})

describe.each(table)('%s', (name, route) => {
  const list = LISTS[name] as List
  const ids = (answer: Answer) => answer.body.data.map(list.id)

  it('has the envelope, twenty rows a page by default, and the order it states', async () => {
    const world = await newWorld()
    await list.add(world, 25)
    const first = await get(world, route)
    expect(first.status).toBe(200)
    expect(Object.keys(first.body)).toEqual(expect.arrayContaining(['data', 'has_more', 'next_cursor']))
    expect(first.body).toMatchObject({ has_more: true, next_cursor: expect.stringMatching(/^[A-Za-z0-9_-]+$/) })
    expect(first.body.data).toHaveLength(20)
    const all = await get(world, route, 'limit=100')
    expect(all.body).toMatchObject({ has_more: false, next_cursor: null })
    expect(all.body.data.length).toBeGreaterThanOrEqual(25)
    expect(ids(first)).toEqual(ids(all).slice(0, 20))
    const sorted = [...ids(all)].sort((a, b) => (a < b ? -1 : 1))
    expect(ids(all)).toEqual(list.ascending ? sorted : sorted.reverse())
    // A page that is exactly full is the last one.
    const exact = await get(world, route, `limit=${all.body.data.length}`)
    expect(exact.body).toMatchObject({ has_more: false, next_cursor: null })
  })

  it('takes a limit from 1 to 100', async () => {
    const world = await newWorld()
    await list.add(world, 2)
    expect((await get(world, route, 'limit=1')).body.data).toHaveLength(1)
    expect((await get(world, route, 'limit=100')).status).toBe(200)
    for (const limit of [
      '0',
      '101',
      '-1',
      '1.5',
      '',
      'ten',
      '1e1',
      '0x10',
      '%2B5',
      'NaN',
      'null',
      '10;',
      '9007199254740993',
    ]) {
      const answer = await get(world, route, `limit=${limit}`)
      expect([answer.status, answer.body.code, answer.body.errors?.[0]?.pointer], limit).toEqual([
        422,
        'validation_failed',
        '/limit',
      ])
    }
  })

  it('is walked to its end without a gap or a repeat while rows are added', async () => {
    const world = await newWorld()
    await list.add(world, 10)
    const before = ids(await get(world, route, 'limit=100'))
    const seen: (string | number)[] = []
    let cursor: string | null = null
    for (let page = 0; page < 50; page++) {
      const answer: Answer = await get(world, route, `limit=3${cursor ? `&cursor=${cursor}` : ''}`)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body.has_more).toBe(answer.body.next_cursor !== null)
      seen.push(...ids(answer))
      cursor = answer.body.next_cursor
      if (cursor === null) break
      if (page < 3) await list.add(world, 1)
    }
    expect(cursor).toBeNull()
    expect(new Set(seen).size).toBe(seen.length)
    // New rows sort before the first page, or after the last: what was there is read in its order.
    expect(list.ascending ? seen.slice(0, before.length) : seen).toEqual(before)
    if (list.ascending) expect(seen).toHaveLength(before.length + 3)
  })

  it('takes a cursor as it was given, under any limit, and no other', async () => {
    const world = await newWorld()
    await list.add(world, 5)
    const first = await get(world, route, 'limit=2')
    const cursor = first.body.next_cursor as string
    const rest = await get(world, route, `limit=100&cursor=${cursor}`)
    expect(rest.status).toBe(200)
    expect(ids(rest)).toEqual(ids(await get(world, route, 'limit=100')).slice(2))
    for (let i = 0; i < cursor.length; i++) {
      const other = cursor[i] === 'A' ? 'B' : 'A'
      const changed = cursor.slice(0, i) + other + cursor.slice(i + 1)
      const answer = await get(world, route, `cursor=${changed}`)
      // The last character may hold bits that base64 leaves out: then it is the same cursor.
      if (i === cursor.length - 1 && answer.status === 200) continue
      expectInvalidCursor(answer, changed)
    }
    for (const bad of [
      '',
      'x',
      '%00',
      '%F0%9F%94%91',
      cursor.slice(1),
      cursor.slice(0, -4),
      `${cursor}AAAA`,
      '====',
      'null',
    ]) {
      expectInvalidCursor(await get(world, route, `cursor=${bad}`), bad)
    }
    expect((await get(world, route, `cursor=${'A'.repeat(5000)}`)).status).toBe(422)
  })

  it("takes no other list's cursor", async () => {
    const world = await newWorld()
    for (const other of ALL) await (LISTS[nameOf(other)] as List).add(world, 2)
    for (const other of ALL) {
      if (other === route) continue
      const { body } = await get(world, other, 'limit=1')
      expect(body.next_cursor).toEqual(expect.any(String))
      expectInvalidCursor(await get(world, route, `cursor=${body.next_cursor}`), nameOf(other))
    }
  })

  it("shows nothing of another project under that project's cursor", async () => {
    const mine = await newWorld()
    const theirs = await newWorld()
    for (const world of [mine, theirs]) await list.add(world, 3)
    const own = new Set(ids(await get(mine, route, 'limit=100')))
    const { body } = await get(theirs, route, 'limit=1')
    const answer = await get(mine, route, `limit=100&cursor=${body.next_cursor}`)
    if (answer.status === 400) return expectInvalidCursor(answer, name)
    expect(answer.status).toBe(200)
    if (!list.ascending) expect(ids(answer).every((id: string) => own.has(id))).toBe(true)
    expect(answer.text).not.toContain(theirs.project)
  })

  if (list.filters) {
    const [filter, ...others] = list.filters
    it('takes a cursor under its own filters alone', async () => {
      const world = await newWorld()
      await list.add(world, 4)
      const { body } = await get(world, route, `limit=2&${filter}`)
      const next = `limit=2&cursor=${body.next_cursor}`
      expect((await get(world, route, `${next}&${filter}`)).body.data).toHaveLength(2)
      for (const other of others) {
        expectInvalidCursor(await get(world, route, `${next}&${other}`), other)
      }
    })
  }
})

describe('the address that a start prints', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

  it('leads a browser to the console', async () => {
    const answer = await call('/', { headers: { Accept: BROWSER } })
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/console'])
    expect(answer.headers.get('Vary')).toBe('Accept')
  })

  it.each(['*/*', 'application/json', ''])('names to anything else what is served: Accept %j', async (Accept) => {
    const answer = await call('/', { headers: { Accept } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Vary')).toBe('Accept')
    expect(Object.values(answer.body)).toEqual(['/platform/v1', '/console', '/openapi.json', '/errors', '/healthz'])
    for (const path of Object.values<string>(answer.body).slice(1)) {
      expect((await call(path)).status, path).toBeLessThan(400)
    }
  })

  it('takes GET alone, and is no other path', async () => {
    const posted = await call('/', { method: 'POST' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'HEAD, GET'])
    for (const path of ['//', '/nothing', '/platform', '/platform/v1', '/platform/v1/', '/healthz/']) {
      const answer = await call(path, { headers: { Accept: BROWSER } })
      expect([answer.status, answer.body.code], path).toEqual([404, 'not_found'])
    }
  })
})

describe('every response', () => {
  const READS = ROUTES.filter(
    ({ method, path }) => method === 'GET' && path !== '/platform/v1/billing/webhooks/replays/:replay_id',
  )
  const LISTED = [...READS.map(nameOf), 'GET /openapi.json', 'GET /errors', 'GET /']

  it.each(LISTED)('to HEAD is that of GET without a body: %s', async (name) => {
    const world = await newWorld()
    const route = READS.find((one) => nameOf(one) === name)
    const path = route ? pathIn(world, route) : name.slice(4)
    const options = { project: world.project, token: route ? tokenFor(world, route) : null }
    const got = await call(path, options)
    const headed = await head(path, options)
    expect([got.status, headed.status]).toEqual([200, 200])
    expect(got.text.length).toBeGreaterThan(0)
    expect(headed.text).toBe('')
    expect(headed.headers.get('Content-Type')).toBe(got.headers.get('Content-Type'))
    expect((await head(`${path}?nonsense=1`, options)).status).toBe((await call(`${path}?nonsense=1`, options)).status)
  })

  it('to HEAD without a credential is a 401', async () => {
    expect((await head('/platform/v1/api-keys', {})).status).toBe(401)
  })

  it.each([
    'abcdefgh',
    'A1._:-zz',
    '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
    'x'.repeat(64),
    'req_01m7z1eqvv7fbcxatc4h3t83zr',
  ])('keeps a sane X-Request-Id: %s', async (id) => {
    for (const path of ['/healthz', '/platform/v1/projects', '/nothing']) {
      const answer = await call(path, { headers: { 'X-Request-Id': id } })
      expect(answer.headers.get('X-Request-Id')).toBe(id)
      if (answer.status !== 200) expect(answer.body.request_id).toBe(id)
    }
  })

  it.each([
    'short',
    'x'.repeat(65),
    'two words',
    '"quoted-id"',
    'a/b/c/d/e/f',
    '<script>x</script>',
    '{"a":"bcdef"}',
    'żółć-żółć',
    '',
  ])('replaces any other: %s', async (id) => {
    const latin1 = new TextDecoder('latin1').decode(new TextEncoder().encode(id))
    const answer = await call('/nothing', { headers: { 'X-Request-Id': latin1 } })
    const sent = answer.headers.get('X-Request-Id')
    expect(sent).toMatch(/^req_[0-9a-z]{26}$/)
    expect(answer.body.request_id).toBe(sent)
  })

  it('has a request id of its own', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, () => call('/healthz')))
    expect(new Set(sent.map(({ headers }) => headers.get('X-Request-Id'))).size).toBe(20)
  })

  const WHERE: [string, string, number, boolean][] = [
    ['GET', '/platform/v1/projects', 401, true],
    ['GET', '/platform/v1/nothing', 404, true],
    ['GET', '/platform/nothing', 404, true],
    ['PUT', '/platform/v1/projects', 405, true],
    ['POST', '/auth/codes', 415, true],
    ['GET', '/auth/nothing', 404, true],
    ['GET', '/auth/sign-in', 200, true],
    ['POST', '/ingest/none', 404, true],
    ['GET', '/healthz', 200, false],
    ['GET', '/openapi.json', 200, false],
    ['GET', '/errors', 200, false],
    ['GET', '/', 200, false],
    ['GET', '/nothing', 404, false],
  ]
  it.each(WHERE)(
    'is not sniffed, not shared across origins, and on the plane not stored: %s %s (%i)',
    async (method, path, status, plane) => {
      const answer = await call(path, { method, headers: { Origin: 'https://evil.example' } })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      if (plane) expect(answer.headers.get('Cache-Control')).toBe('no-store')
      expect([...answer.headers.keys()].filter((key) => key.startsWith('access-control-'))).toEqual([])
      expect(answer.headers.get('Set-Cookie')).toBeNull()
    },
  )

  it('of every route on the plane, with a good credential, is not stored', async () => {
    for (const route of ROUTES.filter(({ path }) => path.startsWith('/platform/') || path.startsWith('/auth/'))) {
      const world = await newWorld()
      const answer = await callRoute(world, route, { token: tokenFor(world, route) })
      expect(answer.headers.get('Cache-Control'), nameOf(route)).toBe('no-store')
      expect(answer.headers.get('X-Content-Type-Options'), nameOf(route)).toBe('nosniff')
    }
  })
})
