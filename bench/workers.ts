/* The product's Worker and those it is compared with, side by side in one workerd. */
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { idFloor } from '../src/lib/ids.ts'
import type { Recipe } from './load.ts'
import { nearModule } from './near.ts'
import { REPEATED } from './repeated.ts'
import { type Database, seed } from './seed.ts'
import { ASKED, insertConsumers } from './seed-consumers.ts'
import { bundle, COMPATIBILITY_DATE, logLines, migrate, PLATFORM, wide } from './worker.ts'

export type Cost = { d1_trips: number; d1_rows_read: number; d1_rows_written: number }
export type Line = Cost & { event: string; request_id?: string; messages?: number; status?: number }
export type Bench = Awaited<ReturnType<typeof openBench>>

const PEERS = ['floor', 'better-auth', 'handwritten'] as const
const NAMES = ['own', ...PEERS] as const
type Name = (typeof NAMES)[number]
export const SECRET = `whsec_${randomBytes(16).toString('hex')}`
/** Events that the product's database holds before anything is measured. */
const SEEDED = 20_000
/** Consumers that it holds. */
const CONSUMERS = 20_000
const KEYS = 20

/**
 * Bundles and starts everything, and fills the databases.
 *
 * @param limiter Miniflare's is a call that costs as much as a D1 read; Cloudflare's counts in the memory of the machine
 *   that runs the Worker. `near`: every limiter, the floor's too, answers in the isolate.
 * @param names what to start: the product, and what it is compared with
 */
export async function openBench(folder: string, limiter: 'simulated' | 'near', names: readonly Name[] = NAMES) {
  console.log('Bundling …')
  const own = await bundle()
  const config = join(import.meta.dirname, 'peers/wrangler.toml')
  const scripts = new Map<string, string>()
  const peers = PEERS.filter((name) => names.includes(name))
  for (const name of peers) {
    scripts.set(name, await bundle([join(import.meta.dirname, `peers/${name}.ts`), '--config', config]))
  }
  const lines: Line[] = []
  let listening = true
  const miniflare = startWorkers(folder, limiter, { own, peers, scripts }, (message) => {
    if (listening) lines.push(...logLines<Line>(message))
  })
  await miniflare.ready
  const urls = new Map<string, string>()
  for (const name of ['own', ...peers]) urls.set(name, (await miniflare.unsafeGetDirectURL(name)).origin)
  const at = (name: string) => urls.get(name) ?? ''
  const db = (await miniflare.getD1Database('DB', 'own')) as unknown as Database
  const seeded = await fill(db)
  const headers = { Authorization: `Bearer ${seeded.secret}`, 'X-Project-Id': seeded.project }
  const connection = await connect(at('own'), headers)
  let key = ''
  for (const name of peers) key = ((await post(`${at(name)}/setup`)) as { key?: string }).key ?? key
  return {
    miniflare,
    db,
    project: seeded.project,
    get: (name: string, path: string, extra: Record<string, string> = {}): Recipe => ({
      url: at(name) + path,
      method: 'GET',
      headers: name === 'own' ? headers : name === 'better-auth' ? { 'X-Api-Key': key } : extra,
    }),
    /** A check of consumers, by their numbers. */
    check: (consumers: readonly number[], extra: Record<string, string> = {}): Recipe => ({
      url: `${at('own')}/platform/v1/billing/entitlements/check`,
      method: 'POST',
      headers: { ...headers, ...extra },
      json: JSON.stringify({ consumers: consumers.map((v) => `ext:u${v}`), features: ASKED }),
    }),
    event: (name: string, path: string): Recipe => ({
      url: at(name) + path.replace('CONNECTION', connection),
      method: 'POST',
      headers: {},
      stripe: SECRET,
    }),
    /** What the Workers log while something is done, once it has all come. */
    async linesOf(work: () => Promise<unknown>, enough: (lines: Line[]) => boolean): Promise<Line[]> {
      listening = true
      lines.length = 0
      await work()
      for (const until = Date.now() + 5000; !enough(lines) && Date.now() < until; ) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      listening = false
      return [...lines]
    },
  }
}

/** Fills the product's database. */
async function fill(db: Database) {
  console.log(`Seeding ${SEEDED.toLocaleString('en')} events …`)
  await migrate(db)
  const now = Date.now()
  const seeded = await seed(db, SEEDED, now)
  await moreKeys(db, seeded.project, now)
  await insertConsumers(db, seeded.project, CONSUMERS)
  return seeded
}

type Scripts = { own: string; peers: readonly Name[]; scripts: ReadonlyMap<string, string> }

/** All Workers in one workerd, each with its own database. */
function startWorkers(
  folder: string,
  limiter: 'simulated' | 'near',
  { own, peers, scripts }: Scripts,
  onLog: (message: string) => void,
): Miniflare {
  const module = (contents: string) => [
    { type: 'ESModule' as const, path: 'entry.js', contents: nearModule(limiter === 'near' ? ['limiter'] : []) },
    { type: 'ESModule' as const, path: 'repeated.js', contents: REPEATED },
    { type: 'ESModule' as const, path: 'index.js', contents },
  ]
  const common = { compatibilityDate: COMPATIBILITY_DATE, unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] }
  return new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      resourcePersistencePath: folder,
      handleStructuredLogs: ({ message }) => onLog(message),
      workers: [
        {
          ...common,
          ...PLATFORM,
          name: 'own',
          modules: module(own),
          d1Databases: { DB: 'own' },
          kvNamespaces: ['KV'],
          queueProducers: { EVENTS: 'own' },
        },
        ...peers.map((name) => ({
          ...common,
          name,
          compatibilityFlags: ['nodejs_compat'],
          modules: module(scripts.get(name) ?? ''),
          d1Databases: { DB: name },
          ratelimits: { LIMIT: wide('9') },
          queueProducers: { EVENTS: name },
          bindings: { SECRET },
        })),
      ],
    }),
  )
}

/** A page of keys to list, and a key that may do what is measured. */
async function moreKeys(db: Database, project: string, now: number): Promise<void> {
  const scopes = ['projects', 'api_keys', 'billing', 'connections', 'entitlements'].flatMap((of) => [
    `${of}:read`,
    `${of}:write`,
  ])
  await db.prepare('UPDATE api_keys SET scopes = ? WHERE project_id = ?').bind(JSON.stringify(scopes), project).run()
  for (let i = 0; i < KEYS; i++) {
    const id = idFloor('key', now - 1000).slice(0, -4) + String(i).padStart(4, '0')
    const hash = createHash('sha256').update(id).digest('hex')
    await db
      .prepare(
        'INSERT INTO api_keys (id, project_id, name, key_prefix, hash, scopes, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .bind(id, project, `key ${i}`, 'svc_v1_0000…0000', hash, JSON.stringify(scopes), 'usr_bench', now)
      .run()
  }
}

async function connect(url: string, headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ vendor: 'stripe', name: 'Bench', livemode: true, signing_secret: SECRET })
  const made = await post(`${url}/platform/v1/billing/connections`, body, headers)
  return (made as { id: string }).id
}

async function post(url: string, body = '', headers: Record<string, string> = {}): Promise<unknown> {
  const type = { 'Content-Type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers: { ...type, ...headers }, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
