import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src'
import type { Env } from '../../../src/env'
import { bound } from '../../harness'

/** The cron's handler, now or at a given time. */
export async function cron(bindings: Partial<Env> = {}, at = Date.now()): Promise<void> {
  const ctx = createExecutionContext()
  const controller = createScheduledController({ scheduledTime: new Date(at), cron: '* * * * *' })
  await worker.scheduled(controller as never, { ...bound, ...bindings } as Env, ctx)
  await waitOnExecutionContext(ctx)
}
