import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { isClockStopped, startClock } from './clock'

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
await applyD1Migrations(env.DB, TEST_MIGRATIONS)

let stoppedForAll = false
beforeEach(() => {
  stoppedForAll = isClockStopped()
})
afterEach(() => {
  if (!stoppedForAll) startClock()
})
afterAll(startClock)
