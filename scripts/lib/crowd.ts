import { must } from './api.ts'
import { deliver, type EventRecord, type Inbox, isReceipt } from './deliver.ts'
import { signedHeaders } from './sign.ts'

const ROUNDS = 6
const DELIVERIES = 40
const READS = 20
const HANG_UPS = 20
/** A hang-up comes within this of its request (ms): before, while and after a trip is shared. */
const HANG_UP_WITHIN = 12
/** What nobody waits for takes five seconds to be given up: an answer later than this has waited for one (ms). */
const SLOW = 4000

/**
 * Deliveries and reads that come together, so that they share round trips, among callers that hang up. Whoever stays is
 * answered, soon, and with what is their own.
 *
 * @throws where one is not
 */
export async function crowd(inbox: Inbox): Promise<{ answers: number; slowest: number }> {
  const key = await must<{ key: { id: string }; secret: string }>(`${inbox.url}/platform/v1/api-keys`, {
    ...inbox,
    json: { name: 'crowd' },
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
  const take = async (name: string) => {
    const answer = await deliver(inbox, name, event(name))
    const id = isReceipt(answer) ? answer.body.event_ids[0] : undefined
    if (id === undefined) throw new Error(`a delivery was answered ${answer.status} ${JSON.stringify(answer.body)}`)
    ids.set(id, name)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const name = (n: number) => `evt_crowd_${round}_${n}_${Date.now()}`
    const gone = Array.from({ length: HANG_UPS }, (_, n) => hangUp(inbox, name(1000 + n)))
    const reads = Array.from({ length: READS }, () => timed(read()))
    const taken = Array.from({ length: DELIVERIES }, (_, n) => timed(take(name(n))))
    await Promise.all([...gone, ...reads, ...taken])
  }
  if (ids.size !== ROUNDS * DELIVERIES) throw new Error('two deliveries were answered with one event')
  await expectOwnEvents(inbox, ids)
  const slowest = Math.max(...times)
  if (slowest > SLOW) throw new Error(`an answer took ${slowest.toFixed(0)} ms`)
  return { answers: times.length, slowest }
}

/** Every event is stored as what its own delivery said. */
async function expectOwnEvents(inbox: Inbox, ids: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, name] of ids) {
    const stored = await must<EventRecord & { vendor_event_id: string }>(
      `${inbox.url}/platform/v1/billing/webhooks/${id}`,
      inbox,
    )
    if (stored.vendor_event_id !== name) throw new Error(`${name} was answered as ${stored.vendor_event_id}`)
  }
}

/** A delivery whose caller does not wait for the answer. */
async function hangUp(inbox: Inbox, name: string): Promise<void> {
  const url = `${inbox.url}/ingest/${inbox.connection}`
  const body = event(name)
  const headers = await signedHeaders(inbox.vendor, { body, secret: inbox.secret, url, name, now: Date.now() })
  const signal = AbortSignal.timeout(Math.floor(Math.random() * HANG_UP_WITHIN))
  await fetch(url, { method: 'POST', body, headers, signal }).then(
    (response) => response.arrayBuffer(),
    (error: Error) => {
      if (error.name !== 'TimeoutError') throw error
    },
  )
}

function event(id: string): Buffer<ArrayBuffer> {
  const object = {
    object: 'event',
    type: 'customer.updated',
    data: { object: { id: 'cus_crowd', object: 'customer' } },
  }
  return Buffer.from(JSON.stringify({ id, ...object }))
}
