import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from './migrations.ts'
import { ROOT } from './paths.ts'
import { wranglerOrThrow } from './wrangler.ts'

const SETTINGS = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')

export const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(SETTINGS)?.[1] ?? ''

/** The bindings of the rate limiters. */
export const LIMITS = [...SETTINGS.matchAll(/^name = "(LIMIT_\w+)"$/gm)].map(([, name = '']) => name)

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

/** Indexes that only a previous version uses. */
const FORMER_INDEXES = ['events_final']

/** Applies the migrations, first one first. */
export async function migrate<S>(db: {
  prepare(query: string): S
  batch(statements: S[]): Promise<unknown>
}): Promise<void> {
  for (const { statements } of migrations()) {
    await db.batch(statements.map((statement) => db.prepare(statement)))
  }
  // As the cron does in its first minute: src/inbox/fewer-rows.ts.
  await db.batch(FORMER_INDEXES.map((name) => db.prepare(`DROP INDEX IF EXISTS ${name}`)))
}
