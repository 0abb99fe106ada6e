/*
 * Lives of Stripe's subscriptions and invoices, as Stripe sends them: several events in a second, links that are signed
 * again for each event, reports beside the update that they report, and events that only announce something. A seed makes
 * the same lives again.
 */

type Fields = Record<string, unknown>
export type LifeEvent = { id: string; type: string; created: number; object: Fields; previous: Fields | null }
export type StripeLife = { kind: 'subscription' | 'invoice'; id: string; events: LifeEvent[] }

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((one) => [random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
}

export function livesOf(seed: number, count: number): StripeLife[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, n) => (n % 2 === 0 ? subscriptionLife(n, random) : invoiceLife(n, random)))
}

/** Tells a life: each change with what it replaced, in the second of the change before or in a later one. */
function teller(kind: StripeLife['kind'], id: string, first: Fields, random: () => number) {
  const events: LifeEvent[] = []
  let created = 1_767_225_600 + Math.floor(random() * 1000)
  let object = first
  const say = (type: string, previous: Fields | null = null) => {
    // Event ids say nothing about the order.
    const event = `evt_${Math.floor(random() * 1e12)}_${id}_${events.length}`
    const afresh = kind === 'invoice' && object.status !== 'draft' ? signed(random) : {}
    events.push({ id: event, type, created, object: { ...object, ...afresh }, previous })
  }
  return {
    events,
    object: () => object,
    say,
    later: (chance: number) => {
      if (random() < chance) created += 1 + Math.floor(random() * 100)
    },
    /** @param replaced what it replaced, where that is not the old values: of metadata, only the entries that differ */
    change: (type: string, fields: Fields, replaced?: Fields) => {
      const previous = replaced ?? Object.fromEntries(Object.keys(fields).map((key) => [key, object[key] ?? null]))
      object = { ...object, ...fields }
      // What was replaced includes links: those of the event before.
      say(type, { ...previous, ...(kind === 'invoice' && object.status !== 'draft' && signed(random)) })
    },
  }
}

function signed(random: () => number): Fields {
  const link = `https://invoice.example.com/i/${Math.floor(random() * 1e15)}`
  return { hosted_invoice_url: link, invoice_pdf: `${link}/pdf`, webhooks_delivered_at: Math.floor(random() * 1e9) }
}

function subscriptionLife(n: number, random: () => number): StripeLife {
  const id = `sub_life${n}`
  const first = {
    id,
    object: 'subscription',
    customer: `cus_life${n}`,
    currency: 'usd',
    status: 'trialing',
    metadata: {},
    pause_collection: null,
    discounts: [],
    latest_invoice: 'in_0',
    items: { object: 'list', data: [{ id: 'si_1', quantity: 1, price: { id: 'price_1' } }], has_more: false },
  }
  const life = teller('subscription', id, first, random)
  const changes: (() => Fields)[] = [
    () => ({ status: life.object().status === 'active' ? 'past_due' : 'active' }),
    () => ({ pause_collection: life.object().pause_collection ? null : { behavior: 'void', resumes_at: null } }),
    () => ({ latest_invoice: `in_${Math.floor(random() * 1000)}` }),
    () => ({ discounts: [`di_${Math.floor(random() * 3)}`] }),
    () => ({ items: { ...(first.items as object), data: [{ id: 'si_1', quantity: 1 + Math.floor(random() * 3) }] } }),
  ]
  life.say('customer.subscription.created')
  for (let i = 1 + Math.floor(random() * 7); i > 0; i--) {
    life.later(0.5)
    if (random() < 0.3) life.say('customer.subscription.trial_will_end')
    else life.change('customer.subscription.updated', changes[Math.floor(random() * changes.length)]?.() ?? {})
  }
  if (random() < 0.3) {
    life.later(0.5)
    life.change('customer.subscription.deleted', { status: 'canceled' })
  }
  return { kind: 'subscription', id, events: life.events }
}

function invoiceLife(n: number, random: () => number): StripeLife {
  const id = `in_life${n}`
  const first = { id, object: 'invoice', customer: `cus_life${n}`, currency: 'usd', status: 'draft', total: 1000 }
  const life = teller('invoice', id, { ...first, attempt_count: 0, amount_paid: 0, metadata: {} }, random)
  const maybe = (chance: number, type: string) => {
    if (random() < chance) life.say(type)
  }
  life.say('invoice.created')
  if (random() < 0.5) {
    life.later(0.5)
    life.change('invoice.updated', { total: 1000 + Math.floor(random() * 9) })
  }
  life.later(0.5)
  life.change('invoice.updated', { status: 'open', number: `N-${n}` })
  maybe(0.8, 'invoice.finalized')
  maybe(0.3, 'invoice.sent')
  for (let attempt = 1; attempt <= 3 && random() < 0.5; attempt++) {
    life.later(0.5)
    maybe(0.2, 'invoice.will_be_due')
    life.change('invoice.updated', { attempt_count: attempt })
    maybe(0.8, 'invoice.payment_failed')
    maybe(0.2, 'invoice.overdue')
  }
  if (random() < 0.7) {
    life.later(0.5)
    life.change('invoice.updated', { status: 'paid', amount_paid: 1000 })
    life.say('invoice.paid')
    life.say('invoice.payment_succeeded')
    if (random() < 0.3) {
      life.later(0.5)
      life.change('invoice.updated', { metadata: { note: String(n) } }, { metadata: { note: null } })
    }
  }
  return { kind: 'invoice', id, events: life.events }
}

/** An event as Stripe sends it. */
export function bodyOf({ id, type, created, object, previous }: LifeEvent) {
  const data = { object, ...(previous && { previous_attributes: previous }) }
  return { id, object: 'event', api_version: '2026-03-25.dahlia', created, livemode: true, type, data }
}
