import { beforeEach, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE, stripeEvent } from '../harness'
import { newWorld, settle, type World } from '../inbox/pipeline'
import { backUp, emptyDatabase, processAll, RESTORED, restore } from './backups'

/* Replays that are requested while a backup is made, and how the hours of open events are counted anew. */

beforeEach(() => {
  stopClock()
})

const counted = (database: D1Database, { project }: World) =>
  database
    .prepare(
      'SELECT sum(received) AS received, sum(processed) AS processed, sum(ignored) AS ignored FROM minutes WHERE project_id = ?',
    )
    .bind(project)
    .first()
const attemptsOf = async (database: D1Database, id: string) =>
  (
    await database
      .prepare('SELECT number, trigger, outcome FROM attempts WHERE event_id = ? ORDER BY number')
      .bind(id)
      .all()
  ).results

/** Backs up a store in which an event is replayed once the backup has come to a table; `ends`: and the replay ends. */
async function replayedAt(
  table: string,
  { ends, comes = 'before' }: { ends: boolean; comes?: 'before' | 'meanwhile' },
) {
  const world = await newWorld()
  const receive = async () => {
    await world.send(stripeEvent())
    await settle(world)
  }
  if (comes === 'before') await receive()
  advance(MINUTE)
  let id = ''
  const backup = await backUp(async (standing) => {
    advance(1)
    if (id !== '' || standing.table !== table) return
    if (comes === 'meanwhile') await receive()
    id = `${(await world.api('/webhooks')).body.data[0]?.id}`
    expect((await world.replay(id)).status).toBe(202)
    if (ends) await settle(world)
  })
  expect(id).toMatch(/^evt_/)
  await settle(world)
  await restore(await emptyDatabase(), backup)
  return { world, id }
}

// The rows of replays are copied before the events.
it.each([
  ['ended before its event was copied', 'events', true],
  ['was open when its event was copied', 'events', false],
  ['ended, and is in the backup', 'replays', true],
  ['was open, and is in the backup', 'replays', false],
])('a replay that %s is processed again, and counts once', async (_, table, ends) => {
  const { world, id } = await replayedAt(table, { ends })
  const event = await RESTORED.prepare('SELECT status FROM events WHERE id = ?').bind(id).first()
  expect(event).toEqual({ status: 'received' })
  await processAll(RESTORED)
  expect(await counted(RESTORED, world)).toEqual(await counted(STORE, world))
  expect(await attemptsOf(RESTORED, id)).toEqual(await attemptsOf(STORE, id))
})

it.each(['replays', 'events'])(
  'an event that came meanwhile, and was replayed at the copy of %s, counts once',
  async (table) => {
    const { world, id } = await replayedAt(table, { ends: true, comes: 'meanwhile' })
    await processAll(RESTORED)
    expect(await counted(RESTORED, world)).toEqual(await counted(STORE, world))
    // Its replay came to nothing: its first processing is what is made again.
    expect(await attemptsOf(RESTORED, id)).toEqual([])
    const open = 'SELECT queued - processed - ignored - failed AS n FROM replays WHERE project_id = ?'
    expect((await RESTORED.prepare(open).bind(world.project).all()).results.filter(({ n }) => n !== 0)).toEqual([])
  },
)

it('the lag of an hour that is counted anew is that of the events that were processed, without those that failed first', async () => {
  stopClock(Date.parse('2026-11-27T10:20:00Z'))
  const world = await newWorld()
  const failing = { ...stripeEvent(), data: null }
  await world.send(stripeEvent())
  await world.send(failing)
  await settle(world)
  advance(SECOND)
  // As a replay leaves an event that had failed, which its hour still counts as failed.
  const { id } = (await STORE.prepare("SELECT id FROM events WHERE project_id = ? AND status = 'failed'")
    .bind(world.project)
    .first<{ id: string }>()) as { id: string }
  await STORE.batch([
    STORE.prepare("UPDATE events SET status = 'processed', processed_at = ?, attempts = 2 WHERE id = ?").bind(
      Date.now(),
      id,
    ),
    STORE.prepare("INSERT INTO attempts VALUES (?1, 2, 'replay', NULL, ?2, ?2, 'processed', NULL)").bind(
      id,
      Date.now(),
    ),
  ])
  advance(SECOND)
  await world.send(stripeEvent()) // it is open, so its hour is counted anew
  const backup = await backUp()
  await restore(await emptyDatabase(), backup)
  const lagOf = (database: D1Database) =>
    database
      .prepare('SELECT processed, failed, lag, lag_sum, lag_max FROM minutes WHERE project_id = ? AND processed > 0')
      .bind(world.project)
      .all()
  const { results } = await lagOf(RESTORED)
  expect(results).toEqual((await lagOf(STORE)).results)
  expect(results).toMatchObject([{ processed: 1, failed: 1 }])
})
