import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_REPLAYED_A_DAY } from '../../../src/inbox/replay/limits'
import { MINUTE, SECOND } from '../../../src/lib/time'
import { advance, setClock, stopClock } from '../../clock'
import { submit } from '../../console/visit'
import {
  expectConsistent,
  gocardlessConnection,
  newWorld,
  rows,
  sendGocardless,
  settle,
  stored,
  type World,
} from '../pipeline'
import { audited, delivered, replaysOf } from './replayed'

beforeEach(() => {
  stopClock()
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
    expect([status, body]).toEqual([
      202,
      { replay_id: expect.any(String), matched: 220, queued: 220, has_more: true, next_cursor: expect.any(String) },
    ])
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
      processed: 0,
      ignored: 0,
      failed: 0,
    })
    await expectConsistent(project)
    const open: number[] = []
    for (let second = 0; second < 3; second++) {
      await queue.pump()
      open.push((await progress()).open ?? -1)
      advance(SECOND)
    }
    expect(open).toEqual([120, 20, 0])
    expect(await progress()).toMatchObject({ queued: 220, processed: 0, ignored: 220, failed: 0 })
    expect(await audited(project)).toMatchObject([
      { action: 'events.replayed', object_type: 'replay', object_id: body.replay_id, actor_id: world.key.id },
    ])
    const { body: log } = await world.api('/../audit-log')
    expect(log.data[0].details).toEqual({ matched: 220, filter: { connection_id, order: 'desc' } })
    const replayed = (await stored(project)).filter((row) => row.replay_id === body.replay_id)
    expect(replayed).toHaveLength(220)
    for (const id of [replayed[0]?.id ?? '', replayed[219]?.id ?? '']) {
      expect((await world.attempts(id)).at(-1)).toMatchObject({ trigger: 'replay', actor: world.key.id })
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
    await settle(world)
    expect((await world.post({ filter: { vendor: 'gocardless' } })).body).toMatchObject({ matched: 3, queued: 3 })
    await settle(world)
    expect((await world.post({ filter: { event_type: 'customer.*' } })).body).toMatchObject({ matched: 1, queued: 1 })
    await settle(world)
    await expectConsistent(world.project)
  })

  it('counts, and writes nothing, when it is a dry run', async () => {
    const world = await many(10)
    const dump = async () =>
      Promise.all(
        ['events', 'attempts', 'totals', 'minutes', 'replays', 'audit_log', 'refs', 'packed_bodies'].map((table) =>
          rows(`SELECT * FROM ${table}`),
        ),
      )
    const before = await dump()
    const { status, body } = await world.post({ filter: {}, limit: 5, dry_run: true })
    expect([status, body]).toEqual([
      200,
      { replay_id: null, matched: 5, queued: 5, has_more: true, next_cursor: expect.any(String) },
    ])
    expect((await world.post({ filter: {}, dry_run: true })).body).toEqual({
      replay_id: null,
      matched: 12,
      queued: 12,
      has_more: false,
      next_cursor: null,
    })
    expect(await dump()).toEqual(before)
    expect(world.queue.sent).toHaveLength(world.sentBefore)
  })

  it('goes on where it stopped, until every event was replayed once', async () => {
    const world = await many(10)
    const asked = { filter: { vendor: 'gocardless' }, limit: 4 }
    const replays: string[] = []
    let cursor: string | null | undefined
    do {
      const { body } = await world.post({ ...asked, ...(cursor && { cursor }) })
      replays.push(body.replay_id)
      cursor = body.next_cursor
      await settle(world)
    } while (cursor)
    expect(replays).toHaveLength(3)
    const counted = new Map((await stored(world.project)).map(({ id, replay_id }) => [id, replay_id]))
    expect(replays.map((id) => [...counted.values()].filter((one) => one === id).length)).toEqual([4, 4, 2])
    // A cursor belongs to its filter.
    const { body: first } = await world.post({ ...asked, dry_run: true })
    const other = { filter: { vendor: 'stripe' }, limit: 4, cursor: first.next_cursor }
    expect(await world.post(other)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
    await expectConsistent(world.project)
  })

  it('is listed with its results, also when events failed', async () => {
    const world = await many(2)
    const list = async () => (await world.api('/webhooks/replays')).body.data
    expect(await list()).toEqual([])
    const ignored = (await stored(world.project)).find(({ status }) => status === 'ignored')?.id ?? ''
    const { body: one } = await world.post({ filter: { status: ['failed', 'ignored'] } })
    const { body: two } = await world.api(`/webhooks/${ignored}/replay`, {
      method: 'POST',
    })
    await settle(world)
    expect(await list()).toMatchObject([{ id: one.replay_id, queued: 3, open: 0, processed: 0, ignored: 2, failed: 1 }])
    expect(two.replay).toMatchObject({ id: one.replay_id, deduplicated: true })
    advance(MINUTE)
    await world.api(`/webhooks/${ignored}/replay`, { method: 'POST' })
    await settle(world)
    const [latest, before] = await list()
    expect(latest).toMatchObject({ event_id: ignored, queued: 1, open: 0, ignored: 1 })
    expect(before).toMatchObject({ id: one.replay_id, ignored: 2, failed: 1 })
    // A replay from before results were counted has none.
    await rows('UPDATE replays SET processed = NULL, ignored = NULL, failed = NULL WHERE id = ?', one.replay_id)
    expect((await world.api(`/webhooks/replays/${one.replay_id}`)).body).toMatchObject({
      queued: 3,
      open: null,
      failed: null,
    })
    const page = (await world.api('/webhooks/replays?limit=1')).body
    expect([page.data.length, page.has_more]).toEqual([1, true])
    const next = (await world.api(`/webhooks/replays?limit=1&cursor=${page.next_cursor}`)).body
    expect(next).toMatchObject({ data: [{ id: one.replay_id }], has_more: false })
  })

  it('leaves open ones to the run that is coming', async () => {
    const world = await many(4)
    const one = (await stored(world.project)).find(({ status }) => status === 'ignored')?.id ?? ''
    const { body: single } = await world.api(`/webhooks/${one}/replay`, { method: 'POST' })
    const { body } = await world.post({ filter: { vendor: 'gocardless' } })
    expect([single.replay.deduplicated, body]).toMatchObject([false, { matched: 4, has_more: false }])
    const opened = (await stored(world.project)).filter((event) => event.replay_id === body.replay_id)
    expect([opened.length, opened.some(({ id }) => id === one)]).toEqual([body.queued, false])
    await settle(world)
    await expectConsistent(world.project)
  })

  it('gives an id only to a replay that there is', async () => {
    const world = await many(2)
    await rows('DELETE FROM packed_bodies WHERE project_id = ?', world.project)
    const none = { queued: 0, replay_id: null }
    expect((await world.post({ filter: { vendor: 'gocardless' } })).body).toMatchObject({ matched: 2, ...none })
    expect((await world.post({ filter: { vendor: 'paddle' } })).body).toMatchObject({ matched: 0, ...none })
    expect(await replaysOf(world.project)).toEqual([])
  })

  it('runs alone: another start is told which replay it waits for', async () => {
    const world = await many(2)
    const other = await newWorld()
    const filter = { vendor: 'gocardless' }
    const { body: first } = await world.post({ filter, limit: 1 })
    const before = await replaysOf(world.project)
    const refused = await world.post({ filter: { vendor: 'stripe' } })
    expect(refused).toMatchObject({ status: 409, body: { code: 'replay_running' } })
    expect(refused.body.detail).toContain(`${first.replay_id} is running: 1 of its 1 events`)
    // It is refused before anything is searched.
    expect((await world.post({ filter: { vendor: 'paddle' } })).status).toBe(409)
    const form = await submit(`/console/p/${world.project}/platform/billing/webhooks/replay`, world.owner.token, {
      search: '',
    })
    expect([form.status, form.text]).toEqual([409, expect.stringContaining(`${first.replay_id} is running`)])
    expect(await replaysOf(world.project)).toEqual(before)
    // What changes nothing, a single event, and other projects do not wait.
    expect((await world.post({ filter, dry_run: true })).status).toBe(200)
    const failed = (await stored(world.project)).find(({ status }) => status === 'failed')?.id ?? ''
    expect((await world.replay(failed)).status).toBe(202)
    expect((await other.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })).status).toBe(202)
    await world.queue.pump()
    advance(SECOND)
    const second = await world.post({ filter })
    expect(second).toMatchObject({ status: 202, body: { queued: 2 } })
    // Its message is lost, and the next attempts fail: after a quarter of an hour others may begin.
    world.queue.lose()
    advance(15 * MINUTE)
    expect((await world.post({ filter: { vendor: 'stripe' } })).status).toBe(409)
    advance(1)
    expect((await world.post({ filter: { vendor: 'stripe' } })).status).toBe(202)
    await settle(world)
    await expectConsistent(world.project)
  })

  it('has a budget of events a day, which says when the next can begin', async () => {
    setClock(Date.parse('2027-03-01T20:00:00Z'))
    const world = await many(2)
    const other = await newWorld()
    const post = async (to: World = world) => {
      advance(SECOND)
      const answer = await to.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
      await settle(to)
      return answer
    }
    const counted = async () => (await replaysOf(world.project)).map((row) => row.day_events)
    expect((await post()).status).toBe(202)
    expect((await post()).status).toBe(202)
    expect(await counted()).toEqual([4, 8])
    await rows(
      'UPDATE replays SET day_events = ? WHERE project_id = ? AND day_events = 8',
      MAX_REPLAYED_A_DAY - 1,
      world.project,
    )
    expect((await post()).body.queued).toBe(4)
    setClock(Date.parse('2027-03-01T23:58:59Z'))
    const { status, body, headers } = await post()
    expect([status, body.code, headers.get('Retry-After')]).toEqual([429, 'rate_limited', '60'])
    expect(body.detail).toBe(
      'Bulk replays have reopened 100,003 events of the project today (UTC). The next can begin at 2027-03-02T00:00:00.000Z.',
    )
    expect(await counted()).toHaveLength(3)
    expect((await post(other)).status).toBe(202)
    advance(MINUTE)
    expect((await post()).body.queued).toBe(4)
    expect((await counted()).at(-1)).toBe(4)
    await expectConsistent(world.project)
  })

  it('runs once of those that begin at once', async () => {
    const world = await many(120)
    const vendors = ['gocardless', 'stripe', 'gocardless', 'stripe', 'gocardless']
    const answers = await Promise.all(vendors.map((vendor) => world.post({ filter: { vendor } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409])
    const queued = answers.find(({ status }) => status === 202)?.body.queued ?? 0
    expect(await replaysOf(world.project)).toMatchObject([{ queued }])
    expect(await audited(world.project)).toHaveLength(1)
    await settle(world)
    expect((await stored(world.project)).filter(({ attempts }) => attempts === 2)).toHaveLength(queued)
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
      expect([status, body]).toEqual([
        200,
        { replay_id: null, matched: 2, queued: 2, has_more: false, next_cursor: null },
      ])
    }
    expect((await ask('?dry_run=1')).status).toBe(422)
    expect(await replaysOf(world.project)).toEqual([])
    expect(await ask('?dry_run=false')).toMatchObject({ status: 202, body: { queued: 2 } })
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
