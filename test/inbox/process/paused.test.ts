import { beforeEach, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../../src/env'
import { MAX_RELEASED } from '../../../src/inbox/connections/limits'
import { FIRST_DUE_MS } from '../../../src/inbox/limits'
import { reopenEvents } from '../../../src/inbox/reopen'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import { stripeSubscription } from '../../billing/payloads'
import { bound, countingD1, STORE, STORE_NUMBER, stripeConnection, stripeEvent } from '../../harness'
import {
  advance,
  cron,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  only,
  rows,
  sendGocardless,
  settle,
  stopClock,
  stored,
  type World,
} from '../pipeline'
import { thinEvent, thinWorld } from '../thin/world'

beforeEach(() => {
  stopClock()
})

/** Sets the status of the world's connection. */
async function become({ api, connection }: Pick<World, 'api' | 'connection'>, status: string, id = connection.id) {
  const { status: code, body } = await api(`/connections/${id}`, { method: 'PATCH', json: { status } })
  expect(code).toBe(200)
  return body
}

async function receive(world: World, ...events: unknown[]): Promise<string[]> {
  const ids: string[] = []
  for (const event of events) {
    const { status, body } = await world.send(event)
    expect(status).toBe(200)
    ids.push(...body.event_ids)
    advance(1)
  }
  return ids
}

const statuses = async (world: { event: (id: string) => Promise<{ status: unknown }> }, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await world.event(id)).status))

const health = async ({ api }: World) => (await api('/webhooks/health')).body

/** Lets a minute pass, with the cron at its end. */
async function minute({ queue }: Pick<World, 'queue'>, bindings = {}) {
  advance(MINUTE)
  await cron({ EVENTS: queue.EVENTS, ...bindings })
}

describe('a paused connection', () => {
  it('loses nothing, processes nothing, and processes everything once when it is resumed', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const [done, waiting] = (await receive(world, stripeEvent(), stripeEvent())) as [string, string]
    // One message arrives before the pause, the other after it.
    const late = queue.waiting().splice(1)
    await queue.pump()
    const paused = await become(world, 'paused')
    expect(paused).toMatchObject({ status: 'paused', paused_at: expect.any(String), releasing: false })
    expect((await become(world, 'paused')).paused_at).toBe(paused.paused_at)
    const sent = queue.sent.length
    const held = await receive(world, stripeEvent(), stripeEvent())
    expect(queue.sent.length).toBe(sent)
    queue.waiting().push(...late)
    await queue.pump()
    expect(await statuses(world, [done, waiting, ...held])).toEqual(['processed', 'held', 'held', 'held'])
    // Whatever asks for them, now and for a day.
    for (const event_id of [waiting, ...held]) await queue.EVENTS.send({ project_id: project, event_id })
    await queue.pump()
    for (let i = 0; i < 3; i++) await minute(world)
    advance(DAY)
    await minute(world)
    await queue.pump()
    expect((await stored(project)).slice(1)).toMatchObject(Array(3).fill({ status: 'received', attempts: 0 }))
    expect(await health(world)).toMatchObject({
      status: 'ok',
      counts: { received: 0, held: 3 },
      oldest_pending_age_ms: null,
      connections: [{ status: 'paused', held: 3 }],
    })
    const resumed = await become(world, 'active')
    expect(resumed).toMatchObject({ status: 'active', paused_at: null, releasing: true })
    // Until they are released, no message has them processed out of turn. What arrives now is not held.
    await queue.EVENTS.send({ project_id: project, event_id: held[1] })
    const [fresh] = (await receive(world, stripeEvent())) as [string]
    await queue.pump()
    expect(await statuses(world, [waiting, ...held, fresh])).toEqual(['held', 'held', 'held', 'processed'])
    await minute(world)
    expect(queue.waiting().map(({ body }) => body.event_id)).toEqual([waiting, ...held])
    await queue.pump()
    expect(await statuses(world, [waiting, ...held])).toEqual(['processed', 'processed', 'processed'])
    expect((await stored(project)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1])
    const { status, last_60m, connections } = await health(world)
    expect(status).toBe('ok')
    expect(connections[0]).toMatchObject({ status: 'active', held: 0 })
    // They came a day before: their lag counts from the release.
    const { most } = await only(
      rows<{ most: number }>('SELECT max(lag_max) AS most FROM minutes WHERE project_id = ?', project),
    )
    expect(most).toBeLessThan(SECOND)
    expect(last_60m.p99_ms).toBeLessThan(SECOND)
    await minute(world)
    expect((await world.api(`/connections/${world.connection.id}`)).body.releasing).toBe(false)
    await expectConsistent(project)
  })

  it('that is paused again while it releases holds the rest, and what no worker has claimed', async () => {
    const world = await newWorld()
    const { queue, project } = world
    await become(world, 'paused')
    const [first, ...held] = (await receive(world, stripeEvent(), stripeEvent(), stripeEvent())) as [
      string,
      ...string[],
    ]
    await become(world, 'active')
    await minute(world)
    // All three are released, and the message of one arrives before the next pause.
    const late = queue.waiting().splice(1)
    await queue.pump()
    await become(world, 'paused')
    queue.waiting().push(...late)
    await queue.pump()
    expect(await statuses(world, [first, ...held])).toEqual(['processed', 'held', 'held'])
    const [more] = (await receive(world, stripeEvent())) as [string]
    await minute(world)
    await queue.pump()
    expect(await statuses(world, [...held, more])).toEqual(['held', 'held', 'held'])
    // A disabled connection refuses deliveries, and releases what it held. The Queue loses the messages: the sweep finds the events.
    await become(world, 'disabled')
    await minute(world)
    queue.lose()
    await settle(world)
    expect(await statuses(world, [first, ...held, more])).toEqual(Array(4).fill('processed'))
    expect((await stored(project)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1])
    await expectConsistent(project)
  })

  it('holds a failed attempt and the event of a dead worker when they are due, and lets a claimed one finish', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const [retried, dead] = (await receive(world, stripeEvent(), stripeEvent())) as [string, string]
    const set = (id: string, changes: string) =>
      STORE.prepare(`UPDATE events SET ${changes} WHERE id = ?`).bind(id).run()
    const now = Date.now()
    await rows(`INSERT INTO attempts VALUES (?1, 1, 'ingest', NULL, ${now}, ${now}, 'retrying', 'no')`, retried)
    await set(retried, `status = 'retrying', attempts = 1, tries = 1, next_attempt_at = ${now}`)
    await set(
      dead,
      `status = 'processing', attempts = 1, tries = 1, lease_token = 'lse_dead', lease_until = ${now + FIRST_DUE_MS}`,
    )
    await become(world, 'paused')
    await queue.pump()
    expect(await statuses(world, [retried, dead])).toEqual(['held', 'processing'])
    advance(HOUR)
    await minute(world)
    await queue.pump()
    expect(await statuses(world, [retried, dead])).toEqual(['held', 'held'])
    await become(world, 'active')
    await minute(world)
    await settle(world)
    expect(await statuses(world, [retried, dead])).toEqual(['processed', 'processed'])
    expect(
      await only(rows("SELECT count(*) AS n FROM attempts WHERE event_id = ? AND outcome = 'died'", dead)),
    ).toEqual({ n: 1 })
    await expectConsistent(project)
  })

  it('releases 1,000 a minute, oldest first, and shares them with other projects', async () => {
    const world = await newWorld()
    const { queue, project } = world
    const one = await gocardlessConnection(world)
    const other = await stripeConnection(world.token, project)
    await become(world, 'paused', one)
    await become(world, 'paused', other.id)
    const ids = Array.from({ length: 1200 }, (_, n) => `EV_${n}`)
    for (let i = 0; i < ids.length; i += 100) await sendGocardless(world, one, ids.slice(i, i + 100))
    await become(world, 'active', one)
    const heldNow = async () => (await health(world)).counts.held
    expect([await heldNow(), queue.sent.length]).toEqual([1200, 0])
    const d1 = countingD1()
    await minute(world, { DB: d1.DB })
    expect([await heldNow(), queue.sent.length]).toEqual([1200 - MAX_RELEASED, MAX_RELEASED])
    const all = (await stored(project)).map(({ id }) => id)
    expect(queue.sent.map(({ body }) => body.event_id)).toEqual(all.slice(0, MAX_RELEASED))
    expect(queue.sent.at(-1)?.delaySeconds).toBe(9)
    // The whole run. Each event is written with its place in the index. Health then counts those that are open, or still held.
    expect(d1.count.rows_read).toBeLessThan(11 * MAX_RELEASED)
    expect(d1.count.rows_written).toBeLessThan(2.1 * MAX_RELEASED)
    // Projects share a minute. Of each, one connection releases at a time.
    await become(world, 'active', other.id)
    await STORE.prepare('UPDATE connections SET held_as = 4503599627370497 WHERE id = ?').bind(other.id).run()
    await STORE.prepare(
      'UPDATE events SET connection_id = ?1, due_at = 4503599627370497 WHERE project_id = ?2 AND id IN (SELECT id FROM events WHERE project_id = ?2 AND released_at IS NOT NULL LIMIT 600)',
    )
      .bind(other.id, project)
      .run()
    const second = await newWorld()
    await become(second, 'paused')
    const waiting = await receive(second, stripeEvent(), stripeEvent())
    await become(second, 'active')
    await minute(world)
    expect(await statuses(second, waiting)).toEqual(['received', 'received'])
    const heldBy = async () => (await health(world)).connections.map(({ held }: { held: number }) => held)
    expect((await heldBy()).toSorted((a: number, b: number) => a - b)).toEqual([0, 600 - MAX_RELEASED / 2, 200])
    await settle(world)
    expect(await rows('SELECT id FROM connections WHERE project_id = ? AND held_as IS NOT NULL', project)).toEqual([])
    await expectConsistent(project)
  }, 60_000)

  it('is not replayed: a replay gets 409, and a bulk replay leaves its events out', async () => {
    const world = await newWorld()
    const [done] = (await receive(world, stripeEvent())) as [string]
    await world.queue.pump()
    await become(world, 'paused')
    const [held] = (await receive(world, stripeEvent())) as [string]
    for (const id of [held, done]) {
      expect(await world.replay(id)).toMatchObject({ status: 409, body: { code: 'connection_paused' } })
    }
    const bulk = await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
    expect(bulk).toMatchObject({ status: 202, body: { matched: 2, queued: 0, replay_id: null } })
    await become(world, 'active')
    expect(await world.replay(held)).toMatchObject({ status: 202, body: { replay: { deduplicated: true } } })
    expect(await world.replay(done)).toMatchObject({ status: 202, body: { event: { status: 'queued' } } })
    await minute(world)
    await settle(world)
    expect(await statuses(world, [done, held])).toEqual(['processed', 'processed'])
  })

  it('asks the vendor for nothing that a thin event names, until it is resumed', async () => {
    const subscription = stripeSubscription()
    const world = await thinWorld([subscription])
    const event = (await world.send(thinEvent(subscription))).body.event_ids[0]
    await world.queue.pump(world.bindings)
    await become(world, 'paused')
    await world.pump()
    expect([await statuses(world, [event]), await world.asked()]).toEqual([['held'], []])
    await become(world, 'active')
    await minute(world, world.bindings)
    await world.pump()
    expect(await statuses(world, [event])).toEqual(['processed'])
    expect(await world.asked()).toHaveLength(1)
  })

  it('still holds its events after a restore, which has all others processed again', async () => {
    const world = await newWorld()
    const { project } = world
    await become(world, 'paused')
    const [held] = (await receive(world, stripeEvent())) as [string]
    const { db } = openRuntime(bound, { waitUntil: () => {} }).at(STORE_NUMBER) as Runtime
    expect(await reopenEvents(db, project, Date.now() - HOUR, Date.now())).toBe(1)
    expect(await statuses(world, [held])).toEqual(['held'])
  })

  it('is found by its status, and no other search finds it', async () => {
    const world = await newWorld()
    const [received] = (await receive(world, stripeEvent())) as [string]
    await become(world, 'paused')
    const [held] = (await receive(world, stripeEvent())) as [string]
    const found = async (query: string) =>
      (await world.api(`/webhooks/search?${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await found('status=held')).toEqual([held])
    expect(await found('status=received')).toEqual([received])
    expect(await found('status=received&status=held')).toEqual([held, received])
    expect(await found('status=held&status=processed')).toEqual([held])
  })

  it('that is deleted releases its events, and one of a deleted project does so once that is restored', async () => {
    const world = await newWorld()
    const { project } = world
    await become(world, 'paused')
    const [held] = (await receive(world, stripeEvent())) as [string]
    const statusOf = async () => (await stored(project))[0]?.status
    expect((await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    await STORE.prepare('UPDATE projects SET deleted_at = ? WHERE id = ?').bind(Date.now(), project).run()
    await minute(world)
    expect(await rows('SELECT released_at FROM events WHERE id = ?', held)).toEqual([{ released_at: null }])
    await STORE.prepare('UPDATE projects SET deleted_at = NULL WHERE id = ?').bind(project).run()
    await minute(world)
    await settle(world)
    expect(await statusOf()).toBe('processed')
  })
})
