/*
 * npm run bench [-- --rounds 8] [--slice 700] [--connections 8] [--limiter simulated] [--json FILE] [--no-import]: what a request of
 * the Worker costs (round trips, rows, own CPU, memory), and its throughput beside the least that its binding calls cost
 * and beside what people use instead; all of it in one workerd, in turns, with one load generator. See bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../scripts/lib/terminal.ts'
import { HUNDRED, ONE } from './consumer-rows.ts'
import { drain } from './drain.ts'
import { openGenerator, sendOne } from './load.ts'
import { withPeak, workerdMemory } from './memory.ts'
import { type Row, report } from './report.ts'
import { openSyncEngine, type SyncEngine } from './sync-engine.ts'
import { type Target, targetsOf } from './targets.ts'
import { type Bench, type Cost, openBench, SECRET } from './workers.ts'

type Generator = ReturnType<typeof openGenerator>

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
      limiter: { type: 'string', default: 'near' },
      json: { type: 'string', default: join(import.meta.dirname, 'bench.json') },
      'no-import': { type: 'boolean', default: false },
    },
  })
  const rounds = Number(values.rounds)
  const slice = Number(values.slice)
  const connections = Number(values.connections)
  const limiter = values.limiter === 'simulated' ? 'simulated' : 'near'
  installPeers()
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const generator = openGenerator()
  let bench: Bench | null = null
  let syncEngine: SyncEngine | null = null
  try {
    bench = await openBench(folder, limiter)
    await recordChecks(bench)
    syncEngine = await openSyncEngine(SECRET)
    if (!syncEngine) console.log('No PostgreSQL here: stripe-sync-engine is left out.')
    const rows: Row[] = targetsOf(bench, syncEngine?.url ?? null).map((target) => ({
      target,
      slices: [],
      cost: null,
      own: [],
      peaks: [],
    }))
    for (const row of rows) {
      const { failed } = await generator.run({ recipe: row.target.recipe, ms: WARM_UP_MS, connections })
      if (failed !== null) throw new Error(`${row.target.name}: ${failed}`)
      if (row.target.recipe.url !== syncEngine?.url) row.cost = await costOf(bench, row.target)
    }
    const memory = workerdMemory()
    for (let round = 1; round <= rounds; round++) {
      // Each round in another order: what comes after a heavy neighbour is not always the same one.
      for (const row of [...rows].sort(() => Math.random() - 0.5)) {
        const settings = { ms: slice, connections }
        const { result: measured, peak } = await withPeak(memory, () => sliceOf(generator, row.target, settings))
        if (peak !== null) row.peaks.push(peak)
        if (row.target.group === 'ours') row.own.push(await ownTime(generator, row.target, settings))
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
  if (!values['no-import']) importObjects()
})

/** Ends with npm run bench:import, in a process of its own. */
function importObjects(): void {
  console.log('\nAn import of 10,000 objects, twice:')
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'import.ts')], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}

/** Records the answers to checks of one consumer and of a hundred. */
async function recordChecks(bench: Bench): Promise<void> {
  for (const [name, consumers] of [
    ['one', [ONE]],
    ['hundred', HUNDRED],
  ] as const) {
    // Once the isolate knows the key, which saves a trip.
    for (const headers of [{}, {}, { 'X-Record': name }]) {
      const failed = await sendOne(bench.check(consumers, headers))
      if (failed !== null) throw new Error(failed)
    }
  }
}

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

/** Microseconds of a request whose bindings all answer from the isolate's memory: the Worker's own code, log and Hono. */
async function ownTime(generator: Generator, target: Target, settings: { ms: number; connections: number }) {
  // With its name, each target has a memory of its own: two may send one statement with other values.
  const near = `limiter,queue,db,${encodeURIComponent(target.name)}`
  const headers = { ...target.recipe.headers, 'X-Near': near }
  const measured = await sliceOf(generator, { ...target, recipe: { ...target.recipe, headers } }, settings)
  return measured ? (1000 * measured.ms) / measured.count : Number.NaN
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
