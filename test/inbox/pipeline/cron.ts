import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import { bound } from '../../harness'

/** A minute that is not the one of the daily work, whatever the time of day at which the tests run. */
const AT_NOON = Date.UTC(2026, 0, 1, 12)

/** Runs the cron's handler. @param at the minute that it fires for (ms): by default not that of the daily work */
export async function cron(bindings: Partial<Env> = {}, at = AT_NOON): Promise<void> {
  const ctx = createExecutionContext()
  const controller = createScheduledController({ scheduledTime: new Date(at), cron: '* * * * *' })
  await worker.scheduled(controller as never, { ...bound, ...bindings } as Env, ctx)
  await waitOnExecutionContext(ctx)
}
