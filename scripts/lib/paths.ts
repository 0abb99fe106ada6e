import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The checkout these scripts are part of. */
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * Where the local server keeps what it knows: `state/` is the embedded D1, KV and Queue, `local/` what the scripts
 * remember. Set LOCAL_STATE_DIR to run a server beside another one in the same checkout.
 */
const stateRoot = resolve(ROOT, process.env.LOCAL_STATE_DIR ?? '.wrangler')
export const STATE_DIR = join(stateRoot, 'state')
export const LOCAL_DIR = join(stateRoot, 'local')

/** Settings of the local server that the scripts share through a file. @returns null where there is none yet */
export function readLocal<T>(name: string): T | null {
  try {
    return JSON.parse(readFileSync(join(LOCAL_DIR, name), 'utf8')) as T
  } catch {
    return null
  }
}

/** Writes a file only its owner can read: it may hold a token or a signing secret. */
export function writeLocal(name: string, value: unknown): void {
  mkdirSync(LOCAL_DIR, { recursive: true })
  writeFileSync(join(LOCAL_DIR, name), `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}
