/*
 * npm run bench:parts [-- --rounds 6] [--slice 700] [--connections 8]: where the time of a request goes, by letting its
 * bindings answer from the isolate's own memory, one after the other.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printTable, run } from '../scripts/lib/terminal.ts'
import { openGenerator, type Recipe } from './load.ts'
import { openBench } from './workers.ts'

/** The last one is Hono, the product's own code and its log line. */
const STEPS = ['', 'limiter', 'limiter,queue', 'limiter,queue,db'] as const
const PARTS = ['limiter', 'Queue', 'D1'] as const

await run(async () => {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '6' },
      slice: { type: 'string', default: '700' },
      connections: { type: 'string', default: '8' },
    },
  })
  const [rounds, ms, connections] = [Number(values.rounds), Number(values.slice), Number(values.connections)]
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const generator = openGenerator()
  const bench = await openBench(folder, 'simulated', ['own'])
  try {
    const requests: [string, Recipe][] = [
      ['ingest of a signed 4 KB event', bench.event('own', '/ingest/CONNECTION')],
      ['authenticated GET: the key itself', bench.get('own', '/platform/v1/api-keys/self')],
      ['list of 20 keys', bench.get('own', '/platform/v1/api-keys')],
    ]
    const spent = requests.map(() => STEPS.map(() => ({ ms: 0, count: 0 })))
    for (let round = 0; round <= rounds; round++) {
      for (const [r, [, recipe]] of requests.entries()) {
        for (const [s, near] of STEPS.entries()) {
          const headers = { ...recipe.headers, 'X-Near': near }
          const measured = await generator.run({ recipe: { ...recipe, headers }, ms, connections })
          if (measured.failed !== null) throw new Error(measured.failed)
          const sum = spent[r]?.[s]
          if (!sum || round === 0) continue // the first round warms up
          sum.ms += measured.ms
          sum.count += measured.count
        }
      }
      if (round > 0) console.log(`  round ${round} of ${rounds}`)
    }
    console.log(`\nMicroseconds of a request, at ${connections} connections (they share trips and calls):\n`)
    printTable(
      ['request', 'whole', ...PARTS, 'our own code, log, Hono'],
      requests.map(([name], r) => {
        const each = (spent[r] ?? []).map(({ ms, count }) => (1000 * ms) / count)
        const parts = PARTS.map((_, i) => (each[i] ?? 0) - (each[i + 1] ?? 0))
        return [name, ...[each[0] ?? 0, ...parts, each.at(-1) ?? 0].map((us) => us.toFixed(0))]
      }),
    )
  } finally {
    await generator.close()
    await bench.miniflare.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
})
