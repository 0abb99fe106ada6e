import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { COMPATIBILITY_DATE, LIMITS, STAND_IN_SECRETS } from '../scripts/lib/worker-bundle.ts'

export { bundle, COMPATIBILITY_DATE, migrate } from '../scripts/lib/worker-bundle.ts'

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

/** The objects that a Worker logs, one a line; what is no JSON is passed over. */
export function logLines<T>(message: string): T[] {
  return message.split('\n').flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as T] : []))
}
