/*
 * npm run bench:catalog [-- --plans N]: what a project with the largest catalog costs the others in its isolate. It has 200 features, N
 * plans whose configs are as long as a body allows, and 1,000 consumers with a grant each. See bench/README.md.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { openHeap } from './heap.ts'
import { type Database, seedAccess } from './seed.ts'
import { insertConsumers } from './seed-consumers.ts'
import { bundle, COMPATIBILITY_DATE, migrate, PLATFORM } from './worker.ts'

type Caller = { url: string; headers: Record<string, string> }
type Ask = { method?: string; path: string; json?: object }

const FEATURES = 200
/** 16 of them take 1 MiB, which is all that a project can have; 100 were possible before there was this limit. */
const PLANS = Number(parseArgs({ options: { plans: { type: 'string', default: '100' } } }).values.plans)
const CONSUMERS = 1_000
/** How long the neighbour asks beside each kind of call (ms). */
const BESIDE_MS = 5_000
const SCOPES = ['catalog:read', 'entitlements:read']
const PLAN = `pln_${'0'.repeat(25)}1`
const GREEDY = `csm_${'0'.repeat(25)}1`

/** Every third feature is a config. */
const CATALOG = [
  `INSERT INTO features (project_id, key, name, type, combine, created_at)
   WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${FEATURES})
   SELECT ?1, 'f' || v, 'A feature', iif(v % 3 = 0, 'config', 'boolean'), NULL, 0 FROM n`,
  // 30 configs of 2 KB and 70 booleans: a body of 64 KB takes no more.
  `INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
   WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${PLANS})
   SELECT ?1, printf('pln_%026d', v), 'p' || v, 'A plan', v, 'active', (SELECT json_group_object(key, json_object('value',
     iif(type = 'config', json_quote(v || hex(zeroblob(1010))), json('true')), 'per_seat', json('false'))) FROM (SELECT * FROM (
       SELECT key, type FROM features WHERE project_id = ?1 AND type = 'config' LIMIT 30) UNION ALL SELECT * FROM (
       SELECT key, type FROM features WHERE project_id = ?1 AND type = 'boolean' LIMIT 70))), 1, 0 FROM n`,
  `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
   WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${CONSUMERS})
   SELECT ?1, printf('csm_%026d', v), '{}', 'active', 1, 0, 0 FROM n`,
  `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
   SELECT ?1, id, 'grt_' || substr(id, 5), '${PLAN}', 'allow', 'usr_bench' FROM consumers WHERE project_id = ?1`,
  // The first consumer is granted every plan.
  `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
   SELECT ?1, '${GREEDY}', 'grt_9' || substr(id, 6), id, 'allow', 'usr_bench' FROM plans WHERE project_id = ?1 AND id <> '${PLAN}'`,
]

const CHECK: Ask = {
  method: 'POST',
  path: '/platform/v1/billing/entitlements/check',
  json: { consumers: ['ext:u2'], features: ['seats'] },
}
const preview = { method: 'POST', path: `/platform/v1/billing/plans/${PLAN}/preview`, json: { features: {} } }
const ATTACKS: [what: string, at_once: number, ask: Ask][] = [
  ['a preview', 4, preview],
  ['a page of plans', 8, { path: '/platform/v1/billing/plans?limit=100' }],
  ['an explanation', 8, { path: `/platform/v1/consumers/${GREEDY}/entitlements?explain=true` }],
  ['the entitlements of a consumer', 8, { path: `/platform/v1/consumers/${GREEDY}/entitlements` }],
]

await run(async () => {
  console.log('Bundling …')
  const folder = mkdtempSync(join(tmpdir(), 'bench-catalog-'))
  const miniflare = open(await bundle(), folder)
  try {
    await miniflare.ready
    const url = (await miniflare.unsafeGetDirectURL('own')).origin
    const db = (await miniflare.getD1Database('DB', 'own')) as unknown as Database
    const { attacker, neighbour } = await prepare(db, url)
    const heap = await openHeap(miniflare)
    const rows: string[][] = []
    for (const [what, atOnce, ask] of ATTACKS) {
      const { bytes, status } = await send(attacker, ask)
      const cpu = await medianOf(5, () => cpuOf(() => send(attacker, ask)))
      const [beside, peak] = await heap.withPeak(() => waitsBeside(neighbour, attacker, ask, atOnce))
      const cells = [kib(bytes), `${cpu} ms`, `${atOnce}`, `${beside.longest} ms`, `${beside.answers}`, mib(peak)]
      rows.push([what, `${status}`, ...cells])
    }
    const alone = await waitsBeside(neighbour, neighbour, CHECK, 0)
    await heap.close()
    printTable(['', 'status', 'bytes', 'CPU', 'at once', "neighbour's longest wait", 'answered', 'heap, peak'], rows)
    console.log(`The neighbour alone waits ${alone.longest} ms at most.`)
  } finally {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
})

function open(script: string, folder: string): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      log: new Log(LogLevel.ERROR),
      inspectorPort: 0,
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
    }),
  )
}

async function prepare(db: Database, url: string) {
  await migrate(db)
  const attacker = await seedAccess(db, Date.now(), 'b1g')
  const neighbour = await seedAccess(db, Date.now() + 1, 'sma11')
  await db.prepare('UPDATE api_keys SET scopes = ?').bind(JSON.stringify(SCOPES)).run()
  for (const rows of CATALOG) await db.prepare(rows).bind(attacker.project).run()
  await insertConsumers(db, neighbour.project, 10)
  const callerOf = ({ project, secret }: typeof attacker): Caller => ({
    url,
    headers: { Authorization: `Bearer ${secret}`, 'X-Project-Id': project, 'Content-Type': 'application/json' },
  })
  return { attacker: callerOf(attacker), neighbour: callerOf(neighbour) }
}

async function send({ url, headers }: Caller, { method = 'GET', path, json }: Ask) {
  const response = await fetch(url + path, { method, headers, ...(json && { body: JSON.stringify(json) }) })
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
}

/** The longest wait of a neighbour who asks all the time, while so many calls of an attack are always under way. */
async function waitsBeside(neighbour: Caller, attacker: Caller, ask: Ask, atOnce: number) {
  const until = performance.now() + BESIDE_MS
  let answers = 0
  const attack = async () => {
    while (performance.now() < until) {
      await send(attacker, ask)
      answers += 1
    }
  }
  const attacks = Promise.all(Array.from({ length: atOnce }, attack))
  let longest = 0
  while (performance.now() < until) {
    const began = performance.now()
    const { status } = await send(neighbour, CHECK)
    if (status !== 200) throw new Error(`the neighbour got ${status}`)
    longest = Math.max(longest, performance.now() - began)
  }
  await attacks
  return { longest: Math.round(longest), answers }
}

async function medianOf(times: number, measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await measure())
  return all.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN
}

/** CPU time of this program's workerd for some work (ms): Worker and database together. 0 where no /proc tells. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = ticks()
  await work()
  return 10 * (ticks() - before)
}

function ticks(): number {
  try {
    const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [statOf(name)] : []))
    const own = stats.filter(([, of, parent]) => of?.startsWith('workerd') && parent === String(process.pid))
    return own.reduce((sum, [n]) => sum + Number(n), 0)
  } catch {
    return 0
  }
}

/** CPU so far, name and parent of a process. */
function statOf(id: string): [string, string, string] {
  try {
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    return [String(Number(fields[11]) + Number(fields[12])), name, fields[1] ?? '']
  } catch {
    return ['0', '', ''] // it has ended meanwhile
  }
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`
}

function mib(bytes: number): string {
  return `${(bytes / 1048576).toFixed(0)} MiB`
}
