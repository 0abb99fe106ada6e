/*
 * npm run bench:memory [-- --only TEXT]: how far memory rises while the consumer processes batches of the largest
 * deliveries, and while a page of them is read: the isolate's heap, and the whole local process, D1 included. Each case
 * has a process of its own. See bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { openHeap } from './heap.ts'
import { CASES, type Case } from './large.ts'
import { withPeak, workerdMemory } from './memory.ts'
import { type Database, seed } from './seed.ts'
import { bundle, logLines, migrate, openWorker } from './worker.ts'

type Line = { event: string; d1_trips: number; ms: number; error?: string }
type Message = { id: string; timestamp: Date; attempts: number; body: Record<string, string> }
/** The part of a Worker that a Queue calls. */
type Consumer = { queue: (queue: string, messages: Message[]) => Promise<{ outcome: string }> }
type Opened = Awaited<ReturnType<typeof open>>

const BATCH = 100
/** Pages that are read at once. */
const PAGES = 30
const MIB = 1024 * 1024
/** Time for a process to come to rest before it is measured (ms). */
const REST_MS = 1500
const SCOPES = ['billing', 'connections'].flatMap((of) => [`${of}:read`, `${of}:write`])

await run(async () => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  console.log('Bundling …')
  const script = await bundle()
  const rows: string[][] = []
  for (const one of CASES.filter(({ name }) => name.includes(values.only))) rows.push(...(await measure(script, one)))
  printTable(['', 'process, above idle', 'isolate, at most', 'D1 trips', 'ms', 'results'], rows)
})

async function measure(script: string, one: Case): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-memory-'))
  try {
    const before = await open(script, folder, false)
    const credentials = await prepare(before, one).finally(() => before.miniflare.dispose())
    // A new process: what receiving the deliveries took is not counted.
    const opened = await open(script, folder, true)
    try {
      return await consumed(opened, one, credentials)
    } finally {
      await opened.miniflare.dispose()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function open(script: string, folder: string, inspected: boolean) {
  const lines: Line[] = []
  const miniflare = openWorker(script, folder, {
    ...(inspected && { inspectorPort: 0 }),
    handleStructuredLogs: ({ message }) => void lines.push(...logLines<Line>(message)),
  })
  await miniflare.ready
  const url = (await miniflare.unsafeGetDirectURL('own')).origin
  const db = (await miniflare.getD1Database('DB', 'own')) as unknown as Database
  return { miniflare, url, db, lines }
}

/** Fills the database by way of the ingest address. @returns the headers of a caller */
async function prepare({ url, db }: Opened, { vendor, secret, deliveries }: Case): Promise<Record<string, string>> {
  await migrate(db)
  const seeded = await seed(db, 500, Date.now())
  await db.prepare('UPDATE api_keys SET scopes = ?').bind(JSON.stringify(SCOPES)).run()
  const headers = { Authorization: `Bearer ${seeded.secret}`, 'X-Project-Id': seeded.project }
  await db.prepare("UPDATE events SET status = 'ignored', due_at = NULL, lease_token = NULL, lease_until = NULL").run()
  const json = JSON.stringify({ vendor, name: 'Bench', livemode: true, signing_secret: secret })
  const { id } = (await must(`${url}/platform/v1/billing/connections`, json, {
    ...headers,
    'Content-Type': 'application/json',
  })) as { id: string }
  for (const { body, headers: signed } of deliveries()) await must(`${url}/ingest/${id}`, body, signed)
  return headers
}

async function must(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

async function consumed({ miniflare, url, db, lines }: Opened, { name }: Case, headers: Record<string, string>) {
  const { results } = await db
    .prepare("SELECT project_id, id AS event_id FROM events WHERE status = 'received' ORDER BY id")
    .all<Record<string, string>>()
  const worker = (await miniflare.getWorker('own')) as unknown as Consumer
  await worker.queue('own', []) // so that the isolate is there, and idle
  const heap = await openHeap(miniflare)
  const memory = workerdMemory()
  const measured = async (work: () => Promise<void>) => {
    lines.length = 0
    await new Promise((resolve) => setTimeout(resolve, REST_MS))
    const began = performance.now()
    const [{ peak }, heapPeak] = await heap.withPeak(() => withPeak(memory, work))
    const ms = Math.round(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 100)) // the last line of the log
    return { peak: mib(peak), heap: mib(heapPeak), ms: String(ms) }
  }
  const others = askOften(`${url}/errors`)
  const batches = await measured(async () => {
    for (let i = 0; i < results.length; i += BATCH) {
      const messages = results
        .slice(i, i + BATCH)
        .map((body, n) => ({ id: `${i + n}`, timestamp: new Date(), attempts: 1, body: { ...body } }))
      const { outcome } = await worker.queue('own', messages)
      if (outcome !== 'ok') throw new Error(`the consumer ended with ${outcome}`)
    }
  })
  const waited = await others()
  const done = lines.filter(({ event }) => event === 'batch')
  for (const { error } of done) if (error) console.log(`  ${name}: ${error}`)
  const { results: fates } = await db
    .prepare('SELECT status, count(*) AS n FROM events WHERE id IN (SELECT value FROM json_each(?)) GROUP BY 1')
    .bind(JSON.stringify(results.map(({ event_id }) => event_id)))
    .all<{ status: string; n: number }>()
  const page = await measured(async () => {
    const response = await fetch(`${url}/platform/v1/billing/webhooks?limit=100`, { headers })
    if (!response.ok) throw new Error(`the list answered ${response.status}`)
    await response.arrayBuffer()
  })
  const overlap = { pages: '', other: '' }
  const pages = await measured(async () => {
    const others = askOften(`${url}/errors`)
    overlap.pages = await statusesOfPages(url, headers)
    overlap.other = waits(await others())
  })
  const trips = done.map(({ d1_trips }) => d1_trips).join(' + ')
  const result = fates.map(({ status, n }) => `${n} ${status}`).join(', ')
  await heap.close()
  return [
    [name, batches.peak, batches.heap, trips, batches.ms, `${result}; ${waits(waited)}`],
    ['  … a page of them', page.peak, page.heap, '', page.ms, ''],
    [`  … ${PAGES} pages at once`, pages.peak, pages.heap, '', pages.ms, `${overlap.pages}; ${overlap.other}`],
  ]
}

/** Reads pages of events at once. @returns how many were answered with which status */
async function statusesOfPages(url: string, headers: Record<string, string>): Promise<string> {
  const statuses = await Promise.all(
    Array.from({ length: PAGES }, async () => {
      const response = await fetch(`${url}/platform/v1/billing/webhooks?limit=100`, { headers })
      await response.arrayBuffer()
      return response.status
    }),
  )
  return [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${all.length} × ${status}`).join(', ')
}

/** Sends a request repeatedly. @returns a function that stops this and returns how long the slowest answer took (ms) */
function askOften(url: string): () => Promise<number> {
  let going = true
  const slowest = (async () => {
    let most = 0
    while (going) {
      const began = performance.now()
      // An idle connection may be closed under a request: that one is asked again, and its time counts.
      while (!(await answered(url))) {}
      most = Math.max(most, performance.now() - began)
    }
    return most
  })()
  return () => {
    going = false
    return slowest
  }
}

async function answered(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer()
    return true
  } catch {
    return false
  }
}

function waits(ms: number): string {
  return `another request waits up to ${Math.round(ms)} ms`
}

function mib(bytes: number | null): string {
  return bytes === null ? '?' : `${Math.round(bytes / MIB)} MiB`
}
