import { request } from 'node:http'
import { must } from '../../scripts/lib/api.ts'
import { deliver, type EventRecord, type Inbox, isReceipt } from '../../scripts/lib/deliver.ts'
import { signedHeaders } from '../../scripts/lib/sign.ts'

const ROUNDS = 6
const DELIVERIES = 40
const READS = 20
const HANG_UPS = 20
/** A caller hangs up within this time (ms): before, during and after its delivery's trip. */
const HANG_UP_WITHIN = 12
/** Every answer comes within this time, even on a busy machine (ms). For waits on lost requests, see aborts.ts. */
const SLOW = 120_000

/**
 * Deliveries and reads that come together, so that deliveries share round trips, among callers that hang up. Everyone who
 * stays is answered soon, and with their own event.
 *
 * @throws where one is not
 */
export async function crowd(inbox: Inbox): Promise<{ answers: number; slowest: number }> {
  const key = await must<{ key: { id: string }; secret: string }>(`${inbox.url}/platform/v1/api-keys`, {
    ...inbox,
    // With all scopes, it would need a confirmed session, and a slow machine takes longer than that lasts.
    json: { name: 'crowd', scopes: ['billing:read'] },
  })
  const self = `${inbox.url}/platform/v1/api-keys/self`
  const times: number[] = []
  const timed = async (work: Promise<unknown>) => {
    const began = performance.now()
    await work
    times.push(performance.now() - began)
  }
  const read = async () => {
    const { key: told } = await must<{ key: { id: string } }>(self, { token: key.secret, project: inbox.project })
    if (told.id !== key.key.id) throw new Error(`the key ${key.key.id} was answered as ${told.id}`)
  }
  const ids = new Map<string, string>() // ours → the vendor's
  const prefix = `evt_crowd_${Date.now()}`
  const take = async (name: string) => {
    const answer = await deliver(inbox, name, event(name))
    const id = isReceipt(answer) ? answer.body.event_ids[0] : undefined
    if (id === undefined) throw new Error(`a delivery was answered ${answer.status} ${JSON.stringify(answer.body)}`)
    ids.set(id, name)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const name = (n: number) => `${prefix}_${round}_${n}`
    const gone = Array.from({ length: HANG_UPS }, (_, n) => hangUp(inbox, name(1000 + n)))
    const reads = Array.from({ length: READS }, () => timed(read()))
    const taken = Array.from({ length: DELIVERIES }, (_, n) => timed(take(name(n))))
    await Promise.all([...gone, ...reads, ...taken])
  }
  if (ids.size !== ROUNDS * DELIVERIES) throw new Error('two deliveries were answered with one event')
  await expectOwnEvents(inbox, ids, prefix)
  const slowest = Math.max(...times)
  if (slowest > SLOW) throw new Error(`an answer took ${slowest.toFixed(0)} ms`)
  return { answers: times.length, slowest }
}

/** Every event is stored as what its own delivery said, and none was recorded or counted twice. */
async function expectOwnEvents(inbox: Inbox, ids: ReadonlyMap<string, string>, prefix: string): Promise<void> {
  const stored = (await listEvents(inbox)).filter((event) => event.vendor_event_id.startsWith(prefix))
  const names = new Map(stored.map((event) => [event.id, event.vendor_event_id]))
  for (const [id, name] of ids) {
    if (names.get(id) !== name) throw new Error(`${name} was answered as ${names.get(id)}`)
  }
  if (new Set(names.values()).size !== stored.length) throw new Error('an event was recorded twice')
  const twice = stored.filter(({ deliveries }) => deliveries !== 1)
  if (twice.length > 0) throw new Error(`${twice.length} events were counted more than once`)
}

type Named = EventRecord & { vendor_event_id: string }

async function listEvents({ url, token, project }: Inbox): Promise<Named[]> {
  const found: Named[] = []
  let cursor: string | null = null
  do {
    const rest: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: { data: Named[]; next_cursor: string | null } = await must(
      `${url}/platform/v1/billing/webhooks?view=summary&limit=100${rest}`,
      { token, project },
    )
    found.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return found
}

/** A delivery whose caller does not wait for the answer: its connection is reset at some moment. */
async function hangUp(inbox: Inbox, name: string): Promise<void> {
  const url = `${inbox.url}/ingest/${inbox.connection}`
  const body = event(name)
  const headers = await signedHeaders(inbox.vendor, { body, secret: inbox.secret, url, name, now: Date.now() })
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const sending = request(url, { method: 'POST', headers, agent: false })
  sending.on('response', (response) => response.resume().on('error', () => {}))
  sending.on('error', () => {}).on('close', resolve)
  sending.end(body)
  setTimeout(() => sending.socket?.resetAndDestroy(), Math.floor(Math.random() * HANG_UP_WITHIN))
  await gone
}

function event(id: string): Buffer<ArrayBuffer> {
  const object = {
    object: 'event',
    type: 'customer.updated',
    data: { object: { id: 'cus_crowd', object: 'customer' } },
  }
  return Buffer.from(JSON.stringify({ id, ...object }))
}
