import { beforeEach, expect, it } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { countingD1, paddleObjects, stripeObjects } from '../../harness'
import { advance, stopClock } from '../pipeline'
import { importWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** What a page of each kind costs, by trips and by rows of an object. */
async function pagesOf(objects: Parameters<typeof importWorld>[0], vendor: 'stripe' | 'paddle') {
  const world = await importWorld(objects, { vendor })
  const cost = async () => {
    const pages: unknown[] = []
    await world.start()
    while (world.fetches.waiting().length > 0) {
      const { DB, count } = countingD1()
      await world.page({ DB })
      const { trips, statements, rows_written } = count
      pages.push({ trips, statements, rows: rows_written })
      advance(SECOND)
    }
    return pages
  }
  return { first: await cost(), second: await cost() }
}

/** An object of a kind that is new costs so many rows, and its page four more. Customers have an email address and no name. */
const NEW = [12, 14, 15]

it('a page of a hundred takes six trips; one in which nothing is new takes three, and writes no row of an object', async () => {
  const { first, second } = await pagesOf(stripeObjects(100, Math.floor(Date.now() / SECOND) - 86_400), 'stripe')
  expect(first).toEqual(NEW.map((each, i) => ({ trips: 6, statements: 21, rows: 100 * each + (i < 2 ? 5 : 3) })))
  expect(second).toEqual(NEW.map((_, i) => ({ trips: 3, statements: 6, rows: i < 2 ? 4 : 2 })))
})

it('the same of Paddle', async () => {
  const { first, second } = await pagesOf(paddleObjects(30, Date.now() - 86_400_000), 'paddle')
  expect(first).toEqual(NEW.map((each, i) => ({ trips: 6, statements: 21, rows: 30 * each + (i < 2 ? 5 : 3) })))
  expect(second).toEqual(NEW.map((_, i) => ({ trips: 3, statements: 6, rows: i < 2 ? 4 : 2 })))
})
