/*
 * npm run aborts: requests that end in the middle of a shared recording trip, in a real workerd. The database's answers are
 * held, so that it is known where each request ends. See lib/aborts.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aborts } from './lib/aborts.ts'
import { fail, run } from './lib/terminal.ts'

/** Longer than the whole takes on a busy machine (ms). */
const LIMIT_MS = 180_000

await run(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aborts-'))
  const limit = setTimeout(() => fail('It did not end in time.'), LIMIT_MS)
  const { answers, cutOff } = await aborts(folder)
  console.log(`${answers} callers got their own event; ${cutOff} requests were aborted or cut off`)
  clearTimeout(limit)
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
