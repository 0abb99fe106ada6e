import Stripe from 'stripe'
import { expect, it } from 'vitest'
import types from '../../node_modules/stripe/cjs/resources/WebhookEndpoints.d.ts?raw'
import { stripe } from '../../src/vendors/stripe'
import { STRIPE_VERSION } from '../../src/vendors/stripe-api'
import { stripeClaims } from '../../src/vendors/stripe-claims'
import { stripeEndpoints } from '../../src/vendors/stripe-endpoints'
import { newStripeAccount, seenBy } from '../harness'

/** The types of events that Stripe's own SDK knows. */
const [, known = ''] = /type EnabledEvent = ([^;]+);/.exec(types) ?? []
const TYPES = [...known.matchAll(/'([a-z_.]+)'/g)].map(([, type = '']) => type)

const OBJECTS: Record<string, object> = {
  customer: { id: 'cus_1', object: 'customer' },
  checkout: {
    id: 'cs_1',
    object: 'checkout.session',
    customer: 'cus_1',
    payment_status: 'paid',
    client_reference_id: 'u',
    mode: 'payment',
    payment_intent: 'pi_1',
  },
  charge: { id: 'ch_1', object: 'charge', payment_intent: 'pi_1', amount_refunded: 100, currency: 'usd' },
  'charge.dispute': { id: 'du_1', object: 'dispute', payment_intent: 'pi_1', status: 'lost' },
  'charge.refund': { id: 're_1', object: 'refund', payment_intent: 'pi_1', status: 'failed' },
  refund: { id: 're_1', object: 'refund', payment_intent: 'pi_1', status: 'succeeded' },
  payment_intent: { id: 'pi_1', object: 'payment_intent', metadata: { price_id: 'price_1' } },
  invoice_payment: {
    id: 'inpay_1',
    object: 'invoice_payment',
    invoice: 'in_1',
    payment: { type: 'payment_intent', payment_intent: 'pi_1' },
  },
}

/** Whether an event becomes state, or says which consumer a customer is. */
function isRead(type: string): boolean {
  const [family = ''] = type.split('.')
  const named = type.split('.').length === 2 || family === 'checkout' ? OBJECTS[family] : null
  const object = OBJECTS[type.slice(0, type.lastIndexOf('.'))] ??
    named ?? {
      id: 'x_1',
      object: family,
    }
  const event = { id: 'evt_1', object: 'event', type, created: 1, livemode: true, data: { object } }
  const [decoded] = stripe.decode(JSON.stringify(event), {})
  const isState = decoded?.state !== null || stripe.snapshots?.(event).length !== 0
  return isState || stripeClaims(event, ['user_id']).length > 0
}

it('the types of events that are chosen are exactly those that the service reads', () => {
  expect(TYPES.length).toBeGreaterThan(200)
  const { needed, useful } = stripeEndpoints
  expect([...needed, ...useful].sort()).toEqual(TYPES.filter(isRead).sort())
  expect(needed.filter((type) => useful.includes(type))).toEqual([])
})

const EVENTS = ['invoice.paid', 'customer.updated'] as const

it("asks as Stripe's own SDK does", async () => {
  const wanted = {
    livemode: true,
    name: null,
    secret: null,
    url: 'https://api.example.com/ingest/con_1',
    events: [...EVENTS],
    mark: { connection: 'con_1', secret: 'sec_1' },
  }
  const key = await newStripeAccount({ writes: true })
  const sdk = new Stripe(key, { httpClient: Stripe.createFetchHttpClient(), maxNetworkRetries: 0 })
  const metadata = { platform_api_connection: 'con_1', platform_api_secret: 'sec_1' }
  const own = { url: wanted.url, enabled_events: [...EVENTS], metadata }
  const made = await sdk.webhookEndpoints.create({ ...own, api_version: STRIPE_VERSION, description: 'Platform API' })
  await sdk.webhookEndpoints.update(made.id, { ...own, disabled: false })
  await sdk.webhookEndpoints.list({ limit: 100 })
  await sdk.webhookEndpoints.del(made.id)
  const requests = (await seenBy(key)).map(({ method, url, body }) => [method, new URL(url).pathname, fields(body)])
  const ours = [
    stripeEndpoints.create(wanted),
    stripeEndpoints.change(made.id, wanted),
    stripeEndpoints.remove(made.id),
  ]
  const [create, change, list, remove] = requests
  expect([create, change, remove]).toEqual(
    ours.map(({ method, pattern, body }) => [method, pattern.replace('{id}', made.id), fields(body?.text ?? '')]),
  )
  expect(list).toEqual(['GET', stripeEndpoints.list.pattern, []])
  expect(stripeEndpoints.made(JSON.parse(JSON.stringify(made)))).toMatchObject({
    id: made.id,
    secret: made.secret,
    url: wanted.url,
    events: wanted.events,
    mark: wanted.mark,
  })
})

/** The fields of a form, sorted. Stripe reads `a[]` and `a[0]` alike. */
function fields(text: string): string[] {
  return [...new URLSearchParams(text)].map(([name, value]) => `${name.replace(/\[\d+\]$/, '[]')}=${value}`).sort()
}
