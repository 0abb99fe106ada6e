import { app } from './app'
import { type Env, openRuntime } from './env'
import { purgeEnded } from './sessions/store'
import { consume } from './webhooks/consume'
import { resendDead } from './webhooks/dead-letters'
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
    const at = new Date(controller.scheduledTime)
    if (at.getUTCHours() === 3 && at.getUTCMinutes() === 0) {
      const rt = openRuntime(env, ctx)
      await purgeEnded(rt.db, rt.now)
    }
  },
} satisfies ExportedHandler<Env>
