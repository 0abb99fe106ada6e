import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { printTable } from '../scripts/lib/terminal.ts'
import type { drain } from './drain.ts'
import type { Measured } from './load.ts'
import type { Target } from './targets.ts'
import type { Cost } from './workers.ts'

/** What was measured of a target, a slice a round; null where a peer was left out of the round. */
export type Row = {
  target: Target
  slices: (Measured | null)[]
  cost: Cost | null
  /** Time of a request whose bindings all answer in the isolate (µs): its own CPU. Of ours alone. */
  own: number[]
  /** How far the memory of the process rose in each slice (bytes). */
  peaks: number[]
}
type Ratio = { name: string; to: string; ratio: number; low: number; high: number; least: number | null }

/** Prints the tables, and writes them to a file. */
export function report(
  rows: readonly Row[],
  drained: Awaited<ReturnType<typeof drain>>,
  json: string,
  settings: object,
): void {
  const table = rows.map(measuredOf)
  console.log('\nWhat a request costs. This is what is promised: it holds on another machine too.\n')
  printTable(
    ['what', 'D1 trips', 'rows read', 'rows written', 'own CPU µs', 'memory MiB'],
    table
      .filter(({ group }) => group === 'ours')
      .map((one) => [
        one.name,
        ...[one.d1_trips, one.d1_rows_read, one.d1_rows_written].map((n) => String(n ?? 0)),
        one.own_us.toFixed(0),
        one.peak_bytes === null ? '' : (one.peak_bytes / 2 ** 20).toFixed(0),
      ]),
  )
  console.log('\nThroughput, all in one process on this machine.\n')
  printTable(
    ['', 'what', 'requests/s', 'p50 ms', 'p99 ms', 'D1 trips', 'rows written'],
    table.map((one) => [
      one.group,
      one.name,
      one.per_second.toFixed(0),
      one.p50_ms.toFixed(2),
      one.p99_ms.toFixed(2),
      ...[one.d1_trips, one.d1_rows_written].map((n) => (n === undefined ? '0' : String(n))),
    ]),
  )
  console.log(
    `\nConsumer: ${drained.per_second.toFixed(0)} events/s in batches of ${drained.batch}; a batch makes ${drained.trips} D1 trips, reads ${drained.rows_read} rows and writes ${drained.rows_written} (p50 ${drained.p50_ms.toFixed(0)} ms, p99 ${drained.p99_ms.toFixed(0)} ms)\n`,
  )
  const ratios = ratiosOf(rows)
  printTable(
    ['ours', 'compared with', 'ratio', 'of rounds', 'goal'],
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

/** A row as it is written to the file. */
function measuredOf({ target, slices: all, cost, own, peaks }: Row) {
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
    own_us: median(own),
    peak_bytes: peaks.length === 0 ? null : Math.max(...peaks),
  }
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

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
