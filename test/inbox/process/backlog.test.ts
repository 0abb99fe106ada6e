import { beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DUE_MS } from '../../../src/inbox/limits'
import { MAX_SWEPT_EVENTS, RESEND_EVERY_MS } from '../../../src/inbox/process/limits'
import { MINUTE } from '../../../src/lib/time'
import {
  advance,
  cron,
  expectConsistent,
  gocardlessConnection,
  newWorld,
  only,
  rows,
  sendGocardless,
  stopClock,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock()
})

/** Has this many events recorded, and their messages sent, 50 a delivery. */
async function fillQueue(world: World, count: number): Promise<void> {
  const connection = await gocardlessConnection(world)
  for (let i = 0; i < count; i += 50) {
    const ids = Array.from({ length: 50 }, (_, n) => `EV_${i + n}`)
    expect((await sendGocardless(world, connection, ids)).body.event_ids).toHaveLength(50)
  }
  expect(world.queue.sent).toHaveLength(count)
}

/** What the sweep has sent. */
function resentOf({ queue }: World) {
  return queue.sent.filter(({ body }) => body.via === 'sweep')
}

function fates(project: string) {
  return rows('SELECT status, attempts, count(*) AS n FROM events WHERE project_id = ? GROUP BY 1, 2', project)
}

describe('a backlog', () => {
  it('of 5,000 under a slow consumer is sent again a bounded number a minute, none twice, and is all done', async () => {
    const world = await newWorld()
    const { project, queue } = world
    await fillQueue(world, 5000)
    // A consumer that manages 200 a minute, for twelve minutes.
    for (let minute = 0; minute < 12; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump({}, { batches: 2 })
    }
    const resent = resentOf(world)
    expect(resent).toHaveLength(12 * MAX_SWEPT_EVENTS)
    expect(new Set(resent.map(({ body }) => body.event_id)).size).toBe(resent.length)
    await queue.pump({}, { batches: 1000 })
    expect(await fates(project)).toEqual([{ status: 'ignored', attempts: 1, n: 5000 }])
    await expectConsistent(project)
  }, 60_000)

  it('that no consumer takes is sent again every five minutes, and no more often', async () => {
    const world = await newWorld()
    const { project, queue } = world
    await fillQueue(world, 250)
    for (let minute = 0; minute < 18; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
    }
    const times = Map.groupBy(resentOf(world), ({ body }) => body.event_id)
    expect(times.size).toBe(250)
    // The sweep takes a hundred a minute: from the first, the second or the third minute on, every five.
    const gaps = [...times.values()].map((sent) => sent.slice(1).map(({ at }, i) => at - (sent[i]?.at ?? 0)))
    expect(gaps).toEqual(Array(250).fill(Array(3).fill(RESEND_EVERY_MS)))
    await queue.pump({}, { batches: 1000 })
    expect(await fates(project)).toEqual([{ status: 'ignored', attempts: 1, n: 250 }])
    await expectConsistent(project)
  })

  it('is sent again from its oldest event on, however many new ones arrive', async () => {
    const world = await newWorld()
    const { queue } = world
    const connection = await gocardlessConnection(world)
    const arrive = async (name: string) =>
      (
        await Promise.all(
          [0, 1].map(async (half) => {
            const ids = Array.from({ length: MAX_SWEPT_EVENTS / 2 }, (_, n) => `EV_${name}_${half}_${n}`)
            return (await sendGocardless(world, connection, ids)).body.event_ids
          }),
        )
      ).flat()
    const waves: string[][] = []
    // Each wave is as many events as one sweep takes, and the Queue loses all of them.
    for (const name of ['first', 'second', 'third', 'fourth']) {
      waves.push(await arrive(name))
      advance(FIRST_DUE_MS)
    }
    queue.lose()
    for (const wave of waves) {
      const before = resentOf(world).length
      await cron({ EVENTS: queue.EVENTS })
      const ids = resentOf(world)
        .slice(before)
        .map(({ body }) => body.event_id)
      expect(ids.toSorted()).toEqual(wave.toSorted())
      advance(MINUTE)
    }
  })

  it('that was lost altogether comes back, a bounded number a minute and project', async () => {
    const world = await newWorld()
    const { project, queue } = world
    await fillQueue(world, 250)
    queue.lose()
    const left: number[] = []
    for (let minute = 0; minute < 3; minute++) {
      advance(MINUTE)
      await cron({ EVENTS: queue.EVENTS })
      await queue.pump()
      const open = 'SELECT count(*) AS n FROM events WHERE project_id = ? AND due_at IS NOT NULL'
      left.push((await only(rows<{ n: number }>(open, project))).n)
    }
    expect(left).toEqual([150, 50, 0])
    await expectConsistent(project)
  })
})
