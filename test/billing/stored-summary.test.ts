import { expect, it } from 'vitest'
import { STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { stripeEventOf, stripeInvoice, stripeSubscription } from './payloads'
import { billingWorld } from './world'

/** What a row keeps of what an event did, and what callers see of it. */

it('is shown with its nulls, which its row does not have; a row from before, which has them, reads the same', async () => {
  const world = await billingWorld()
  const subscription = stripeSubscription()
  const gone = { ...subscription, status: 'canceled' }
  await world.deliver(
    stripeEventOf('customer.subscription.created', subscription, { at: 1_780_000_000 }),
    stripeEventOf('customer.subscription.deleted', gone, { at: 1_780_000_001 }),
    stripeEventOf('invoice.paid', stripeInvoice(), { at: 1_780_000_002 }),
    stripeEventOf('account.updated', { id: 'acct_1', object: 'account' }, { at: 1_780_000_003 }),
  )
  const stored = await rows<{ id: string; summary: string }>(
    'SELECT id, summary FROM events WHERE project_id = ?',
    world.project,
  )
  expect(stored).toHaveLength(4)
  for (const { id, summary } of stored) {
    expect(Object.values({ ...JSON.parse(summary), effects: '' })).not.toContain(null)
    expect(summary).not.toMatch(/"(from|to|change)":null/)
    const read = async () => (await world.api(`/webhooks/${id}`)).body.decoded_summary
    const shown = await read()
    expect(shown.object).toHaveProperty('status')
    for (const effect of shown.effects) {
      expect(effect).toHaveProperty('change')
      for (const of of Object.values(effect.change ?? {}))
        expect(Object.keys(of as object)).toEqual(expect.arrayContaining(['from', 'to']))
    }
    await STORE.prepare('UPDATE events SET summary = ? WHERE id = ?').bind(JSON.stringify(shown), id).run()
    expect(await read()).toEqual(shown)
  }
})
