import { env } from 'cloudflare:workers'
import { beforeEach, expect, it } from 'vitest'
import { microBatcher } from '../../../src/lib/micro-batch'
import {
  type Answer,
  countingD1,
  deliver,
  drain,
  freshKey,
  lossyQueue,
  stripeConnection,
  stripeEvent,
} from '../../harness'
import { LOST, tamperedD1 } from '../pipeline'

/* Deliveries that come together are recorded together, in fewer round trips; each is still its own transaction's worth. */

const AT_ONCE = 40
let world: { project: string; secret: string; connection: string }

beforeEach(async () => {
  const { project, owner, secret } = await freshKey()
  const connection = await stripeConnection(owner.token, project)
  world = { project, secret, connection: connection.id }
})

const fresh = () => Array.from({ length: AT_ONCE }, () => stripeEvent())
const sendAll = (events: unknown[], bindings = {}) =>
  Promise.all(events.map((event) => deliver(world.connection, event, { bindings })))

async function stored(): Promise<{ id: string; vendor_event_id: string; deliveries: number }[]> {
  const { results } = await env.DB.prepare(
    'SELECT e.id, e.vendor_event_id, e.deliveries, p.body FROM events e JOIN payloads p ON p.project_id = e.project_id AND p.id = e.payload_id WHERE e.project_id = ?',
  )
    .bind(world.project)
    .all<{ id: string; vendor_event_id: string; deliveries: number; body: string }>()
  for (const { vendor_event_id, body } of results) expect(JSON.parse(body).id).toBe(vendor_event_id)
  return results
}

async function minute() {
  return env.DB.prepare(
    'SELECT sum(received) AS received, sum(duplicates) AS duplicates FROM minutes WHERE project_id = ?',
  )
    .bind(world.project)
    .first()
}

/** Each answer names the event that its own delivery is stored as. */
async function expectOwnReceipts(events: { id: string }[], answers: Answer[]) {
  expect(answers.map(({ status }) => status)).toEqual(events.map(() => 200))
  const ids = new Map((await stored()).map((row) => [row.vendor_event_id, row.id]))
  expect(answers.map(({ body }) => body.event_ids)).toEqual(events.map(({ id }) => [ids.get(id)]))
}

it('records deliveries that come together in fewer round trips, at the same rows each', async () => {
  const events = fresh()
  const { DB, count } = countingD1()
  const { EVENTS, sent } = lossyQueue()
  await expectOwnReceipts(events, await sendAll(events, { DB, EVENTS }))
  expect(count.trips).toBeLessThanOrEqual(AT_ONCE / 2) // reading the connection and noting its secret's use among them
  expect(count.rows_written).toBeLessThanOrEqual(7 * AT_ONCE + 1)
  expect(new Set(sent.map((body) => (body as { event_id: string }).event_id)).size).toBe(AT_ONCE)
  expect(await minute()).toEqual({ received: AT_ONCE, duplicates: 0 })
})

it('tells a repeat from the first even in one trip', async () => {
  const [one, two] = [stripeEvent(), stripeEvent()]
  await deliver(world.connection, stripeEvent()) // or the first of all goes ahead alone
  const answers = await sendAll([one, one, two, one, two, one])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
  expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(2)
  const deliveries = new Map((await stored()).map((row) => [row.vendor_event_id, row.deliveries]))
  expect([deliveries.get(one.id), deliveries.get(two.id)]).toEqual([4, 2])
  expect(await minute()).toEqual({ received: 3, duplicates: 4 })
})

it('keeps a statement that D1 refuses from the deliveries that share its trip', async () => {
  const events = fresh()
  let refused = 0
  // As D1 does with what a constraint refuses: the whole batch fails, and nothing of it has happened.
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.split(';\n').length <= 3) return run()
    refused += 1
    throw new Error('D1_ERROR: CHECK constraint failed: events: SQLITE_CONSTRAINT')
  })
  await expectOwnReceipts(events, await sendAll(events, { DB }))
  expect(refused).toBeGreaterThan(0)
  expect(await minute()).toEqual({ received: AT_ONCE, duplicates: 0 })
})

it.each(['before', 'after'] as const)(
  'spools every delivery of a trip that D1 does not answer, and records each once (%s it happened)',
  async (mode) => {
    const events = fresh()
    await deliver(world.connection, stripeEvent()) // the connection is remembered
    const { EVENTS, sent } = lossyQueue()
    const DB = tamperedD1(async ({ run }) => {
      if (mode === 'after') await run()
      throw new Error(LOST)
    })
    const answers = await sendAll(events, { DB, EVENTS })
    expect(answers.map(({ status }) => status)).toEqual(events.map(() => 200))
    const spooled = sent.filter((body) => (body as { spooled?: number }).spooled === 1)
    expect(spooled).toHaveLength(AT_ONCE)
    await drain(spooled)
    await drain(spooled) // the Queue may deliver twice
    expect(await stored()).toHaveLength(AT_ONCE + 1)
    expect(await minute()).toEqual({ received: AT_ONCE + 1, duplicates: 0 })
  },
)

it('sees a shared trip through when the request that makes it is gone', async () => {
  const asked: Promise<unknown>[] = []
  const batcher = microBatcher<number, number>({ most: 8, mostWeight: 8, waitMs: 20, answerMs: 1000 })
  const double = async (values: readonly number[]) => values.map((value) => value * 2)
  const waitUntil = (work: Promise<unknown>) => void asked.push(work)
  const answers = await Promise.all([1, 2, 3].map((value) => batcher(value, 1, double, waitUntil)))
  expect(answers).toEqual([2, 4, 6])
  expect(asked).toHaveLength(2) // the first went at once, the second made the call for the third
  await Promise.all(asked)
})

it('gives up on a trip that nobody answers, and throws what the call throws to all who shared it', async () => {
  const batcher = microBatcher<number, number>({ most: 3, mostWeight: 100, waitMs: 20, answerMs: 50 })
  const never = () => new Promise<number[]>(() => {})
  const refuse = () => Promise.reject(new Error('refused'))
  const settle = (values: number[], send: () => Promise<number[]>) =>
    Promise.allSettled(values.map((value) => batcher(value, 1, send, () => {})))
  const reasons = (all: PromiseSettledResult<number>[]) =>
    all.map((one) => (one as PromiseRejectedResult).reason.message)
  expect(reasons(await settle([1, 2, 3, 4], refuse))).toEqual(['refused', 'refused', 'refused', 'refused'])
  // The first goes ahead, the second opens a group, the third waits for what the second was answered.
  const [, , third] = [5, 6, 7].map((value) =>
    batcher(value, 1, never, () => {}).catch((error: Error) => error.message),
  )
  expect(await third).toBe('no answer within 50 ms')
})

it('waits no longer for having lost a call', async () => {
  const batcher = microBatcher<number, number>({ most: 3, mostWeight: 3, waitMs: 200, answerMs: 30 })
  const never = () => new Promise<number[]>(() => {})
  await expect(batcher(1, 1, never, () => {})).rejects.toThrow('no answer within 30 ms')
  const began = Date.now()
  const double = async (values: readonly number[]) => values.map((value) => 2 * value)
  expect(await batcher(2, 1, double, () => {})).toBe(4)
  expect(Date.now() - began).toBeLessThan(200)
})

it('lets what is heavy go alone', async () => {
  const calls: number[] = []
  const batcher = microBatcher<number, number>({ most: 8, mostWeight: 10, waitMs: 20, answerMs: 1000 })
  const send = async (values: readonly number[]) => {
    calls.push(values.length)
    return [...values]
  }
  await Promise.all([4, 4, 4, 11, 4, 4].map((weight) => batcher(weight, weight, send, () => {})))
  expect(calls.toSorted()).toEqual([1, 1, 2, 2])
})
