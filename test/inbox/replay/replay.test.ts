import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LEASE_MS } from '../../../src/inbox/process/limits'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { VENDORS } from '../../../src/vendors'
import { stripeEvent } from '../../harness'
import {
  advance,
  deliverBatch,
  expectConsistent,
  failingAt,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  tamperedD1,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function delivered({ send, queue }: World, event: unknown = stripeEvent()): Promise<string> {
  const { body } = await send(event)
  await queue.pump()
  return body.event_ids[0]
}

const audited = (project: string) =>
  rows("SELECT * FROM audit_log WHERE project_id = ? AND action IN ('event.replayed', 'events.replayed')", project)
const replaysOf = (project: string) => rows('SELECT * FROM replays WHERE project_id = ?', project)

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
    const [row] = await stored(world.project)
    expect(row).toMatchObject({ status: 'processed' })
    // As many runs as replays that found it final, no more and no fewer.
    expect(row.attempts).toBe(1 + (await replaysOf(world.project)).length)
    await expectConsistent(world.project)
  })
})

describe('the replay of what a filter matches', () => {
  async function many(n: number) {
    const world = await newWorld()
    const connection = await gocardlessConnection(world)
    for (let i = 0; i < n; i += 50) {
      const ids = Array.from({ length: Math.min(50, n - i) }, (_, k) => `EV_${i + k}`)
      await sendGocardless(world, connection, ids)
    }
    await world.queue.pump()
    await delivered(world)
    await delivered(world, '{"object":"nothing"}')
    const post = (json: unknown) => world.api('/webhooks/replay', { method: 'POST', json })
    return { ...world, connection_id: connection, post, sentBefore: world.queue.sent.length }
  }

  it('opens as many as are asked for, paced, and tells how far it is', async () => {
    const world = await many(250)
    const { post, project, queue, connection_id } = world
    advance(MINUTE)
    const { status, body } = await post({ filter: { connection_id }, limit: 220 })
    expect([status, body]).toEqual([202, { replay_id: expect.any(String), matched: 220, queued: 220, has_more: true }])
    const sent = queue.sent.slice(world.sentBefore)
    expect(sent.map(({ delaySeconds }) => delaySeconds)).toEqual([
      ...Array(100).fill(0),
      ...Array(100).fill(1),
      ...Array(20).fill(2),
    ])
    expect(new Set(sent.map(({ body: { event_id } }) => event_id)).size).toBe(220)
    const progress = async () => (await world.api(`/webhooks/replays/${body.replay_id}`)).body
    expect(await progress()).toEqual({
      id: body.replay_id,
      requested_at: new Date().toISOString(),
      requested_by: world.key.id,
      event_id: null,
      filter: { connection_id, order: 'desc' },
      queued: 220,
      open: 220,
    })
    await expectConsistent(project)
    const open: number[] = []
    for (let second = 0; second < 3; second++) {
      await queue.pump()
      open.push((await progress()).open)
      advance(SECOND)
    }
    expect(open).toEqual([120, 20, 0])
    expect(await audited(project)).toMatchObject([
      { action: 'events.replayed', object_type: 'replay', object_id: body.replay_id, actor_id: world.key.id },
    ])
    const { body: log } = await world.api('/../audit-log')
    expect(log.data[0].details).toEqual({ matched: 220, filter: { connection_id, order: 'desc' } })
    const replayed = (await stored(project)).filter((row) => row.replay_id === body.replay_id)
    expect(replayed).toHaveLength(220)
    for (const row of [replayed[0], replayed[219]]) {
      expect((await world.attempts(row.id)).at(-1)).toMatchObject({ trigger: 'replay', actor: world.key.id })
    }
    await expectConsistent(project)
  })

  it('matches by the filter alone', async () => {
    const world = await many(3)
    expect((await world.post({ filter: { status: 'failed' } })).body).toMatchObject({
      matched: 1,
      queued: 1,
      has_more: false,
    })
    expect((await stored(world.project)).filter(({ status }) => status === 'queued')).toHaveLength(1)
    expect((await world.post({ filter: { vendor: 'gocardless' } })).body).toMatchObject({ matched: 3, queued: 3 })
    expect((await world.post({ filter: { event_type: 'customer.*' } })).body).toMatchObject({ matched: 1, queued: 1 })
    await settle(world)
    await expectConsistent(world.project)
  })

  it('counts, and writes nothing, when it is a dry run', async () => {
    const world = await many(10)
    const dump = async () =>
      Promise.all(
        ['events', 'attempts', 'totals', 'minutes', 'replays', 'audit_log', 'refs', 'payloads'].map((table) =>
          rows(`SELECT * FROM ${table}`),
        ),
      )
    const before = await dump()
    const { status, body } = await world.post({ filter: {}, limit: 5, dry_run: true })
    expect([status, body]).toEqual([202, { replay_id: null, matched: 5, queued: 0, has_more: true }])
    expect((await world.post({ filter: {}, dry_run: true })).body).toMatchObject({ matched: 12, has_more: false })
    expect(await dump()).toEqual(before)
    expect(world.queue.sent).toHaveLength(world.sentBefore)
  })

  it('leaves open ones to the run that is coming', async () => {
    const world = await many(4)
    const { body: first } = await world.post({ filter: { vendor: 'gocardless' }, limit: 3 })
    const { body: second } = await world.post({ filter: { vendor: 'gocardless' } })
    expect([first, second]).toMatchObject([
      { matched: 3, queued: 3, has_more: true },
      { matched: 4, queued: 1, has_more: false },
    ])
    await settle(world)
    expect((await stored(world.project)).filter(({ attempts }) => attempts === 2)).toHaveLength(4)
    await expectConsistent(world.project)
  })

  it('gives an id only to a replay that there is', async () => {
    const world = await many(2)
    await world.post({ filter: { vendor: 'gocardless' } })
    const { body } = await world.post({ filter: { vendor: 'gocardless' } })
    expect(body).toMatchObject({ matched: 2, queued: 0, replay_id: null })
    expect((await world.post({ filter: { vendor: 'paddle' } })).body).toMatchObject({
      matched: 0,
      queued: 0,
      replay_id: null,
    })
    expect(await replaysOf(world.project)).toHaveLength(1)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('twice at once opens each event once', async () => {
    const world = await many(120)
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.post({ filter: { vendor: 'gocardless' } })))
    expect(answers.reduce((sum, { body }) => sum + body.queued, 0)).toBe(120)
    await settle(world)
    expect((await stored(world.project)).filter(({ attempts }) => attempts === 2)).toHaveLength(120)
    await expectConsistent(world.project)
  })

  it('is another project’s business, and its progress too', async () => {
    const world = await many(2)
    const other = await newWorld()
    const filter = { connection_id: world.connection_id }
    const { body } = await other.api('/webhooks/replay', { method: 'POST', json: { filter } })
    expect(body).toMatchObject({ matched: 0, queued: 0 })
    const { body: mine } = await world.post({ filter })
    expect((await other.api(`/webhooks/replays/${mine.replay_id}`)).status).toBe(404)
    expect((await world.api(`/webhooks/replays/${mine.replay_id}`)).status).toBe(200)
    await settle(world)
  })

  it('is tried out with dry_run in its query, as a single replay is, or in its body', async () => {
    const world = await many(2)
    const json = { filter: { connection_id: world.connection_id } }
    const ask = (query: string, more = {}) =>
      world.api(`/webhooks/replay${query}`, { method: 'POST', json: { ...json, ...more } })
    for (const { status, body } of [
      await ask('?dry_run=true'),
      await ask('', { dry_run: true }),
      await ask('?dry_run=false', { dry_run: true }),
    ]) {
      expect([status, body]).toEqual([202, { replay_id: null, matched: 2, queued: 0, has_more: false }])
    }
    expect((await ask('?dry_run=1')).status).toBe(422)
    expect(await replaysOf(world.project)).toEqual([])
    expect((await ask('?dry_run=false')).body.queued).toBe(2)
    await settle(world)
  })

  it.each([
    ['more than a thousand', { filter: {}, limit: 1001 }],
    ['none', { filter: {}, limit: 0 }],
    ['without a filter', {}],
    ['by what is no filter', { filter: { colour: 'red' } }],
  ])('is refused: %s', async (_, json) => {
    const world = await newWorld()
    const { status } = await world.api('/webhooks/replay', { method: 'POST', json })
    expect(status).toBe(422)
    expect(await replaysOf(world.project)).toEqual([])
  })
})
