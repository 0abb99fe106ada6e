import { randomHex } from '../lib/crypto'
import type { Json } from './lib/json'

/** A test event: its type, and what it does to the billing state, in words. */
export type Sample = { type: string; does: string }

/**
 * Test events of a vendor, which we write ourselves and sign as the vendor does. They are for connections in test mode. Those of one
 * connection are about one customer with one subscription.
 */
export type Samples = {
  /** By their names. */
  list: Readonly<Record<string, Sample>>
  /** The body of a new event. @param of.seed distinguishes the objects of a connection; `since` (ms): when the objects were made; `now` in ms; `consumer_key`: of the metadata, for the external id */
  body: (name: string, of: { seed: string; since: number; now: number; consumer_key: string }) => string
  /** The headers that the vendor would send with it. */
  sign: (body: string, secret: string, now: number) => Promise<Record<string, string>>
}

/** The external id that test events name as their consumer's. */
export const SAMPLE_CONSUMER = 'test_user_1'
/** What the ids of test events begin with. No vendor makes such ids. */
export const SAMPLE_EVENT = 'evt_platformtest_'
/** What the test subscription is to: seats, and the price of each a month, in cents. */
export const SAMPLE_SEATS = { quantity: 5, price: 1900, currency: 'EUR' }
/** The test customer. */
export const SAMPLE_CUSTOMER = { name: 'Test Customer', email: 'test.customer@example.com' }

/** What the test events do, by their names: the same for each vendor. */
const DOES = {
  subscription_started: `starts a subscription to ${SAMPLE_SEATS.quantity} seats`,
  subscription_past_due: 'makes the subscription past due',
  subscription_ending: 'cancels the subscription at the end of its period',
  subscription_canceled: 'cancels the subscription for good',
  customer: 'creates the customer, with a name and an email address',
  invoice_paid: 'adds a paid invoice',
  invoice_failed: 'adds an invoice whose payment failed',
}

/** What an event is about: of this connection, whose customer and subscription were made at `since`, now (ms). */
export type SampleOf = { seed: string; since: number; now: number; metadata: Json }
type Made = Record<keyof typeof DOES, { type: string; object: (of: SampleOf) => Json }>
/** How the vendor sends the object of an event. */
type Sent = { event: (of: { id: string; type: string; now: number }, object: Json) => Json; sign: Samples['sign'] }

/** Test events of a vendor. @param made the type and the object of each */
export function samplesOf(made: Made, { event, sign }: Sent): Samples {
  const typeOf = (name: string) => made[name as keyof Made].type
  return {
    list: Object.fromEntries(Object.entries(DOES).map(([name, does]) => [name, { type: typeOf(name), does }])),
    body(name, { seed, since, now, consumer_key }) {
      const { type, object } = made[name as keyof Made]
      const of = { id: `${SAMPLE_EVENT}${randomHex(12)}`, type, now }
      return JSON.stringify(event(of, object({ seed, since, now, metadata: { [consumer_key]: SAMPLE_CONSUMER } })))
    },
    sign,
  }
}
