import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stopClock } from '../clock'
import { rows } from '../inbox/pipeline'
import {
  anId,
  type Fields,
  paddleEventOf,
  paddlePayment,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTransaction,
  stripeEventOf,
  stripeInvoice,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { shuffled } from './shuffle'
import { type BillingWorld, billingWorld, type Stored } from './world'

/* Replays: what a dry run reports, and that replaying changes no object. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})
beforeEach(() => {
  stopClock() // otherwise a minute may pass, and the last use of the key is written
})

const updated = (object: Fields, at = T0, id = anId('evt')) =>
  stripeEventOf('customer.subscription.updated', object, { at, id })

/** Every row of every table, including the audit log. */
async function everything(): Promise<Record<string, unknown[]>> {
  const tables = await rows<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  )
  const all: Record<string, unknown[]> = {}
  for (const { name } of tables) all[name] = await rows(`SELECT * FROM "${name}" ORDER BY 1`)
  expect(Object.keys(all)).toEqual(expect.arrayContaining(['billing_objects', 'events', 'audit_log', 'replays']))
  return all
}

/** Asks what a replay would do, and checks that nothing was written. */
async function preview(event: string, expected: Fields) {
  const before = await everything()
  const { status, body } = await world.preview(event)
  expect(await everything()).toEqual(before)
  expect([status, body]).toEqual([
    200,
    { dry_run: true, event_id: event, status: 'processed', error: null, ...expected },
  ])
  expect(world.queue.waiting()).toEqual([])
}

const forget = (id: string) =>
  rows('DELETE FROM billing_objects WHERE project_id = ? AND vendor_id = ?', world.project, id)

describe('a dry run of a replay', () => {
  it('reports what it would repair, where the effect of an event is missing', async () => {
    const object = stripeSubscription({ status: 'past_due' })
    const id = object.id as string
    const [event] = (await world.deliver(updated(object))) as [string]
    const row = await world.one('subscriptions', id)
    const [effect] = await world.effects(event)
    await forget(id)
    expect((await world.api(`/subscriptions/${id}`)).status).toBe(404)
    await preview(event, { effects: [effect] })
    expect(effect).toMatchObject({ result: 'applied', change: { status: { from: null, to: 'past_due' } } })
    // The replay then does what was reported.
    expect((await world.replay(event)).status).toBe(202)
    await world.queue.pump()
    expect(await world.one('subscriptions', id)).toEqual(row)
    await preview(event, { effects: [{ kind: 'subscription', id, result: 'applied', change: null }] })
  })

  it('reports what it would change, where the row is out of date', async () => {
    const [older, newer] = [stripeInvoice(), stripeInvoice()]
    Object.assign(newer, { ...older, status: 'paid', amount_paid: 2400 })
    const id = older.id as string
    const [first] = (await world.deliver(stripeEventOf('invoice.finalized', older))) as [string]
    const stood = await world.objects()
    const [last] = (await world.deliver(stripeEventOf('invoice.paid', newer, { at: T0 + 60 }))) as [string]
    await preview(first, { effects: [{ kind: 'invoice', id, result: 'superseded', change: null }] })
    // The row as it was before the second event.
    const { candidates } = stood.find((row) => row.vendor_id === id) as Stored
    await rows(
      'UPDATE billing_objects SET candidates = ? WHERE vendor_id = ? AND project_id = ?',
      candidates,
      id,
      world.project,
    )
    const change = {
      status: { from: 'open', to: 'paid' },
      vendor_status: { from: 'open', to: 'paid' },
      amount_paid: { from: 0, to: 2400 },
      updated_at: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:01:00Z' },
    }
    await preview(last, { effects: [{ kind: 'invoice', id, result: 'applied', change }] })
  })

  it('reports no change for a winner, superseded for a loser, ambiguous for a tie', async () => {
    const id = anId('sub')
    const object = stripeSubscription({ id })
    const [loser, winner] = (await world.deliver(
      updated(object),
      updated({ ...object, status: 'unpaid' }, T0 + 1),
    )) as [string, string]
    await preview(winner, { effects: [{ kind: 'subscription', id, result: 'applied', change: null }] })
    await preview(loser, { effects: [{ kind: 'subscription', id, result: 'superseded', change: null }] })
    const tied = updated({ ...object, status: 'paused' }, T0 + 1, `evt_zzz${id}`)
    const [last] = (await world.deliver(tied)) as [string]
    await preview(last, { effects: [{ kind: 'subscription', id, result: 'ambiguous', change: null }] })
    await preview(winner, { effects: [{ kind: 'subscription', id, result: 'superseded', change: null }] })
  })

  it('reports the cards of a transaction too', async () => {
    const [txn, method] = [anId('txn'), anId('paymtd')]
    const [event] = (await world.deliver(
      paddleEventOf(
        'transaction.paid',
        paddleTransaction({ id: txn, status: 'paid', payments: [paddlePayment(method)] }),
      ),
    )) as [string]
    await preview(event, {
      effects: [
        { kind: 'invoice', id: txn, result: 'applied', change: null },
        { kind: 'payment_card', id: method, result: 'applied', change: null },
      ],
    })
  })

  it('reports that an ignored or undecodable event would end the same way', async () => {
    const [ignored, broken, nameless] = (await world.deliver(
      stripeEventOf('charge.succeeded', { id: 'ch_1', object: 'charge' }),
      { ...stripeEventOf('invoice.paid', stripeInvoice()), object: 'nothing' },
      updated(stripeSubscription({ id: undefined })),
    )) as [string, string, string]
    await preview(ignored, { status: 'ignored', effects: [] })
    const error = (await world.event(broken)).last_error
    expect(error).toMatch(/not a Stripe event/)
    await preview(broken, { status: 'failed', effects: [], error })
    await preview(nameless, { status: 'failed', effects: [], error: 'the payload has no data.object.id' })
  })

  it('reports that an event without its payload would fail', async () => {
    const object = stripeSubscription()
    const [event] = (await world.deliver(updated(object))) as [string]
    await rows(
      'DELETE FROM packed_bodies WHERE key = (SELECT CAST(payload_id AS INTEGER) FROM events WHERE id = ?)',
      event,
    )
    await preview(event, { status: 'failed', effects: [], error: expect.stringContaining('no longer kept') })
  })

  it("is a 404 for an unknown event and another project's", async () => {
    const [event] = (await world.deliver(updated(stripeSubscription()))) as [string]
    const other = await billingWorld()
    for (const { status, body } of [
      await other.preview(event),
      await world.preview('evt_00000000000000000000000000'),
    ]) {
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
    for (const wrong of ['dry_run=yes', 'dry_run=', 'dry_run=1', 'dryrun=true']) {
      const { status } = await world.api(`/webhooks/${event}/replay?${wrong}`, { method: 'POST' })
      expect(status, wrong).toBe(422)
    }
    expect((await world.event(event)).status).toBe('processed')
  })
})

describe('replaying every event of a project, twice, in any order', () => {
  /** Events of every kind, with ties, final states, cards, and some that fail or are ignored. */
  function history(): object[] {
    const [sub, tied, invoice, method] = [anId('sub'), anId('sub'), anId('in'), anId('pm')]
    const [psub, txn, card] = [anId('sub'), anId('txn'), anId('paymtd')]
    const object = stripeSubscription({ id: sub })
    const transaction = (status: string) => paddleTransaction({ id: txn, status, payments: [paddlePayment(card)] })
    return [
      stripeEventOf('customer.subscription.created', { ...object, status: 'incomplete' }),
      stripeEventOf('customer.subscription.updated', object, { previous: { status: 'incomplete' } }),
      stripeEventOf('customer.subscription.updated', { ...object, quantity: 3 }, { previous: { quantity: null } }),
      updated(stripeSubscription({ id: tied })),
      updated(stripeSubscription({ id: tied, status: 'unpaid' })),
      stripeEventOf('invoice.paid', stripeInvoice({ id: invoice, status: 'paid' })),
      stripeEventOf('invoice.updated', stripeInvoice({ id: invoice }), { at: T0 + 9 }),
      stripeEventOf('payment_method.attached', stripePaymentMethod({ id: method })),
      stripeEventOf('payment_method.detached', stripePaymentMethod({ id: method, customer: null }), {
        previous: { customer: 'cus_1Tests' },
      }),
      stripeEventOf('invoice.upcoming', stripeInvoice({ id: undefined })),
      updated(stripeSubscription({ id: undefined })),
      paddleEventOf('subscription.created', paddleSubscription({ id: psub })),
      paddleEventOf('subscription.paused', paddleSubscription({ id: psub, status: 'paused' }), {
        at: '2026-01-01T00:00:00.27Z',
      }),
      paddleEventOf('transaction.completed', transaction('completed')),
      paddleEventOf('transaction.past_due', transaction('past_due'), { at: '2026-01-03T00:00:00Z' }),
      paddleEventOf('payment_method.saved', paddlePaymentMethod({ id: card })),
    ]
  }

  it('changes no object and no recorded effect', async () => {
    const own = await billingWorld()
    const ids = await own.deliverTogether(shuffled([...history(), ...history()]))
    const before = await own.objects()
    expect(before).toHaveLength(16)
    expect(before.filter(({ ambiguous }) => ambiguous === 1)).toHaveLength(2)
    const told = await Promise.all(ids.map(own.event))
    const bodies = () => Promise.all(ids.map(async (id) => (await own.event(id)).decoded_summary))
    for (let round = 0; round < 2; round++) {
      const order = shuffled(ids)
      for (const [n, id] of order.entries()) {
        expect((await own.replay(id)).status).toBe(202)
        if (n % 3 === round) await own.queue.pump() // one by one, and together
      }
      await own.queue.pump()
      const which = order.map((id) => ids.indexOf(id)).join(' ')
      expect(await own.objects(), which).toEqual(before)
      expect(await bodies(), which).toEqual(told.map(({ decoded_summary }) => decoded_summary))
    }
    expect((await own.event(ids[0] as string)).processing_attempts).toBe(3)
  })

  it('records what an event does now, where its object was lost meanwhile', async () => {
    const own = await billingWorld()
    const object = stripeSubscription({ status: 'past_due' })
    const newer = { ...object, status: 'active' }
    const [, last] = (await own.deliver(updated(object), updated(newer, T0 + 60))) as [string, string]
    const status = async () => (await own.effects(last))[0]?.change?.status
    expect(await status()).toEqual({ from: 'past_due', to: 'active' })
    await rows('DELETE FROM billing_objects WHERE project_id = ?', own.project)
    await own.replay(last)
    await own.queue.pump()
    expect(await status()).toEqual({ from: null, to: 'active' })
  })

  it('restores every object, where all were lost', async () => {
    const own = await billingWorld()
    const ids = await own.deliverTogether(history())
    const shown = (list: Stored[]) => list.map(({ version: _, ...row }) => row)
    const before = await own.objects()
    await rows('DELETE FROM billing_objects WHERE project_id = ?', own.project)
    for (const id of shuffled(ids)) await own.replay(id)
    await own.queue.pump()
    expect(shown(await own.objects())).toEqual(shown(before))
  })
})
