/*
 * npm run fuzz: sends random valid and hostile requests, generated from /openapi.json, to a server of its own. It
 * reports as a finding: a 5xx, a response that the document does not describe, a response with another tenant's data, a
 * change to that tenant's data, an ended secret that works, and an error in the server's log.
 */
import * as fc from 'fast-check'
import { readFlags } from '../../scripts/lib/flags.ts'
import { temporaryState } from './temporary-state.ts'

const { values } = readFlags({
  usage: 'npm run fuzz [-- OPTIONS]',
  about: 'Sends random valid and hostile requests, generated from /openapi.json, to a server of its own.',
  flags: {
    requests: { type: 'string', takes: 'N', help: 'number of requests', default: '20000' },
    seed: { type: 'string', takes: 'N', help: 'repeat the requests of the run with this seed' },
  },
})
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { remove } = temporaryState('fuzz')
const { freePort, killServer, startServer } = await import('./server.ts')
const { ask, must } = await import('../../scripts/lib/api.ts')
const { aim } = await import('./fuzz/aim.ts')
const { findingOf } = await import('./fuzz/judge.ts')
const { operationOf, operationsOf } = await import('./fuzz/operations.ts')
const { brokenRule, learnSecrets, noSecrets, probe } = await import('./fuzz/probes.ts')
const { curlOf, send } = await import('./fuzz/send.ts')
const { shots } = await import('./fuzz/shots.ts')
const { loneSessions, newTenant, remember, spareSessions, stateOf } = await import('./fuzz/world.ts')
const { sleep } = await import('../../scripts/lib/terminal.ts')
type Aimed = import('./fuzz/aim.ts').Aimed
type World = import('./fuzz/aim.ts').World
type Shot = import('./fuzz/shots.ts').Shot
type Json = import('../harness/json-schema.ts').Json
type Reply = import('./fuzz/send.ts').Reply
type Server = import('./server.ts').Server

/** Concurrent workers, so that requests meet each other's changes. */
const WORKERS = 4
/** Key secrets of the tenant that are remembered. Most of them have been rotated or revoked since. */
const KEYS = 8
/** Every so many requests, a probe is sent: see fuzz/probes.ts. */
const PROBE_EVERY = 20
const SETTLE_MS = 10_000
const total = Number(values.requests)
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
const found = new Map<string, string>()
const statuses = new Map<string, number>()
const secrets = noSecrets()
let sent = 0

let server: Server | null = null
try {
  const port = await freePort()
  const url = `http://localhost:${port}`
  console.log(`Seed ${seed}. Starting a server …`)
  server = await startServer(port, { LOCAL_RATE_LIMIT: '100000000' })
  const document = await must<Json>(`${url}/openapi.json`)
  const operations = operationsOf(document)
  console.log(`${operations.length} operations. Creating two tenants …`)
  const other = await newTenant(url, 'other')
  const own = await newTenant(url, 'own')
  const [spare, alone] = [await spareSessions(url, own), await loneSessions(url, own)]
  const world: World = { url, own, other, spare, alone, keys: [own.key] }
  const before = await stateOf(url, other)
  const any = shots(document, operations)

  /** What is wrong with a response, or with a probe after it. */
  const judged = async (aimed: Aimed, reply: Reply, sentAt: number) => {
    const operation = operationOf(operations, aimed.wire.method, aimed.wire.path)
    const what =
      findingOf(document, operations, aimed, reply) ??
      brokenRule(secrets, { wire: aimed.wire, operation, sentAt }, reply)
    learnSecrets(secrets, aimed.wire, reply)
    if (what !== null || sent % PROBE_EVERY !== 0) return what
    return probe(secrets, own, (wire) => send(port, wire), sent / PROBE_EVERY)
  }
  const fire = async (shot: Shot): Promise<void> => {
    const aimed = await aim(world, shot)
    const { wire, foreign } = aimed
    const where = `${wire.method} ${shot.operation.template}`
    const sentAt = performance.now()
    const reply = await send(port, wire).catch((error: Error) => error)
    count(reply instanceof Error ? 'no answer' : reply.status)
    const what = reply instanceof Error ? `no answer: ${reply.message}` : await judged(aimed, reply, sentAt)
    if (!(reply instanceof Error) && foreign.includes(other.mark)) {
      learn(world, reply.text)
      await replaceDead(world, wire.headers.Authorization, reply)
    }
    if (what === null || found.has(kindOf(where, what))) return
    throw Object.assign(new Error(what), { where, line: curlOf(url, wire) })
  }

  await Promise.all(Array.from({ length: WORKERS }, (_, i) => work(any, fire, seed + i, Math.ceil(total / WORKERS))))
  console.log(`Waiting ${SETTLE_MS / 1000} s for the Queue …`)
  await sleep(SETTLE_MS)
  const after = await stateOf(url, other)
  if (after !== before)
    found.set('cross-tenant write', `the other tenant's data changed:\n${difference(before, after)}`)
  for (const line of errorsOf(server.said())) found.set(`log ${line.slice(0, 60)}`, line)
} finally {
  killServer(server)
  remove()
}

const byStatus = [...statuses].sort().map(([status, n]) => `${status} × ${n}`)
console.log(`\n${sent.toLocaleString('en')} requests: ${byStatus.join(', ')}`)
for (const [kind, what] of found) console.log(`\n✗ ${kind}\n${what}`)
console.log(
  found.size === 0
    ? `\nFuzz of ${sent.toLocaleString('en')} requests: no finding left (seed ${seed})`
    : `\n${found.size} findings (seed ${seed})`,
)
process.exit(found.size === 0 ? 0 : 1)

/** One worker's share of the requests. A finding is shrunk and reported once, and the rest continues without it. */
async function work(
  any: fc.Arbitrary<Shot>,
  fire: (shot: Shot) => Promise<void>,
  ownSeed: number,
  share: number,
): Promise<void> {
  for (let done = 0, round = 0; done < share; round++) {
    const options = { seed: ownSeed + round * 1000, numRuns: share - done, endOnFailure: false }
    const result = await fc.check(fc.asyncProperty(any, fire), options)
    done += result.numRuns
    const error = result.errorInstance as (Error & { where?: string; line?: string }) | null
    if (!result.failed || !error) continue
    if (!error.where) throw error
    const kind = kindOf(error.where, error.message)
    if (found.has(kind)) continue
    found.set(kind, `${error.message}\n${error.line}`)
    console.log(`  found: ${kind}`)
  }
}

function learn(world: World, text: string): void {
  remember(world.own.ids, text, world.own.session)
  const secret = /"secret":"(svc_v1_[0-9a-f]{96})"/.exec(text)?.[1]
  if (!secret) return
  world.keys.push(secret)
  if (world.keys.length > KEYS) world.keys.shift()
}

/** Uses a dead secret a few more times, then drops it. A new key is minted when none is left. */
async function replaceDead(world: World, authorization: string | undefined, reply: Reply): Promise<void> {
  const at = world.keys.findIndex((secret) => authorization === `Bearer ${secret}`)
  if (at < 0 || !/"code":"key_(rotated|revoked|expired)"/.test(reply.text) || Math.random() < 0.5) return
  world.keys.splice(at, 1)
  if (world.keys.length > 0) return
  const { token, project } = world.own
  const json = { name: 'fuzz' }
  const { status, body } = await ask<{ secret: string }>(`${world.url}/platform/v1/api-keys`, { token, project, json })
  world.keys.push(status === 201 ? (body as { secret: string }).secret : world.own.key)
}

/** The kind of a finding, without the details of one request. Findings of one kind are reported once. */
function kindOf(where: string, what: string): string {
  return `${where}: ${what.split(/[:{]/)[0]}`
}

function count(status: number | string): void {
  sent += 1
  statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1)
  if (sent % 2000 === 0) console.log(`  ${sent.toLocaleString('en')} sent, ${found.size} findings`)
}

/** Errors in the server's log, except errors of requests: a 5xx is already a finding. */
function errorsOf(said: string): string[] {
  return said.split('\n').filter((line) => line.includes('"level":"error"') && !line.includes('"event":"request"'))
}

function difference(before: string, after: string): string {
  const at = [...before].findIndex((char, i) => char !== after[i])
  return `${before.slice(Math.max(0, at - 100), at + 100)}\n${after.slice(Math.max(0, at - 100), at + 100)}`
}
