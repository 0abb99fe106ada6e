import { app } from './app'
import { consumeDeliveries } from './endpoints/queue'
import { type Env, openRuntime } from './env'
import { consumeFetches } from './inbox/fetches/queue'
import { handleBatch } from './inbox/process/queue'
import { upkeep } from './upkeep/upkeep'
import { consumeWatchers } from './watch/queue'

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx) {
    const rt = openRuntime(env, ctx)
    if (batch.queue.endsWith('-fetches')) await consumeFetches(rt, batch)
    else if (batch.queue.endsWith('-watchers')) await consumeWatchers(rt, batch)
    else if (batch.queue.endsWith('-deliveries')) await consumeDeliveries(rt, batch)
    else await handleBatch(rt, batch)
  },

  async scheduled(_controller, env, ctx) {
    await upkeep(openRuntime(env, ctx))
  },
} satisfies ExportedHandler<Env>
