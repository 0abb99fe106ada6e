import { beforeAll, describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { type Answer, inTurn } from '../harness'
import { isList, nameOf, ROUTES } from '../routes/of-app'
import type { List } from '../routes/row'
import { ROWS } from '../routes/table'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

const ALL = ROUTES.filter(isList)
const table = ALL.map((route, nth) => [nameOf(route), route, nth] as const)
const listOf = (route: (typeof ALL)[number]) => ROWS[nameOf(route)]?.list as List
const get = (world: World, route: (typeof ALL)[number], query?: string) =>
  callRoute(world, route, {
    token: tokenFor(world, route),
    ...(query && { query }),
  })

const has = ({ meta }: (typeof ALL)[number], field: string) => field in (meta.query as z.ZodObject).shape

/** What is no limit. */
const NO_LIMITS = ['0', '101', '-1', '1.5', '', 'ten', '1e1', '0x10', '%2B5', 'NaN', 'null', '10;', '9007199254740993']

function expectInvalidCursor(answer: Answer, what: string) {
  expect([answer.status, answer.body.code], `${what}: ${answer.text.slice(0, 200)}`).toEqual([400, 'invalid_cursor'])
}

/** A project with two rows or more in each list, and a cursor of each. Tests only read it. */
let full: World
const cursors = new Map<(typeof ALL)[number], string>()
beforeAll(async () => {
  full = await newWorld()
  for (const route of ALL) await listOf(route).add(full, 2)
  for (const route of ALL) cursors.set(route, (await get(full, route, 'limit=1')).body.next_cursor as string)
})

it('every list has a line here', () => {
  const stated = Object.keys(ROWS).filter((name) => ROWS[name]?.list)
  expect(stated.sort()).toEqual(ALL.map(nameOf).sort())
})

describe.each(table)('%s', (name, route, nth) => {
  const list = listOf(route)
  const ids = (answer: Answer) => answer.body.data.map(list.id ?? ((row) => row.id))
  let world: World
  beforeAll(async () => {
    world = await newWorld()
    await list.add(world, 25)
  })

  it('has the envelope, twenty rows a page by default, and the order it states', async () => {
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
    expect((await get(world, route, 'limit=1')).body.data).toHaveLength(1)
    expect((await get(world, route, 'limit=100')).status).toBe(200)
    for (const limit of inTurn(NO_LIMITS, nth, 4)) {
      const answer = await get(world, route, `limit=${limit}`)
      expect([answer.status, answer.body.code, answer.body.errors?.[0]?.pointer], limit).toEqual([
        422,
        'validation_failed',
        '/limit',
      ])
    }
  })

  it('is walked to its end without a gap or a repeat while rows are added', async () => {
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

  it.runIf(has(route, 'order'))('is the same the other way round, on pages of three', async () => {
    const all = ids(await get(world, route, 'limit=100'))
    expect(ids(await get(world, route, 'limit=100&order=desc'))).toEqual(all)
    const seen: (string | number)[] = []
    for (let cursor = ''; seen.length < all.length; ) {
      const page: Answer = await get(world, route, `limit=3&order=asc${cursor}`)
      expect([page.status, page.body.data.length > 0], page.text).toEqual([200, true])
      seen.push(...ids(page))
      cursor = `&cursor=${page.body.next_cursor}`
    }
    expect(seen).toEqual(all.reverse())
  })

  it('takes a cursor as it was given, under any limit, and no other', async () => {
    const first = await get(world, route, 'limit=2')
    const cursor = first.body.next_cursor as string
    const rest = await get(world, route, `limit=100&cursor=${cursor}`)
    expect(rest.status).toBe(200)
    expect(ids(rest)).toEqual(ids(await get(world, route, 'limit=100')).slice(2))
    const places = Array.from(cursor, (_, i) => i)
    for (const i of inTurn(places, nth, 8)) {
      const other = cursor[i] === 'A' ? 'B' : 'A'
      const changed = cursor.slice(0, i) + other + cursor.slice(i + 1)
      const answer = await get(world, route, `cursor=${changed}`)
      // The last character may hold bits that base64 leaves out: then it is the same cursor.
      if (i === cursor.length - 1 && answer.status === 200) continue
      expectInvalidCursor(answer, changed)
    }
    const others = [
      '',
      'x',
      '%00',
      '%F0%9F%94%91',
      cursor.slice(1),
      cursor.slice(0, -4),
      `${cursor}AAAA`,
      '====',
      'null',
    ]
    for (const bad of inTurn(others, nth, 3)) {
      expectInvalidCursor(await get(world, route, `cursor=${bad}`), bad)
    }
    expect((await get(world, route, `cursor=${'A'.repeat(5000)}`)).status).toBe(422)
  })

  it("takes no other list's cursor", async () => {
    const others = ALL.filter((other) => other !== route)
    for (const other of inTurn(others, nth, 8)) {
      expectInvalidCursor(await get(full, route, `cursor=${cursors.get(other)}`), nameOf(other))
    }
    expect(await get(full, route, `cursor=${cursors.get(route)}`)).toMatchObject({ status: 200 })
  })

  it("shows nothing of another project under that project's cursor", async () => {
    const own = new Set(ids(await get(world, route, 'limit=100')))
    const answer = await get(world, route, `limit=100&cursor=${cursors.get(route)}`)
    if (answer.status === 400) return expectInvalidCursor(answer, name)
    expect(answer.status).toBe(200)
    if (!list.ascending) expect(ids(answer).every((id) => own.has(id))).toBe(true)
    expect(answer.text).not.toContain(full.project)
  })

  if (list.filters) {
    const [filter, ...others] = list.filters
    it('takes a cursor under its own filters alone', async () => {
      const { body } = await get(world, route, `limit=2&${filter}`)
      const next = `limit=2&cursor=${body.next_cursor}`
      expect((await get(world, route, `${next}&${filter}`)).body.data).toHaveLength(2)
      for (const other of others) {
        expectInvalidCursor(await get(world, route, `${next}&${other}`), other)
      }
    })
  }
})
