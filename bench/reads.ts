import { printTable } from '../scripts/lib/terminal.ts'

/**
 * What was measured (ms of CPU): a check in a small project, some times, and one of each read in the largest one. `whole`: with
 * the databases; `own`: while they answer from memory.
 */
export type Measured = { checks: number[]; rows: { name: string; whole: number; own: number }[] }

/** What no read may take on an idle machine (ms). */
const BOUND_MS = 300

/** Prints the reads, the one that takes most first. */
export function printReads({ checks, rows }: Measured): void {
  const check = checks.toSorted((a, b) => a - b)[Math.floor(checks.length / 2)] ?? Number.NaN
  const all = rows.toSorted((a, b) => b.whole - a.whole)
  const shown = all.map(({ name, whole, own }) => [
    name,
    whole.toFixed(1),
    own.toFixed(1),
    (whole / check).toFixed(1),
    whole > BOUND_MS ? `over ${BOUND_MS} ms` : '',
  ])
  printTable(['a read in the largest project', 'CPU, ms', 'without D1', 'checks', ''], shown)
  const over = rows.filter(({ whole }) => whole > BOUND_MS).length
  console.log(
    `\nA check takes ${checks.map((ms) => ms.toFixed(1)).join(', ')} ms. ${over} of ${rows.length} reads take more than ${BOUND_MS} ms.`,
  )
}
