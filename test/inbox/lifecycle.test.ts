import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FINAL_STATUSES, OPEN_STATUSES, type Status } from '../../src/inbox/lifecycle'
import { MAX_TRIES, RETRY_DELAYS_MS } from '../../src/inbox/process/limits'
import { retryDelay } from '../../src/inbox/process/verdict'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { VENDORS } from '../../src/vendors'
import { stripeEvent } from '../harness'
import {
  advance,
  cron,
  deliverBatch,
  expectConsistent,
  failingAt,
  newWorld,
  rows,
  settle,
  stopClock,
  stored,
  type World,
} from './pipeline'

beforeEach(() => {
  stopClock()
})

/** Delivers an event, and has its processing throw this often. */
async function delivered(world: World, event: unknown = stripeEvent(), throws = 0): Promise<string> {
  const { body } = await world.send(event)
  throwing(throws)
  return body.event_ids[0]
}

function throwing(times: number, message = 'a bug of ours') {
  const decode = vi.spyOn(VENDORS.stripe, 'decode')
  for (let i = 0; i < times; i++) {
    decode.mockImplementationOnce(() => {
      throw new TypeError(message)
    })
  }
}

/** How an event comes into each status. */
const INTO: Record<Status, (world: World) => Promise<string>> = {
  received: (world) => delivered(world),
  processing: async (world) => {
    const id = await delivered(world)
    await world.queue.pump({ DB: failingAt(({ index }) => index > 0, 'before') })
    return id
  },
  retrying: async (world) => {
    const id = await delivered(world, stripeEvent(), 1)
    await world.queue.pump()
    return id
  },
  queued: async (world) => {
    const id = await INTO.processed(world)
    advance(SECOND)
    expect((await world.replay(id)).status).toBe(202)
    return id
  },
  processed: async (world) => {
    const id = await delivered(world)
    await world.queue.pump()
    return id
  },
  ignored: async (world) => {
    const id = await delivered(world, stripeEvent('charge.refunded'))
    await world.queue.pump()
    return id
  },
  failed: async (world) => {
    const id = await delivered(world, '{"object":"nothing"}')
    await world.queue.pump()
    return id
  },
}

describe('the lifecycle', () => {
  it.each(OPEN_STATUSES)('%s, with its message lost, is brought to an end by the sweep', async (status) => {
    const world = await newWorld()
    const id = await INTO[status](world)
    world.queue.lose()
    expect((await world.event(id)).status).toBe(status)
    await expectConsistent(world.project)
    // Neither the Queue nor a person has a part in what follows: the cron comes by every minute.
    for (let minute = 0; minute < 6; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: world.queue.EVENTS })
      await world.queue.pump()
    }
    expect((await world.event(id)).status).toBe('processed')
    await expectConsistent(world.project)
  })

  it.each(FINAL_STATUSES)('%s is left by a replay, and by nothing else', async (status) => {
    const world = await newWorld()
    const id = await INTO[status](world)
    const before = await stored(world.project)
    expect(before).toMatchObject([{ status, due_at: null }])
    await deliverBatch(world.queue.sent.map(({ body }) => body))
    for (const wait of [MINUTE, HOUR, DAY]) {
      advance(wait)
      await cron({ EVENTS: world.queue.EVENTS })
      await world.queue.pump()
    }
    expect(await stored(world.project)).toEqual(before)
    expect((await world.replay(id)).body.event.status).toBe('queued')
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status, attempts: 2 }])
    await expectConsistent(world.project)
  })
})

describe('retries', () => {
  it.each(RETRY_DELAYS_MS.map((base, index) => ({ base, tries: index + 1 })))(
    'wait $base ms after try $tries, 20 % more or less',
    ({ base, tries }) => {
      expect(retryDelay(tries, 0)).toBe(base * 0.8)
      expect(retryDelay(tries, 0.5)).toBe(base)
      expect(retryDelay(tries, 1)).toBe(base * 1.2)
    },
  )

  it('end after the last', () => {
    expect(RETRY_DELAYS_MS).toEqual([5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 10 * HOUR])
    expect(retryDelay(MAX_TRIES, 0.5)).toBeNull()
  })

  it('follow the schedule: short waits ride on the Queue, long ones belong to the sweep; then the event failed', async () => {
    const world = await newWorld()
    const id = await delivered(world, stripeEvent(), 2 * MAX_TRIES)
    const message = world.queue.sent[0]?.body
    for (const [index, base] of RETRY_DELAYS_MS.entries()) {
      const [result] = await deliverBatch([message])
      const event = await world.event(id)
      expect(event).toMatchObject({
        status: 'retrying',
        last_error_code: 'internal_error',
        processing_attempts: index + 1,
      })
      expect(event.last_error).toBe('a bug of ours')
      const wait = Date.parse(event.next_attempt_at) - Date.now()
      expect(wait).toBeGreaterThanOrEqual(base * 0.8)
      expect(wait).toBeLessThanOrEqual(base * 1.2)
      expect(result).toEqual(base <= MINUTE ? { delaySeconds: Math.ceil(wait / 1000) } : 'ack')
      await expectConsistent(world.project)
      // Too early is not claimed; on time it is.
      advance(wait - 1)
      await deliverBatch([message])
      expect((await world.event(id)).processing_attempts).toBe(index + 1)
      world.queue.lose()
      advance(1)
      await cron({ EVENTS: world.queue.EVENTS })
      expect(world.queue.waiting().filter(({ body }) => body.event_id === id)).toHaveLength(1)
    }
    await world.queue.pump()
    const failed = { status: 'failed', last_error: 'a bug of ours', next_attempt_at: null, processed_at: null }
    expect(await world.event(id)).toMatchObject({ ...failed, processing_attempts: MAX_TRIES })
    const attempts = await world.attempts(id)
    expect(attempts.map(({ trigger }) => trigger)).toEqual(['ingest', ...RETRY_DELAYS_MS.map(() => 'retry')])
    await expectConsistent(world.project)

    // A replay renews the budget, and the count of attempts goes on.
    advance(SECOND)
    await world.replay(id)
    await settle(world)
    expect(await world.event(id)).toMatchObject({ ...failed, processing_attempts: 2 * MAX_TRIES })
    expect((await world.attempts(id)).map(({ trigger }) => trigger)).toEqual([
      'ingest',
      ...RETRY_DELAYS_MS.map(() => 'retry'),
      'replay',
      ...RETRY_DELAYS_MS.map(() => 'retry'),
    ])
    await expectConsistent(world.project)
    expect(await rows('SELECT sum(failed) AS failed FROM minutes WHERE project_id = ?', world.project)).toEqual([
      { failed: 1 },
    ])
  })

  it.each([1, MAX_TRIES - 1])('that succeed after %i errors clear the error', async (errors) => {
    const world = await newWorld()
    const id = await delivered(world, stripeEvent(), errors)
    await world.queue.pump()
    expect(await world.event(id)).toMatchObject({ status: 'retrying', last_error: 'a bug of ours' })
    await settle(world)
    expect(await world.event(id)).toMatchObject({
      status: 'processed',
      last_error: null,
      next_attempt_at: null,
      processing_attempts: errors + 1,
    })
    expect((await world.attempts(id)).map(({ error }) => error)).toEqual([...Array(errors).fill('a bug of ours'), null])
    await expectConsistent(world.project)
  })

  it('of one event leave the others of its batch alone', async () => {
    const world = await newWorld()
    const ids = []
    for (let i = 0; i < 5; i++) ids.push((await world.send(stripeEvent())).body.event_ids[0])
    throwing(1)
    await world.queue.pump()
    const statuses = (await stored(world.project)).map(({ status }) => status).sort()
    expect(statuses).toEqual(['processed', 'processed', 'processed', 'processed', 'retrying'])
    await expectConsistent(world.project)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('keep an error to 1,000 characters', async () => {
    const world = await newWorld()
    const { body } = await world.send(stripeEvent())
    throwing(1, 'x'.repeat(5000))
    await world.queue.pump()
    expect((await world.event(body.event_ids[0])).last_error).toBe('x'.repeat(1000))
    await settle(world)
    await expectConsistent(world.project)
  })

  it.each([
    ['JSON of another kind', async () => '{"object":"list","id":"evt_1"}', /not a Stripe event/],
    ['no JSON', async () => '<xml/>', /not JSON/],
    ['nothing', async () => '', /not JSON/],
    [
      'a payload in which this version finds no event',
      async () => {
        vi.spyOn(VENDORS.stripe, 'decode').mockReturnValue([])
        return null
      },
      /contains no event/,
    ],
    [
      'an event of a vendor that this version does not know',
      async ({ connection }: World) => {
        await rows("UPDATE connections SET vendor = 'gone' WHERE id = ?", connection.id)
        return null
      },
      /does not support the vendor gone/,
    ],
  ])('are not made of what no retry mends: %s', async (_, prepare, error) => {
    const world = await newWorld()
    const sent = await world.send(stripeEvent())
    const body = await prepare(world)
    const id = body === null ? sent.body.event_ids[0] : (await world.send(body)).body.event_ids[0]
    await world.queue.pump()
    const event = await world.event(id)
    expect(event).toMatchObject({ status: 'failed', processing_attempts: 1, processed_at: null, next_attempt_at: null })
    expect(event.last_error).toMatch(error)
    await expectConsistent(world.project)
  })
})
