/*
 * The product's Worker as a process that can be killed and started again on the same data. Its requests to hosts outside go to a receiver
 * on this machine: npm start cannot do that, because the product sends only to public addresses.
 */
import { readFileSync } from 'node:fs'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { rememberCode, SIGN_IN_LINK } from '../../../scripts/lib/server-log.ts'
import { QUEUES } from '../../../scripts/lib/stand-in.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'
import { COMPATIBILITY_DATE, LIMITS, migrate, STAND_IN_SECRETS } from '../../../scripts/lib/worker-bundle.ts'

const [folder = '', script = '', port = '', receiver = ''] = process.argv.slice(2)
/** How often the cron runs (ms): more often than where it is deployed, because the history is played fast. */
const CRON_EVERY = 5000

const consumer = { maxBatchSize: 100, maxBatchTimeout: 1 }
const ofEndpoints = { maxBatchSize: 1, maxBatchTimeout: 0 }
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }: { message: string }) => {
      const [, challenge, code] = SIGN_IN_LINK.exec(message) ?? []
      if (challenge && code) rememberCode(challenge, code)
      if (/"level":"error"/.test(message)) console.log(message)
    },
    resourcePersistencePath: folder,
    name: 'own',
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ type: 'ESModule', path: 'index.js', contents: readFileSync(script, 'utf8') }],
    d1Databases: { DB: 'own' },
    kvNamespaces: ['KV'],
    queueProducers: QUEUES,
    queueConsumers: Object.fromEntries(
      Object.entries(QUEUES).map(([binding, name]) => [name, binding.endsWith('DELIVERIES') ? ofEndpoints : consumer]),
    ),
    ratelimits: Object.fromEntries(
      LIMITS.map((name, i) => [name, { namespace_id: String(i), simple: { limit: 1_000_000, period: 60 as const } }]),
    ),
    bindings: { ...STAND_IN_SECRETS, SIGN_IN_DELIVERY: 'log', SIGN_UP: 'open' },
    outboundService: (async (request: Request) =>
      fetch(`http://127.0.0.1:${receiver}${new URL(request.url).pathname}`, {
        method: request.method,
        headers: Object.fromEntries(request.headers),
        body: await request.arrayBuffer(),
      })) as never,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: Number(port) }],
  }),
)
await miniflare.ready
const db = await miniflare.getD1Database('DB')
const { results } = await db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'projects'").all()
if (results.length === 0) await migrate(db as never)
console.log('Ready:')
const worker = await miniflare.getWorker()
for (;;) {
  await sleep(CRON_EVERY)
  await worker.scheduled({ cron: '* * * * *' })
}
