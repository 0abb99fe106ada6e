import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { wranglerOrThrow } from './wrangler.ts'

export const COMPATIBILITY_DATE =
  /^compatibility_date = "(.+)"$/m.exec(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8'))?.[1] ?? ''

/** Secrets for a Worker that serves nobody. */
export const STAND_IN_SECRETS = {
  CODE_PEPPER: 'p'.repeat(32),
  ENCRYPTION_KEY_1: Buffer.alloc(32, 'k').toString('base64'),
}

/** A Worker as it is deployed, as one module: the product's own, or what `args` name. */
export async function bundle(args: readonly string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  try {
    await wranglerOrThrow(['deploy', ...args, '--dry-run', '--outdir', folder])
    const file = readdirSync(folder).find((name) => name.endsWith('.js'))
    return readFileSync(join(folder, file ?? 'index.js'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
