/*
 * npm run bench:cost: what a million authenticated requests and a million events cost on Cloudflare's price list. What
 * the running Worker asks of D1, KV and the Queue is counted around it, in D1's own words where they are rows; nothing is
 * taken from the design. `-- --pages` prints the bytes of pages alone.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { printTable, run, sleep } from '../scripts/lib/terminal.ts'
import { COUNTING } from './counting.ts'
import { type Recipe, sendOne } from './load.ts'
import { OBJECTS } from './objects.ts'
import { bytesByClass, makeOlder, printPages } from './pages.ts'
import { type Counted, PLAN, PRICES, READ_ON, STORAGE } from './prices.ts'
import { type Database, seed, seedAccess } from './seed.ts'
import { bundle, COMPATIBILITY_DATE, logLines, migrate, PLATFORM } from './worker.ts'

type Line = { event: string; messages?: number }
type Units = Record<Counted, number>
/** `open`: work that has outlived its answer and is not done; `sql_ms`: time that D1 spent on statements. */
type Counts = Units & { open: number; sql_ms: number }
/** `sql`: milliseconds of D1's time. */
type Cost = { units: Units; sql: number }
type Worker = Awaited<ReturnType<typeof open>>

const REQUESTS = 2000
const EVENTS = 2000
/** Events after which the pages of the database are counted. */
const PAGE_EVENTS = 20_000
/** Bytes of a recorded event, on average. */
const RECORDED_BYTES = 3500
const SIDE_BY_SIDE = 8
/** One key that asks this often a minute is the busy one; last_used_at is written once a minute a key. */
const BUSY = 600
const SECRET = 'whsec_bench_of_costs_0123456789'
const MONTHS_KEPT = 3
/** The shortest setting. */
const ARCHIVE_AFTER_DAYS = 30

await run(async () => {
  if (process.argv.includes('--pages')) return measurePages()
  const folder = mkdtempSync(join(tmpdir(), 'cost-'))
  const worker = await open(await bundle(), folder)
  try {
    const { recipe, ingest, db, once } = await prepare(worker)
    const get = (path: string) => countOf(worker, REQUESTS, () => sendOne(recipe(path)))
    print('A million requests, authentication alone', await get('/platform/v1/projects?cursor=none'))
    print('A million requests for the key itself', await get('/platform/v1/api-keys/self'))
    print('A million requests for the list of keys', await get('/platform/v1/api-keys'))
    const per = Object.fromEntries(Object.entries({ ...zero(), ...once }).map(([name, n]) => [name, n / BUSY])) as Units
    print(`Besides, last_used_at: once a minute a key, here of one that asks ${BUSY} times a minute`, {
      units: per,
      sql: 0,
    })
    for (const kind of Object.keys(OBJECTS) as (keyof typeof OBJECTS)[]) {
      for (const [objects, what] of [
        [undefined, 'each of a new object'],
        [200, 'each a change of a known object'],
      ] as const) {
        const send = () => sendOne({ ...ingest, kind, ...(objects && { objects }) })
        if (objects) await countOf(worker, objects, send, objects) // each of them is new once
        const before = await sizeOf(db)
        const cost = await countOf(worker, EVENTS, send, EVENTS)
        const bytes = ((await sizeOf(db)) - before) / EVENTS
        print(`A million events of 4 KB received and processed: ${kind}, ${what}`, cost)
        const months = ((bytes * 1e6) / 1e9) * MONTHS_KEPT
        console.log(
          `stored: ${Math.round(bytes)} bytes each; a million for ${MONTHS_KEPT} months: ${months.toFixed(1)} GB-months, $ ${(months * STORAGE.each).toFixed(2)}`,
        )
      }
      const [fields, row] = await objectBytes(db, kind)
      console.log(`of that, the object's row: ${row} bytes once it has changed, of which its fields take ${fields}`)
    }
    printPrices()
  } finally {
    await worker.miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
  await measurePages()
})

/** Events of every kind in a database of their own: one in four makes a new object. */
async function measurePages(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  const worker = await open(await bundle(), folder)
  try {
    const { ingest } = await prepare(worker, 0)
    const kinds = Object.keys(OBJECTS) as (keyof typeof OBJECTS)[]
    const each = PAGE_EVENTS / kinds.length
    for (const kind of kinds) {
      await countOf(worker, each, () => sendOne({ ...ingest, kind, objects: each / 4, bytes: RECORDED_BYTES }), each)
    }
    await worker.miniflare.dispose()
    const bytes = bytesByClass(folder)
    printPages(bytes, PAGE_EVENTS)
    makeOlder(folder)
    await archiveAll(folder)
    printPages({ ...bytes, archive: bytesByClass(folder).archive }, PAGE_EVENTS, ARCHIVE_AFTER_DAYS)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets the cron archive all events that it may. */
async function archiveAll(folder: string): Promise<void> {
  const { miniflare } = await open(await bundle(), folder, { ARCHIVE_AFTER_DAYS: String(ARCHIVE_AFTER_DAYS) })
  const db = (await miniflare.getD1Database('DB')) as unknown as Database
  const worker = await miniflare.getWorker()
  for (let left = -1; left !== 0; ) {
    const before = left
    await worker.scheduled({ cron: '* * * * *' })
    const { results } = await db
      .prepare("SELECT count(*) AS n FROM events WHERE status <> 'failed'")
      .all<{ n: number }>()
    left = results[0]?.n ?? 0
    if (left === before) throw new Error(`the cron left ${left} events`)
  }
  await miniflare.dispose()
}

function zero(): Units {
  return Object.fromEntries(Object.keys(PRICES).map((name) => [name, 0])) as Units
}

async function open(script: string, folder: string, settings: Record<string, string> = {}) {
  const lines: Line[] = []
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'cost',
      modules: [
        { type: 'ESModule', path: 'entry.js', contents: COUNTING },
        { type: 'ESModule', path: 'index.js', contents: script },
      ],
      compatibilityDate: COMPATIBILITY_DATE,
      cf: false,
      log: new Log(LogLevel.ERROR),
      resourcePersistencePath: folder,
      d1Databases: { DB: 'cost' },
      kvNamespaces: ['KV'],
      queueProducers: { EVENTS: 'cost' },
      queueConsumers: { cost: { maxBatchSize: 100, maxBatchTimeout: 1 } },
      ...PLATFORM,
      bindings: { ...PLATFORM.bindings, ...settings },
      handleStructuredLogs: ({ message }) => void lines.push(...logLines<Line>(message)),
    }),
  )
  const url = (await miniflare.ready).origin
  return { miniflare, lines, url }
}

/** @param events how many events the database has before; with 0, it has nothing but a project and a key */
async function prepare(worker: Worker, events = 20_000) {
  const { miniflare, url } = worker
  const db = (await miniflare.getD1Database('DB')) as unknown as Database
  await migrate(db)
  const { project, secret } = events === 0 ? await seedAccess(db, Date.now()) : await seed(db, events, Date.now())
  const scopes = JSON.stringify(['projects:read', 'api_keys:read', 'billing:read', 'connections:write'])
  await db.prepare('UPDATE api_keys SET scopes = ? WHERE project_id = ?').bind(scopes, project).run()
  const headers = { Authorization: `Bearer ${secret}`, 'X-Project-Id': project }
  // The first request of a key writes, and what it writes is last_used_at alone.
  const before = await countsOf(worker)
  await fetch(`${url}/platform/v1/projects?cursor=none`, { headers })
  const after = await countsOf(worker)
  const once = {
    kv_reads: after.kv_reads - before.kv_reads,
    kv_writes: after.kv_writes - before.kv_writes,
    rows_written: after.rows_written - before.rows_written,
  }
  const response = await fetch(`${url}/platform/v1/billing/connections`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ vendor: 'stripe', name: 'Bench', livemode: true, signing_secret: SECRET }),
  })
  const connection = (await response.json()) as { id: string }
  const recipe = (path: string): Recipe => ({ url: url + path, method: 'GET', headers })
  const ingest: Recipe = { url: `${url}/ingest/${connection.id}`, method: 'POST', headers: {}, stripe: SECRET }
  return { recipe, ingest, db, once }
}

/** What `times` pieces of work cost each, the Queue's part of it included. */
async function countOf(worker: Worker, times: number, work: () => Promise<string | null>, events = 0): Promise<Cost> {
  const before = await countsOf(worker)
  const cpuBefore = cpuOf()
  worker.lines.length = 0
  let left = times
  const loop = async () => {
    while (left-- > 0) {
      const failed = await work()
      if (failed !== null) throw new Error(failed)
    }
  }
  await Promise.all(Array.from({ length: Math.min(times, SIDE_BY_SIDE) }, loop))
  const handled = () => worker.lines.reduce((sum, { messages }) => sum + (messages ?? 0), 0)
  const seen = () => worker.lines.filter(({ event }) => event === 'request').length >= times && handled() >= events
  for (const until = Date.now() + 120_000; !seen(); await sleep(50)) {
    if (Date.now() > until) throw new Error(`the Worker's lines did not come: ${handled()} of ${events} events`)
  }
  const after = await countsOf(worker)
  const cpu_ms = cpuOf() - cpuBefore
  const total: Units = {
    requests: after.requests - before.requests,
    kv_reads: after.kv_reads - before.kv_reads,
    kv_writes: after.kv_writes - before.kv_writes,
    queue_operations: after.queue_operations - before.queue_operations,
    rows_read: after.rows_read - before.rows_read,
    rows_written: after.rows_written - before.rows_written,
    cpu_ms,
  }
  const sql = (after.sql_ms - before.sql_ms) / times
  return { sql, units: Object.fromEntries(Object.entries(total).map(([name, n]) => [name, n / times])) as Units }
}

/** What has been counted so far, once nothing is under way any more. */
async function countsOf({ url }: Worker): Promise<Counts> {
  for (;;) {
    const counts = (await (await fetch(`${url}/counts`)).json()) as Counts
    if (counts.open === 0) return counts
    await sleep(20)
  }
}

async function sizeOf(db: Database): Promise<number> {
  const { meta } = await db.prepare('UPDATE api_keys SET last_used_at = last_used_at').run()
  return meta.size_after ?? 0
}

/** Bytes of the fields of an average object that has changed, and of its row with the events that decide its state. */
async function objectBytes(db: Database, kind: string): Promise<[number, number]> {
  const { results } = await db
    .prepare(
      `SELECT round(avg(octet_length(candidates->'$[0].body'))) AS fields, round(avg(octet_length(candidates))) AS row
       FROM billing_objects WHERE kind = ? AND vendor_id LIKE '%bench%'`,
    )
    .bind(kind)
    .all<{ fields: number; row: number }>()
  const [found] = results
  return [found?.fields ?? 0, found?.row ?? 0]
}

/** CPU time of this program's workerd so far, in ms: Worker, database and Queue together. 0 where no /proc tells. */
function cpuOf(): number {
  const ticks = children().map((stat) => Number(stat[11]) + Number(stat[12]))
  return 10 * ticks.reduce((sum, n) => sum + n, 0)
}

function children(): string[][] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
          const rest = text.slice(text.lastIndexOf(')') + 2).split(' ')
          return text.includes('(workerd)') && rest[1] === String(process.pid) ? [rest] : []
        } catch {
          return [] // it has ended meanwhile
        }
      })
  } catch {
    return []
  }
}

function print(title: string, { units, sql }: Cost): void {
  const names = (Object.keys(PRICES) as Counted[]).filter((name) => units[name] > 0)
  const price = (name: Counted) => units[name] * PRICES[name].per_million
  console.log(`\n${title}`)
  printTable(
    ['', 'each', '$ a million'],
    [
      ...names.map((name) => [PRICES[name].what, units[name].toFixed(3), price(name).toFixed(3)]),
      ...(sql > 0 ? [["D1's own time, ms (no price)", sql.toFixed(3), '']] : []),
      ['together', '', names.reduce((sum, name) => sum + price(name), 0).toFixed(2)],
    ],
  )
}

function printPrices(): void {
  console.log(`\nPrices of ${PLAN.name} ($ ${PLAN.monthly} a month), read on ${READ_ON}, beyond what it includes:`)
  printTable(
    ['', '$', 'for', 'included', 'source'],
    [
      ...Object.values(PRICES).map((one) => [one.what, String(one.per_million), 'a million', one.included, one.source]),
      [STORAGE.what, String(STORAGE.each), 'one', STORAGE.included, STORAGE.source],
    ],
  )
  console.log(
    "\nCPU is measured over the whole local workerd, its database included: more than is billed. The rate limiter is free. Allowances of the plan are not deducted. The cron's 43,200 runs a month cost $ 0.01.",
  )
}
