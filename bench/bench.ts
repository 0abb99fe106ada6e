/*
 * npm run bench [-- --rounds 8] [--slice 700] [--connections 8] [--limiter near] [--json FILE]: throughput and latency of
 * the Worker beside the least its binding calls cost and beside what people use instead; all of it in one workerd, in
 * turns, with one load generator. See bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { drain } from './drain.ts'
import { type Measured, openGenerator, sendOne } from './load.ts'
import { openSyncEngine, type SyncEngine } from './sync-engine.ts'
import { type Target, targetsOf } from './targets.ts'
import { type Bench, type Cost, openBench, SECRET } from './workers.ts'

type Generator = ReturnType<typeof openGenerator>
type Row = { target: Target; slices: (Measured | null)[]; cost: Cost | null }
type Ratio = { name: string; to: string; ratio: number; low: number; high: number; least: number | null }

/** What `bench/package.json` brings, by which an older install is told. */
const PEERS = ['better-auth', '@supabase/stripe-sync-engine']
const TRIES = 3
const WARM_UP_MS = 400
const DRAINED_BATCHES = 20

await run(async () => {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '8' },
      slice: { type: 'string', default: '700' },
      connections: { type: 'string', default: '8' },
      limiter: { type: 'string', default: 'simulated' },
      json: { type: 'string', default: join(import.meta.dirname, 'bench.json') },
    },
  })
  const [rounds, slice, connections] = [values.rounds, values.slice, values.connections].map(Number) as [
    number,
    number,
    number,
  ]
  const limiter = values.limiter === 'near' ? 'near' : 'simulated'
  installPeers()
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const generator = openGenerator()
  let bench: Bench | null = null
  let syncEngine: SyncEngine | null = null
  try {
    bench = await openBench(folder, limiter)
    syncEngine = await openSyncEngine(SECRET)
    if (!syncEngine) console.log('No PostgreSQL here: stripe-sync-engine is left out.')
    const rows: Row[] = targetsOf(bench, syncEngine?.url ?? null).map((target) => ({ target, slices: [], cost: null }))
    for (const row of rows) {
      const { failed } = await generator.run({ recipe: row.target.recipe, ms: WARM_UP_MS, connections })
      if (failed !== null) throw new Error(`${row.target.name}: ${failed}`)
      if (row.target.recipe.url !== syncEngine?.url) row.cost = await costOf(bench, row.target)
    }
    for (let round = 1; round <= rounds; round++) {
      // Each round in another order: what comes after a heavy neighbour is not always the same one.
      for (const row of [...rows].sort(() => Math.random() - 0.5)) {
        const measured = await sliceOf(generator, row.target, { ms: slice, connections })
        if (!measured) console.log(`  (${row.target.name} is left out of this round)`)
        row.slices.push(measured)
      }
      console.log(`  round ${round} of ${rounds}`)
    }
    const drained = await drain(bench, DRAINED_BATCHES)
    report(rows, drained, values.json, { rounds, slice_ms: slice, connections, limiter })
  } finally {
    await generator.close()
    await syncEngine?.close()
    await bench?.miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** A slice of time. What is ours may not fail; a peer that does is asked again, and in the end left out. */
async function sliceOf(
  generator: Generator,
  { name, group, recipe }: Target,
  settings: { ms: number; connections: number },
) {
  for (let tries = 1; ; tries++) {
    const measured = await generator.run({ recipe, ...settings })
    if (measured.failed === null) return measured
    const said = `${name}: ${measured.failed}`
    if (group !== 'peer') throw new Error(said)
    if (tries === TRIES) return null
    console.log(`  (once more: ${said})`)
  }
}

/** The peers are installed beside the benchmark, the first time it runs. */
function installPeers(): void {
  if (PEERS.every((name) => existsSync(join(import.meta.dirname, 'node_modules', name)))) return
  console.log('Installing what is compared with …')
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts']
  const { status } = spawnSync('npm', args, { cwd: import.meta.dirname, stdio: 'inherit' })
  if (status !== 0) throw new Error('npm ci failed in bench/')
}

/** What D1 says of one request, after it has run often: the last line that tells of it. */
async function costOf(bench: Bench, { recipe }: Target): Promise<Cost | null> {
  const isCost = ({ event }: { event: string }) => event === 'counted' || event === 'request'
  const lines = await bench.linesOf(
    async () => {
      const failed = await sendOne(recipe, { 'X-Count': '1' })
      if (failed !== null) throw new Error(failed)
    },
    (some) => some.some(isCost),
  )
  return lines.findLast(isCost) ?? null
}

function report(
  rows: readonly Row[],
  drained: Awaited<ReturnType<typeof drain>>,
  json: string,
  settings: object,
): void {
  const table = rows.map(({ target, slices: all, cost }) => {
    const slices = all.filter((one) => one !== null)
    const latencies = slices.flatMap((one) => one.latencies).sort((a, b) => a - b)
    const at = (q: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0
    const [count, ms] = [sum(slices.map((one) => one.count)), sum(slices.map((one) => one.ms))]
    return {
      group: target.group,
      name: target.name,
      per_second: (1000 * count) / ms,
      p50_ms: at(0.5),
      p99_ms: at(0.99),
      ...cost,
    }
  })
  console.log()
  printTable(
    ['', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'D1 trips', 'rows read', 'rows written'],
    table.map((one) => [
      one.group,
      one.name,
      one.per_second.toFixed(0),
      one.p50_ms.toFixed(2),
      one.p99_ms.toFixed(2),
      ...[one.d1_trips, one.d1_rows_read, one.d1_rows_written].map((n) => (n === undefined ? '0' : String(n))),
    ]),
  )
  console.log(
    `\nConsumer: ${drained.per_second.toFixed(0)} events/s in batches of ${drained.batch}; a batch makes ${drained.trips} D1 trips, reads ${drained.rows_read} rows and writes ${drained.rows_written} (p50 ${drained.p50_ms.toFixed(0)} ms, p99 ${drained.p99_ms.toFixed(0)} ms)\n`,
  )
  const ratios = ratiosOf(rows)
  printTable(
    ['ours', 'held against', 'ratio', 'of rounds', 'goal'],
    ratios.map(({ name, to, ratio, low, high, least }) => [
      name,
      to,
      ratio.toFixed(2),
      `${low.toFixed(2)}–${high.toFixed(2)}`,
      least === null ? '' : `≥ ${least} ${ratio >= least ? '✓' : '✗'}`,
    ]),
  )
  const machine = { cpus: cpus().length, node: process.versions.node, at: new Date().toISOString() }
  writeFileSync(json, `${JSON.stringify({ machine, settings, table, drained, ratios }, null, 2)}\n`)
  console.log(`\nWritten to ${json}`)
}

/** Throughput by throughput, round by round; the median of the rounds is the ratio. */
function ratiosOf(rows: readonly Row[]): Ratio[] {
  const speeds = (row: Row | undefined) => row?.slices.map((one) => (one ? one.count / one.ms : Number.NaN)) ?? []
  return rows.flatMap((row) =>
    row.target.against
      .filter(({ target }) => rows.some((one) => one.target.name === target))
      .map(({ target: to, least }) => {
        const other = speeds(rows.find(({ target }) => target.name === to))
        const each = speeds(row)
          .map((speed, round) => speed / (other[round] ?? Number.NaN))
          .filter((one) => !Number.isNaN(one))
          .sort((a, b) => a - b)
        const ratio = each[Math.floor(each.length / 2)] ?? 0
        return { name: row.target.name, to, ratio, low: each[0] ?? 0, high: each.at(-1) ?? 0, least }
      }),
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
