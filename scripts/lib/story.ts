import { randomBytes } from 'node:crypto'

/** An event in the format of Stripe's published object reference. */
export type StoryEvent = { name: string; body: Buffer<ArrayBuffer> }

const API_VERSION = '2026-03-25.dahlia'
const MONTH = 30 * 86_400

/** What happens to one customer. */
export type Story = {
  /** A month: eight events. */
  month: StoryEvent[]
  /** The price that the customer pays for, as Stripe names it. */
  price: string
  /** The customer cancels. */
  cancellation: StoryEvent
  /** The customer pays once, for another price, and gets the money back. */
  once: { price: string; payment: string; sale: StoryEvent; refund: StoryEvent }
}

/**
 * A month of one customer, and how it ends. The ids are new each time, so that the story can be sent again.
 *
 * @param consumer the external id of the consumer that the customer's metadata names, if it names one
 */
export function story({ consumer, now = Date.now() }: { consumer?: string; now?: number } = {}): Story {
  const tail = randomBytes(8).toString('hex')
  const id = (prefix: string) => `${prefix}_demo${tail}`
  const start = Math.floor(now / 1000) - 60
  const { customer, subscription, invoice, charge, dispute } = objects({ id, start, consumer })
  const { checkout, refund } = paidOnce(id, start)
  const steps: [string, Record<string, unknown>][] = [
    ['customer.created', customer],
    ['customer.subscription.created', subscription('incomplete', 1)],
    ['invoice.created', invoice('1', 'open', 1900)],
    ['invoice.paid', invoice('1', 'paid', 1900)],
    ['customer.subscription.updated', subscription('active', 3)],
    ['charge.succeeded', { ...charge, status: 'succeeded' }],
    ['invoice.payment_failed', invoice('2', 'open', 5700)],
    ['charge.dispute.created', { ...dispute, evidence_details: { due_by: start + 7 * 86_400 } }],
  ]
  const event = (type: string, object: Record<string, unknown>, i: number) => ({
    name: type,
    body: Buffer.from(
      JSON.stringify({
        id: `evt_demo${tail}${i}`,
        object: 'event',
        api_version: API_VERSION,
        created: start + i,
        livemode: false,
        pending_webhooks: 1,
        type,
        data: { object },
      }),
    ),
  })
  return {
    month: steps.map(([type, object], i) => event(type, object, i)),
    price: id('price'),
    cancellation: event('customer.subscription.deleted', subscription('canceled', 3), steps.length),
    once: {
      price: checkout.metadata.price_id,
      payment: checkout.payment_intent,
      sale: event('checkout.session.completed', checkout, steps.length + 1),
      refund: event('refund.created', refund, steps.length + 2),
    },
  }
}

/** Seconds from the first event of the story to the cancellation. */
const STEPS = 8

type Naming = { id: (prefix: string) => string; start: number; consumer: string | undefined }

/** The objects of the story, in their states. */
function objects({ id, start, consumer }: Naming) {
  const customer = {
    id: id('cus'),
    object: 'customer',
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    currency: 'eur',
    ...(consumer !== undefined && { metadata: { consumer_external_id: consumer } }),
  }
  const subscription = (status: string, quantity: number) => ({
    id: id('sub'),
    object: 'subscription',
    customer: customer.id,
    status,
    created: start,
    start_date: start,
    ...(status === 'canceled' && { canceled_at: start + STEPS, ended_at: start + STEPS }),
    currency: 'eur',
    items: {
      object: 'list',
      data: [
        {
          id: id('si'),
          object: 'subscription_item',
          quantity,
          current_period_start: start,
          current_period_end: start + MONTH,
          price: { id: id('price'), object: 'price', currency: 'eur', unit_amount: 1900 },
        },
      ],
    },
  })
  const invoice = (number: string, status: string, total: number) => ({
    id: id(`in_${number}`),
    object: 'invoice',
    customer: customer.id,
    number: `DEMO-${number}`,
    status,
    currency: 'eur',
    total,
    amount_due: total,
    amount_paid: status === 'paid' ? total : 0,
    parent: { type: 'subscription_details', subscription_details: { subscription: id('sub') } },
  })
  const charge = { id: id('ch'), object: 'charge', customer: customer.id, amount: 1900, currency: 'eur' }
  const dispute = {
    id: id('dp'),
    object: 'dispute',
    charge: charge.id,
    amount: 1900,
    currency: 'eur',
    status: 'needs_response',
  }
  return { customer, subscription, invoice, charge, dispute }
}

/** A Checkout that is paid, and its refund. Stripe's events of a Checkout do not say what was bought, so the metadata does. */
function paidOnce(id: Naming['id'], start: number) {
  const checkout = {
    id: id('cs'),
    object: 'checkout.session',
    mode: 'payment',
    status: 'complete',
    payment_status: 'paid',
    payment_intent: id('pi'),
    customer: id('cus'),
    currency: 'eur',
    amount_subtotal: 4900,
    amount_total: 4900,
    created: start,
    invoice: null,
    subscription: null,
    metadata: { price_id: id('price_once') },
  }
  const refund = {
    id: id('re'),
    object: 'refund',
    amount: 4900,
    currency: 'eur',
    charge: id('ch_once'),
    payment_intent: checkout.payment_intent,
    created: start,
    reason: 'requested_by_customer',
    status: 'succeeded',
  }
  return { checkout, refund }
}
