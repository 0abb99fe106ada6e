import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wranglerOrThrow } from './wrangler.ts'

type Profile = {
  nodes: { id: number; callFrame: { functionName: string } }[]
  samples: number[]
  timeDeltas: number[]
}

/**
 * CPU time of a start of the Worker (ms), in workerd on this machine with V8's profiler on: all samples that were not idle.
 *
 * @param ask wrangler of this checkout, or of another one
 * @returns null if the profiler began too late to see anything, which happens now and then
 */
export async function startUpMs(ask: typeof wranglerOrThrow = wranglerOrThrow): Promise<number | null> {
  const folder = mkdtempSync(join(tmpdir(), 'startup-'))
  const outfile = join(folder, 'startup.cpuprofile')
  try {
    await ask(['check', 'startup', '--outfile', outfile])
    return busyMs(JSON.parse(readFileSync(outfile, 'utf8')) as Profile) || null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function busyMs({ nodes, samples, timeDeltas }: Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  return samples.reduce((sum, node, i) => sum + (idle.has(node) ? 0 : (timeDeltas[i] ?? 0)), 0) / 1000
}
