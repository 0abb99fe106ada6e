import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** A secret of a deployment: the name under which it is generated, and all names under which it may already exist. */
type Secret = { name: string; is: RegExp; make: () => string }

/**
 * The secrets of a deployment. An encryption key with any number will do. Somebody who has replaced the first key must not get
 * a new one with its number, because that could not decrypt what the old one has encrypted.
 */
export const SECRETS: readonly Secret[] = [
  { name: 'CODE_PEPPER', is: /^CODE_PEPPER$/, make: () => randomBytes(32).toString('hex') },
  { name: 'ENCRYPTION_KEY_1', is: /^ENCRYPTION_KEY_[1-9]\d{0,3}$/, make: () => randomBytes(32).toString('base64') },
]

const HEADER = `# Settings and secrets of the local server, generated on its first start. The signing secrets in .wrangler/state are
# encrypted with its ENCRYPTION_KEY, so delete this file and that folder together.
`
/** What a local server is given besides: anyone may sign in, codes are printed in the terminal, and /metrics has a token. */
const SETTINGS: readonly Secret[] = [
  { name: 'SIGN_UP', is: /^SIGN_UP$/, make: () => 'open' },
  { name: 'SIGN_IN_DELIVERY', is: /^SIGN_IN_DELIVERY$/, make: () => 'log' },
  { name: 'METRICS_TOKEN', is: /^METRICS_TOKEN$/, make: () => randomBytes(32).toString('hex') },
]

/** Adds missing settings and secrets to .dev.vars and keeps the existing ones. @returns the names that were added */
export function ensureDevVars(path = join(ROOT, '.dev.vars')): string[] {
  const isNew = !existsSync(path)
  const before = isNew ? HEADER : readFileSync(path, 'utf8')
  const set = [...before.matchAll(/^\s*(?:export\s+)?(\w+)\s*=\s*\S/gm)].map(([, name = '']) => name)
  const missing = [...SECRETS, ...SETTINGS].filter(({ is }) => !set.some((name) => is.test(name)))
  if (missing.length > 0) {
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`
    const added = missing.map(({ name, make }) => `${name}=${make()}\n`).join('')
    if (!putFile(path, start + added, { isNew })) return ensureDevVars(path)
  }
  chmodSync(path, 0o600)
  return missing.map(({ name }) => name)
}

/** Writes a file whole. @returns false if another process has made it meanwhile: two servers may start at once, and must have the same secrets */
function putFile(path: string, text: string, { isNew }: { isNew: boolean }): boolean {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    if (isNew) linkSync(draft, path)
    else renameSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
