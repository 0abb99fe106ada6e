import './bundle-order'
import { app } from './app'
import { type Env, openRuntime } from './env'
import { purgeEnded } from './sessions/store'
import { consume } from './webhooks/consume'
import { resendDead } from './webhooks/dead-letters'
import { housekeeping, reseal } from './webhooks/housekeeping'
import { sweep } from './webhooks/sweep'

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx) {
    const rt = openRuntime(env, ctx)
    if (batch.queue.endsWith('-dead')) await resendDead(rt, batch)
    else await consume(rt, batch)
  },

  async scheduled(controller, env, ctx) {
    await sweep(openRuntime(env, ctx))
    await reseal(openRuntime(env, ctx))
    if (isDaily(controller.scheduledTime)) {
      const rt = openRuntime(env, ctx)
      await purgeEnded(rt.db, rt.now)
      await housekeeping(rt)
    }
  },
} satisfies ExportedHandler<Env>

/** The one minute of the day, 03:00 UTC, that does a day's work. */
function isDaily(scheduledTime: number): boolean {
  const at = new Date(scheduledTime)
  return at.getUTCHours() === 3 && at.getUTCMinutes() === 0
}
