import { batch, type Db, run } from '../db/client'
import type { Runtime } from '../env'
import { sendToEndpoints } from '../followers/wake'
import { ourHosts } from '../http/our-hosts'
import { newId } from '../lib/ids'
import { SECOND } from '../lib/time'
import { type Item, workOf } from './items'
import { RUN_MS, RUN_READS, RUN_STATEMENTS, SOON_MS } from './limits'
import { type Message, messageOf, relayedMessage } from './message'
import { readObjects } from './objects'
import { type Outcome, outcomeOf } from './outcome'
import { readPayloads, readRelayed } from './relayed'
import { secretsOf } from './secrets'
import { sendAll } from './send'
import { type Endpoint, type EndpointOf, type FoundWork, letGo, selectWork, taken } from './work'
import { writeRun } from './write'

/**
 * Sends to an endpoint what there is, for as long as its queue allows. What is left, or is due soon, gets a message.
 *
 * @param rt in the store of the project
 * @throws {Fault} `database_unavailable`, `encryption_key_unavailable`. The cron finds the endpoint again.
 */
export async function runEndpoint(rt: Runtime, of: EndpointOf): Promise<void> {
  const { db } = rt
  const lease = { ...of, token: newId('lse', Date.now()), now: Date.now() }
  const first = await batch(db, { taken: taken(db, of, lease), ...selectWork(db, of, lease) })
  const [endpoint] = first.endpoint
  if (!endpoint) return
  const secrets = await secretsOf(rt, endpoint).catch(async (error) => {
    await run(db, letGo(db, lease))
    throw error
  })
  const until = Date.now() + (endpoint.slow ? RUN_MS.slow : RUN_MS.fast)
  let found: FoundWork = first
  for (let reads = 1; found.endpoint[0]; reads++) {
    const outcome = await sendSome(rt, found.endpoint[0], found, { secrets, until })
    const isSlower = outcome.progress.slow !== endpoint.slow
    const isLast = Date.now() >= until || reads >= RUN_READS || isSlower || rt.cost().statements >= RUN_STATEMENTS
    const written = await writeRun(db, lease, { outcome, resend: found.resend[0]?.id, isLast })
    found = written.found
    const woken = [{ ...of, slow: outcome.progress.slow }]
    if (written.isLeft) await sendToEndpoints(rt, woken)
    else if (!found.endpoint[0]) await sendSoon(rt, woken, outcome)
  }
}

async function sendSome(
  rt: Runtime,
  endpoint: Endpoint,
  found: FoundWork,
  { secrets, until }: { secrets: readonly string[]; until: number },
): Promise<Outcome> {
  const relayed = endpoint.relay && (await readRelayed(rt.db, endpoint, found))
  const work = workOf(endpoint, found, Date.now(), relayed)
  const messageFor = await messagesOf(rt.db, endpoint, work.items)
  const target = { url: endpoint.url, secrets, ours: ourHosts(rt.settings) }
  const sent = await sendAll(endpoint, target, work.items, { until, messageFor })
  return outcomeOf(endpoint, work, sent, Date.now())
}

/** Reads what these items need besides the feed. @returns each as it is sent */
async function messagesOf(db: Db, endpoint: Endpoint, items: readonly Item[]): Promise<(item: Item) => Message> {
  const { project_id, relay, include_object } = endpoint
  if (relay) {
    const ids = items.flatMap((item) => (item.kind === 'gap' ? [] : [item.change.id]))
    const payloads = await readPayloads(db, project_id, ids)
    return (item) =>
      item.kind === 'gap' ? messageOf(endpoint, item, undefined) : relayedMessage(item, payloads.get(item.change.id))
  }
  const currentOf = include_object ? await readObjects(db, project_id, items) : (_: Item) => undefined
  return (item) => messageOf(endpoint, item, currentOf(item))
}

/** Sends a message for what is due within the next minute: the cron comes only once in it. */
async function sendSoon(rt: Runtime, woken: Parameters<typeof sendToEndpoints>[1], { progress, parked }: Outcome) {
  if (progress.state === 'disabled') return
  const now = Date.now()
  const due = parked.flatMap(({ due_at }) => (due_at === null ? [] : [due_at]))
  const isHeld = progress.not_before > now
  const next = isHeld ? progress.not_before : Math.min(...due)
  if (next - now <= SOON_MS) await sendToEndpoints(rt, woken, Math.max(1, Math.ceil((next - now) / SECOND)))
}
