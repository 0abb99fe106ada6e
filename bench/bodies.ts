/*
 * npm run bench:bodies [-- --payloads N]: what a large payload costs its neighbours, once with the bodies in the table
 * that they had before (its key holds the whole row), and once in today's. Each has a local database of its own with N
 * payloads of 1 MiB, 200 by default, which takes that many MiB of temporary space. See bench/README.md.
 */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Miniflare } from 'miniflare'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { type Database, seed } from './seed.ts'
import { bundle, migrate, openWorker } from './worker.ts'

type Message = { id: string; timestamp: Date; attempts: number; body: Record<string, string> }
type Consumer = { queue: (queue: string, messages: Message[]) => Promise<{ outcome: string }> }
type Table = 'payloads' | 'bodies'
/** Milliseconds, by what was measured. */
type Times = Map<string, number>

const SECRET = 'whsec_of_the_bench'
const ROUNDS = 20
const SCOPES = ['billing', 'connections'].flatMap((of) => [`${of}:read`, `${of}:write`])

await run(async () => {
  const { values } = parseArgs({ options: { payloads: { type: 'string', default: '200' } } })
  console.log('Bundling …')
  const script = await bundle()
  const before = await measure(script, 'payloads', Number(values.payloads))
  const now = await measure(script, 'bodies', Number(values.payloads))
  const rows = [...now].map(([what, ms]) => {
    const was = before.get(what) ?? Number.NaN
    return [what, was.toFixed(1), ms.toFixed(1), `${(was / ms).toFixed(1)} ×`]
  })
  printTable([`among ${values.payloads} payloads of 1 MiB`, 'before, ms', 'now, ms', 'ratio'], rows)
})

async function measure(script: string, table: Table, payloads: number): Promise<Times> {
  console.log(`Measuring with ${table} …`)
  const folder = mkdtempSync(join(tmpdir(), 'bench-bodies-'))
  const miniflare = openWorker(script, folder)
  try {
    await miniflare.ready
    const db = (await miniflare.getD1Database('DB', 'own')) as unknown as Database
    const url = (await miniflare.unsafeGetDirectURL('own')).origin
    const headers = await prepare(db, table, payloads)
    return await timesOf({ miniflare, db, url, headers, table })
  } finally {
    await miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Fills the database, and puts the bodies into one of the two tables. @returns the headers of a caller */
async function prepare(db: Database, table: Table, payloads: number): Promise<Record<string, string>> {
  await migrate(db)
  const { project, secret } = await seed(db, Math.ceil(payloads / 0.9), Date.now())
  await db.prepare('UPDATE api_keys SET scopes = ?').bind(JSON.stringify(SCOPES)).run()
  await db
    .prepare("UPDATE events SET status = 'ignored', due_at = NULL, lease_token = NULL, lease_until = NULL, tries = 0")
    .run()
  await db.prepare('DELETE FROM packed_bodies').run()
  // A few at a time: the process holds what a transaction writes.
  const chunk = `INSERT INTO ${table} (project_id, id, body) SELECT project_id, payload_id, hex(zeroblob(524288)) FROM events
    WHERE project_id = ? ORDER BY payload_id LIMIT 10 OFFSET ?`
  for (let from = 0; from < payloads; from += 10) await db.prepare(chunk).bind(project, from).run()
  if (table === 'payloads') {
    // As in the hour of the deploy: what is recorded goes into both tables, and nothing is moved.
    await db.prepare("INSERT INTO state VALUES ('payloads_move_from', 9e15)").run()
  }
  return { Authorization: `Bearer ${secret}`, 'X-Project-Id': project, 'Content-Type': 'application/json' }
}

type Opened = { miniflare: Miniflare; db: Database; url: string; headers: Record<string, string>; table: Table }

async function timesOf({ miniflare, db, url, headers, table }: Opened): Promise<Times> {
  const times: Times = new Map()
  const post = async (path: string, body: string, more: Record<string, string> = headers) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers: more, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return JSON.parse(text) as Record<string, string> & { event_ids: string[] }
  }
  const timed = async (what: string, work: () => Promise<unknown>, rounds = 1) => {
    const all: number[] = []
    for (let round = 0; round < rounds; round++) {
      const began = performance.now()
      await work()
      all.push(performance.now() - began)
    }
    times.set(what, all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN)
  }
  const connection = JSON.stringify({ vendor: 'stripe', name: 'Bench', livemode: true, signing_secret: SECRET })
  const { id } = await post('/platform/v1/billing/connections', connection)
  const events: string[] = []
  const deliver = async () => {
    const body = JSON.stringify({ id: `evt_new${events.length}`, object: 'event', created: 1, type: 'x.y', data: {} })
    const at = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex')
    const { event_ids } = await post(`/ingest/${id}`, body, { 'Stripe-Signature': `t=${at},v1=${signature}` })
    events.push(...event_ids)
  }
  const keys = 'SELECT project_id, payload_id FROM events WHERE project_id = ?1 ORDER BY vendor_event_id LIMIT 1000'
  const lookUps = `SELECT count(*) AS n FROM (${keys}) e WHERE EXISTS
    (SELECT 1 FROM ${table} t WHERE t.project_id = e.project_id AND t.id = e.payload_id)`
  await timed('look-ups of all payloads, D1 alone', () => db.prepare(lookUps).bind(headers['X-Project-Id']).run(), 3)
  await deliver()
  await timed('a small delivery', deliver, ROUNDS)
  for (let n = events.length; n < 100; n++) await deliver()
  const worker = (await miniflare.getWorker('own')) as unknown as Consumer
  const project_id = headers['X-Project-Id'] ?? ''
  const messages = events.map((event_id, n) => ({
    id: `${n}`,
    timestamp: new Date(),
    attempts: 1,
    body: { project_id, event_id },
  }))
  await timed('100 small events processed', () => worker.queue('own', messages.slice(0, 100)))
  const filter = JSON.stringify({ filter: { status: ['ignored'] } })
  await timed('bulk replay of all, dry run', () => post('/platform/v1/billing/webhooks/replay?dry_run=true', filter), 3)
  await timed('bulk replay of all', () => post('/platform/v1/billing/webhooks/replay', filter))
  return times
}
