import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_TRIES } from '../../../src/inbox/process/limits'
import { HOUR, SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeSubscription } from '../../billing/payloads'
import { changeAccount } from '../../harness'
import { advance, cron, isOf, rows, stopClock, tamperedD1 } from '../pipeline'
import { setKey } from '../refresh/world'
import { expectSound } from './sound'
import { thinEvent, thinWorld } from './world'

beforeEach(() => {
  stopClock()
})

type Settings = Parameters<typeof changeAccount>[1]
const WELL: Settings = { hang: false, fail: { status: 500, path: '/nowhere' }, refused: [] }

const TROUBLES: [name: string, settings: Settings, code: string, wait: [from: number, to: number]][] = [
  ['hangs', { hang: true }, 'vendor_failed', [4, 6]],
  ['answers 500', { fail: { status: 500 } }, 'vendor_failed', [4, 6]],
  ['answers 429', { fail: { status: 429 } }, 'vendor_failed', [4, 6]],
  ['answers 429 and says when', { fail: { status: 429, retry_after: '40' } }, 'vendor_failed', [40, 40]],
  [
    'wants not to be asked for days',
    { fail: { status: 429, retry_after: '999999' } },
    'vendor_failed',
    [36_000, 36_000],
  ],
  ['answers with something else', { fail: { status: 200, body: '<html>' } }, 'vendor_failed', [4, 6]],
  ['finds the request wrong', { fail: { status: 400 } }, 'vendor_failed', [4, 6]],
  ['refuses subscriptions', { refused: ['subscriptions'] }, 'vendor_key_refused', [4, 6]],
  ['refuses the key', { fail: { status: 401 } }, 'vendor_key_refused', [4, 6]],
]

describe('a vendor that', () => {
  it.each(TROUBLES)(
    '%s: the event waits, and is processed when that is over',
    async (_, settings, code, [from, to]) => {
      const subscription = stripeSubscription()
      const world = await thinWorld([subscription])
      await changeAccount(world.apiKey, settings)
      const [id = ''] = await world.deliver(thinEvent(subscription))
      const now = Date.now()
      const waiting = await world.event(id)
      expect(waiting).toMatchObject({ status: 'retrying', processing_attempts: 1, last_error_code: code })
      const wait = (Date.parse(waiting.next_attempt_at as string) - now) / SECOND
      expect(wait).toBeGreaterThanOrEqual(from)
      expect(wait).toBeLessThanOrEqual(to)
      await changeAccount(world.apiKey, WELL)
      if (settings.fail?.status === 401) {
        // The key is known to be refused, so nobody is asked with it.
        const asked = (await world.asked()).length
        await world.settle()
        expect(await world.event(id)).toMatchObject({
          status: 'failed',
          processing_attempts: MAX_TRIES,
          last_error_code: code,
        })
        expect((await world.asked()).length).toBe(asked)
        expect((await world.api(`/connections/${world.connection.id}/api-key`)).body.state).toBe('refused')
        await expectSound(world)
        // A key that works is all that it takes: for what failed, and for what still waits.
        const [other = ''] = await world.deliver(thinEvent(subscription))
        expect(await world.event(other)).toMatchObject({ status: 'retrying', last_error_code: code })
        await setKey(world, world.connection.id, world.apiKey)
        await cron(world.bindings)
        await world.pump()
        expect(await world.event(other)).toMatchObject({ status: 'processed' })
        await world.settle()
        expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: MAX_TRIES + 1 })
        return expectSound(world)
      }
      await world.settle()
      expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2, last_error: null })
      expect(await world.one('subscriptions', subscription.id as string)).toMatchObject({ status: 'active' })
      await expectSound(world)
    },
  )

  it('hangs is not asked for ten objects in a row, and not by the next batch', async () => {
    const all = Array.from({ length: 10 }, () => stripeSubscription())
    const world = await thinWorld(all)
    await changeAccount(world.apiKey, { hang: true })
    const ids: string[] = []
    for (const one of all) ids.push((await world.send(thinEvent(one))).body.event_ids[0])
    await world.queue.pump(world.bindings)
    await world.fetches.pump(world.bindings, { batches: 1 })
    // As many as are asked for at once.
    expect(await world.asked()).toHaveLength(4)
    const attemptsOf = async () => (await Promise.all(ids.map(world.event))).map((one) => one.processing_attempts)
    expect((await attemptsOf()).filter((n) => n === 0)).toHaveLength(6)
    advance(SECOND)
    await world.fetches.pump(world.bindings, { batches: 1 })
    expect(await world.asked()).toHaveLength(4)
    expect(await attemptsOf()).toEqual(ids.map(() => 1))
    await changeAccount(world.apiKey, WELL)
    await world.settle()
    for (const id of ids) expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2 })
    await expectSound(world)
  })

  it('fails for good: so does the event, after all its attempts', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription], {})
    await changeAccount(world.apiKey, { fail: { status: 503 } })
    const [id = ''] = await world.deliver(thinEvent(subscription))
    await world.settle()
    expect(await world.event(id)).toMatchObject({ status: 'failed', processing_attempts: MAX_TRIES })
    await changeAccount(world.apiKey, WELL)
    await world.replay(id)
    await world.settle()
    expect(await world.event(id)).toMatchObject({ status: 'processed' })
    await expectSound(world)
  })

  it('hangs holds up no event that has its object, of its own project or of another', async () => {
    const [subscription, another] = [stripeSubscription(), stripeSubscription()]
    const world = await thinWorld([subscription])
    const other = await thinWorld()
    await changeAccount(world.apiKey, { hang: true })
    await world.send(thinEvent(subscription))
    await world.queue.pump(world.bindings)
    let isDone = false
    const hanging = world.fetches.pump(world.bindings).then(() => {
      isDone = true
    })
    for (const { send, queue, event, bindings } of [world, other]) {
      const id = (await send(stripeEventOf('customer.subscription.created', another))).body.event_ids[0]
      await queue.pump(bindings)
      expect(await event(id)).toMatchObject({ status: 'processed', processing_attempts: 1 })
    }
    expect(isDone).toBe(false)
    await hanging
  })
})

describe('an event that is not reached in time', () => {
  it('is handed back without a try, whether it is new or left by a dead worker', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    const { body } = await world.send(thinEvent(subscription))
    const id: string = body.event_ids[0]
    await world.queue.pump(world.bindings)
    // All the time of the batch is spent before the vendor can be asked.
    const slow = () =>
      tamperedD1(async (trip) => {
        const results = await trip.run()
        if (trip.sql.includes('vendor_keys"') && trip.sql.includes('billing_objects')) advance(19_500)
        return results
      })
    await world.fetches.pump({ ...world.bindings, DB: slow() }, { batches: 1 })
    expect(await world.event(id)).toMatchObject({ status: 'received', processing_attempts: 0 })
    expect(world.fetches.waiting()).toHaveLength(1)
    // A worker takes it, and dies.
    advance(SECOND)
    const dead = tamperedD1((trip) =>
      trip.index === 0 ? trip.run() : Promise.reject(new Error('D1_ERROR: Network connection lost.')),
    )
    await world.fetches.pump({ ...world.bindings, DB: dead }, { batches: 1 })
    expect(await world.event(id)).toMatchObject({ status: 'processing', processing_attempts: 1 })
    advance(66 * SECOND)
    await world.fetches.pump({ ...world.bindings, DB: slow() }, { batches: 1 })
    expect(await world.event(id)).toMatchObject({
      status: 'retrying',
      processing_attempts: 1,
      last_error_code: 'worker_died',
    })
    expect(await world.asked()).toEqual([])
    await world.settle()
    expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2 })
    await expectSound(world)
  })
})

describe('the sweep', () => {
  it('sends what is to be fetched to the queue of fetches, and the rest to its own', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    await world.send(thinEvent(subscription))
    await world.queue.pump(world.bindings)
    expect(world.fetches.sent).toHaveLength(1)
    world.fetches.lose()
    const sent = world.queue.sent.length
    for (let minute = 0; minute < 6; minute++) {
      advance(60 * SECOND)
      await cron(world.bindings)
      await world.queue.pump(world.bindings)
    }
    expect(world.queue.sent).toHaveLength(sent)
    expect(
      world.fetches.sent
        .slice(1)
        .flatMap(({ body }) => (body.project_id === world.project && isOf('event')({ body }) ? [body] : [])),
    ).toMatchObject([
      { what: 'event', via: 'sweep' },
      { what: 'event', via: 'sweep' },
    ])
    const [row] = await rows<{ attempts: number; status: string }>(
      'SELECT attempts, status FROM events WHERE project_id = ?',
      world.project,
    )
    expect(row).toEqual({ attempts: 0, status: 'received' })
    advance(HOUR)
    await world.settle()
    await expectSound(world)
  })
})
