import { beforeAll, describe, expect, it } from 'vitest'
import { PAGES, pageIn, visit } from '../console/visit'
import { DIRECTORY } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

/* Two projects in one store have one of each thing. What is read of the one names nothing of the other. */

let mine: World
let theirs: Set<string>
beforeAll(async () => {
  const [own, other] = [await newWorld(), await newWorld()]
  mine = own
  const users = [own, other].map(({ owner }) => owner.user)
  await DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE user_id IN (?, ?)')
    .bind(...users)
    .run()
  const own_names = namesIn(own)
  theirs = new Set([...namesIn(other)].filter((name) => !own_names.has(name)))
  expect(theirs.size).toBeGreaterThan(20)
})

/** The ids and addresses in a world: each world has its own. */
const namesIn = (world: World) =>
  new Set(JSON.stringify(world).match(/\b[a-z]{3}_[0-9a-z]{20,}|[\w.+-]+@[\w.-]+\w/g) ?? [])
const foundIn = (text: string) => [...theirs].filter((name) => text.includes(name))

describe('a call that reads', () => {
  for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
    it(nameOf(route), async () => {
      const { status, text } = await callRoute(mine, route, { token: tokenFor(mine, route) })
      expect([status < 500, foundIn(text)]).toEqual([true, []])
    })
  }
})

describe('a page', () => {
  for (const page of PAGES.filter(({ method }) => method === 'GET')) {
    it(nameOf(page), async () => {
      const { status, text } = await visit(pageIn(mine, page), mine.owner.token)
      expect([status < 500, foundIn(text)]).toEqual([true, []])
    })
  }
})
