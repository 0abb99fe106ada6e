import { hex, hmac, utf8 } from '../../src/lib/crypto'
import { SECOND } from '../../src/lib/time'
import { call, type RequestOptions } from './call'
import type { Json } from './json'

export const STRIPE_SECRET = 'whsec_a_secret_that_only_the_tests_know'

/** Creates a Stripe connection. */
export async function stripeConnection(
  token: string,
  project: string,
  signing_secret = STRIPE_SECRET,
  livemode = true,
) {
  const { status, body } = await call('/platform/v1/billing/connections', {
    method: 'POST',
    token,
    project,
    json: { vendor: 'stripe', name: 'Stripe', livemode, signing_secret },
  })
  if (status !== 201) throw new Error(`connecting answered ${status}: ${JSON.stringify(body)}`)
  return { id: body.id, ingest_url: body.ingest_url, secrets: body.secrets }
}

let events = 0
/** A new event in the shape of Stripe's published reference. */
export function stripeEvent(type = 'customer.subscription.updated', object: Record<string, unknown> = {}) {
  events += 1
  return {
    id: `evt_${Date.now()}${events}`,
    object: 'event',
    api_version: '2026-03-25.dahlia',
    created: nowInSeconds(),
    livemode: false,
    type,
    data: { object: { id: `sub_${events}`, object: 'subscription', customer: 'cus_1', status: 'active', ...object } },
  }
}

/**
 * A Stripe-Signature header. test/vendors/stripe.test.ts checks it against Stripe's own SDK, which is too slow to load
 * in every file.
 *
 * @param at when it was signed (s since the epoch)
 */
export async function signStripe(payload: string | Uint8Array, secret = STRIPE_SECRET, at = nowInSeconds()) {
  return `t=${at},v1=${hex(await hmac('SHA-256', utf8(secret), `${at}.`, payload))}`
}

type DeliveryOptions = RequestOptions & { secret?: string; at?: number }

/** Sends an event, or any text, as a delivery signed as Stripe signs it. */
export async function deliver(connection: string, event: unknown, options: DeliveryOptions = {}) {
  return send(connection, typeof event === 'string' ? event : JSON.stringify(event), options)
}

/** As {@link deliver}, for bytes that need not be text. */
export async function deliverBytes(connection: string, bytes: Uint8Array<ArrayBuffer>, options: DeliveryOptions = {}) {
  return send(connection, bytes, options)
}

async function send(connection: string, payload: string | Uint8Array<ArrayBuffer>, options: DeliveryOptions) {
  const { secret, at, ...rest } = options
  const signature = await signStripe(payload, secret, at)
  return call(`/ingest/${connection}`, {
    method: 'POST',
    body: payload,
    ...rest,
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature, ...rest.headers },
  })
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / SECOND)
}

/**
 * Reads an event that is on the real Queue until the consumer has finished it. However long the Queue takes, only the
 * test's own timeout ends this. (A signal from the consumer cannot: it runs in another request's context, and workerd
 * keeps promises of one request from waking another.)
 */
export async function settled(project: string, token: string, id: string): Promise<Json> {
  for (;;) {
    const { body } = await call(`/platform/v1/billing/webhooks/${id}`, { project, token })
    if (['processed', 'ignored', 'failed'].includes(String(body.status))) return body
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
