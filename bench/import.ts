/*
 * npm run bench:import: what an import of 10,000 objects costs: rows, bytes and D1's time for each, of the first import and of a second one. Then
 * how long refreshes take. The Worker is the deployed one; a stand-in on this machine answers for Stripe. npm run bench ends with it.
 */
import { readFlags } from '../scripts/lib/flags.ts'
import { openStandIn, type StandIn } from '../scripts/lib/stand-in.ts'
import { printTable, run, sleep } from '../scripts/lib/terminal.ts'
import { stripeObjects } from '../test/outside/accounts.ts'
import { logLines } from './worker.ts'

type Line = {
  event: string
  d1_trips: number
  d1_ms: number
  d1_rows_read: number
  d1_rows_written: number
  ms: number
}
type Import = { state: string; finished_at: string | null; kinds: Record<string, { seen: number; recorded: number }> }
type Call = Awaited<ReturnType<StandIn['newProject']>>['call']

/** Of each customer: itself, a subscription, an invoice and a payment method. */
const OF_CUSTOMER = 4
/** What an import was reckoned to cost before there was one, for each object. */
const RECKONED = { rows_written: 17, bytes: 11_000 }
/** Refreshes of which the time is measured, each of another customer, and how long the vendor takes for an answer (ms). */
const REFRESHES = 100
const VENDOR_MS = 150
/** The longest time for an import (ms). */
const WITHIN = 900_000

await run(async () => {
  const { values } = readFlags({
    usage: 'npm run bench:import [-- --objects N]',
    about: 'Measures what an import costs in D1: rows, bytes and milliseconds an object; and how long refreshes take.',
    flags: { objects: { type: 'string', takes: 'N', help: 'objects in the account', default: '10000' } },
  })
  const customers = Math.round(Number(values.objects) / OF_CUSTOMER)
  let lines: Line[] = []
  const standIn = await openStandIn((line) => {
    for (const one of logLines<Line>(line)) if (one.event === 'fetch_batch') lines.push(one)
  })
  try {
    const { call } = await standIn.newProject('Bench')
    const yesterday = Math.floor(Date.now() / 1000) - 86_400
    const connection = await standIn.connectStripe(call, stripeObjects(customers, yesterday))
    const rows: string[][] = []
    for (const name of ['first', 'second']) {
      lines = []
      const before = await bytesOf(standIn)
      const startedAt = Date.now()
      const done = await importAll(call, connection)
      if (done.state !== 'done') throw new Error(`the import ended as ${done.state}`)
      await sleep(1000) // the log of the last page
      rows.push(rowOf(name, done, { lines, bytes: (await bytesOf(standIn)) - before, ms: Date.now() - startedAt }))
    }
    const { rows_written, bytes } = RECKONED
    rows.push(['reckoned', '', '', '', String(rows_written), '', String(bytes), '', '', '', ''])
    printTable(
      [
        'import',
        'objects',
        'new',
        'pages',
        'rows written each',
        'rows read each',
        'bytes each',
        'D1 ms each',
        'trips',
        'own work, s',
        'in all, s',
      ],
      rows,
    )
    standIn.answerAfter(VENDOR_MS)
    const times = await refreshAll(call, Math.min(customers, REFRESHES))
    const [p50, p95] = [0.5, 0.95].map((share) => times[Math.ceil(share * times.length) - 1]?.toFixed(0))
    console.log(
      `\n${times.length} refreshes with nothing new, of a vendor that takes ${VENDOR_MS} ms for each of 3 answers: p50 ${p50} ms, p95 ${p95} ms`,
    )
  } finally {
    await standIn.stop()
  }
})

async function importAll(call: Call, connection: string): Promise<Import> {
  const path = `billing/connections/${connection}/imports`
  const { id } = await call<{ id: string }>(path, { json: {} })
  for (const until = Date.now() + WITHIN; ; await sleep(2000)) {
    const now = await call<Import>(`${path}/${id}`)
    if (now.finished_at !== null || Date.now() > until) return now
  }
}

/** Refreshes customers, one after the other. @returns how long each took (ms), the shortest first */
async function refreshAll(call: Call, customers: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 1; n <= customers; n++) {
    const startedAt = performance.now()
    const path = `billing/customers/stripe/cus_${String(n).padStart(6, '0')}/refresh`
    const { state } = await call<{ state: string }>(path, { method: 'POST' })
    if (state !== 'fresh') throw new Error(`a refresh ended as ${state}`)
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)
}

async function bytesOf({ db }: StandIn): Promise<number> {
  const { meta } = await db.prepare('SELECT 1').run()
  return meta.size_after
}

type Measured = { lines: readonly Line[]; bytes: number; ms: number }

function rowOf(name: string, { kinds }: Import, { lines, bytes, ms }: Measured): string[] {
  const all = Object.values(kinds)
  const [seen, recorded] = [all.reduce((n, kind) => n + kind.seen, 0), all.reduce((n, kind) => n + kind.recorded, 0)]
  const sum = (field: Exclude<keyof Line, 'event'>) => lines.reduce((n, line) => n + line[field], 0)
  const each = (n: number, digits: number) => (n / seen).toFixed(digits)
  return [
    name,
    String(seen),
    String(recorded),
    String(lines.length),
    each(sum('d1_rows_written'), 2),
    each(sum('d1_rows_read'), 2),
    each(bytes, 0),
    each(sum('d1_ms'), 3),
    String(sum('d1_trips')),
    (sum('ms') / 1000).toFixed(1),
    (ms / 1000).toFixed(0),
  ]
}
