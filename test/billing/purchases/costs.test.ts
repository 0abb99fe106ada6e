import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR } from '../../../src/lib/time'
import { stopClock } from '../../clock'
import { countingD1 } from '../../harness'
import { anId, stripeEventOf, stripeInvoice, T0 } from '../payloads'
import { type BillingWorld, billingWorld } from '../world'
import {
  stripeCharge,
  stripeDispute,
  stripeInvoicePayment,
  stripeOneTimeLine,
  stripeRefund,
  stripeSession,
} from './payloads'

/*
 * What purchases cost, in D1's own figures. Rows written, beyond those of an event that is processed and changes nothing: 8, 3 for each batch,
 * and 1 for each of its refs (test/inbox/process/costs.test.ts, with batches of 100).
 */

const BATCH = 20
let hours = 0
beforeEach(() => {
  stopClock(Date.now() + hours * HOUR)
  hours += 1
})

async function warmWorld(): Promise<BillingWorld> {
  const world = await billingWorld()
  await world.deliver(stripeEventOf('charge.succeeded', {}))
  await world.deliver(stripeEventOf('checkout.session.completed', stripeSession({ customer: 'cus_warm' })))
  return world
}

/**
 * In live mode.
 *
 * @returns the round trips of a batch, and the rows that it writes for each event beyond an event that changes nothing
 */
async function costOf(world: BillingWorld, events: readonly object[]) {
  const { DB, count } = countingD1()
  const ids: string[] = []
  for (const event of events) {
    const { body } = await world.send({ ...event, livemode: true }, { bindings: { DB } })
    ids.push(body.event_ids[0])
  }
  const rest = countingD1()
  expect(await world.queue.pump({ DB: rest.DB })).toBe(1)
  const refs = (await world.event(ids[0] ?? '')).decoded_summary?.refs.length ?? 0
  const written = (count.rows_written + rest.count.rows_written) / events.length
  return {
    trips: rest.count.trips,
    beyond: Math.round((written - 8 - 3 / events.length - refs) * 100) / 100,
    read: rest.count.rows_read / events.length,
  }
}

const each = (make: (n: number) => object) => Array.from({ length: BATCH }, (_, n) => make(n))
const sale = (payment_intent: string, metadata: object = { price_id: 'price_1' }) =>
  stripeEventOf(
    'checkout.session.completed',
    stripeSession({ payment_intent, customer: `cus_${payment_intent}`, metadata }),
  )

describe(`a batch of ${BATCH} events of ${BATCH} payments`, () => {
  it('writes 4 rows an event for sales, 2 for refunds of what is known or of what is not', async () => {
    const world = await warmWorld()
    const run = anId('run')
    const payment = (n: number) => `pi_${run}_${n}`
    const refunds = (at: number) => each((n) => stripeEventOf('refund.created', stripeRefund(payment(n)), { at }))
    expect(
      await costOf(
        world,
        each((n) => sale(payment(n))),
      ),
    ).toMatchObject({ trips: 3, beyond: 4 })
    // What was bought is not said: one more, which health counts.
    expect(
      await costOf(
        world,
        each((n) => sale(`${payment(n)}_unsaid`, {})),
      ),
    ).toMatchObject({ trips: 3, beyond: 5 })
    expect((await world.api('/webhooks/health')).body.items_missing).toBe(BATCH + 1)
    const known = await costOf(world, refunds(T0 + 60))
    expect(known).toMatchObject({ trips: 3, beyond: 2 })
    expect(known.read).toBeLessThan(70)
    const charges = each((n) =>
      stripeEventOf('charge.refunded', stripeCharge(payment(n), { amount_refunded: 1000 }), { at: T0 + 61 }),
    )
    expect(await costOf(world, charges)).toMatchObject({ trips: 3, beyond: 2 })
    const stray = each((n) => stripeEventOf('refund.created', stripeRefund(`${payment(n)}_stray`)))
    expect(await costOf(world, stray)).toMatchObject({ trips: 3, beyond: 2 })
    // A sale of a payment whose refund came first writes what other sales do.
    expect(
      await costOf(
        world,
        each((n) => sale(`${payment(n)}_stray`)),
      ),
    ).toMatchObject({ trips: 3, beyond: 3 })
    const row = (await world.objects()).find(({ vendor_id }) => vendor_id === payment(0))
    console.log(`a row with a sale, a refund and a charge has ${row?.candidates.length} bytes`)
    expect(row?.candidates.length).toBeLessThan(3000)
  })

  it('writes no row more for the events of a renewal, 2 for the link of a payment to its invoice, 3 for a refund by it', async () => {
    const world = await warmWorld()
    const run = anId('run')
    const renewals = each((n) => stripeEventOf('charge.succeeded', stripeCharge(`pi_${run}_${n}`)))
    // An event that is ignored has an entry in an index of its own: today's cost.
    expect(await costOf(world, renewals)).toMatchObject({ trips: 2, beyond: 1 })
    const paid = each((n) =>
      stripeEventOf('payment_intent.succeeded', { id: `pi_${run}_${n}`, object: 'payment_intent', currency: 'usd' }),
    )
    expect(await costOf(world, paid)).toMatchObject({ trips: 2, beyond: 1 })
    // As an invoice costs anyway: its row and four indexes.
    const invoices = each((n) => stripeEventOf('invoice.paid', stripeInvoice({ id: `in_${run}_${n}`, status: 'paid' })))
    const [first, ...rest] = invoices
    await world.deliver(first as object)
    expect(await costOf(world, rest)).toMatchObject({ trips: 3, beyond: 5 })
    const links = each((n) =>
      stripeEventOf('invoice_payment.paid', stripeInvoicePayment(`in_${run}_${n}`, `pi_${run}_${n}`)),
    )
    expect(await costOf(world, links)).toMatchObject({ trips: 3, beyond: 2 })
    const lines = { object: 'list', data: [stripeOneTimeLine()], has_more: false, total_count: 1 }
    const sold = each((n) =>
      stripeEventOf(
        'invoice.updated',
        stripeInvoice({ id: `in_${run}_${n}`, status: 'paid', lines, customer: 'cus_a' }),
        { at: T0 + 9 },
      ),
    )
    await costOf(world, sold)
    // Its own reference to the purchase is counted among its refs. The purchase has the number of its invoice.
    const refunds = each((n) => stripeEventOf('refund.created', stripeRefund(`pi_${run}_${n}`), { at: T0 + 60 }))
    expect(await costOf(world, refunds)).toMatchObject({ trips: 3, beyond: 3 })
  })
})

it('a row with seven parts has some 5 KB', async () => {
  const world = await warmWorld()
  const payment_intent = anId('pi')
  const refunds = [1, 2, 3].map((n) => stripeEventOf('refund.created', stripeRefund(payment_intent), { at: T0 + n }))
  const disputes = [4, 5].map((n) =>
    stripeEventOf('charge.dispute.created', stripeDispute(payment_intent, { amount: 500 }), { at: T0 + n }),
  )
  await world.deliver(
    stripeEventOf(
      'checkout.session.completed',
      stripeSession({ payment_intent, metadata: { price_id: 'price_credits', quantity: '5' } }),
    ),
    stripeEventOf('charge.refunded', stripeCharge(payment_intent, { amount_refunded: 3000 }), { at: T0 + 6 }),
    ...refunds,
    ...disputes,
  )
  const [row] = (await world.objects()).filter(({ vendor_id }) => vendor_id === payment_intent)
  const candidates: { part?: string }[] = JSON.parse(row?.candidates ?? '[]')
  const sizes = candidates.map((one) => `${one.part ?? 'the whole'} ${JSON.stringify(one).length}`)
  console.log(`a row with seven parts has ${row?.candidates.length} bytes: ${sizes.join(', ')}`)
  expect(candidates).toHaveLength(1 + 7)
  expect(row?.candidates.length).toBeLessThan(5500)
})
