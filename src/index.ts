import { app } from './app'
import { type Env, openRuntime } from './env'
import { consumeFetches } from './inbox/fetches/queue'
import { handleBatch } from './inbox/process/queue'
import { upkeep } from './upkeep/upkeep'

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx) {
    const rt = openRuntime(env, ctx)
    await (batch.queue.endsWith('-fetches') ? consumeFetches(rt, batch) : handleBatch(rt, batch))
  },

  async scheduled(_controller, env, ctx) {
    await upkeep(openRuntime(env, ctx))
  },
} satisfies ExportedHandler<Env>
