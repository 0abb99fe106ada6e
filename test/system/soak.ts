/*
 * npm run soak: puts a server of its own under load from several tenants, kills it with SIGKILL at random moments and
 * restarts it on the same state. The local queue loses its messages each time, so the sweep must find the events. At
 * the end, everything is compared with what was sent: every event that got a 2xx is recorded once and processed, every
 * billing object is in the state of its last event, and every revoked secret is dead. A reader of the feed has seen each
 * change once, in order, and requests that were repeated with an Idempotency-Key have made one consumer each. Some deliveries have 1 MiB, and
 * some have a hundred events. With --stores, the tenants' projects are spread over that many stores, and the database
 * of each store is checked too.
 */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { readFlags } from '../../scripts/lib/flags.ts'
import { temporaryState } from './temporary-state.ts'

const { values } = readFlags({
  usage: 'npm run soak [-- --minutes N] [--stores N]',
  about: 'Puts a server of its own under load from three tenants, kills it at random, and checks the data at the end.',
  flags: {
    minutes: { type: 'string', takes: 'N', help: 'duration', default: '10' },
    stores: { type: 'string', takes: 'N', help: 'the number of stores, each with at least one tenant', default: '1' },
  },
})
// The server and the modules below read this too.
process.env.STORES = values.stores
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { remove } = temporaryState('soak', tmpdir())
const { freePort, killServer, portFree, startServer } = await import('./server.ts')
const { connect } = await import('../../scripts/lib/inbox.ts')
const { must } = await import('../../scripts/lib/api.ts')
const { signIn } = await import('../../scripts/lib/sign-in.ts')
const { newSigningSecret } = await import('../../scripts/lib/sign.ts')
const { load } = await import('./soak/load.ts')
const { check, openOf, settled } = await import('./soak/check.ts')
const { newFeed } = await import('./soak/feed.ts')
const { checkStores, closeOthers, storeOf } = await import('./soak/stores.ts')
const { printTable, sleep } = await import('../../scripts/lib/terminal.ts')
type Run = import('./soak/load.ts').Run
type Tenant = import('./soak/ledger.ts').Tenant
type Server = import('./server.ts').Server

const MIN_TENANTS = 3
const LIMITS = { LOCAL_RATE_LIMIT: '100000000' }
const SECOND = 1000
/** How long a server runs before it is killed: a random time between these two (ms). */
const LIFE = [3 * SECOND, 22 * SECOND] as const
/** The local queue fails at ten thousand waiting messages, so senders pause well before. */
const MOST_OPEN = 5000
/**
 * How long to wait at the end (ms). If a kill loses an event that was re-sent, the sweep comes back 5 minutes later.
 */
const SETTLE_WITHIN = 15 * 60 * SECOND

const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes must be a number, not ${values.minutes}`)

const stores = Number(values.stores)
if (!Number.isInteger(stores) || stores < 1 || stores > 20) {
  throw new Error(`--stores must be a whole number from 1 to 20, not ${values.stores}`)
}

const port = await freePort()
const run: Run = { url: `http://localhost:${port}`, stopped: false, held: false, answers: new Map(), broken: [] }
let server: Server | null = null
let kills = 0
try {
  console.log('Starting a server …')
  server = await startServer(port, LIMITS)
  const tenants: Tenant[] = []
  for (let n = 0; n < Math.max(MIN_TENANTS, stores); n++) tenants.push(await newTenant(`t${n}`, n % stores))
  if (stores > 1) await closeOthers(null)
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
  console.log('The load has stopped. Waiting until everything is processed …')
  const open = await settled(run, tenants, SETTLE_WITHIN)
  if (open > 0) run.broken.push(`${open} events are still open`)
  const balances = []
  for (const tenant of tenants) balances.push(await check(run, tenant))
  console.log()
  printTable(
    ['store', 'projects', 'events', 'different', 'open', 'payloads', 'projects of others'],
    await checkStores(run, tenants, balances),
  )
  console.log()
  printTable(
    [
      'tenant',
      'accepted',
      'deliveries',
      'of many',
      'recorded',
      'processed',
      'objects',
      'due (sent)',
      'due (API)',
      'dead secrets',
      'changes',
      'consumers',
    ],
    balances.map((one) => Object.values(one).map(String)),
  )
} finally {
  run.stopped = true
  killServer(server)
  remove()
}
const answers = [...run.answers].sort().map(([status, n]) => `${status} × ${n}`)
console.log(`\nResponses under load: ${answers.join(', ')}`)
for (const what of run.broken.slice(0, 50)) console.log(`✗ ${what}`)
console.log(
  run.broken.length === 0
    ? `\nSoak of ${minutes} minutes, ${stores} stores, ${kills} kills: nothing was lost or applied twice.`
    : `\nSoak of ${minutes} minutes, ${stores} stores, ${kills} kills: ${run.broken.length} problems.`,
)
process.exit(run.broken.length === 0 ? 0 : 1)

/** Lets the load run until a time (ms), and pauses it while too many events are open. */
async function live(tenants: readonly Tenant[], until: number): Promise<void> {
  while (Date.now() < until) {
    let open = 0
    for (const tenant of tenants) open += await openOf(run, tenant).catch(() => 0)
    run.held = open > MOST_OPEN
    await sleep(Math.max(0, Math.min(2 * SECOND, until - Date.now())))
  }
}

/** Makes a tenant with a project in a store. */
async function newTenant(name: string, store: number): Promise<Tenant> {
  const { url } = run
  if (stores > 1) await closeOthers(store)
  const { token } = await signIn(url, `soak-${name}@example.com`)
  const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name } })
  if (storeOf(project) !== store) throw new Error(`${project} was not made in store ${store}`)
  const base = { url, vendor: 'stripe', token, project } as const
  const inbox = await connect(base, 'Soak', newSigningSecret('stripe'))
  const bulkInbox = await connect({ ...base, vendor: 'gocardless' }, 'Soak of many', newSigningSecret('gocardless'))
  const unique = `${name}${randomBytes(3).toString('hex')}`
  const kept = {
    keys: [],
    deadKeys: [],
    deadSigning: [],
    sent: [],
    bulks: [],
    versions: new Map(),
    feed: newFeed(),
    consumers: [],
  }
  return { name: unique, token, project, inbox, bulkInbox, ...kept }
}
