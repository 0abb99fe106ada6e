import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** The secrets of a deployment, and how each is generated. */
export const SECRETS: Record<string, () => string> = {
  CODE_PEPPER: () => randomBytes(32).toString('hex'),
  ENCRYPTION_KEY_1: () => randomBytes(32).toString('base64'),
}

const HEADER = `# Settings and secrets of the local server, generated on its first start. The signing secrets in .wrangler/state are
# encrypted with ENCRYPTION_KEY_1, so delete this file and that folder together.
`
/** What a local server is given besides: anyone may sign in, and codes are printed in the terminal. */
const SETTINGS: Record<string, () => string> = { SIGN_UP: () => 'open', SIGN_IN_DELIVERY: () => 'log' }

/** Adds missing settings and secrets to .dev.vars and keeps the existing ones. @returns the names that were added */
export function ensureDevVars(path = join(ROOT, '.dev.vars')): string[] {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : HEADER
  const wanted = { ...SECRETS, ...SETTINGS }
  const missing = Object.keys(wanted).filter(
    (name) => !new RegExp(`^\\s*(export\\s+)?${name}\\s*=\\s*\\S`, 'm').test(before),
  )
  if (missing.length > 0) {
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`
    const added = missing.map((name) => `${name}=${wanted[name]?.()}\n`).join('')
    writeFileSync(path, start + added, { mode: 0o600 })
  }
  chmodSync(path, 0o600)
  return missing
}
