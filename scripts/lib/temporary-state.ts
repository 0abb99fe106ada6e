import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder for a state of its own, named in LOCAL_STATE_DIR. Call it before anything imports paths.ts, which reads that name.
 *
 * @returns the folder, and what takes it away again
 */
export function temporaryState(name: string): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  process.env.LOCAL_STATE_DIR = join(folder, 'state')
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 }) }
}
