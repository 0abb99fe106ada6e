import Stripe from 'stripe'
import { type Answer, call, STRIPE_SECRET } from '../../harness'
import { newWorld, type World } from '../pipeline'

const sdk = new Stripe('sk_test_x')

/** The user agent of Stripe's deliveries. */
export const STRIPE_AGENT = 'Stripe/1.0 (+https://stripe.com/docs/webhooks)'

/** The headers of a delivery as Stripe's own SDK signs it. @param at when (s since the epoch) */
export async function stripeSigned(payload: string, secret = STRIPE_SECRET, at = Math.floor(Date.now() / 1000)) {
  const signature = await sdk.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp: at })
  return {
    'Stripe-Signature': signature,
    'User-Agent': STRIPE_AGENT,
    'Content-Type': 'application/json; charset=utf-8',
  }
}

export type DiagnosisWorld = World & {
  post: (body: string, headers: Record<string, string>, to?: string) => Promise<Answer>
  connect: (fields: object) => Promise<{ id: string }>
  diagnoses: (id?: string) => Promise<Record<string, unknown>[]>
}

/** A project with a Stripe connection that accepts deliveries. */
export async function diagnosisWorld(): Promise<DiagnosisWorld> {
  const world = await newWorld()
  const { api, queue, connection } = world
  return {
    ...world,
    post: (body, headers, to = connection.id) =>
      call(`/ingest/${to}`, { method: 'POST', body, headers, bindings: { EVENTS: queue.EVENTS } }),
    connect: async (fields) => {
      const json = { vendor: 'stripe', name: 'Other', livemode: true, ...fields }
      const { status, body } = await api('/connections', { method: 'POST', json })
      if (status !== 201) throw new Error(`connecting answered ${status}: ${JSON.stringify(body)}`)
      return body
    },
    diagnoses: async (id = connection.id) => (await api(`/connections/${id}/diagnoses`)).body.data,
  }
}
