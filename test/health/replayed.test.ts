import { beforeEach, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { stripeEvent } from '../harness'
import { cron, newWorld, settle } from '../inbox/pipeline'

beforeEach(() => {
  stopClock()
})

it('a replayed event counts as open since its replay, not since its receipt', async () => {
  const world = await newWorld()
  const first = (await world.send(stripeEvent())).body.event_ids[0] ?? ''
  const second = (await world.send(stripeEvent())).body.event_ids[0] ?? ''
  await settle(world)
  advance(30 * DAY)
  await cron({ EVENTS: world.queue.EVENTS })
  const health = async () => {
    const { status, oldest_pending_age_ms } = (await world.api('/webhooks/health')).body
    return [status, oldest_pending_age_ms]
  }
  await world.replay(first)
  expect(await health()).toEqual(['ok', 0])
  advance(MINUTE)
  await world.api('/webhooks/replay', { method: 'POST', json: { filter: {} } })
  expect([(await world.event(second)).status, await health()]).toEqual(['queued', ['ok', MINUTE]])
  advance(2 * MINUTE)
  expect(await health()).toEqual(['degraded', 3 * MINUTE])
  await world.send(stripeEvent())
  advance(12 * MINUTE + 1)
  expect(await health()).toEqual(['failing', 15 * MINUTE + 1])
  await settle(world)
  await cron({ EVENTS: world.queue.EVENTS })
  await world.replay(first)
  expect(await health()).toEqual(['ok', 0])
  await settle(world)
  expect(await health()).toEqual(['ok', null])
})
