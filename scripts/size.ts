/*
 * npm run size: checks the gzipped size of the bundle (wrangler deploy --dry-run) against its budget, and the CPU time of
 * start-up (wrangler check startup) against its bound. That is measured a few times, in workerd on this machine with V8's
 * profiler on.
 */
import { startUpMs } from './lib/start-up.ts'
import { fail, run } from './lib/terminal.ts'
import { wranglerOrThrow } from './lib/wrangler.ts'

const BUDGET_KB = 890
/** A start takes about 80 ms here. Cloudflare refuses a Worker that takes longer than a second. */
const START_UP_MS = 500
const RUNS = 5

await run(async () => {
  const out = await wranglerOrThrow(['deploy', '--dry-run'])
  const [, total = '', gzip = ''] = /Total Upload: ([\d.]+) KiB \/ gzip: ([\d.]+) KiB/.exec(out) ?? []
  if (gzip === '') fail(`wrangler did not print the size of the bundle:\n${out}`)
  const kb = (Number(gzip) * 1024) / 1000
  console.log(`Bundle: ${total} KiB, gzipped ${gzip} KiB (${kb.toFixed(1)} KB) of ${BUDGET_KB} KB`)

  const times = await startTimes()
  if (times.length === 0) fail('The profiler saw no start.')
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  const list = times.map((ms) => ms.toFixed(0)).join(', ')
  console.log(
    `Start-up: ${median.toFixed(0)} ms of CPU, the median of ${list}, of ${START_UP_MS} ms (workerd on this machine, profiler on)`,
  )
  if (median > START_UP_MS) fail(`Start-up is over its bound by ${(median - START_UP_MS).toFixed(0)} ms.`)
  if (kb > BUDGET_KB) fail(`The bundle is over its budget by ${(kb - BUDGET_KB).toFixed(1)} KB.`)
})

/** CPU time of each start (ms). */
async function startTimes(): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const ms = await startUpMs()
    if (ms !== null) times.push(ms)
  }
  return times
}
