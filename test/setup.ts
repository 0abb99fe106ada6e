import { reset } from 'cloudflare:test'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { unwrittenCounts } from '../src/inbox/formats/count'
import { isClockStopped, startClock } from './clock'
import { bound, DIRECTORY, databaseOf, STORE_NUMBER, STORES, withoutLimits } from './harness'
import { makeTables } from './tables'
import { fileBegins, fileEnds, keepLog, printLog } from './worker'

fileBegins()

// Files share a worker, but every file begins with empty storage: D1, KV and the Queues. `reset` leaves out storage that
// nobody has asked for ten seconds, so it is asked first.
const databases = STORES.map(databaseOf)
const tablesIn = (database: D1Database) => database.prepare('SELECT count(*) AS n FROM sqlite_master').first('n')
await Promise.all([...databases.map(tablesIn), bound.KV.get('none')])
await reset()
const left = await Promise.all(databases.map(tablesIn))
if (left.some((n) => n !== 0)) throw new Error(`tables of another test file are left: ${left}`)

for (const database of databases) await makeTables(database)
// Projects go to one store. It was seen in the far future: no test's clock is ahead of it.
if (STORES.length > 1) {
  const note = DIRECTORY.prepare(
    'INSERT OR IGNORE INTO stores (number, first_seen_at, seen_at, closed) VALUES (?, 0, 1e13, ?)',
  )
  await DIRECTORY.batch(STORES.map((store) => note.bind(store, store === STORE_NUMBER ? 0 : 1)))
}

let stoppedForAll = false
beforeEach(() => {
  keepLog()
  stoppedForAll = isClockStopped()
  // As in an isolate that is new: when it writes its counts, which is a trip, would depend on what earlier tests have left.
  unwrittenCounts.clear()
})
afterEach(({ task }) => {
  if (task.result?.state === 'fail') printLog()
  withoutLimits()
  if (!stoppedForAll) startClock()
})
afterAll(() => {
  startClock()
  fileEnds()
})
