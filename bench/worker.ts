import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { ROOT } from '../scripts/lib/paths.ts'
import { COMPATIBILITY_DATE, STAND_IN_SECRETS } from '../scripts/lib/worker-bundle.ts'
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
  'LIMIT_CALLER_COSTLY',
  'LIMIT_USER_COSTLY',
  'LIMIT_REFRESH',
  'LIMIT_VENDOR',
]

/** Indexes that only a previous version uses. */
const FORMER_INDEXES = ['events_final']

/** A limiter that never refuses. */
export const wide = (namespace_id: string) => ({ namespace_id, simple: { limit: 1_000_000, period: 60 as const } })

/** What the Worker is given here beside its database, KV and Queue. */
export const PLATFORM = {
  ratelimits: Object.fromEntries(LIMITS.map((name, i) => [name, wide(String(i))])),
  bindings: STAND_IN_SECRETS,
}

type Different = {
  inspectorPort?: number
  handleStructuredLogs?: (line: { message: string }) => void
  d1Databases?: Record<string, string>
  queueProducers?: Record<string, string>
  queueConsumers?: Record<string, { maxBatchSize: number; maxBatchTimeout: number }>
}

/**
 * Starts the product's Worker, without the log lines of its requests.
 *
 * @param folder its databases are kept in
 * @param different what is not as usual, such as a further store
 */
export function openWorker(script: string, folder: string, different: Different = {}): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: () => {},
      resourcePersistencePath: folder,
      name: 'own',
      compatibilityDate: COMPATIBILITY_DATE,
      ...PLATFORM,
      modules: [{ type: 'ESModule', path: 'index.js', contents: script }],
      d1Databases: { DB: 'own' },
      kvNamespaces: ['KV'],
      queueProducers: { EVENTS: 'own' },
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      ...different,
    }),
  )
}

/** Applies the migrations, first one first. */
export async function migrate(db: Database): Promise<void> {
  const files = readdirSync(join(ROOT, 'drizzle')).filter((name) => name.endsWith('.sql'))
  for (const file of files.sort()) {
    const statements = readFileSync(join(ROOT, 'drizzle', file), 'utf8').split('--> statement-breakpoint')
    await db.batch(statements.map((statement) => db.prepare(statement)))
  }
  // As the cron does in its first minute: src/inbox/fewer-rows.ts.
  await db.batch(FORMER_INDEXES.map((name) => db.prepare(`DROP INDEX IF EXISTS ${name}`)))
}

/** The objects that a Worker logs, one a line; what is no JSON is passed over. */
export function logLines<T>(message: string): T[] {
  return message.split('\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as T] : []))
}
