import { beforeEach, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../../src/env'
import { MAX_COUNTED } from '../../../src/health/limits'
import { MAX_RELEASED } from '../../../src/inbox/connections/limits'
import { FIRST_DUE_MS } from '../../../src/inbox/limits'
import { MAX_TRIES } from '../../../src/inbox/process/limits'
import { reopenEvents } from '../../../src/inbox/reopen'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import { stripeSubscription } from '../../billing/payloads'
import { visit } from '../../console/visit'
import { bound, call, countingD1, STORE, STORE_NUMBER, stripeConnection, stripeEvent } from '../../harness'
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
import { insertEvents, seedEvent } from '../seeding'
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
    const ids = await receive(world, stripeEvent(), stripeEvent(), stripeEvent())
    const [retried, dead, last] = ids as [string, string, string]
    const set = (id: string, changes: string) =>
      STORE.prepare(`UPDATE events SET ${changes} WHERE id = ?`).bind(id).run()
    const now = Date.now()
    await rows(`INSERT INTO attempts VALUES (?1, 1, 'ingest', NULL, ${now}, ${now}, 'retrying', 'no')`, retried)
    await set(retried, `status = 'retrying', attempts = 1, tries = 1, next_attempt_at = ${now}`)
    const leased = `status = 'processing', attempts = 1, lease_token = 'lse_dead', lease_until = ${now + FIRST_DUE_MS}`
    await set(dead, `${leased}, tries = 1`)
    await set(last, `${leased}, tries = ${MAX_TRIES}`)
    await become(world, 'paused')
    await queue.pump()
    expect(await statuses(world, ids)).toEqual(['held', 'processing', 'processing'])
    advance(HOUR)
    await minute(world)
    await queue.pump()
    expect(await statuses(world, ids)).toEqual(['held', 'held', 'held'])
    expect((await world.event(retried)).next_attempt_at).toBeNull()
    await become(world, 'active')
    await minute(world)
    await settle(world)
    // What no try is left for is given up then, and not while the connection is paused.
    expect(await statuses(world, ids)).toEqual(['processed', 'processed', 'failed'])
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

describe('many held events', () => {
  /** Has a connection that is paused hold so many events more, received now. */
  async function hold({ project }: World, connection: string, n: number) {
    const now = Date.now()
    await insertEvents(
      project,
      Array.from({ length: n }, () => seedEvent({ connection, received_at: now, status: 'received' })),
    )
    await STORE.prepare(
      `UPDATE events SET due_at = (SELECT held_as FROM connections WHERE id = ?1)
        WHERE project_id = ?2 AND connection_id = ?1 AND status = 'received'`,
    )
      .bind(connection, project)
      .run()
  }

  const held = ({ connections }: Awaited<ReturnType<typeof health>>) =>
    connections.map(({ held }: { held: number }) => held)

  it('of one connection hide neither those of another, nor that something is accepted', async () => {
    const world = await newWorld()
    const { project, connection } = world
    advance(1)
    const other = await stripeConnection(world.token, project)
    const console = async (path: string) =>
      (await visit(`/console/p/${project}${path}`, world.owner.token)).text.replaceAll(/<[^>]+>|\s+/g, ' ')
    await become(world, 'paused')
    advance(1)
    await become(world, 'paused', other.id)
    await receive(world, stripeEvent(), stripeEvent())
    await world.send(stripeEvent(), { secret: 'whsec_of_another_endpoint' })
    await minute(world)
    // More than half of what is counted, but not all.
    await hold(world, other.id, 6_000)
    const some = await health(world)
    expect(some).toMatchObject({ status: 'ok', counts: { held: 6_002, received: 0 } })
    expect([held(some), some.connections[0].last_60m.accepted]).toEqual([[2, 6_000], 2])
    expect(await console('')).toMatch(/ is paused\. 6,000 events are held\./)
    await hold(world, other.id, MAX_COUNTED - 6_000)
    const d1 = countingD1()
    const all = (await world.api('/webhooks/health', { bindings: { DB: d1.DB } })).body
    expect(all).toMatchObject({ status: 'ok', reasons: [], counts: { held: MAX_COUNTED } })
    expect([held(all), all.connections[0].last_60m.accepted]).toEqual([[2, MAX_COUNTED - 2], 2])
    expect(d1.count.rows_read).toBeLessThan(5 * MAX_COUNTED)
    expect(await console('')).toContain(' is paused. At least 9,998 events are held.')
    expect(await console('/platform/billing/webhooks/health')).toContain('At least 9,998 events are held')
    expect(await console(`/platform/billing/connections/${connection.id}`)).toContain(' 2 events are held')
    expect(await console(`/platform/billing/connections/${other.id}`)).toContain('At least 10,000 events are held')
    // The first connection no longer has all that is counted: it is the other way round, and none shows 0.
    await hold(world, connection.id, MAX_COUNTED)
    expect(held(await health(world))).toEqual([MAX_COUNTED, MAX_COUNTED / 2])
  }, 60_000)

  it('are in /metrics, however many connections are paused', async () => {
    const world = await newWorld()
    await become(world, 'paused')
    await receive(world, stripeEvent())
    const METRICS_TOKEN = 'a token of an operator, of 32 characters or more'
    const counted = async () => {
      const { text } = await call('/metrics', { token: METRICS_TOKEN, bindings: { METRICS_TOKEN } })
      return Number(/^platform_events\{store="\d+",status="held"\} (\d+)$/m.exec(inStore(text))?.[1])
    }
    const inStore = (text: string) =>
      text
        .split('\n')
        .filter((line) => line.includes(`store="${STORE_NUMBER}"`))
        .join('\n')
    const before = await counted()
    expect(before).toBeGreaterThan(0)
    await STORE.prepare(
      `INSERT INTO connections (id, project_id, vendor, name, secrets, created_at, status, held_as)
        WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < ?2)
        SELECT 'con_many_' || n, ?1, 'stripe', 'Many', '[]', 0, 'paused', ${2 ** 53} - n FROM t`,
    )
      .bind(world.project, MAX_COUNTED + 1)
      .run()
    expect(await counted()).toBe(before)
    await STORE.prepare("DELETE FROM connections WHERE id LIKE 'con_many_%'").run()
  })
})
