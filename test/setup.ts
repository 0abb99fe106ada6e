import { applyD1Migrations, type D1Migration } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { isClockStopped, startClock } from './clock'
import { DIRECTORY, databaseOf, STORE_NUMBER, STORES } from './harness'

const { TEST_MIGRATIONS } = env as unknown as { TEST_MIGRATIONS: D1Migration[] }
for (const store of STORES) await applyD1Migrations(databaseOf(store), TEST_MIGRATIONS)
// Projects go to one store. It was seen in the far future: no test's clock is ahead of it.
if (STORES.length > 1) {
  const note = DIRECTORY.prepare(
    'INSERT OR IGNORE INTO stores (number, first_seen_at, seen_at, closed) VALUES (?, 0, 1e13, ?)',
  )
  await DIRECTORY.batch(STORES.map((store) => note.bind(store, store === STORE_NUMBER ? 0 : 1)))
}

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
