import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { Env } from '../../src/env'
import { HEALTH_AGE_MS } from '../../src/health/limits'
import worker from '../../src/index'
import { advance, stopClock } from '../clock'
import { countingD1, D1_LOST, freshAddress, ORIGIN, tamperedD1 } from '../harness'
import { bindingsWith } from '../harness/stores'

/** Asks as many times at once, with the bindings of one isolate. */
async function ask(env: Env, times = 1) {
  const answers = Array.from({ length: times }, async () => {
    const ctx = createExecutionContext()
    const headers = { 'CF-Connecting-IP': freshAddress() }
    const response = await worker.fetch(new Request(`${ORIGIN}/healthz`, { headers }) as never, env, ctx)
    const body = await response.json<{ status: string; code?: string }>()
    await waitOnExecutionContext(ctx)
    return [response.status, body.code ?? body.status]
  })
  return Promise.all(answers)
}

it('asks the directory once for all who ask within a few seconds', async () => {
  stopClock()
  const { DB, count } = countingD1()
  const env = bindingsWith({ DB })
  expect(await ask(env)).toEqual([[200, 'ok']])
  const { trips } = count
  expect(trips).toBeGreaterThan(0)
  advance(HEALTH_AGE_MS - 1)
  expect(await ask(env, 20)).toEqual(Array.from({ length: 20 }, () => [200, 'ok']))
  expect(count.trips).toBe(trips)
  advance(1)
  expect(await ask(env, 20)).toEqual(Array.from({ length: 20 }, () => [200, 'ok']))
  expect(count.trips).toBeLessThanOrEqual(2 * trips)
})

it('remembers a failure as long, and not longer', async () => {
  stopClock()
  let isDown = true
  const DB = tamperedD1(async ({ run }) => {
    if (isDown) throw new Error(D1_LOST)
    return run()
  })
  const env = bindingsWith({ DB })
  expect(await ask(env)).toEqual([[503, 'database_unavailable']])
  isDown = false
  expect(await ask(env)).toEqual([[503, 'database_unavailable']])
  advance(HEALTH_AGE_MS)
  expect(await ask(env)).toEqual([[200, 'ok']])
})
