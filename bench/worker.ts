import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../scripts/lib/paths.ts'
import { wranglerOrThrow } from '../scripts/lib/wrangler.ts'
import type { Database } from './seed.ts'

export const COMPATIBILITY_DATE =
  /^compatibility_date = "(.+)"$/m.exec(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8'))?.[1] ?? ''
const LIMITS = ['LIMIT_CREDENTIAL', 'LIMIT_AUTH_FAILURE', 'LIMIT_SIGN_IN', 'LIMIT_INGEST', 'LIMIT_UNKNOWN_CONNECTION']

/** A limiter that never refuses. */
export const wide = (namespace_id: string) => ({ namespace_id, simple: { limit: 1_000_000, period: 60 as const } })

/** What the Worker is given here beside its database, KV and Queue. */
export const PLATFORM = {
  ratelimits: Object.fromEntries(LIMITS.map((name, i) => [name, wide(String(i))])),
  bindings: { CODE_PEPPER: 'p'.repeat(32), ENCRYPTION_KEY_1: Buffer.alloc(32, 'k').toString('base64') },
}

/** A Worker as it is deployed, as one module: the product's own, or what `args` name. */
export async function bundle(args: readonly string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bundle-'))
  try {
    await wranglerOrThrow(['deploy', ...args, '--dry-run', '--outdir', folder])
    const file = readdirSync(folder).find((name) => name.endsWith('.js'))
    return readFileSync(join(folder, file ?? 'index.js'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Applies the migrations, first one first. */
export async function migrate(db: Database): Promise<void> {
  const files = readdirSync(join(ROOT, 'drizzle')).filter((name) => name.endsWith('.sql'))
  for (const file of files.sort()) {
    const statements = readFileSync(join(ROOT, 'drizzle', file), 'utf8').split('--> statement-breakpoint')
    await db.batch(statements.map((statement) => db.prepare(statement)))
  }
}

/** The objects that a Worker logs, one a line; what is no JSON is passed over. */
export function logLines<T>(message: string): T[] {
  return message.split('\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as T] : []))
}
