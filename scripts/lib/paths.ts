import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The root folder of this checkout. */
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * The data of the local server: `state/` holds the embedded D1, KV and Queue, `local/` the files of the scripts. Set
 * LOCAL_STATE_DIR to run a second server in the same checkout.
 */
const stateRoot = resolve(ROOT, process.env.LOCAL_STATE_DIR ?? '.wrangler')
/** That folder as messages name it: relative to the checkout if it is inside. */
export const STATE_ROOT = stateRoot.startsWith(`${ROOT}/`) ? relative(ROOT, stateRoot) : stateRoot
export const STATE_DIR = join(stateRoot, 'state')
export const LOCAL_DIR = join(stateRoot, 'local')

/** What to do if a script does not find the local server, or its sign-in codes. */
export const ELSEWHERE = `This command looks for the server that keeps its data in ${STATE_ROOT}. If you started
yours with LOCAL_STATE_DIR=FOLDER, set LOCAL_STATE_DIR to the same folder for this command.`

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
  // Another process, or the next run after a crash, reads the former contents or the new ones.
  const draft = join(LOCAL_DIR, `${name}.${process.pid}`)
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, join(LOCAL_DIR, name))
}
