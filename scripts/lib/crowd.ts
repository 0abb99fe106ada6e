import { must } from './api.ts'
import { deliver, type EventRecord, type Inbox, isReceipt } from './deliver.ts'
import { signedHeaders } from './sign.ts'

const ROUNDS = 6
const DELIVERIES = 40
const READS = 20
const HANG_UPS = 20
/** A caller hangs up within this time (ms): before, during or after the trip that carries its delivery. */
const HANG_UP_WITHIN = 12
/** A response slower than this (ms) has waited for the timeout of a request whose caller hung up (5 s). */
const SLOW = 4000

/**
 * Sends many deliveries and reads at once while other callers hang up, so that deliveries share round trips. Every
 * caller that stays must get its own result, and soon.
 *
 * @throws if one does not
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
    if (told.id !== key.key.id) throw new Error(`the key ${key.key.id} got the data of ${told.id}`)
  }
  const ids = new Map<string, string>() // our id → the vendor's id
  const take = async (name: string) => {
    const answer = await deliver(inbox, name, event(name))
    const id = isReceipt(answer) ? answer.body.event_ids[0] : undefined
    if (id === undefined) throw new Error(`a delivery got ${answer.status} ${JSON.stringify(answer.body)}`)
    ids.set(id, name)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const name = (n: number) => `evt_crowd_${round}_${n}_${Date.now()}`
    const gone = Array.from({ length: HANG_UPS }, (_, n) => hangUp(inbox, name(1000 + n)))
    const reads = Array.from({ length: READS }, () => timed(read()))
    const taken = Array.from({ length: DELIVERIES }, (_, n) => timed(take(name(n))))
    await Promise.all([...gone, ...reads, ...taken])
  }
  if (ids.size !== ROUNDS * DELIVERIES) throw new Error('two deliveries got the same event id')
  await expectOwnEvents(inbox, ids)
  const slowest = Math.max(...times)
  if (slowest > SLOW) throw new Error(`a response took ${slowest.toFixed(0)} ms`)
  return { answers: times.length, slowest }
}

/** Checks that every event is stored with the data of its own delivery. */
async function expectOwnEvents(inbox: Inbox, ids: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, name] of ids) {
    const stored = await must<EventRecord & { vendor_event_id: string }>(
      `${inbox.url}/platform/v1/billing/webhooks/${id}`,
      inbox,
    )
    if (stored.vendor_event_id !== name) throw new Error(`${name} was stored as ${stored.vendor_event_id}`)
  }
}

/** A delivery whose caller does not wait for the response. */
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
