import { beforeAll, expect, it } from 'vitest'
import { tamperedD1 } from '../harness'
import { newWorld, type World } from '../routes/world'
import { CALLS } from './calls'
import { largestProject } from './largest'

/*
 * npm run bench:reads measures the CPU of every read in the largest project. The CPU is that of the whole workerd, so each call
 * is repeated until it has taken enough of it to be told from everything else, and again while D1 answers from memory.
 */

/** Where vitest.bench.config.ts answers. */
const METER = 'https://meter.plain.dev/'
const CHECK = 'POST /platform/v1/billing/entitlements/check'
/** A call is repeated until it has taken so much CPU (ms), or so often. */
const ENOUGH_MS = 300
const MOST_CALLS = 100
/** The check is measured again after so many calls, for the machine may have become slower. */
const CHECK_AGAIN = 40

let [largest, small]: World[] = []
beforeAll(async () => {
  small = await newWorld()
  largest = await largestProject()
})

const cpu = async () => Number(await (await fetch(METER)).text())

type Ask = (bindings: object) => Promise<unknown>

/** CPU of one of many such calls (ms): `whole` with the databases, which are in the same process; `own` without them. */
async function measured(ask: Ask) {
  const whole = await cpuOfOne(() => ask({}))
  const bindings = { DB: remembering() }
  return { whole, own: await cpuOfOne(() => ask(bindings)) }
}

async function cpuOfOne(ask: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < 2; n++) await ask()
  const before = await cpu()
  let [calls, spent] = [0, 0]
  for (let more = 3; spent < ENOUGH_MS && calls < MOST_CALLS; more *= 2) {
    for (let n = 0; n < more; n++) await ask()
    calls += more
    spent = (await cpu()) - before
  }
  return spent / calls
}

/** What a database said the first time, it says again. */
function remembering(): D1Database {
  const said = new Map<string, D1Result[]>()
  return tamperedD1(async ({ sql, run }) => {
    const known = said.get(sql) ?? (await run())
    said.set(sql, known)
    return [...known]
  })
}

it('every read', { timeout: 3_600_000 }, async () => {
  const [, check] = CALLS.find(([name]) => name === CHECK) ?? []
  if (!check || !largest || !small) throw new Error('nothing to measure')
  const world = { largest, small }
  const checks: number[] = []
  const rows: { name: string; whole: number; own: number }[] = []
  for (const [n, [name, ask]] of CALLS.entries()) {
    if (n % CHECK_AGAIN === 0) checks.push((await measured((bindings) => check(world.small, bindings))).whole)
    rows.push({ name, ...(await measured((bindings) => ask(world.largest, bindings))) })
  }
  const told = await fetch(METER, { method: 'POST', body: JSON.stringify({ checks, rows }) })
  expect(told.status).toBe(200)
})
