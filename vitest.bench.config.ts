import { defineConfig } from 'vitest/config'
import { cpuSoFar } from './bench/cpu.ts'
import { type Measured, printReads } from './bench/reads.ts'
import { outside } from './test/outside/outside.ts'
import base, { inWorkers } from './vitest.config.ts'

/** npm run bench:reads: what measures runs in workerd, beside the tests' largest project, and asks Node.js for the CPU. */
async function metering(request: Request): Promise<Response> {
  if (new URL(request.url).hostname !== 'meter.plain.dev') return outside(request)
  if (request.method === 'GET') return new Response(String(cpuSoFar()))
  printReads((await request.json()) as Measured)
  return new Response('')
}

const { projects: _, ...usual } = base.test ?? {}

export default defineConfig({
  ...base,
  plugins: [inWorkers(metering)],
  test: { ...usual, maxWorkers: 1, include: ['test/largest/reads.bench.ts'] },
})
