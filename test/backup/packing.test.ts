import { beforeEach, expect, it } from 'vitest'
import worker from '../../scripts/lib/backup/worker'
import { newStanding } from '../../src/backup/backup'
import { HOUR } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { STORE, stripeEvent } from '../harness'
import { keepHouse, newWorld, rows, settle } from '../inbox/pipeline'

/* A backup, or an export, that a script makes: the cron does not hold up packing for it. */

beforeEach(async () => {
  stopClock(Date.parse('2026-06-10T03:00:00.000Z'))
  for (const table of ['bodies', 'payloads', 'packed_bodies', 'progress']) await rows(`DELETE FROM ${table}`)
  await packFrom(0)
})

const packFrom = (time: number) =>
  rows("INSERT INTO state VALUES ('packed_from', ?) ON CONFLICT DO UPDATE SET value = excluded.value", time)

async function step(body: object): Promise<string> {
  const headers = { Authorization: 'Bearer x' }
  const request = new Request('http://backup/backup/step', { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await worker.fetch(request as never, { DB: STORE, TOKEN: 'x' })
  return answer.ok ? 'begun' : answer.text()
}

it.each([null, 'prj_x'])('does not begin before bodies are packed (project: %s)', async (project_id) => {
  const begin = () => step({ standing: null, project_id })
  expect(await begin()).toBe('begun')
  await packFrom(Date.now() + HOUR)
  expect(await begin()).toMatch(/Packing begins at 2026-06-10T04:01:00.000Z.*try again/)
  const world = await newWorld()
  await world.send(stripeEvent())
  await settle(world)
  advance(2 * HOUR)
  expect(await begin()).toMatch(/Packing is under way.*try again/)
  await keepHouse()
  expect(await begin()).toBe('begun')
  // One that no event names is never packed.
  await rows("INSERT INTO bodies (project_id, id, body) VALUES ('prj_x', 'pay_01m84yyckhfybs8dm0vmb8s4yg', '{}')")
  expect(await begin()).toBe('begun')
  await rows(
    "INSERT INTO payloads (project_id, id, headers, body) VALUES ('prj_x', 'pay_01m84yyckhfybs8dm0vmb8s4yh', '{}', '{}')",
  )
  expect(await begin()).toMatch(/Packing is under way/)
})

it('goes on if it has begun', async () => {
  await packFrom(Date.now() + HOUR)
  expect(await step({ standing: newStanding(Date.now()), project_id: null })).toBe('begun')
})
