import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import { HOUR } from '../../../src/lib/time'
import { bindingsWith, lossyQueue } from '../../harness'
import { rowsOfAll } from './rows'

/** Runs the cron's handler. */
export async function cron(bindings: Partial<Env> = {}): Promise<void> {
  const ctx = createExecutionContext()
  const controller = createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' })
  await worker.scheduled(controller as never, bindingsWith(bindings), ctx)
  await waitOnExecutionContext(ctx)
}

/**
 * Runs the cron until housekeeping has passed over every project once more, as it does each hour.
 *
 * @returns how many runs it took
 */
export async function keepHouse(bindings: Partial<Env> = {}): Promise<number> {
  await rowsOfAll('DELETE FROM progress')
  const hour = Math.floor(Date.now() / HOUR)
  for (let runs = 1; ; runs++) {
    await cron({ EVENTS: lossyQueue().EVENTS, ...bindings })
    const left = await rowsOfAll("SELECT task FROM progress WHERE after <> '' OR hour <> ?", hour)
    if (left.length === 0) return runs
    if (runs === 100) throw new Error(`not done after ${runs} runs: ${JSON.stringify(left)}`)
  }
}
