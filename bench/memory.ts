import { readdirSync, readFileSync } from 'node:fs'

const SAMPLE_EVERY_MS = 10
const KIB = 1024

/**
 * The resident memory of the workerd that this process started, in bytes; null where the system has no /proc. It is the
 * whole process: every isolate in it, and its D1.
 */
export function workerdMemory(): (() => number) | null {
  try {
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isOurWorkerd(name))
    return pid === undefined ? null : () => field(pid, 'VmRSS') * KIB
  } catch {
    return null // not Linux
  }
}

/** Runs the work, and says how far memory rose above what it was before (bytes); null where it cannot be read. */
export async function withPeak<T>(memory: (() => number) | null, work: () => Promise<T>) {
  if (!memory) return { result: await work(), peak: null }
  const before = memory()
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, memory() - before)
  }, SAMPLE_EVERY_MS)
  try {
    const result = await work()
    return { result, peak: Math.max(peak, memory() - before) }
  } finally {
    clearInterval(timer)
  }
}

function isOurWorkerd(pid: string): boolean {
  try {
    return field(pid, 'PPid') === process.pid && /^Name:\s*workerd/m.test(status(pid))
  } catch {
    return false // it has ended since it was listed
  }
}

const status = (pid: string) => readFileSync(`/proc/${pid}/status`, 'utf8')
const field = (pid: string, name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status(pid))?.[1])
