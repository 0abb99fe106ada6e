import { beforeEach, expect, it, vi } from 'vitest'
import { MINUTE, SECOND } from '../../src/lib/time'
import { randomFrom } from '../billing/lives'
import { advance, startClock, stopClock, stopTimers } from '../clock'
import { hookedD1, hooksWorld } from './world'

beforeEach(() => {
  stopClock()
})

const ROUNDS = 40

it('a server that only receives webhooks ends with the same consumers as the list, whatever is killed on the way', async () => {
  const random = randomFrom(20_261_125)
  const int = (n: number) => Math.floor(random() * n)
  const world = await hooksWorld()
  const endpoint = await world.endpoint({}, { include_object: true })
  let kills = 0
  const DB = hookedD1(async ({ run }) => {
    const chance = random()
    if (chance < 0.25) {
      kills += 1
      throw new Error('D1_ERROR: the worker was stopped')
    }
    const result = await run()
    if (chance > 0.75) {
      kills += 1
      throw new Error('D1_ERROR: the worker was stopped')
    }
    return result
  })
  const known = new Map<string, { revision: number; object: object }>()
  const seen = new Set<string>()
  const apply = async () => {
    for (const { data } of await endpoint.got()) {
      seen.add(data.id)
      const { revision, object } = data.current as unknown as { revision: number; object: object }
      if (revision >= (known.get(data.object.id)?.revision ?? 0)) known.set(data.object.id, { revision, object })
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    await endpoint.answers({ status: random() < 0.7 ? 200 : 503 })
    for (let n = int(5); n >= 0; n--) {
      const ref = `ext:m${int(8)}`
      await world.ask('PUT', `consumers/${ref}`, { metadata: { n: String(int(1000)) } })
      if (random() < 0.3) await world.ask('POST', `consumers/${ref}/${random() < 0.5 ? 'block' : 'unblock'}`, {})
    }
    if (random() < 0.2) world.queues.lose()
    await world.pump({ DB })
    if (endpoint.current().status === 200) await apply()
    advance(2 * MINUTE)
    await world.cron()
  }
  await endpoint.answers({})
  for (let i = 0; i < 40; i++) {
    advance(30 * MINUTE)
    await world.cron()
    await world.pump()
  }
  await apply()
  expect(kills).toBeGreaterThan(20)
  const list = await world.must('GET', 'consumers?limit=100')
  const told = (await world.must('GET', 'changes?types=consumer.*&limit=500')).data.map(({ id }) => id)
  expect(told.filter((id) => !seen.has(id))).toEqual([])
  const byId = (all: readonly { id?: string }[]) => Object.fromEntries(all.map((one) => [one.id, one]))
  expect(byId([...known.values()].map(({ object }) => object))).toEqual(byId(list.data))
  expect(await endpoint.get()).toMatchObject({ behind: 0, state: 'active' })
})

it('a healthy endpoint gets its changes while ten silent ones of another project are waited for', async () => {
  startClock()
  const [dead, healthy] = [await hooksWorld(), await hooksWorld()]
  for (let i = 0; i < 10; i++) await dead.endpoint({ trouble: 'silent' })
  const endpoint = await healthy.endpoint()
  await dead.change(5)
  const ids = await healthy.change(5)
  stopTimers()
  let isOver = false
  const waiting = dead.queues.pump(dead.bindings, 1).then(() => {
    isOver = true
  })
  await healthy.queues.pump(healthy.bindings, 1)
  expect((await endpoint.got()).map(({ data }) => data.object.id).sort()).toEqual(ids.sort())
  expect(isOver).toBe(false)
  while (!isOver) {
    vi.advanceTimersByTime(SECOND)
    await scheduler.wait(5)
  }
  await waiting
})
