import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** Secrets a deployment needs, and how one is made. */
export const SECRETS: Record<string, () => string> = {
  CODE_PEPPER: () => randomBytes(32).toString('hex'),
  ENCRYPTION_KEY_1: () => randomBytes(32).toString('base64'),
}

const HEADER = `# Secrets of the local server alone, made by npm start. Signing secrets of billing connections in .wrangler/state are
# encrypted under ENCRYPTION_KEY_1: delete one only together with the other.
`

/** Adds the secrets that .dev.vars lacks; what is there stays as it is. @returns the names that were added */
export function ensureDevVars(path = join(ROOT, '.dev.vars')): string[] {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : HEADER
  const missing = Object.keys(SECRETS).filter(
    (name) => !new RegExp(`^\\s*(export\\s+)?${name}\\s*=\\s*\\S`, 'm').test(before),
  )
  if (missing.length > 0) {
    const start = before === '' || before.endsWith('\n') ? before : `${before}\n`
    const added = missing.map((name) => `${name}=${SECRETS[name]?.()}\n`).join('')
    writeFileSync(path, start + added, { mode: 0o600 })
  }
  chmodSync(path, 0o600)
  return missing
}
