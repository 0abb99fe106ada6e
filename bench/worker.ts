import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../scripts/lib/paths.ts'
import { STAND_IN_SECRETS } from '../scripts/lib/worker-bundle.ts'
import type { Database } from './seed.ts'

export { bundle, COMPATIBILITY_DATE } from '../scripts/lib/worker-bundle.ts'

const LIMITS = [
  'LIMIT_CREDENTIAL',
  'LIMIT_AUTH_FAILURE',
  'LIMIT_SIGN_IN',
  'LIMIT_INGEST',
  'LIMIT_UNKNOWN_CONNECTION',
  'LIMIT_PUBLIC',
  'LIMIT_PROJECT_READS',
  'LIMIT_PROJECT_WRITES',
  'LIMIT_PROJECT_COSTLY',
]

/** A limiter that never refuses. */
export const wide = (namespace_id: string) => ({ namespace_id, simple: { limit: 1_000_000, period: 60 as const } })

/** What the Worker is given here beside its database, KV and Queue. */
export const PLATFORM = {
  ratelimits: Object.fromEntries(LIMITS.map((name, i) => [name, wide(String(i))])),
  bindings: STAND_IN_SECRETS,
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
