import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fastFolder } from './ram-disk.ts'

/**
 * Makes a temporary folder for the data of a server and names it in LOCAL_STATE_DIR. Call it before anything imports
 * paths.ts, which reads that variable.
 *
 * @param below where to make it: soak's data may be too much for a disk in memory
 * @returns the folder, and a function that deletes it
 */
export function temporaryState(name: string, below = fastFolder()): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(below, `${name}-`))
  process.env.LOCAL_STATE_DIR = join(folder, 'state')
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 }) }
}
