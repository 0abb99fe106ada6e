import type * as z from 'zod'
import type { Effect } from '../../src/billing/effect'
import type { Presented } from '../../src/billing/read/present'
import type { billingObjects } from '../../src/billing/schema'
import type { BillingEvent } from '../../src/inbox/events/present'
import type { TimelineEntry } from '../../src/inbox/timeline/timeline'
import { hex, hmac, utf8 } from '../../src/lib/crypto'
import { type Answer, call, type Json, type RequestOptions } from '../harness'
import { newWorld, rows } from '../inbox/pipeline'

/*
 * A project with a connection of each vendor whose events become billing state. Everything takes the real path: a signed
 * delivery, the queue's handler, the API.
 */

const PADDLE_SECRET = 'pdl_ntfset_a_key_that_only_the_tests_know'
/** No rate limit: these tests are about something else. */
const LIMIT_CREDENTIAL = { limit: async () => ({ success: true }) } as unknown as RateLimit

export type List = 'subscriptions' | 'invoices' | 'payment-methods' | 'purchases'
export type Event = z.infer<typeof BillingEvent>
/** An object as the API answers it: the fields of every kind, and those of its own. */
export type Shown = Presented & Record<string, unknown>
/** An object's row as it is stored: JSON as text, a boolean as a number. */
export type Stored = Omit<typeof billingObjects.$inferSelect, 'ambiguous' | 'incomplete' | 'candidates'> & {
  ambiguous: number
  incomplete: number
  candidates: string
}
export type BillingWorld = Awaited<ReturnType<typeof billingWorld>>

/** Connects Paddle. A second connection has another address, but the same events. */
export async function paddleConnection({ token, project }: { token: string; project: string }): Promise<string> {
  const json = { vendor: 'paddle', name: 'Paddle', livemode: true, signing_secret: PADDLE_SECRET }
  const { body } = await call('/platform/v1/billing/connections', { method: 'POST', token, project, json })
  return body.id
}

export async function billingWorld() {
  const world = await newWorld()
  const paddle = await paddleConnection(world)

  async function send(event: object, { bindings, ...options }: RequestOptions = {}): Promise<Answer> {
    if (!('event_type' in event)) return world.send(event, { bindings: bindings ?? {}, ...options })
    const body = JSON.stringify(event)
    const ts = Math.floor(Date.now() / 1000)
    const h1 = hex(await hmac('SHA-256', utf8(PADDLE_SECRET), `${ts}:`, body))
    return call(`/ingest/${paddle}`, {
      method: 'POST',
      body,
      ...options,
      headers: { 'Content-Type': 'application/json', 'Paddle-Signature': `ts=${ts};h1=${h1}` },
      bindings: { EVENTS: world.queue.EVENTS, ...bindings },
    })
  }

  const api = <T = Json>(path: string, options: RequestOptions = {}): Promise<Answer<T>> =>
    world.api<T>(path, { ...options, bindings: { LIMIT_CREDENTIAL, ...options.bindings } })

  return {
    ...world,
    paddle,
    send,
    api,
    /** Delivers events one after the other, each processed before the next. @returns their ids */
    async deliver(...events: object[]): Promise<string[]> {
      const ids: string[] = []
      for (const event of events) {
        const { status, body, text } = await send(event)
        if (status !== 200) throw new Error(`the delivery answered ${status}: ${text}`)
        await world.queue.pump()
        ids.push(body.event_ids[0])
      }
      return ids
    },
    /** Delivers events, then processes them together, as a batch. @returns their ids */
    async deliverTogether(events: readonly object[]): Promise<string[]> {
      const answers = await Promise.all(events.map((event) => send(event)))
      await world.queue.pump()
      return answers.map(({ body }) => body.event_ids[0])
    },
    event: async (id: string): Promise<Event> => (await api<Event>(`/webhooks/${id}`)).body,
    /** An object as the API answers it. */
    one: async (list: List, id: string, query = ''): Promise<Shown> =>
      (await api<Shown>(`/${list}/${encodeURIComponent(id)}${query}`)).body,
    timeline: async (list: List, id: string): Promise<TimelineEntry[]> =>
      (await api<{ data: TimelineEntry[] }>(`/${list}/${id}/timeline?limit=100`)).body.data,
    preview: (id: string): Promise<Answer> => api(`/webhooks/${id}/replay?dry_run=true`, { method: 'POST' }),
    /** The effects recorded with an event. */
    effects: async (id: string): Promise<Effect[]> => {
      const { decoded_summary, status } = (await api<Event>(`/webhooks/${id}`)).body
      if (!decoded_summary) throw new Error(`the event ${id} has no effects yet: it is ${status}`)
      return decoded_summary.effects
    },
    /** Every object of the project, as it is stored. */
    objects: (): Promise<Stored[]> =>
      rows('SELECT * FROM billing_objects WHERE project_id = ? ORDER BY kind, vendor_id, vendor', world.project),
  }
}
