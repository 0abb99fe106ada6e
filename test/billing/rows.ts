import { stored } from '../../src/billing/body'
import { placedParts } from '../../src/billing/purchases/place'
import { eventRank, mergedState } from '../../src/billing/reduce'
import type { ObjectKind } from '../../src/lib/billing-kinds'
import { stripe } from '../../src/vendors/stripe'
import { STORE } from '../harness'

const SAMPLES = {
  subscription: ['customer.subscription.updated', { object: 'subscription', status: 'active', customer: 'cus_1' }],
  invoice: [
    'invoice.finalized',
    { object: 'invoice', status: 'open', customer: 'cus_1', subscription: 'sub_1', total: 1200, currency: 'usd' },
  ],
  payment_method: ['payment_method.attached', { object: 'payment_method', customer: 'cus_1', type: 'card' }],
  purchase: [
    'checkout.session.completed',
    { object: 'checkout.session', mode: 'payment', payment_status: 'paid', customer: 'cus_1', currency: 'usd' },
  ],
} as const

/** Inserts objects as their events would leave them: for tests of reading. Other tests go through the pipeline. */
export async function insertObjects(project: string, kind: ObjectKind, ids: readonly string[]) {
  const [type, fields] = SAMPLES[kind]
  const insert = STORE.prepare(
    `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, subscription, status, version, candidates)
     VALUES (?, ?, ?, 'stripe', ?, ?, ?, 1, ?)`,
  )
  await STORE.batch(
    ids.map((id) => {
      const event = {
        id: `evt_${id}`,
        object: 'event',
        type,
        created: 1_700_000_000,
        data: { object: { ...fields, id } },
      }
      const [snapshot] = stripe.snapshots?.(event) ?? []
      if (!snapshot) throw new Error(`${type} describes no ${kind}`)
      const { body } = snapshot
      const candidate = {
        rank: eventRank(snapshot),
        vendor_event_id: event.id,
        event_id: event.id,
        before: null,
        after: id,
        body: stored(body),
      }
      const subscription = 'subscription' in body ? body.subscription : null
      const none = { candidates: [], ambiguous: false }
      const [row] =
        snapshot.kind === 'purchase'
          ? placedParts([none], [{ ...candidate, part: snapshot.part }])
          : [mergedState([], candidate)]
      const candidates = row?.candidates ?? []
      return insert.bind(project, kind, id, body.customer, subscription, body.status, JSON.stringify(candidates))
    }),
  )
}

/** Inserts processed events of an object: for tests of reading its timeline. */
export async function insertTimeline(
  project: string,
  connection: string,
  kind: string,
  object: string,
  ids: readonly string[],
) {
  const summary = JSON.stringify({
    object: { id: object },
    effects: [{ kind, id: object, result: 'applied', change: null }],
  })
  await STORE.batch(
    ids.flatMap((id) => [
      STORE.prepare(
        `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status, last_delivered_at, summary)
         VALUES (?, ?, ?, ?, 'customer.subscription.updated', ?, 'processed', 1, ?)`,
      ).bind(project, id, connection, id, id, summary),
      STORE.prepare('INSERT INTO refs (project_id, ref, event_id) VALUES (?, ?, ?)').bind(project, object, id),
    ]),
  )
}
