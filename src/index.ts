import { app } from './app'
import { type Env, openRuntime } from './env'
import { handleBatch } from './inbox/process/queue'
import { upkeep } from './upkeep/upkeep'

export default {
  fetch: app.fetch,

  async queue(batch, env, ctx) {
    await handleBatch(openRuntime(env, ctx), batch)
  },

  async scheduled(_controller, env, ctx) {
    await upkeep(openRuntime(env, ctx))
  },
} satisfies ExportedHandler<Env>
