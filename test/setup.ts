import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach } from 'vitest'
import { startClock } from './clock'

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
await applyD1Migrations(env.DB, TEST_MIGRATIONS)

afterEach(startClock)
