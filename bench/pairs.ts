/*
 * npm run bench:pairs -- --base REF [--rounds 12] [--slice 1000] [--starts 10]: own CPU of requests, and of a start of the
 * Worker, of this checkout beside those of another commit. They take turns, so other work on the machine affects both equally.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/lib/paths.ts'
import { startUpMs } from '../scripts/lib/start-up.ts'
import { fail, printTable, run } from '../scripts/lib/terminal.ts'
import { wranglerOrThrow } from '../scripts/lib/wrangler.ts'
import { cpuOf } from './cpu.ts'
import { openGenerator, type Recipe } from './load.ts'
import { type Bench, openBench } from './workers.ts'

type Generator = ReturnType<typeof openGenerator>
type Pair = [base: number, now: number]

const NEAR = { 'X-Near': 'limiter,queue,db' }
const CONNECTIONS = 8
const REQUESTS: [name: string, recipe: (bench: Bench) => Recipe][] = [
  ['GET of the key itself', (bench) => bench.get('own', '/platform/v1/api-keys/self')],
  ['list of 20 keys', (bench) => bench.get('own', '/platform/v1/api-keys')],
  ['ingest of a signed 4 KB event', (bench) => bench.event('own', '/ingest/CONNECTION')],
  ['check of one consumer', (bench) => bench.check([0])],
]

await run(async () => {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      rounds: { type: 'string', default: '12' },
      slice: { type: 'string', default: '1000' },
      starts: { type: 'string', default: '10' },
    },
  })
  if (!values.base) fail('Say what to compare with: --base REF, a commit or a branch.')
  const folder = mkdtempSync(join(tmpdir(), 'pairs-'))
  const base = join(folder, 'base')
  try {
    git('worktree', 'add', '--quiet', '--detach', base, values.base)
    symlinkSync(join(ROOT, 'node_modules'), join(base, 'node_modules'))
    await ownCpu(folder, base, { rounds: Number(values.rounds), ms: Number(values.slice) })
    await starts(base, Number(values.starts))
  } finally {
    git('worktree', 'remove', '--force', base)
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Sends each request to both, with bindings that answer from memory, and subtracts an empty route of Hono, which is not our code. */
async function ownCpu(folder: string, base: string, settings: { rounds: number; ms: number }): Promise<void> {
  const theirs = (await import(join(base, 'bench/workers.ts'))) as { openBench: typeof openBench }
  const generator = openGenerator()
  const benches = [
    await theirs.openBench(join(folder, 'd1-base'), 'simulated', ['own']),
    await openBench(join(folder, 'd1-now'), 'simulated', ['own', 'floor']),
  ] as const
  try {
    const empty = benches[1].get('floor', '/bare')
    const pairs = REQUESTS.map((): Pair[] => [])
    for (let round = 0; round <= settings.rounds; round++) {
      for (const [r, [, recipe]] of REQUESTS.entries()) {
        const floor = await microseconds(generator, empty, settings.ms)
        const times: number[] = []
        for (const bench of round % 2 === 0 ? benches : benches.toReversed()) {
          const asked = recipe(bench)
          times.push(await microseconds(generator, { ...asked, headers: { ...asked.headers, ...NEAR } }, settings.ms))
        }
        const [one = 0, other = 0] = times.map((us) => us - floor)
        if (round > 0) pairs[r]?.push(round % 2 === 0 ? [one, other] : [other, one]) // the first round warms up
      }
      if (round > 0) console.log(`  round ${round} of ${settings.rounds}`)
    }
    console.log(
      '\nOwn CPU of a request, in microseconds: its bindings answer from memory, less an empty route of Hono.\n',
    )
    printPairs(REQUESTS.map(([name], r) => [name, pairs[r] ?? []]))
  } finally {
    await generator.close()
    for (const { miniflare } of benches) await miniflare.dispose()
  }
}

/** CPU of workerd for a request. Unlike its time, it hardly depends on what else the machine does. */
async function microseconds(generator: Generator, recipe: Recipe, ms: number): Promise<number> {
  let count = 0
  const cpu = await cpuOf(async () => {
    const measured = await generator.run({ recipe, ms, connections: CONNECTIONS })
    if (measured.failed !== null) throw new Error(measured.failed)
    count = measured.count
  })
  return (1000 * cpu) / count
}

async function starts(base: string, count: number): Promise<void> {
  const theirs = (await import(join(base, 'scripts/lib/wrangler.ts'))) as { wranglerOrThrow: typeof wranglerOrThrow }
  const pairs: Pair[] = []
  while (pairs.length < count) {
    const before = await startUpMs(theirs.wranglerOrThrow)
    const now = await startUpMs(wranglerOrThrow)
    if (before !== null && now !== null) pairs.push([before, now])
  }
  console.log('\nA start of the Worker, in milliseconds of CPU, with the profiler on.\n')
  printPairs([['start', pairs]])
}

/** The medians of both, and the quartiles of the ratios of the pairs. */
function printPairs(rows: readonly (readonly [string, Pair[]])[]): void {
  printTable(
    ['', 'base', 'now', 'ratio', 'first quartile', 'third quartile', 'pairs'],
    rows.map(([name, pairs]) => {
      const ratios = pairs.map(([base, now]) => now / base)
      const middles = [0, 1].map((i) =>
        quantile(
          pairs.map((pair) => pair[i] ?? 0),
          0.5,
        ).toFixed(0),
      )
      const quartiles = [0.5, 0.25, 0.75].map((part) => quantile(ratios, part).toFixed(2))
      return [name, ...middles, ...quartiles, String(pairs.length)]
    }),
  )
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function git(...args: string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) fail(`git ${args.join(' ')} failed: ${stderr.trim()}`)
}
