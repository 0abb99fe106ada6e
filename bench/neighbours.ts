/*
 * npm run bench:neighbours [-- --plans N --only TEXT]: what one project costs the others, in its store and in another one, with calls that
 * it repeats without a pause and without limits of requests, with 20 clients that do not read their answers, and with bulk
 * replays; `only` those whose names contain the text. It has 200 features, N plans whose configs are as long as a body allows, and 1,000 consumers with a grant each. See
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { cpuOf } from './cpu.ts'
import { openHeap } from './heap.ts'
import { deliverEvents, eventsBeside, type Party } from './replays.ts'
import { type Database, seedAccess } from './seed.ts'
import { insertConsumers } from './seed-consumers.ts'
import { openUnread } from './unread.ts'
import { bundle, migrate, openWorker } from './worker.ts'

type Neighbours = Record<'same' | 'other', Party>
type Ask = {
  method?: string
  path: string
  json?: object
  body?: () => object | undefined
  headers?: Record<string, string>
}

const FEATURES = 200
const { values: asks } = parseArgs({
  options: { plans: { type: 'string', default: '16' }, only: { type: 'string', default: '' } },
})
/** 16 of them take 1 MiB, which is all that a project can have. 100 show what this limit is for. */
const PLANS = Number(asks.plans)
const isAsked = (what: string) => what.includes(asks.only)
const CONSUMERS = 1_000
/** How long the neighbour asks beside each kind of call (ms). */
const BESIDE_MS = 5_000
const SCOPES = [
  ...['api_keys:read', 'catalog:read', 'catalog:write', 'entitlements:read', 'sso:write'],
  ...['billing:read', 'billing:write', 'connections:write'],
]
/** Clients that ask for something large and do not read it. */
const UNREAD = 20
/** As wrangler.toml has it. */
const BATCHES = { maxBatchSize: 100, maxBatchTimeout: 1 }
const PLAN = `pln_${'0'.repeat(25)}1`
const CONNECTION = `sso_${'0'.repeat(25)}1`
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
  // Its minter, whose role the scope sso:write needs, and a connection.
  `INSERT INTO users (id, email, created_at) SELECT 'usr_bench', 'bench@example.com', 0 WHERE ?1 <> ''`,
  `INSERT INTO members (project_id, user_id, role, created_at, source) VALUES (?1, 'usr_bench', 'owner', 0, 'creator')`,
  `INSERT INTO sso_connections (project_id, id, audience, name, issuer, client_id, auth_method, settings, state, revision, created_by, created_at)
   VALUES (?1, '${CONNECTION}', 'customers', 'Bench', 'https://bench.example.com', 'rp', 'none', json_object('scopes', json_array('openid'),
     'claims', json_object('email', 'email', 'name', 'name'), 'default_role', NULL, 'create_consumers', json('false'), 'redirect_uris',
     json_array(), 'surface_id', NULL), 'draft', 1, 'usr_bench', 0)`,
  // The first consumer is granted every plan.
  `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
   SELECT ?1, '${GREEDY}', 'grt_9' || substr(id, 6), id, 'allow', 'usr_bench' FROM plans WHERE project_id = ?1 AND id <> '${PLAN}'`,
]

const CHECK: Ask = {
  method: 'POST',
  path: '/platform/v1/billing/entitlements/check',
  json: { consumers: ['ext:u2'], features: ['seats'] },
}
const ALL = { consumers: Array.from({ length: 100 }, (_, i) => `csm_${String(i + 1).padStart(26, '0')}`) }
const asked = Array.from({ length: 20 }, (_, i) => `f${3 * (i + 1)}`)
/** Makes every body another one, so that each call changes something. */
let changes = 0
const uris = () => Array.from({ length: 20 }, (_, i) => `https://app.example.com/${i}/${changes++}`.padEnd(1_000, 'x'))
const preview = { method: 'POST', path: `/platform/v1/billing/plans/${PLAN}/preview`, json: { features: {} } }
const ATTACKS: [what: string, at_once: number, ask: Ask][] = [
  ['a preview', 4, preview],
  ['a page of plans', 8, { path: '/platform/v1/billing/plans?limit=100' }],
  ['an explanation', 8, { path: `/platform/v1/consumers/${GREEDY}/entitlements?explain=true` }],
  ['the entitlements of a consumer', 8, { path: `/platform/v1/consumers/${GREEDY}/entitlements` }],
  ['a check of 20 configs, 100 consumers', 8, { method: 'POST', path: CHECK.path, json: { ...ALL, features: asked } }],
  ['a list of keys', 32, { path: '/platform/v1/api-keys' }],
  [
    'a change of a plan',
    8,
    { method: 'PATCH', path: `/platform/v1/billing/plans/${PLAN}`, body: () => ({ name: `Plan ${changes++}` }) },
  ],
  [
    'a change of 20 redirect URIs',
    4,
    { method: 'PATCH', path: `/platform/v1/sso/connections/${CONNECTION}`, body: () => ({ redirect_uris: uris() }) },
  ],
  ['/openapi.json', 8, { path: '/openapi.json' }],
  ['/openapi.json, unchanged', 32, { path: '/openapi.json', headers: { 'If-None-Match': '"unknown"' } }],
  ['/healthz', 32, { path: '/healthz' }],
]

/** The largest answers that there are. */
const UNREAD_ANSWERS: [what: string, path: string][] = [
  ['a page of plans, not read', '/platform/v1/billing/plans?limit=100'],
  ['an explanation, not read', `/platform/v1/consumers/${GREEDY}/entitlements?explain=true`],
  ['a page of payloads, not read', '/platform/v1/billing/webhooks?limit=100&view=full'],
  ['/openapi.json, not read', '/openapi.json'],
]

await run(async () => {
  console.log('Bundling …')
  const folder = mkdtempSync(join(tmpdir(), 'bench-neighbours-'))
  const miniflare = openWorker(await bundle(), folder, {
    inspectorPort: 0,
    d1Databases: { DB: 'own', STORE_1: 'other' },
    queueProducers: { EVENTS: 'own', EVENTS_1: 'own-1' },
    queueConsumers: { own: BATCHES, 'own-1': BATCHES },
  })
  try {
    await miniflare.ready
    const url = (await miniflare.unsafeGetDirectURL('own')).origin
    const database = async (name: string) => (await miniflare.getD1Database(name, 'own')) as unknown as Database
    const { attacker, neighbours } = await prepare(await database('DB'), await database('STORE_1'), url)
    const heap = await openHeap(miniflare)
    const check = await medianOf(9, () => cpuOf(() => send(neighbours.same, CHECK)))
    const rows: string[][] = []
    for (const [what, atOnce, first] of ATTACKS.filter(([what]) => isAsked(what))) {
      const { bytes, etag } = await send(attacker, first)
      // Where the answer has an entity tag, the one that says "unchanged".
      const ask = first.headers && etag ? { ...first, headers: { 'If-None-Match': etag } } : first
      const cpu = await medianOf(5, () => cpuOf(() => send(attacker, ask)))
      const [beside, peak] = await heap.withPeak(() => waitsBeside(neighbours, attacker, ask, atOnce))
      const answers = `${beside.answers}`
      rows.push([what, beside.statuses, kib(bytes), `${cpu} ms`, `${atOnce}`, ...waitsOf(beside), answers, mib(peak)])
    }
    await deliverEvents(attacker)
    const replays = isAsked('bulk replays') && (await heap.withPeak(() => eventsBeside(attacker, neighbours)))
    for (const [what, path] of UNREAD_ANSWERS.filter(([what]) => isAsked(what))) {
      const [beside, peak] = await heap.withPeak(() => waitsBesideUnread(neighbours, attacker, path))
      rows.push([what, '', '', '', `${UNREAD}`, ...waitsOf(beside), '', mib(peak)])
    }
    const alone = await waitsBeside(neighbours, attacker, CHECK, 0)
    await heap.close()
    printTable(['', 'statuses', 'bytes', 'CPU', 'at once', 'same store', 'other store', 'answers', 'heap, peak'], rows)
    console.log(
      `Alone, the neighbours wait ${alone.same} and ${alone.other} ms at most. The CPU of a check: ${check} ms.`,
    )
    if (!replays) return
    const [events, held] = replays
    const [beside, before] = [events.beside, events.alone].map(({ same, other }) => `${same} and ${other} ms`)
    console.log(
      `Until their events are processed: ${beside} at most beside ${events.replays} bulk replays, ${before} alone. Heap, peak: ${mib(held)}.`,
    )
  } finally {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
})

async function prepare(db: Database, other: Database, url: string) {
  await migrate(db)
  await migrate(other)
  const attacker = await seedAccess(db, Date.now(), 'b1g')
  const same = await seedAccess(db, Date.now() + 1, 'sma11')
  for (const rows of CATALOG) await db.prepare(rows).bind(attacker.project).run()
  await insertConsumers(db, same.project, 10)
  // The number of a project's store is at the end of its id.
  const elsewhere = await seedAccess(other, Date.now() + 2, 'far')
  const far = { ...elsewhere, project: `${elsewhere.project}1` }
  await other.prepare('UPDATE projects SET id = ?').bind(far.project).run()
  await other.prepare('UPDATE api_keys SET project_id = ?').bind(far.project).run()
  await insertConsumers(other, far.project, 10)
  for (const one of [db, other]) await one.prepare('UPDATE api_keys SET scopes = ?').bind(JSON.stringify(SCOPES)).run()
  const partyOf = ({ project, secret }: typeof attacker, at: Database): Party => ({
    url,
    project,
    db: at,
    headers: { Authorization: `Bearer ${secret}`, 'X-Project-Id': project, 'Content-Type': 'application/json' },
  })
  const neighbours = { same: partyOf(same, db), other: partyOf(far, other) }
  return { attacker: partyOf(attacker, db), neighbours }
}

async function send({ url, headers }: Party, { method = 'GET', path, json, body = () => json, headers: more }: Ask) {
  const sent = body()
  const all = { ...headers, ...more }
  const response = await fetch(url + path, { method, headers: all, ...(sent && { body: JSON.stringify(sent) }) })
  const etag = response.headers.get('ETag')
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength, etag }
}

/** The longest waits (ms) of neighbours who ask all the time, while so many calls of an attack are always under way. */
async function waitsBeside(neighbours: Neighbours, attacker: Party, ask: Ask, atOnce: number) {
  const until = performance.now() + BESIDE_MS
  const statuses = new Map<number, number>()
  const attack = async () => {
    while (performance.now() < until) {
      const { status } = await send(attacker, ask)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const attacks = Promise.all(Array.from({ length: atOnce }, attack))
  const [same, other] = await Promise.all([
    longestWait(neighbours.same, until),
    longestWait(neighbours.other, until),
    attacks,
  ])
  const answers = [...statuses.values()].reduce((sum, n) => sum + n, 0)
  return { same, other, answers, statuses: [...statuses.keys()].sort().join(', ') }
}

/** The same beside clients that ask for something large and do not read it. */
async function waitsBesideUnread(neighbours: Neighbours, { url, headers }: Party, path: string) {
  const unread = await openUnread(url, path, headers, UNREAD)
  try {
    const until = performance.now() + BESIDE_MS
    const [same, other] = await Promise.all([longestWait(neighbours.same, until), longestWait(neighbours.other, until)])
    return { same, other }
  } finally {
    unread.close()
  }
}

function waitsOf({ same, other }: { same: number; other: number }): string[] {
  return [`${same} ms`, `${other} ms`]
}

async function longestWait(neighbour: Party, until: number): Promise<number> {
  let longest = 0
  while (performance.now() < until) {
    const began = performance.now()
    const { status } = await send(neighbour, CHECK)
    if (status !== 200) throw new Error(`a neighbour got ${status}`)
    longest = Math.max(longest, performance.now() - began)
  }
  return Math.round(longest)
}

async function medianOf(times: number, measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await measure())
  return all.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`
}

function mib(bytes: number): string {
  return `${(bytes / 1048576).toFixed(0)} MiB`
}
