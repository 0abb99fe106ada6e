import { beforeEach, describe, expect, it } from 'vitest'
import { DAY } from '../../src/lib/time'
import { stripeInvoice } from '../billing/payloads'
import { stripeInvoicePayment, stripeRefund } from '../billing/purchases/payloads'
import { advance, stopClock } from '../clock'
import { line, subscription, watchWorld } from './world'

beforeEach(() => {
  stopClock()
})

/** A project whose watcher is on, with a consumer who pays. */
async function watched() {
  const world = await watchWorld()
  await world.sell({ sso: { value: true }, seats: { value: 1, per_seat: true } }, { limits: { value: { rows: 1 } } })
  await world.must('PUT', 'consumers/ext:ada', {})
  await world.must('PUT', 'consumers/ext:bob', {})
  await world.must('PUT', 'billing/customers/stripe/cus_1', { consumer: 'ext:ada' })
  await world.set({ watch_entitlements: true })
  expect((await world.told()).map(line)).toEqual(['entitlements.watching'])
  const told = async () => (await world.told()).map(line)
  const end = Date.now() + 20 * DAY
  const pays = (more: object = {}, prices: Record<string, number> = { price_0: 3 }) =>
    world.happens('customer.subscription.updated', subscription('sub_1', 'cus_1', prices, end, more))
  return { ...world, told, pays, end }
}

describe('the feed tells what a consumer may do', () => {
  it('when the last payment of a subscription was refunded, and when a later one was paid', async () => {
    const { told, pays, happens, set } = await watched()
    await set({ subscription_reversed: 'end' })
    const paid = async (id: string) => {
      const amounts = { status: 'paid', amount_paid: 2400, status_transitions: { paid_at: Date.now() / 1000 } }
      await happens('invoice.paid', stripeInvoice({ id, subscription: 'sub_1', customer: 'cus_1', ...amounts }))
      await happens('invoice_payment.paid', stripeInvoicePayment(id, `pi_${id}`))
    }
    await pays()
    await paid('in_1')
    expect(await told()).toEqual([
      'seats null → 3, sso null → true by project.settings_changed, subscription.changed, invoice.changed',
    ])
    await happens('refund.created', stripeRefund('pi_in_1', { amount: 2400 }))
    expect(await told()).toEqual(['seats 3 → null, sso true → null by invoice.changed'])
    advance(DAY)
    await paid('in_2')
    expect(await told()).toEqual(['seats null → 3, sso null → true by invoice.changed'])
  })

  it('when the default plan comes to everybody, changes, and goes, also to consumers who had nothing', async () => {
    const { told, pays, must, set, plans, states, end } = await watched()
    const default_plan = plans[1]
    const twice = (text: string) => [text, text]
    await pays()
    await told()
    await must('PUT', 'consumers/ext:eve', {})
    expect(await told()).toEqual([])
    await set({ default_plan })
    expect(await told()).toEqual(twice('limits null → {"rows":1} by project.settings_changed'))
    expect(await states()).toHaveLength(3)
    await must('PUT', 'consumers/ext:new', {})
    expect(await told()).toEqual(['limits null → {"rows":1} by consumer.created'])
    await must('PATCH', `billing/plans/${default_plan}`, { features: {} })
    expect(await told()).toHaveLength(3)
    await must('PATCH', `billing/plans/${default_plan}`, { features: { sso: { value: true } } })
    expect(await told()).toHaveLength(3)
    await pays({ cancel_at: Date.now() / 1000 + 3600 })
    expect(await told()).toEqual([])
    advance(DAY)
    // The plan that is over gave more.
    expect(await told()).toEqual(['seats 3 → null by time'])
    await pays({ cancel_at: end / 1000 })
    expect(await told()).toEqual(['seats null → 3 by subscription.changed'])
    await set({ default_plan: null })
    expect(await told()).toEqual(Array(3).fill('sso true → null by project.settings_changed'))
    expect(await states()).toHaveLength(1)
  })

  it('when an event, a call, a plan, a setting or time has changed it, and nothing when nothing has', async () => {
    const { told, pays, must, set, plans, states } = await watched()
    await pays()
    expect(await told()).toEqual(['seats null → 3, sso null → true by subscription.changed'])
    await pays({ metadata: { renewed: 'yes' } })
    expect(await told()).toEqual([])
    await pays({}, { price_0: 5 })
    expect(await told()).toEqual(['seats 3 → 5 by subscription.changed'])
    await must('PATCH', `billing/plans/${plans[0]}`, { features: { seats: { value: 2, per_seat: true } } })
    expect(await told()).toEqual(['seats 5 → 10, sso true → null by plan.updated'])
    await must('PATCH', `billing/plans/${plans[0]}`, { name: 'Another name' })
    expect(await told()).toEqual([])
    await must('POST', 'billing/grants', {
      consumer: 'ext:ada',
      feature: 'seats',
      effect: 'deny',
      expires_at: new Date(Date.now() + DAY).toISOString(),
    })
    expect(await told()).toEqual(['seats 10 → null by grant.created'])
    advance(DAY)
    expect(await told()).toEqual(['seats null → 10 by time'])
    await must('PUT', 'billing/customers/stripe/cus_1', { consumer: 'ext:bob' })
    expect((await told()).sort()).toEqual(
      ['seats 10 → null by customer.linked', 'seats null → 10 by customer.linked, customer.pinned'].sort(),
    )
    await must('POST', 'consumers/ext:bob/block', {})
    expect(await told()).toEqual(['seats 10 → null by consumer.blocked'])
    await must('POST', 'consumers/ext:bob/unblock', {})
    await must('POST', 'consumers/ext:bob/merge', { into: 'ext:ada' })
    expect(await told()).toEqual(['seats null → 10 by consumer.merged, customer.linked'])
    advance(22 * DAY)
    expect(await told()).toEqual(['seats 10 → null by time'])
    await set({ renewal_slack_hours: 7 * 24 })
    expect(await told()).toEqual(['seats null → 10 by project.settings_changed'])
    await must('DELETE', 'consumers/ext:ada')
    expect(await told()).toEqual(['seats 10 → null by consumer.erased, customer.linked'])
    expect(await states()).toEqual([])
  })
})
