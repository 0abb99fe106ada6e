/*
 * npm run soak: a server of its own under the load of several tenants, killed with SIGKILL at random moments and started
 * again on the same state; the local queue forgets its messages then, so the sweep has to find them. At the end everything is held from outside against what was sent: every event answered 2xx is recorded once and
 * processed, every billing object is as its last event says, every revoked secret is dead.
 */
import { randomBytes } from 'node:crypto'
import { readFlags } from './lib/flags.ts'
import { temporaryState } from './lib/temporary-state.ts'

const { values } = readFlags({
  usage: 'npm run soak [-- --minutes N]',
  about:
    'Load from three tenants on a server of its own, which is killed at random; then everything is held against what was sent.',
  flags: { minutes: { type: 'string', takes: 'N', help: 'how long', default: '10' } },
})
// Before the modules that read it.
const { remove } = temporaryState('soak')
const { freePort, killServer, portFree, startServer } = await import('./lib/server.ts')
const { connect } = await import('./lib/inbox.ts')
const { must } = await import('./lib/api.ts')
const { signIn } = await import('./lib/sign-in.ts')
const { newSigningSecret } = await import('./lib/sign.ts')
const { load } = await import('./lib/soak/load.ts')
const { check, openOf, settled } = await import('./lib/soak/check.ts')
const { printTable, sleep } = await import('./lib/terminal.ts')
type Run = import('./lib/soak/load.ts').Run
type Tenant = import('./lib/soak/ledger.ts').Tenant
type Server = import('./lib/server.ts').Server

const TENANTS = ['a', 'b', 'c']
const LIMITS = { LOCAL_RATE_LIMIT: '100000000' }
const SECOND = 1000
/** A server lives this long under load, in milliseconds: somewhere between the two. */
const LIFE = [3 * SECOND, 22 * SECOND] as const
/** The local queue itself breaks at ten thousand waiting messages: senders hold back well before. */
const MOST_OPEN = 5000
/** An event that was sent again and lost again by a kill is looked at by the sweep five minutes later. */
const SETTLE_WITHIN = 15 * 60 * SECOND

const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes takes a number, not ${values.minutes}`)

const port = await freePort()
const run: Run = { url: `http://localhost:${port}`, stopped: false, held: false, answers: new Map(), broken: [] }
let server: Server | null = null
let kills = 0
try {
  console.log('Starting a server …')
  server = await startServer(port, LIMITS)
  const tenants: Tenant[] = []
  for (const name of TENANTS) tenants.push(await newTenant(name))
  const loads = tenants.map((tenant) => load(run, tenant))
  const until = Date.now() + minutes * 60 * SECOND
  while (Date.now() < until) {
    await live(tenants, Math.min(until, Date.now() + LIFE[0] + Math.random() * (LIFE[1] - LIFE[0])))
    if (Date.now() >= until) break
    killServer(server)
    kills += 1
    await portFree(port)
    server = await startServer(port, LIMITS)
    const events = tenants.reduce((sum, { sent }) => sum + sent.length, 0)
    const left = Math.max(0, Math.round((until - Date.now()) / SECOND))
    console.log(`  kill ${kills}; ${events} events; ${run.broken.length} broken; ${left} s to go`)
  }
  run.stopped = true
  await Promise.all(loads)
  console.log('The load has ended. Waiting until everything is processed …')
  const open = await settled(run, tenants, SETTLE_WITHIN)
  if (open > 0) run.broken.push(`${open} events are still open`)
  const balances = []
  for (const tenant of tenants) balances.push(await check(run, tenant))
  console.log()
  printTable(
    ['tenant', 'events answered 2xx', 'deliveries', 'recorded', 'processed', 'objects', 'owed', 'told', 'dead secrets'],
    balances.map((one) => Object.values(one).map(String)),
  )
} finally {
  run.stopped = true
  killServer(server)
  remove()
}
const answers = [...run.answers].sort().map(([status, n]) => `${status} × ${n}`)
console.log(`\nAnswers under load: ${answers.join(', ')}`)
for (const what of run.broken.slice(0, 50)) console.log(`✗ ${what}`)
console.log(
  run.broken.length === 0
    ? `\nSoak of ${minutes} minutes, ${kills} kills: nothing lost, nothing twice.`
    : `\nSoak of ${minutes} minutes, ${kills} kills: ${run.broken.length} things are wrong.`,
)
process.exit(run.broken.length === 0 ? 0 : 1)

/** Lets the load run until a moment, and holds it back where too much waits. */
async function live(tenants: readonly Tenant[], until: number): Promise<void> {
  while (Date.now() < until) {
    let open = 0
    for (const tenant of tenants) open += await openOf(run, tenant).catch(() => 0)
    run.held = open > MOST_OPEN
    await sleep(Math.max(0, Math.min(2 * SECOND, until - Date.now())))
  }
}

async function newTenant(name: string): Promise<Tenant> {
  const { url } = run
  const { token } = await signIn(url, `soak-${name}@example.com`)
  const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name } })
  const base = { url, vendor: 'stripe', token, project } as const
  const inbox = await connect(base, 'Soak', newSigningSecret('stripe'))
  const unique = `${name}${randomBytes(3).toString('hex')}`
  return { name: unique, token, project, inbox, keys: [], deadKeys: [], deadSigning: [], sent: [], versions: new Map() }
}
