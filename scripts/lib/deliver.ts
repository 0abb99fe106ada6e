import type { Effect } from '../../src/billing/effect.ts'
import type { PresetName } from '../../src/vendors/verification.ts'
import { type Answer, ask, explain, must, type Problem } from './api.ts'
import { type SignedVendor, signedBody, signedHeaders } from './sign.ts'
import { sleep } from './terminal.ts'

/** A connection to deliver to. */
export type Target = {
  url: string
  vendor: SignedVendor
  connection: string
  secret: string
  /** Of the vendor `hmac`: the sender to sign as. */
  preset?: PresetName | undefined
  /** Attempts in total if the server returns 429 or 503. */
  patience?: number
}
/** A connection to deliver to, and the credentials to read its events with. */
export type Inbox = Target & { token: string; project: string }

/** The fields of an event record that the scripts use. */
export type EventRecord = {
  id: string
  event_type: string
  status: string
  processing_attempts: number
  last_error: string | null
  raw_payload_b64: string | null
  deliveries: number
  decoded_summary: {
    effects: Pick<Effect, 'kind' | 'id' | 'result'>[]
  } | null
}
export type Receipt = { event_ids: string[]; duplicate: boolean }

const FINAL = ['processed', 'ignored', 'failed']
const PAGE = 100

/**
 * Sends one body, byte for byte, signed as the vendor does.
 *
 * @param secret overrides the secret of the inbox
 * @returns the response, and the bytes as `sent`
 */
export async function deliver(
  inbox: Target,
  name: string,
  body: Buffer<ArrayBuffer>,
  secret = inbox.secret,
): Promise<Answer<Receipt | Problem> & { sent: Buffer<ArrayBuffer> }> {
  const url = `${inbox.url}/ingest/${inbox.connection}`
  const sent = signedBody(inbox.vendor, body, secret)
  const headers = await signedHeaders(inbox.vendor, {
    body: sent,
    secret,
    url,
    name,
    now: Date.now(),
    preset: inbox.preset,
  })
  const patience = inbox.patience !== undefined && { patience: inbox.patience }
  return { ...(await ask<Receipt>(url, { body: sent, headers, ...patience })), sent }
}

export function isReceipt(answer: Answer<Receipt | Problem>): answer is Answer<Receipt> {
  return answer.status === 200 && 'event_ids' in answer.body
}

/** Why a delivery was refused, in one line. */
export function refusal({ status, body }: Answer<Receipt | Problem>): string {
  return `${status} ${explain(body as Problem)}`
}

/**
 * Polls the events until all of them are final or the time is up. It reads the newest events from the list, a hundred
 * for each request, and the rest one by one.
 *
 * @returns the last state of each event by id; an unknown id is missing
 */
export async function awaitFinal(
  inbox: Inbox,
  ids: readonly string[],
  withinMs: number,
  report: (done: number) => void = () => {},
): Promise<Map<string, EventRecord>> {
  const known = new Map<string, EventRecord>()
  const open = () => ids.filter((id) => !isFinal(known.get(id)))
  const until = Date.now() + withinMs
  // The longer it takes, the less often it asks.
  for (let pause = 500; ; pause = Math.min(pause * 1.05, 3000)) {
    for (const event of await readEvents(inbox, open())) known.set(event.id, event)
    const left = open().length
    report(ids.length - left)
    if (left === 0 || Date.now() > until) return known
    await sleep(pause)
  }
}

export function isFinal(event: EventRecord | undefined): boolean {
  return event !== undefined && FINAL.includes(event.status)
}

async function readEvents(inbox: Inbox, ids: readonly string[]): Promise<EventRecord[]> {
  const { url, token, project } = inbox
  const wanted = new Set(ids)
  const found: EventRecord[] = []
  const base = `${url}/platform/v1/billing/webhooks`
  let cursor: string | null = null
  for (let pages = Math.ceil(ids.length / PAGE) + 1; pages > 0 && wanted.size > 1; pages--) {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: { data: EventRecord[]; next_cursor: string | null } = await must(`${base}?limit=${PAGE}${query}`, {
      token,
      project,
    })
    found.push(...page.data.filter(({ id }) => wanted.delete(id)))
    cursor = page.next_cursor
    if (cursor === null) break
  }
  for (const id of wanted) {
    const { status, body } = await ask<EventRecord>(`${base}/${id}`, { token, project })
    if (status === 200) found.push(body as EventRecord)
    else if (status !== 404) throw new Error(`reading event ${id} returned ${status}: ${explain(body as Problem)}`)
  }
  return found
}
