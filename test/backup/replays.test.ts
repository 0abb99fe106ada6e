import { beforeEach, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE, stripeEvent } from '../harness'
import { newWorld, settle, type World } from '../inbox/pipeline'
import { backUp, emptyDatabase, processAll, RESTORED, restore } from './backups'

/* Replays that are requested while a backup is made. */

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
async function replayedAt(table: string, ends: boolean) {
  const world = await newWorld()
  await world.send(stripeEvent())
  await settle(world)
  advance(MINUTE)
  const id = `${(await world.api('/webhooks')).body.data[0]?.id}`
  let isReplayed = false
  const backup = await backUp(async (standing) => {
    advance(1)
    if (isReplayed || standing.table !== table) return
    isReplayed = true
    expect((await world.replay(id)).status).toBe(202)
    if (ends) await settle(world)
  })
  expect(isReplayed).toBe(true)
  await settle(world)
  await restore(await emptyDatabase(), backup)
  return { world, id }
}

// The rows of replays are copied before the events.
it.each([
  ['ended, and is in the backup', 'replays', true],
  ['was open, and is in the backup', 'replays', false],
])('a replay that %s is processed again, and counts once', async (_, table, ends) => {
  const { world, id } = await replayedAt(table, ends)
  const event = await RESTORED.prepare('SELECT status FROM events WHERE id = ?').bind(id).first()
  expect(event).toEqual({ status: 'received' })
  await processAll(RESTORED)
  expect(await counted(RESTORED, world)).toEqual(await counted(STORE, world))
  expect(await attemptsOf(RESTORED, id)).toEqual(await attemptsOf(STORE, id))
})
