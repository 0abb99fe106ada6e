import { beforeEach, describe, expect, it } from 'vitest'
import { FAST } from '../../src/endpoints/limits'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { rows } from '../inbox/pipeline'
import { type HooksWorld, hooksWorld } from './world'

type Row = Awaited<ReturnType<Awaited<ReturnType<HooksWorld['endpoint']>>['row']>>

beforeEach(() => {
  stopClock()
})

/** Lets time pass, minute by minute at most, with the cron and the queues at work. */
async function pass(world: HooksWorld, ms: number, step = MINUTE) {
  for (let left = ms; left > 0; left -= step) {
    advance(Math.min(step, left))
    await world.cron()
    await world.pump()
  }
}

/** What a row has of its own, whatever its endpoint goes through. */
const ownOf = ({ id, url, secrets, created_at, position, slow, last_success_at, last_failure_at }: Row) => {
  return { id, url, secrets, created_at, position, slow, last_success_at, last_failure_at }
}

describe('a receiver', () => {
  it('that fails once gets the change again after 5 seconds, and the others meanwhile', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500, body: 'x'.repeat(5000) })
    await world.change()
    await world.pump()
    expect(await endpoint.deliveries()).toMatchObject([{ state: 'pending', tries: 1, http_status: 500, error: null }])
    expect((await endpoint.attempts())[0]?.answer).toBe('x'.repeat(1024))
    await endpoint.answers({ status: 200, body: 'y'.repeat(5000) })
    await world.change(2)
    await world.pump()
    expect(await endpoint.got()).toHaveLength(2)
    const taken = (await endpoint.attempts()).filter(({ outcome }) => outcome === 'taken')
    expect(taken.map(({ answer }) => answer)).toEqual(Array(2).fill('y'.repeat(128)))
    advance(7 * SECOND)
    await world.pump()
    const seen = await endpoint.seen()
    expect(seen).toHaveLength(3)
    expect(await endpoint.deliveries()).toEqual([])
    expect((await endpoint.attempts())[0]).toMatchObject({ try: 2, outcome: 'taken' })
    expect(await endpoint.get()).toMatchObject({ state: 'active', failing_since: null })
  })

  it('that is dead gets one attempt at a time, whatever waits for it, and is disabled after five days', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 })
    await world.change(6)
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(5)
    expect(await endpoint.get()).toMatchObject({ state: 'failing', behind: expect.any(Number) })
    await world.change(20)
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(5)
    advance(6 * SECOND)
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(6)
    await pass(world, HOUR, 10 * MINUTE)
    const first = (await endpoint.seen()).length
    expect(first).toBeLessThanOrEqual(8)
    await pass(world, 5 * DAY, 6 * HOUR)
    expect((await endpoint.seen()).length).toBeLessThan(first + 14)
    await endpoint.answers({ status: 504 }) // from now on, it gets less at once
    await pass(world, DAY, 6 * HOUR)
    expect(await endpoint.get()).toMatchObject({ state: 'disabled', disabled_reason: 'failing' })
    const log = await world.must('GET', 'audit-log?action=webhook_endpoint.disabled')
    expect(log.data.map(({ details }) => details)).toEqual([{ reason: 'failing' }])
    // Enabled again, it has the patience of a new one.
    await world.must('PATCH', endpoint.path, { state: 'active' })
    const [again, fresh] = [await endpoint.row(), await (await world.endpoint()).row()]
    expect(again).toEqual({ ...fresh, ...ownOf(again) })
    await pass(world, DAY, 6 * HOUR)
    expect(await endpoint.get()).toMatchObject({ state: 'failing' })
    // It goes on where it was.
    await endpoint.answers({ status: 204 })
    await world.must('PATCH', endpoint.path, { state: 'active' })
    await world.pump()
    await pass(world, DAY, 6 * HOUR)
    const all = new Set((await endpoint.got()).map(({ data }) => data.object.id))
    const given = (await endpoint.attempts()).filter(({ outcome }) => outcome === 'taken').length
    expect([all.size, given >= 26]).toEqual([26, true])
    expect(await endpoint.get()).toMatchObject({ state: 'active', behind: 0 })
  })

  it('that flaps ends with every change', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 200 })
    const had = new Set<string>()
    const note = async () => {
      for (const { data } of await endpoint.got()) had.add(data.object.id)
    }
    const ids: string[] = []
    for (let round = 0; round < 6; round++) {
      const isDown = round % 2 === 1
      await note()
      await endpoint.answers({ status: isDown ? 503 : 200 })
      ids.push(...(await world.change(3)))
      await world.pump()
      if (!isDown) await note()
      await pass(world, MINUTE)
      if (!isDown) await note()
      if (isDown) await endpoint.answers({ status: 200 })
    }
    await endpoint.answers({ status: 200 })
    await pass(world, HOUR, 5 * MINUTE)
    await note()
    expect(ids.filter((id) => !had.has(id))).toEqual([])
  })

  it.each([
    ['redirects', { status: 302, headers: { Location: 'https://platform.test/' } }, { http_status: 302, error: null }],
    ['answers 404', { status: 404 }, { http_status: 404, error: null }],
  ])('that %s has not taken it', async (_, answer, expected) => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint(answer)
    await world.change()
    await world.pump()
    expect(await endpoint.deliveries()).toMatchObject([{ state: 'pending', tries: 1, ...expected }])
    expect(await endpoint.seen()).toHaveLength(1)
  })

  it('that answers without an end, or slowly, has taken it by its status', async () => {
    const world = await hooksWorld('impatient')
    const endless = await world.endpoint({ trouble: 'endless' })
    const slow = await world.endpoint({ trouble: 'slow' })
    const large = await world.endpoint({ body: 'z'.repeat(10_000_000) })
    await world.change()
    await world.pump()
    for (const endpoint of [endless, slow, large]) {
      const [made] = await endpoint.attempts()
      expect(made).toMatchObject({ outcome: 'taken', http_status: 200 })
      expect(made?.answer.length).toBeLessThanOrEqual(128)
      expect(await endpoint.deliveries()).toEqual([])
    }
  })

  it('that does not answer goes on in the queue of the slow ones, and holds up nobody', async () => {
    const world = await hooksWorld('impatient')
    const endpoint = await world.endpoint({ trouble: 'silent' })
    const other = await world.endpoint()
    await world.change()
    await world.queues.pump(world.bindings, 1)
    expect(await endpoint.row()).toMatchObject({ slow: 1, failures: 0, state: 'active' })
    expect(await other.got()).toHaveLength(1)
    expect((await endpoint.attempts())[0]).toMatchObject({ error: 'slow' })
    expect(world.queues.waiting().map(({ queue }) => queue)).toEqual(['platform-api-slow-deliveries'])
    await endpoint.answers({ status: 200 })
    await world.pump()
    expect(await endpoint.got()).toHaveLength(1)
    expect(await endpoint.deliveries()).toEqual([])
    // It must be fast several times at once before it is back among the others.
    for (const n of [2, 4]) {
      await world.change(n)
      await world.pump()
    }
    expect(await endpoint.row()).toMatchObject({ slow: 1 })
    await world.change(FAST.attempts)
    await world.pump()
    expect(await endpoint.row()).toMatchObject({ slow: 0 })
  })

  it('that answers 410 is disabled at once', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 410 })
    await world.change(3)
    await world.pump()
    await world.change(3)
    await world.pump()
    await pass(world, HOUR, 10 * MINUTE)
    expect((await endpoint.seen()).length).toBeLessThanOrEqual(5)
    expect(await endpoint.get()).toMatchObject({ state: 'disabled', disabled_reason: 'gone' })
    await endpoint.answers({})
    await world.must('PATCH', endpoint.path, { state: 'active' })
    await world.pump()
    expect(new Set((await endpoint.got()).map(({ data }) => data.object.id)).size).toBe(6)
  })

  it('that answers 429 with Retry-After is left alone, and then gets less at once', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 429, headers: { 'Retry-After': '600' } })
    await world.change(1)
    await world.pump()
    expect(await endpoint.row()).toMatchObject({ at_once: 2, not_before: Date.now() + 600_000 })
    // The change itself waits as long, so that enabling the endpoint again does not bring its retry forward.
    expect(await rows('SELECT due_at FROM deliveries WHERE endpoint_id = ?', endpoint.id)).toEqual([
      { due_at: Date.now() + 600_000 },
    ])
    await world.change(1)
    await pass(world, 9 * MINUTE, 3 * MINUTE)
    expect(await endpoint.seen()).toHaveLength(1)
    await endpoint.answers({})
    await pass(world, 2 * MINUTE)
    expect(await endpoint.got()).toHaveLength(2)
    // As many as it may get at once were taken: from now on it gets twice as many. Fewer would not say so.
    expect(await endpoint.row()).toMatchObject({ at_once: 4 })
    await world.change(1)
    await world.pump()
    expect([(await endpoint.got()).length, (await endpoint.row()).at_once]).toEqual([3, 4])
  })

  it('that is enabled again is tried at once, however long it had asked to be left alone', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 429, headers: { 'Retry-After': '36000' } })
    await world.change()
    await world.pump()
    await endpoint.answers({})
    await world.must('PATCH', endpoint.path, { state: 'disabled' })
    expect(await world.must('PATCH', endpoint.path, { state: 'active' })).toMatchObject({ next_attempt_at: null })
    const next = await world.change() // the one before waits for its own next try
    await world.pump()
    expect((await endpoint.got()).map(({ data }) => data.object.id)).toEqual(next)
  })

  it.each(['failing', 'active'])('that is %s gets no retry of a type that it gets no more', async (state) => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 })
    await world.change(state === 'failing' ? 6 : 1)
    await world.pump()
    expect(await endpoint.get()).toMatchObject({ state })
    await world.must('PATCH', endpoint.path, { types: ['plan.*'] })
    await endpoint.answers({})
    await pass(world, HOUR, 10 * MINUTE)
    expect([await endpoint.seen(), await endpoint.deliveries()]).toEqual([[], []])
    expect(await endpoint.get()).toMatchObject({ behind: 0 })
  })

  it('that is ordered waits at a change through its retries, and gets the next ones after it', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 }, { ordered: true })
    const ids = await world.change(4)
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(1)
    advance(6 * SECOND)
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(2)
    expect((await endpoint.attempts())[0]).toMatchObject({ try: 2 })
    await endpoint.answers({})
    await pass(world, 6 * MINUTE)
    expect((await endpoint.got()).map(({ data }) => data.object.id)).toEqual(ids)
  })

  it('that is ordered and never takes a change gets the next one once its retries are spent', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint({ status: 500 }, { ordered: true })
    await world.change(2)
    await world.pump()
    for (let i = 0; i < 9; i++) await pass(world, 27 * HOUR, 27 * HOUR).then(() => world.pump())
    const shown = await endpoint.get()
    if (shown.state !== 'disabled') expect(await endpoint.deliveries()).toMatchObject([{ state: 'failed', tries: 10 }])
    else expect(shown.disabled_reason).toBe('failing')
  })

  it('whose project is deleted gets nothing', async () => {
    const world = await hooksWorld()
    const endpoint = await world.endpoint()
    await world.change()
    await rows(
      'UPDATE projects SET deleted_at = ?, purge_at = ? WHERE id = ?',
      Date.now(),
      Date.now() + DAY,
      world.project,
    )
    await world.pump()
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toEqual([])
  })
})
