import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
  const isNew = !existsSync(path)
  const before = isNew ? HEADER : readFileSync(path, 'utf8')
  const wanted = { ...SECRETS, ...SETTINGS }
  const missing = Object.keys(wanted).filter(
    (name) => !new RegExp(`^\\s*(export\\s+)?${name}\\s*=\\s*\\S`, 'm').test(before),
  )
  if (missing.length > 0) {
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`
    const added = missing.map((name) => `${name}=${wanted[name]?.()}\n`).join('')
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, start + added, { mode: 0o600 })
    // Another server of this checkout may be starting for the first time too: both get the secrets of the first one.
    if (!isNew) renameSync(draft, path)
    else if (!linked(draft, path)) return ensureDevVars(path)
  }
  chmodSync(path, 0o600)
  return missing
}

/** Gives a draft its name, unless another file has it. @returns whether it has the name now */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(draft)
  }
}
