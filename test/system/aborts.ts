/*
 * npm run aborts: requests that end in the middle of a shared recording trip, in a real workerd. The database's answers are
 * held, so that it is known where each request ends: see held-worker.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { must } from '../../scripts/lib/api.ts'
import type { EventRecord, Inbox, Receipt } from '../../scripts/lib/deliver.ts'
import { signedHeaders } from '../../scripts/lib/sign.ts'
import { fail, run, sleep } from '../../scripts/lib/terminal.ts'
import { type Held, startHeldWorker, tell } from './held-worker.ts'
import { fastFolder } from './ram-disk.ts'

/** Longer than the whole takes on a busy machine (ms). */
const LIMIT_MS = 900_000
/** Every caller who stays has an answer by then (ms). */
const PATIENCE = 120_000
/** A delivery that has waited this long goes alone, as src/inbox/receive/limits.ts says (ms). */
const ALONE_AFTER = 1500
/** A trip whose request is gone no longer counts when the database's timeout of five seconds is over (ms). */
const TRIP_GIVEN_UP = 5001
/** By then workerd has noticed that a caller is gone. Where it has not, less is tried and nothing fails (ms). */
const NOTICED = 200

type Sent = { name: string; answer: Promise<Answer>; reset: () => void }
type Answer = { status: number; ids: string[] } | 'cut off'

await run(async () => {
  const folder = mkdtempSync(join(fastFolder(), 'aborts-'))
  const limit = setTimeout(() => fail('It did not end in time.'), LIMIT_MS)
  const { answers, cutOff } = await aborts(folder)
  console.log(`${answers} callers got their own event; ${cutOff} requests were aborted or cut off`)
  clearTimeout(limit)
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})

/**
 * Requests that end in the middle of a shared trip: aborted by the runtime, or cut off by a TCP reset, while they wait,
 * while they are on another's trip, and while they lead one. Every other caller is answered with its own event.
 *
 * @throws where one is not, or where an event is recorded twice
 */
async function aborts(folder: string): Promise<{ answers: number; cutOff: number }> {
  const { inbox, stop } = await startHeldWorker(folder)
  try {
    const runs = [await aborted(inbox), await abortedInTheQueue(inbox), await hungUp(inbox)]
    return {
      answers: runs.reduce((sum, { answers }) => sum + answers, 0),
      cutOff: runs.reduce((sum, { cutOff }) => sum + cutOff, 0),
    }
  } finally {
    await stop()
  }
}

/** A request that leads a trip is aborted, and one that is out alone. Some callers whose deliveries it carries are cut off. */
async function aborted(inbox: Inbox) {
  const test = await busy(inbox, 'trip')
  const joined = await test.join(12)
  await test.release(1) // the oldest waiting delivery leads the next eight
  await test.until(({ held }) => held === 4)
  await test.abort(joined[0], test.owners[1])
  for (const one of [1, 2, 8]) joined[one]?.reset()
  return test.finish([...test.owners, ...joined], [joined[0], test.owners[1], joined[1], joined[2], joined[8]])
}

/** The oldest waiting request is aborted before it is told to lead; two other callers are cut off. */
async function abortedInTheQueue(inbox: Inbox) {
  const test = await busy(inbox, 'queue')
  const joined = await test.join(6)
  await test.abort(joined[0])
  for (const one of [2, 4]) joined[one]?.reset()
  await test.release(1)
  return test.finish([...test.owners, ...joined], [joined[0], joined[2], joined[4]])
}

/** The caller of a delivery that leads a trip hangs up. The trip continues, and what it carries need not go alone. */
async function hungUp(inbox: Inbox) {
  const test = await busy(inbox, 'hung_up')
  const joined = await test.join(4)
  await test.release(1)
  await test.until(({ held }) => held === 4)
  joined[0]?.reset()
  await joined[0]?.answer
  await sleep(NOTICED)
  await test.release(4)
  // The clock stands still, so none of them can have gone alone. What they were answered is looked up in the end.
  await Promise.all(joined.slice(1).map(({ answer }) => answer))
  return test.finish([...test.owners, ...joined], [joined[0]])
}

/** A server whose database holds back the answers to four deliveries. */
async function busy(inbox: Inbox, of: string) {
  const prefix = `evt_${of}_${Date.now()}`
  const until = async (holds: (state: Held) => boolean) => {
    for (const end = Date.now() + PATIENCE; !holds(await tell(inbox)); await sleep(5)) {
      if (Date.now() > end) throw new Error(`this has not come to hold: ${holds}`)
    }
  }
  const answered = await send(inbox, `${prefix}_first`) // from here on, the connection is remembered
  if ((await answered.answer) === 'cut off') throw new Error('the first delivery was cut off')
  await tell(inbox, { hold: 1, tick: TRIP_GIVEN_UP }) // trips that a test before has lost no longer count
  const owners = await Promise.all([0, 1, 2, 3].map((n) => send(inbox, `${prefix}_owner_${n}`)))
  await until(({ held, waiting }) => held === 4 && waiting === 0)
  return {
    owners,
    until,
    release: (n: number) => tell(inbox, { release: n }),
    async join(count: number): Promise<Sent[]> {
      const joined: Sent[] = []
      for (let n = 0; n < count; n++) {
        joined.push(await send(inbox, `${prefix}_joined_${n}`))
        await until(({ waiting }) => waiting === n + 1)
      }
      return joined
    },
    async abort(...gone: (Sent | undefined)[]) {
      for (const one of gone) await tell(inbox, { abort: one?.name ?? '' })
      for (const one of gone) await one?.answer
    },
    /** Lets the database answer again. @throws where one of the others is not answered with its own event */
    async finish(all: Sent[], gone: (Sent | undefined)[]) {
      const stay = all.filter((one) => !gone.includes(one))
      const owned = stay.filter((one) => owners.includes(one))
      // Deliveries that have waited go alone now. The trips that are still out return only after they are answered.
      await tell(inbox, { pass: 1, tick: ALONE_AFTER })
      await Promise.all(stay.filter((one) => !owned.includes(one)).map((one) => expectOwn(inbox, one)))
      await tell(inbox, { release: all.length, go: 1 })
      await Promise.all(owned.map((one) => expectOwn(inbox, one)))
      await expectOnce(inbox, prefix, stay.length + 1)
      return { answers: stay.length, cutOff: gone.length }
    },
  }
}

async function expectOwn(inbox: Inbox, { name, answer }: Sent): Promise<void> {
  const answered = await answer
  if (answered === 'cut off' || answered.status !== 200) {
    throw new Error(`${name} was answered ${answered === 'cut off' ? answered : answered.status}`)
  }
  const stored = await must<Named>(`${inbox.url}/platform/v1/billing/webhooks/${answered.ids[0]}`, inbox)
  if (stored.vendor_event_id !== name) throw new Error(`${name} was answered as ${stored.vendor_event_id}`)
}
type Named = EventRecord & { vendor_event_id: string }

/** Deliveries of requests that are gone may be recorded or not; none is recorded or counted twice. */
async function expectOnce(inbox: Inbox, prefix: string, atLeast: number): Promise<void> {
  const { data } = await must<{ data: Named[] }>(`${inbox.url}/platform/v1/billing/webhooks?limit=100`, inbox)
  const own = data.filter((event) => event.vendor_event_id.startsWith(prefix))
  const names = new Set(own.map((event) => event.vendor_event_id))
  if (names.size !== own.length || own.length < atLeast) throw new Error(`${own.length} events of ${names.size} names`)
  const twice = own.filter(({ deliveries }) => deliveries !== 1)
  if (twice.length > 0) throw new Error(`${twice.length} events were counted more than once`)
}

/** Sends a delivery over its own TCP connection. */
async function send(inbox: Inbox, name: string): Promise<Sent> {
  const url = `${inbox.url}/ingest/${inbox.connection}`
  const body = Buffer.from(
    JSON.stringify({ id: name, object: 'event', type: 'customer.updated', data: { object: { id: 'cus_1' } } }),
  )
  const signed = await signedHeaders(inbox.vendor, { body, secret: inbox.secret, url, name, now: Date.now() })
  const headers = { ...signed, 'X-Abort': name, 'Content-Length': String(body.byteLength) }
  const sending = request(url, { method: 'POST', headers, agent: false, timeout: PATIENCE })
  const answer = new Promise<Answer>((resolve) => {
    sending.on('response', async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      const status = response.statusCode ?? 0
      const body = status === 200 ? (JSON.parse(text) as Receipt) : { event_ids: [] }
      resolve({ status, ids: body.event_ids })
    })
    sending.on('error', () => resolve('cut off'))
    sending.on('timeout', () => sending.destroy())
  })
  sending.end(body)
  return { name, answer, reset: () => sending.socket?.resetAndDestroy() }
}
