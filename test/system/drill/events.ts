import type { Recording } from '../../../src/inbox/receive/recording.ts'
import { idFloor } from '../../../src/lib/ids.ts'

const NOW = Date.now()
/** Events before the backup are of the last three days. */
const SPAN = 3 * 86_400_000
const STATUSES = ['trialing', 'active', 'past_due', 'active', 'canceled']
/** Events of one subscription, about. */
const EACH = 4
const PROJECT = idAt('prj', NOW - 2 * SPAN, 0)
const CONNECTION = idAt('con', NOW - 2 * SPAN, 0)

function idAt(prefix: Parameters<typeof idFloor>[0], ms: number, n: number): string {
  return idFloor(prefix, ms).slice(0, -10) + String(n).padStart(10, '0')
}

/** The statements that make a project with a connection. */
export function connections(now: number): { sql: string; values: (string | number)[] }[] {
  return [
    {
      sql: 'INSERT INTO projects (id, name, created_by, created_at) VALUES (?, ?, ?, ?)',
      values: [PROJECT, 'Drill', 'usr_drill', now - 2 * SPAN],
    },
    {
      sql: "INSERT INTO connections (id, project_id, vendor, name, livemode, status, version, secrets, created_at) VALUES (?, ?, 'stripe', 'Drill', 1, 'active', 1, '[]', ?)",
      values: [CONNECTION, PROJECT, now - 2 * SPAN],
    },
  ]
}

/**
 * Deliveries of the events with these numbers, each of about 3,500 bytes.
 *
 * @param at when each came (ms)
 */
export function recordingsOf(from: number, to: number, at: (n: number) => number): Recording[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => recordingOf(from + i, at(from + i)))
}

/** When events came that are there before the backup: over the last three days, but for the last minutes. */
export function earlier(n: number, count: number): number {
  return NOW - SPAN + Math.floor((n * SPAN * 0.99) / count)
}

function recordingOf(n: number, received_at: number): Recording {
  const subscription = `sub_${Math.floor(n / EACH)}`
  const at = Math.floor(received_at / 1000)
  const event = {
    ...{ id: `evt_drill_${n}`, object: 'event', api_version: '2026-03-25.dahlia', created: at, livemode: true },
    type: 'customer.subscription.updated',
    data: { object: objectOf(subscription, n, at) },
  }
  const delivery = {
    payload_id: idAt('pay', received_at, n),
    body: JSON.stringify(event),
    headers: {},
    received_at,
    events: [
      {
        id: idAt('evt', received_at, n),
        vendor_event_id: event.id,
        event_type: event.type,
        occurred_at: new Date(at * 1000).toISOString().replace('.000', ''),
        content_digest: null,
      },
    ],
  }
  return { fence: { id: CONNECTION, version: 1 }, delivery }
}

function objectOf(id: string, n: number, at: number) {
  const price = { id: `price_${n % 7}`, object: 'price', product: `prod_${n % 3}`, currency: 'usd', unit_amount: 1900 }
  const item = {
    ...{ id: `si_${id}`, object: 'subscription_item', quantity: 1 + (n % 5), price, subscription: id },
    ...period(at),
  }
  return {
    ...{ id, object: 'subscription', customer: `cus_${id}`, status: STATUSES[n % STATUSES.length], created: at - 1000 },
    ...{
      currency: 'usd',
      cancel_at_period_end: n % 9 === 0,
      collection_method: 'charge_automatically',
      latest_invoice: `in_${n}`,
    },
    items: { object: 'list', data: [item], has_more: false, url: `/v1/subscription_items?subscription=${id}` },
    metadata: Object.fromEntries(
      Array.from({ length: 20 }, (_, k) => [`key_${k}`, `${crypto.randomUUID()} ${(n * 7919 * (k + 1)).toString(36)}`]),
    ),
  }
}

const period = (at: number) => ({
  current_period_start: at - (at % 2_592_000),
  current_period_end: at - (at % 2_592_000) + 2_592_000,
})
