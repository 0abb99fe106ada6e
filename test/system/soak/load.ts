import { deliver, isReceipt } from '../../../scripts/lib/deliver.ts'
import { newSigningSecret } from '../../../scripts/lib/sign.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'
import { call } from './call.ts'
import { follow } from './feed.ts'
import { nextBulk, nextEvent, type Sent, type Tenant } from './ledger.ts'
import { createOnce } from './repeats.ts'

/** The shared state of a run. */
export type Run = {
  url: string
  stopped: boolean
  /** Whether senders pause because the local queue is nearly full. */
  held: boolean
  /** Number of responses by status, and of missing ones. */
  answers: Map<string, number>
  broken: string[]
}

const SENDERS = 2
const PAUSE_MS = 120
const GIVE_UP_MS = 300
/** The share of sends that are bursts, whose deliveries share round trips, and the number of events in a burst. */
const BURSTS = 0.2
const BURST = 6
const READS = [
  '/platform/v1/api-keys',
  '/platform/v1/billing/webhooks?view=summary',
  '/platform/v1/billing/webhooks/search?status=processed&order=asc',
  '/platform/v1/billing/webhooks/health',
  '/platform/v1/billing/webhooks/lag-timeseries',
  '/platform/v1/billing/subscriptions',
]

/** Runs everything that one tenant does concurrently, until the run is stopped. */
export async function load(run: Run, tenant: Tenant): Promise<void> {
  const senders = Array.from({ length: SENDERS }, () => keepOn(run, () => sendOne(run, tenant), PAUSE_MS))
  await Promise.all([
    ...senders,
    keepOn(run, () => sendBulk(run, tenant), 15_000),
    keepOn(run, () => read(run, tenant), 150),
    keepOn(run, () => rotateKey(run, tenant), 2000),
    keepOn(run, () => rotateSigning(run, tenant), 5000),
    keepOn(run, () => tryDead(run, tenant), 500),
    keepOn(run, () => replay(run, tenant), 3000),
    keepOn(run, () => createOnce(run, tenant), 2000),
    keepOn(run, async () => void (await follow(run, tenant)), 500),
  ])
}

async function keepOn(run: Run, work: () => Promise<void>, pause: number): Promise<void> {
  while (!run.stopped) {
    await work()
    await sleep(pause * (0.5 + Math.random()))
  }
}

/** Acts as the vendor: sends one or several events until each gets a 2xx, and sends some of them again. */
async function sendOne(run: Run, tenant: Tenant): Promise<void> {
  if (run.held) return
  const burst = Array.from({ length: Math.random() < BURSTS ? BURST : 1 }, () => nextEvent(tenant))
  await Promise.all(burst.map((event) => sendUntilTaken(run, tenant, event)))
  const before = tenant.sent[Math.floor(Math.random() * tenant.sent.length)]
  if (before && Math.random() < 0.15) await sendUntilTaken(run, tenant, before)
}

async function sendUntilTaken(run: Run, tenant: Tenant, event: Sent): Promise<void> {
  for (;;) {
    const receipt = await sendOnce(run, tenant, event, tenant.inbox.secret)
    if (receipt !== null) return
    await sleep(GIVE_UP_MS)
  }
}

/** @returns the event id if the response was a 2xx */
async function sendOnce(run: Run, { inbox }: Tenant, event: Sent, secret: string): Promise<string | null> {
  const answer = await deliver({ ...inbox, patience: 1 }, event.vendorId, event.body, secret).catch(() => null)
  note(run, answer?.status ?? 0)
  if (!answer || answer.status >= 500 || answer.status === 401) return null
  if (answer.status !== 200 || !('event_ids' in answer.body)) {
    run.broken.push(`a signed delivery got ${answer.status}: ${JSON.stringify(answer.body)}`)
    return null
  }
  const [id = ''] = answer.body.event_ids
  event.receipts.push(id)
  return id
}

/** Sends one delivery of many events until it gets a 2xx. */
async function sendBulk(run: Run, tenant: Tenant): Promise<void> {
  if (run.held) return
  const bulk = nextBulk(tenant)
  const inbox = { ...tenant.bulkInbox, patience: 1 }
  for (;;) {
    const answer = await deliver(inbox, 'bulk', bulk.body).catch(() => null)
    note(run, answer?.status ?? 0)
    if (answer && isReceipt(answer)) {
      bulk.receipts.push(answer.body.event_ids)
      return
    }
    if (answer && answer.status < 500) {
      run.broken.push(`a delivery of many events got ${answer.status}: ${JSON.stringify(answer.body)}`)
      return
    }
    await sleep(GIVE_UP_MS)
  }
}

/** Reads with a live key, which must work however often the server was killed. */
async function read(run: Run, tenant: Tenant): Promise<void> {
  const { url } = run
  const { project } = tenant
  const key = tenant.keys[Math.floor(Math.random() * tenant.keys.length)]
  const path = READS[Math.floor(Math.random() * READS.length)]
  if (!key) return
  const { secret } = key
  const { status, body } = await call(`${url}${path}`, { token: secret, project })
  note(run, status)
  const rotated = !tenant.keys.some((one) => one.secret === secret)
  if (status >= 400 && status < 500 && !rotated) {
    run.broken.push(`a live key got ${status}: ${JSON.stringify(body)}`)
  }
}

/**
 * Rotates, revokes or mints a key. After a 2xx the old secret is dead; if the response was lost, it is not used again.
 */
async function rotateKey(run: Run, tenant: Tenant): Promise<void> {
  const { token, project, keys } = tenant
  const api = `${run.url}/platform/v1/api-keys`
  const [key] = keys
  if (!key || keys.length < 3) {
    const { status, body } = await call<Minted>(api, { token, project, json: { name: 'soak' } })
    note(run, status)
    if (status === 201) keys.push({ id: body.key.id, secret: body.secret })
    return
  }
  keys.shift()
  const revokes = Math.random() < 0.5
  const path = revokes ? `${api}/${key.id}` : `${api}/${key.id}/rotate`
  const { status, body } = await call<Minted>(path, { method: revokes ? 'DELETE' : 'POST', token, project })
  note(run, status)
  if (status !== 200 && status !== 204) return
  tenant.deadKeys.push(key.secret)
  if (!revokes) keys.push({ id: key.id, secret: body.secret })
}

type Minted = { key: { id: string }; secret: string }
type Connection = { secrets: { id: string; hint: string }[] }

/** Adds a signing secret, signs with it, and removes the others. */
async function rotateSigning(run: Run, tenant: Tenant): Promise<void> {
  const { token, project, inbox } = tenant
  const api = `${run.url}/platform/v1/billing/connections/${inbox.connection}`
  const fresh = newSigningSecret('stripe')
  const added = await call<Connection>(`${api}/secrets`, { token, project, json: { signing_secret: fresh } })
  note(run, added.status)
  const old = inbox.secret
  if (added.status === 201) inbox.secret = fresh
  const now = await call<Connection>(api, { token, project })
  if (now.status !== 200) return
  for (const { id, hint } of now.body.secrets) {
    if (inbox.secret.endsWith(hint)) continue
    const { status } = await call(`${api}/secrets/${id}`, { method: 'DELETE', token, project })
    note(run, status)
    if (status === 204 && old.endsWith(hint) && old !== inbox.secret) tenant.deadSigning.push(old)
  }
}

/** Dead secrets must stay dead. */
export async function tryDead(run: Run, tenant: Tenant): Promise<void> {
  const key = pick(tenant.deadKeys)
  if (key) await mustBeDead(run, tenant, key)
  const secret = pick(tenant.deadSigning)
  if (secret) await mustNotSign(run, tenant, secret)
}

export async function mustBeDead(run: Run, { project }: Tenant, key: string): Promise<number> {
  const { status } = await call(`${run.url}/platform/v1/api-keys/self`, { token: key, project })
  note(run, status)
  if (status > 0 && status < 400) run.broken.push(`a dead API key got ${status}`)
  return status
}

export async function mustNotSign(run: Run, { inbox }: Tenant, secret: string): Promise<number> {
  const body = Buffer.from('{"id":"evt_forged","object":"event","type":"customer.updated","data":{"object":{}}}')
  const answer = await deliver({ ...inbox, patience: 1 }, 'forged', body, secret).catch(() => null)
  note(run, answer?.status ?? 0)
  if (answer && answer.status < 400) run.broken.push(`a delivery signed with a removed secret was accepted`)
  return answer?.status ?? 0
}

async function replay(run: Run, { sent, token, project }: Tenant): Promise<void> {
  const id = pick(sent)?.receipts[0]
  if (!id) return
  const path = `${run.url}/platform/v1/billing/webhooks/${id}/replay`
  const { status, body } = await call(path, { method: 'POST', token, project })
  note(run, status)
  if (status >= 400 && status < 500) run.broken.push(`a replay got ${status}: ${JSON.stringify(body)}`)
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[Math.floor(Math.random() * list.length)]
}

function note({ answers }: Run, status: number): void {
  const name = status === 0 ? 'no answer' : String(status)
  answers.set(name, (answers.get(name) ?? 0) + 1)
}
