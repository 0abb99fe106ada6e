import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { isClockStopped, startClock } from './clock'

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
await applyD1Migrations(env.DB, TEST_MIGRATIONS)

/** Bytes that the values of one statement may have together. D1 holds each of them several times while it runs. */
const MAX_BOUND = 1_000_000

// Of every statement of every test, whoever sends it.
const prototype = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement
const { bind } = prototype
prototype.bind = function (...values: unknown[]) {
  const bytes = values.reduce<number>((sum, value) => sum + bytesOf(value), 0)
  if (bytes > MAX_BOUND) throw new Error(`a statement binds ${bytes} bytes: at most ${MAX_BOUND} are allowed`)
  return bind.apply(this, values)
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).byteLength
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? value.byteLength : 8
}

let stoppedForAll = false
beforeEach(() => {
  stoppedForAll = isClockStopped()
})
afterEach(() => {
  if (!stoppedForAll) startClock()
})
afterAll(startClock)
