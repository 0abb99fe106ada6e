import { expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import {
  paddleEventOf,
  paddlePayment,
  paddlePaymentMethod,
  paddleTransaction,
  stripeEventOf,
  stripePaymentMethod,
  stripeSubscription,
} from '../billing/payloads'
import { advance, stopClock } from '../clock'
import { entitlementWorld } from '../entitlements/world'
import { STORE, storedText } from '../harness'
import { cron } from '../inbox/pipeline'

it('An erasure reaches every object of its customers, though no event of them is kept any more', async () => {
  stopClock()
  const { project, consumers, deliver, queue } = await entitlementWorld()
  const { id } = (await consumers.put('hers')).body
  for (const [customer, vendor] of [
    ['ctm_hers', 'paddle'],
    ['cus_hers', 'stripe'],
  ] as const)
    expect((await consumers.pin(customer, id, vendor)).status).toBe(200)
  const holder = { name: 'Zqulo', email: 'zqulo@acme.dev', address: null, phone: null }
  const [method, bought] = [{ id: 'paymtd_late', customer_id: 'ctm_hers' }, { status: 'completed' }]
  await deliver(
    paddleEventOf('customer.created', { id: 'ctm_hers', email: holder.email, name: holder.name, status: 'active' }),
    paddleEventOf('payment_method.saved', paddlePaymentMethod(method)),
    // By whoever paid: the card is not listed by its customer.
    paddleEventOf(
      'transaction.completed',
      paddleTransaction({ ...bought, payments: [paddlePayment(method.id, { cardholder_name: holder.name })] }),
    ),
    stripeEventOf('payment_method.attached', stripePaymentMethod({ customer: 'cus_hers', billing_details: holder })),
    stripeEventOf(
      'customer.subscription.created',
      stripeSubscription({ customer: 'cus_hers', metadata: { name: holder.name } }),
    ),
  )
  // As retention leaves it.
  await STORE.batch(
    ['events', 'bodies', 'refs'].map((table) =>
      STORE.prepare(`DELETE FROM ${table} WHERE project_id = ?`).bind(project),
    ),
  )
  await STORE.prepare('DELETE FROM attempts').run()
  expect((await storedText()).match(/zqulo/gi)?.length).toBeGreaterThan(4)
  await consumers.erase(id)
  advance(MINUTE)
  for (let runs = 0; runs < 10; runs++) await cron({ EVENTS: queue.EVENTS })
  expect((await consumers.erasure(id)).body.state).toBe('done')
  expect((await storedText()).match(/.{60}zqulo.{20}/gi)).toBeNull()
})
