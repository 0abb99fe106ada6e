import { app } from './app'
import { type Env, openRuntime } from './env'
import { consume } from './inbox/process/consume'
import { resendDead } from './inbox/process/dead-letters'
import { housekeeping, reseal } from './inbox/upkeep/housekeeping'
import { sweep } from './inbox/upkeep/sweep'
import { purgeEnded } from './sessions/store'

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

/** Whether this is the run at 03:00 UTC, which does the daily work. */
function isDaily(scheduledTime: number): boolean {
  const at = new Date(scheduledTime)
  return at.getUTCHours() === 3 && at.getUTCMinutes() === 0
}
