import { beforeAll, describe, expect, it } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { stopClock } from '../clock'
import { PAGES, pageIn, visit } from '../console/visit'
import { DIRECTORY } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

/*
 * Two projects in one store have one of each thing, with the same names. What is read of the one says nothing of the other, and a
 * call answers what it answered before the other came.
 */

const isRead = ({ method }: RouteEntry) => method === 'GET'
const CALLS = ROUTES.filter(isRead)
const PAGES_READ = PAGES.filter(isRead)
const call = async (route: RouteEntry) => callRoute(mine, route, { token: tokenFor(mine, route) })
const open = async (page: RouteEntry) => visit(pageIn(mine, page), mine.owner.token)

let mine: World
let theirs: string[]
/** What the calls answered before the other project came. What differs by itself, such as the last use of a key, is not there. */
const before = new Map<RouteEntry, string>()

/** The ids and addresses in a world: each world has its own. */
const namesIn = (world: World) =>
  new Set(JSON.stringify(world).match(/\b[a-z]{3}_[0-9a-z]{20,}|[\w.+-]+@[\w.-]+\w/g) ?? [])
/** Without times: some answers have that of the database. */
const timeless = (text: string) => text.replaceAll(/20\d\d-[\d:.T-]+Z/g, 'time')

beforeAll(async () => {
  stopClock()
  mine = await newWorld()
  const readAll = async () => {
    const texts = []
    for (const route of CALLS) texts.push(timeless((await call(route)).text))
    return texts
  }
  const [first, second] = [await readAll(), await readAll()]
  for (const [n, route] of CALLS.entries()) if (first[n] === second[n]) before.set(route, second[n] ?? '')
  expect(before.size).toBeGreaterThan(CALLS.length - 10)
  const other = await newWorld()
  await DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE user_id = ?').bind(other.owner.user).run()
  const own = namesIn(mine)
  theirs = [...namesIn(other)].filter((name) => !own.has(name))
  expect(theirs.length).toBeGreaterThan(20)
})

describe.each([
  ['a call that reads', CALLS, call],
  ['a page', PAGES_READ, open],
] as const)('%s', (_, list, read) => {
  for (const one of list) {
    it(nameOf(one), async () => {
      const { status, text } = await read(one)
      expect([status < 500, theirs.filter((name) => text.includes(name))]).toEqual([true, []])
      expect(timeless(text)).toBe(before.get(one) ?? timeless(text))
    })
  }
})
