/* Deliveries as large as they may be, of every kind that has had its own way through memory. */
import { createHmac, randomBytes } from 'node:crypto'

type Delivery = { body: Buffer<ArrayBuffer>; headers: Record<string, string> }
export type Case = { name: string; vendor: string; secret: string; deliveries: () => Iterable<Delivery> }

const MIB = 1024 * 1024
const COUNT = 100
const EVENTS = 250
const SECRET = `whsec_${randomBytes(16).toString('hex')}`

export const CASES: Case[] = [
  ofStripe('100 deliveries of 1 MiB', (n) => stripeEvent(n, 'x')),
  ofStripe('100 deliveries of 1 MiB in a non-Latin script', (n) => stripeEvent(n, 'я')),
  ofStripe('100 deliveries of 1 MiB that are not UTF-8', () => Buffer.from(randomBytes(MIB))),
  {
    name: `one delivery of 1 MiB with ${EVENTS} events`,
    vendor: 'gocardless',
    secret: SECRET,
    deliveries: function* () {
      const body = gocardlessEvents()
      yield { body, headers: { 'Webhook-Signature': createHmac('sha256', SECRET).update(body).digest('hex') } }
    },
  },
]

function ofStripe(name: string, bodyOf: (n: number) => Buffer<ArrayBuffer>): Case {
  return {
    name,
    vendor: 'stripe',
    secret: SECRET,
    deliveries: function* () {
      for (let n = 0; n < COUNT; n++) {
        const body = bodyOf(n)
        const at = Math.floor(Date.now() / 1000)
        const signature = createHmac('sha256', SECRET).update(`${at}.`).update(body).digest('hex')
        yield { body, headers: { 'Stripe-Signature': `t=${at},v1=${signature}` } }
      }
    },
  }
}

/** A subscription with a note that fills it up to 1 MiB. */
function stripeEvent(n: number, letter: string): Buffer<ArrayBuffer> {
  const event = {
    id: `evt_large${n}`,
    object: 'event',
    created: 1_700_000_000 + n,
    livemode: true,
    type: 'customer.subscription.updated',
    data: { object: { id: `sub_large${n}`, object: 'subscription', customer: 'cus_1', status: 'active', note: '' } },
  }
  event.data.object.note = filling(JSON.stringify(event), letter)
  return Buffer.from(JSON.stringify(event))
}

function gocardlessEvents(): Buffer<ArrayBuffer> {
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    id: `EV_large${n}`,
    created_at: '2026-01-01T00:00:00.000Z',
    resource_type: 'payments',
    action: 'confirmed',
    links: { payment: `PM_${n}` },
    note: '',
  }))
  const each = Math.floor((MIB - Buffer.byteLength(JSON.stringify({ events }))) / EVENTS)
  for (const event of events) event.note = 'x'.repeat(each)
  return Buffer.from(JSON.stringify({ events }))
}

function filling(empty: string, letter: string): string {
  return letter.repeat(Math.floor((MIB - Buffer.byteLength(empty)) / Buffer.byteLength(letter)))
}
