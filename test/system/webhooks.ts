/*
 * npm run try:webhooks: plays a random history against a Worker of its own, beside a server that only receives webhooks and refuses some,
 * and kills both on the way. At the end, that server must have seen every change, and its objects must equal the lists of the API.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { readFlags } from '../../scripts/lib/flags.ts'
import { temporaryState } from './temporary-state.ts'

const { values } = readFlags({
  usage: 'npm run try:webhooks [-- OPTIONS]',
  about:
    'Plays a history beside a server that only receives webhooks, kills it and the Worker, and compares its objects with the API.',
  flags: {
    changes: { type: 'string', takes: 'N', help: 'changes in the history, at least', default: '20000' },
    kills: { type: 'string', takes: 'N', help: 'kills of the Worker and of the receiver, at least', default: '50' },
    minutes: { type: 'string', takes: 'N', help: 'duration of the history, at least', default: '0' },
    seed: { type: 'string', takes: 'N', help: 'makes the same acts again', default: String(Date.now() % 1e6) },
  },
})
// This must run before the modules below are imported, because they read LOCAL_STATE_DIR.
const { folder, remove } = temporaryState('webhooks')
const { freePort, portFree } = await import('./server.ts')
const { must, ask } = await import('../../scripts/lib/api.ts')
const { signIn } = await import('../../scripts/lib/sign-in.ts')
const { startSignInLog } = await import('../../scripts/lib/server-log.ts')
const { sleep } = await import('../../scripts/lib/terminal.ts')
const { bundle } = await import('../../scripts/lib/worker-bundle.ts')
const { newWorld } = await import('./mirror/world.ts')
const { historyOf } = await import('./mirror/history.ts')
const { listed } = await import('./mirror/compare.ts')
const { processOf } = await import('./webhooks/process.ts')

const SECOND = 1000
const WRITERS = 16
/** The share of requests that the receiver refuses. */
const REFUSED = '0.03'
/** How long each of them lives (ms), at most. */
const LIFE = 10 * SECOND
/** How long it may take at the end until everything was received (ms). */
const SETTLE_WITHIN = 20 * 60 * SECOND
const TYPES = ['subscription.*', 'invoice.*', 'payment_method.*', 'customer.changed', 'consumer.*']
/** The lists whose rows the receiver must have, and what its keys begin with. */
const LISTS = {
  subscription: 'billing/subscriptions',
  invoice: 'billing/invoices',
  payment_method: 'billing/payment-methods',
  consumer: 'consumers',
}

/** A customer decides which of its payment methods is the default, and its changes have revisions of their own: docs/guides/webhooks-out.md. */
function setDefault(
  method: { id: string; vendor: string; customer: string; is_default: boolean | null },
  customers: Map<string, { default_payment_method: string | null }>,
) {
  const customer = customers.get(`${method.vendor} ${method.customer}`)
  method.is_default = customer ? customer.default_payment_method === method.id : null
}

const began = Date.now()
const [port, receiverPort] = [await freePort(), await freePort()]
const [file, script] = [join(folder, 'received.sqlite'), join(folder, 'worker.js')]
let secret = ''
const worker = processOf('worker.ts', () => [join(folder, 'data'), script, String(port), String(receiverPort)])
const receiver = processOf('receiver.ts', () => [file, String(receiverPort), secret, REFUSED])
const kills = { worker: 0, receiver: 0 }
const url = `http://localhost:${port}`
let isOver = false
try {
  console.log(`Seed ${values.seed}. Starting a Worker …`)
  startSignInLog()
  writeFileSync(script, await bundle())
  await worker.start()
  const { token } = await signIn(url, 'webhooks@example.com')
  const world = await newWorld(url, token)
  const as = { token, project: world.project }
  const api = `${url}/platform/v1`
  const json = { url: 'https://receiver.plain.dev/hook', types: TYPES, include_object: true }
  const made = await must<{ endpoint: { id: string }; secret: string }>(`${api}/webhook-endpoints`, { ...as, json })
  secret = made.secret
  const at = `${api}/webhook-endpoints/${made.endpoint.id}`
  await receiver.start()
  const history = historyOf(world, Number(values.seed))
  const writing = Array.from({ length: WRITERS }, async () => {
    while (!isOver) await history.act()
  })
  let head = 0
  const until = Date.now() + Number(values.minutes) * 60 * SECOND
  const least = Number(values.kills)
  while (head < Number(values.changes) || kills.worker < least || kills.receiver < least || Date.now() < until) {
    await sleep(LIFE * (0.1 + 0.9 * Math.random()))
    await disturb()
    const page = await must<{ next: string }>(`${api}/changes?after=latest`, as).catch(() => null)
    head = Number(page?.next.split('_').at(-1) ?? head)
    // As a person would: an endpoint that was killed so often would soon get one attempt every few hours.
    await ask(at, { ...as, method: 'PATCH', json: { state: 'active' } }).catch(() => null)
    console.log(`  ${head} changes, ${kills.worker} kills of the Worker, ${kills.receiver} of the receiver`)
  }
  isOver = true
  await Promise.all(writing)
  await settle()
  await compare()

  async function disturb(): Promise<void> {
    const isWorker = Math.random() < 0.5
    if (isWorker) {
      await worker.kill()
      await portFree(port)
      await worker.start()
      kills.worker += 1
    } else {
      await receiver.kill()
      await portFree(receiverPort)
      await receiver.start()
      kills.receiver += 1
    }
  }

  /** Waits until the endpoint has no change before it and no delivery that waits, which are resent as a person would do it. */
  async function settle(): Promise<void> {
    type Shown = { behind: number; state: string }
    for (const end = Date.now() + SETTLE_WITHIN; ; await sleep(5 * SECOND)) {
      const { behind } = await must<Shown>(at, as)
      const { data } = await must<{ data: { number: number }[] }>(`${at}/deliveries?limit=20`, as)
      console.log(`  ${behind} changes behind, ${data.length === 20 ? 'at least 20' : data.length} deliveries wait`)
      if (behind === 0 && data.length === 0) return
      if (Date.now() > end) throw new Error('the endpoint did not catch up')
      await ask(at, { ...as, method: 'PATCH', json: { state: 'active' } })
      for (const { number } of data) await ask(`${at}/deliveries/${number}/resend`, { ...as, method: 'POST' })
    }
  }

  async function compare(): Promise<void> {
    const received = new DatabaseSync(file)
    const rowsOf = (query: string) => received.prepare(query).all() as Record<string, string | null>[]
    const differences = rowsOf('SELECT what FROM wrong').map(({ what }) => String(what))
    const seen = new Set(rowsOf('SELECT id FROM seen').map(({ id }) => id))
    let told = 0
    for (let after = ''; ; ) {
      type Page = { data: { id: string }[]; next: string; has_more: boolean }
      const query = `types=${TYPES.join(',')}&limit=500${after && `&after=${after}`}`
      const page: Page = await must<Page>(`${api}/changes?${query}`, as)
      told += page.data.length
      differences.push(...page.data.filter(({ id }) => !seen.has(id)).map(({ id }) => `${id} was never received`))
      after = page.next
      if (!page.has_more) break
    }
    const receivedOf = (type: string) => {
      const rows = rowsOf(`SELECT key, object FROM objects WHERE key LIKE '${type} %' AND object IS NOT NULL`)
      return new Map(rows.map(({ key, object }) => [String(key).slice(type.length + 1), JSON.parse(String(object))]))
    }
    const counts: string[] = []
    for (const [type, path] of Object.entries(LISTS)) {
      const has = ({ state, status }: { state?: string; status?: string }) => state !== 'erased' && status !== 'deleted'
      const expected = new Map([...(await listed(world, path))].filter(([, row]) => has(row)))
      const found = new Map([...receivedOf(type)].filter(([, object]) => has(object)))
      if (type === 'payment_method') for (const method of found.values()) setDefault(method, receivedOf('customer'))
      counts.push(`${found.size} ${type}s`)
      for (const name of new Set([...expected.keys(), ...found.keys()])) {
        const [is, shall] = [found.get(name), expected.get(name)]
        if (!isDeepStrictEqual(is, shall)) {
          differences.push(`${type} ${name}: ${JSON.stringify(is)} instead of ${JSON.stringify(shall)}`)
        }
      }
    }
    if (differences.length > 0) {
      throw new Error(`${differences.length} differences:\n  ${differences.slice(0, 5).join('\n  ')}`)
    }
    console.log(`\nThe receiver has what the lists have (${counts.join(', ')}), and has seen each of ${told} changes of its types.
${kills.worker} kills of the Worker, ${kills.receiver} of the receiver. It took ${((Date.now() - began) / 60_000).toFixed(1)} minutes.`)
  }
} finally {
  isOver = true
  await Promise.all([worker.kill(), receiver.kill()])
  remove()
}
process.exit(0)
