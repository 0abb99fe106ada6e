import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a temporary folder for the data of a server and names it in LOCAL_STATE_DIR. Call it before anything imports
 * paths.ts, which reads that variable.
 *
 * @returns the folder, and a function that deletes it
 */
export function temporaryState(name: string): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  process.env.LOCAL_STATE_DIR = join(folder, 'state')
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 }) }
}
