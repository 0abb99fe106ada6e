import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LEASE_MS } from '../../../src/inbox/process/limits'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { VENDORS } from '../../../src/vendors'
import { advance, stopClock } from '../../clock'
import { stripeEvent } from '../../harness'
import {
  deliverBatch,
  expectConsistent,
  failingAt,
  newWorld,
  only,
  settle,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'
import { audited, delivered, replaysOf } from './replayed'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('the replay of a final event', () => {
  it.each([
    ['processed', stripeEvent()],
    ['ignored', stripeEvent('charge.refunded')],
    ['failed', '{"object":"nothing"}'],
  ])('%s runs it once more, says by whom, and changes nothing that is right', async (status, event) => {
    const world = await newWorld()
    const id = await delivered(world, event)
    const before = await world.event(id)
    expect(before.status).toBe(status)
    advance(MINUTE)
    const answer = await world.replay(id)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      replay: { event_id: id, deduplicated: false, requested_at: new Date().toISOString() },
      event: { id, status: 'queued', raw_payload_b64: null },
    })
    await expectConsistent(world.project)
    await world.queue.pump()
    // The same in everything, but that it was tried once more.
    expect(await world.event(id)).toEqual({ ...before, processing_attempts: 2 })
    expect(await world.attempts(id)).toMatchObject([
      { number: 1, trigger: 'ingest', actor: null, outcome: status },
      { number: 2, trigger: 'replay', actor: world.key.id, outcome: status },
    ])
    expect(await audited(world.project)).toMatchObject([
      { action: 'event.replayed', object_type: 'event', object_id: id, actor_type: 'api_key', actor_id: world.key.id },
    ])
    expect(await replaysOf(world.project)).toMatchObject([{ id: answer.body.replay.id, event_id: id, queued: 1 }])
    await expectConsistent(world.project)
  })

  it('mends a failed one, and leaves the lag series as it was', async () => {
    const world = await newWorld()
    const series = async () => (await world.api('/webhooks/lag-timeseries?bucket=1h')).body.data
    const decode = vi.spyOn(VENDORS.stripe, 'decode')
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    decode.mockImplementation(() => {
      throw new TypeError('a bug of ours')
    })
    await settle(world)
    decode.mockRestore()
    expect((await world.event(id)).status).toBe('failed')
    const other = await delivered(world)
    // The clock stands still from here on, so that the series is of the same hours.
    const before = await series()
    for (const one of [id, other, other]) {
      await world.replay(one)
      await world.queue.pump()
    }
    expect(await world.event(id)).toMatchObject({ status: 'processed', last_error: null })
    expect(await world.event(other)).toMatchObject({ status: 'processed', processing_attempts: 3 })
    expect(await series()).toEqual(before)
    const { counts } = (await world.api('/webhooks/health')).body
    expect(counts).toMatchObject({ processed: 2, failed: 0, queued: 0 })
    await expectConsistent(world.project)
  })

  it('that fails keeps what was decoded before, and what was found by it', async () => {
    const world = await newWorld()
    const id = await delivered(world)
    const before = await world.event(id)
    expect(before.decoded_summary).not.toBeNull()
    const decode = vi.spyOn(VENDORS.stripe, 'decode').mockImplementation(() => {
      throw new TypeError('a bug of ours')
    })
    await world.replay(id)
    await settle(world)
    decode.mockRestore()
    const after = await world.event(id)
    expect(after).toMatchObject({ status: 'failed', last_error: 'a bug of ours' })
    expect(after.decoded_summary).toEqual(before.decoded_summary)
    expect((await world.api('/webhooks/search?ref=cus_1')).body.data.map((row: { id: string }) => row.id)).toEqual([id])
    await expectConsistent(world.project)
  })

  it('by a person names the person, also on the attempt that died', async () => {
    const world = await newWorld()
    const id = await delivered(world)
    await world.replay(id, { token: world.owner.token })
    await world.queue.pump({ DB: failingAt(({ index }) => index > 0, 'before') })
    advance(LEASE_MS + 5 * SECOND)
    await settle(world)
    expect(await world.attempts(id)).toMatchObject([
      { trigger: 'ingest', actor: null, outcome: 'processed' },
      { trigger: 'replay', actor: world.owner.user, outcome: 'died' },
      { trigger: 'retry', actor: null, outcome: 'processed' },
    ])
    await expectConsistent(world.project)
  })
})

describe('the replay of an open event', () => {
  const expectDeduplicated = async (world: World, id: string, status: string, replayId: string | null) => {
    const { status: answered, body } = await world.replay(id)
    expect(answered).toBe(202)
    expect(body).toMatchObject({ replay: { id: replayId, deduplicated: true }, event: { status } })
  }

  it('received: the run that is coming is the answer', async () => {
    const world = await newWorld()
    const { body } = await world.send(stripeEvent())
    await expectDeduplicated(world, body.event_ids[0], 'received', null)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1, replay_id: null }])
    expect(await audited(world.project)).toEqual([])
    await expectConsistent(world.project)
  })

  it('processing: the run in flight is the answer', async () => {
    const world = await newWorld()
    const { body } = await world.send(stripeEvent())
    const DB = tamperedD1(async (trip) => {
      if (trip.index === 1) {
        await expectDeduplicated(world, body.event_ids[0], 'processing', null)
        await deliverBatch(world.queue.sent.slice(1).map((sent) => sent.body))
      }
      return trip.run()
    })
    await world.queue.pump({ DB }, { batches: 1 })
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1 }])
    expect(await replaysOf(world.project)).toEqual([])
    await expectConsistent(world.project)
  })

  it('queued: the replay that was asked for first is the answer', async () => {
    const world = await newWorld()
    const id = await delivered(world)
    const { body } = await world.replay(id)
    await expectDeduplicated(world, id, 'queued', body.replay.id)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
    await expectConsistent(world.project)
  })

  it('retrying: it is due now', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    vi.spyOn(VENDORS.stripe, 'decode').mockImplementationOnce(() => {
      throw new TypeError('a bug of ours')
    })
    await world.queue.pump()
    world.queue.lose()
    expect((await world.event(id)).next_attempt_at > new Date().toISOString()).toBe(true)
    await expectDeduplicated(world, id, 'retrying', null)
    await world.queue.pump()
    expect(await world.event(id)).toMatchObject({ status: 'processed', processing_attempts: 2, last_error: null })
    expect(await world.attempts(id)).toMatchObject([{ outcome: 'retrying' }, { outcome: 'processed' }])
    await expectConsistent(world.project)
  })
})

describe('replays', () => {
  it('of what is not there, or of another project, are refused and leave no trace', async () => {
    const world = await newWorld()
    const other = await newWorld()
    const id = await delivered(world)
    for (const [who, what] of [
      [other, id],
      [world, 'evt_00000000000000000000000000'],
    ] as const) {
      expect(await who.replay(what)).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect(await audited(who.project)).toEqual([])
      expect(await replaysOf(who.project)).toEqual([])
    }
    expect(other.queue.sent).toEqual([])
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 1 }])
  })

  it('fifty at once run it once', async () => {
    const world = await newWorld()
    const id = await delivered(world)
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.replay(id)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(202))
    expect(answers.filter(({ body }) => !body.replay.deduplicated)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.replay.id)).size).toBe(1)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
    expect(await audited(world.project)).toHaveLength(1)
    expect(await replaysOf(world.project)).toHaveLength(1)
    await expectConsistent(world.project)
  })

  it('while a worker is at it run it once more each time it was done', async () => {
    const world = await newWorld()
    const id = await delivered(world)
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        await world.replay(id)
        await deliverBatch([{ project_id: world.project, event_id: id }])
      }),
    )
    await settle(world)
    const row = await only(stored(world.project))
    expect(row.status).toBe('processed')
    // As many runs as replays that found it final, no more and no fewer.
    expect(row.attempts).toBe(1 + (await replaysOf(world.project)).length)
    await expectConsistent(world.project)
  })
})
