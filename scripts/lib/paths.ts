import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The root folder of this checkout. */
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * The data of the local server: `state/` holds the embedded D1, KV and Queue, `local/` the files of the scripts. Set
 * LOCAL_STATE_DIR to run a second server in the same checkout.
 */
const stateRoot = resolve(ROOT, process.env.LOCAL_STATE_DIR ?? '.wrangler')
export const STATE_DIR = join(stateRoot, 'state')
export const LOCAL_DIR = join(stateRoot, 'local')

/** Reads a file that the scripts share. @returns null if there is none yet */
export function readLocal<T>(name: string): T | null {
  try {
    return JSON.parse(readFileSync(join(LOCAL_DIR, name), 'utf8')) as T
  } catch {
    return null
  }
}

/** Writes a file that only its owner can read, because it may hold a token or a signing secret. */
export function writeLocal(name: string, value: unknown): void {
  mkdirSync(LOCAL_DIR, { recursive: true })
  writeFileSync(join(LOCAL_DIR, name), `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}
