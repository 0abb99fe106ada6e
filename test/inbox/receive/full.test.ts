import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE } from '../../../src/lib/time'
import { visit } from '../../console/visit'
import { bound, D1_FULL, failingD1, KV_OUT, STORE_NUMBER, stripeEvent, tamperedD1 } from '../../harness'
import {
  advance,
  captureLog,
  cron,
  D1_OUT,
  deliverBatch,
  expectConsistent,
  newWorld,
  settle,
  stopClock,
  stored,
  type World,
} from '../pipeline'

/** D1 that has no room for a new row. */
const FULL = tamperedD1(async ({ sql, run }) => {
  if (/^\s*(insert|with)/i.test(sql)) throw new Error(D1_FULL)
  return run()
})
const GB = 1_000_000_000

/** Ten minutes later for each test: an isolate notes a full database once a minute. */
let now = Date.now()
beforeEach(async () => {
  now += 10 * MINUTE
  stopClock(now)
  await bound.KV.delete(`database_full:${STORE_NUMBER}`)
})

/** A world whose connection this isolate knows, and in which the cron has run. */
async function knownWorld(): Promise<World> {
  const world = await newWorld()
  await world.send(stripeEvent())
  await settle(world)
  await cron({ EVENTS: world.queue.EVENTS })
  return world
}
const healthOf = async ({ api }: World, bindings = {}) => (await api('/webhooks/health', { bindings })).body
/** D1 that says it is so large. */
const sized = (size_after: number) =>
  tamperedD1(async ({ run }) => (await run()).map((result) => ({ ...result, meta: { ...result.meta, size_after } })))

describe('while the database is full', () => {
  it('a delivery gets 503 and does not go to the Queue; it is recorded once there is room', async () => {
    const world = await knownWorld()
    const sent = world.queue.sent.length
    const event = stripeEvent()
    const answer = await world.send(event, { bindings: { DB: FULL } })
    expect([answer.status, answer.body.code]).toEqual([503, 'database_full'])
    expect(Number(answer.headers.get('Retry-After'))).toBe(300)
    expect(world.queue.sent).toHaveLength(sent)
    expect((await world.send(event)).body.duplicate).toBe(false)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ deliveries: 1 }, { status: 'processed', deliveries: 1 }])
    await expectConsistent(world.project)
  })

  it('a delivery that was spooled before, and answered 200, is kept', async () => {
    const world = await knownWorld()
    await world.send(stripeEvent(), { bindings: { DB: D1_OUT } })
    const message = world.queue.sent.at(-1)?.body
    const full = { EVENTS: world.queue.EVENTS, DB: failingD1(D1_FULL) }
    expect(await deliverBatch([message], full)).toEqual([{ delaySeconds: expect.any(Number) }])
    await settle(world)
    expect(await stored(world.project)).toHaveLength(2)
    await expectConsistent(world.project)
  })

  it('health is failing, and ok again five minutes after the last refusal', async () => {
    const world = await knownWorld()
    expect(await healthOf(world)).toMatchObject({ status: 'ok' })
    await world.send(stripeEvent(), { bindings: { DB: FULL } })
    const failing = { status: 'failing', reasons: [`database ${STORE_NUMBER} is full and refuses new rows`] }
    expect(await healthOf(world)).toMatchObject(failing)
    advance(5 * MINUTE - 1)
    expect(await healthOf(world)).toMatchObject(failing)
    advance(1)
    await cron({ EVENTS: world.queue.EVENTS })
    expect(await healthOf(world)).toMatchObject({ status: 'ok', reasons: [] })
  })

  it('health is failing too where only the cron meets it', async () => {
    const world = await knownWorld()
    advance(2 * MINUTE)
    await expect(cron({ EVENTS: world.queue.EVENTS, DB: FULL })).rejects.toThrow('database_full')
    expect(await healthOf(world)).toMatchObject({ status: 'failing' })
  })

  it('a KV that is out keeps nothing from being answered', async () => {
    const log = captureLog()
    const world = await knownWorld()
    advance(2 * MINUTE)
    const answer = await world.send(stripeEvent(), { bindings: { DB: FULL, KV: KV_OUT } })
    expect([answer.status, answer.body.code]).toEqual([503, 'database_full'])
    expect(log.of('database_full_not_noted')).toHaveLength(1)
    expect(await healthOf(world, { KV: KV_OUT })).toMatchObject({ store: { number: STORE_NUMBER } })
    expect(log.of('database_full_unknown').length).toBeGreaterThan(0)
  })
})

describe('the size of the database', () => {
  it.each([
    [0, 'ok', []],
    [8 * GB - 1, 'ok', []],
    [8 * GB, 'degraded', [`database ${STORE_NUMBER} is 80 % full`]],
    [9.99 * GB, 'degraded', [`database ${STORE_NUMBER} is 99 % full`]],
  ])('is in health: %d bytes', async (size, status, reasons) => {
    const world = await knownWorld()
    expect(await healthOf(world, { DB: sized(size) })).toMatchObject({
      status,
      reasons,
      store: { number: STORE_NUMBER, size_bytes: size, limit_bytes: 10 * GB },
      thresholds: { degraded: { store_share: 0.8 } },
    })
  })

  it('is what D1 says', async () => {
    const { store } = await healthOf(await knownWorld())
    expect(store.size_bytes).toBeGreaterThan(100_000)
  })

  it('is on the health page of the console', async () => {
    const world = await knownWorld()
    const path = `/console/p/${world.project}/platform/billing/webhooks/health`
    const { text } = await visit(path, world.owner.token, { bindings: { DB: sized(8.4 * GB) } })
    expect(text).toContain(`Database ${STORE_NUMBER} holds 8.4 GB of 10 GB`)
    expect(text).toContain(`Database ${STORE_NUMBER} is 84 % full`)
  })
})
