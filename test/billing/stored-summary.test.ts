import { expect, it } from 'vitest'
import { STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { stripeEventOf, stripeInvoice, stripeSubscription } from './payloads'
import { billingWorld } from './world'

/** What a row keeps of what an event did, and what callers see of it. */

it('is shown with its nulls and its whole change, of which its row has neither; a row from before reads the same', async () => {
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
    const plain = JSON.stringify(shown.effects).length
    if (plain > 1000) expect(summary.length).toBeLessThan(plain / 2)
    await STORE.prepare('UPDATE events SET summary = ? WHERE id = ?').bind(JSON.stringify(shown), id).run()
    expect(await read()).toEqual(shown)
  }
})

it('reads a change as it was packed when changes were first packed', async () => {
  const world = await billingWorld()
  await world.deliver(stripeEventOf('customer.subscription.created', stripeSubscription(), { at: 1_780_000_000 }))
  const [stored] = await rows<{ id: string; summary: string }>(
    'SELECT id, summary FROM events WHERE project_id = ?',
    world.project,
  )
  const summary = JSON.parse(stored?.summary ?? '')
  const [effect] = summary.effects
  expect(effect.packed).toEqual(expect.any(String))
  const packed = 'q8buu8SURKxtVHiTGKPNiytzG2LkbkP07B1QlK+jAM5lOZUoOdcYnCfwpgHc4WBoqGtkEWJggS0cQHKWSHK1tQA='
  await STORE.prepare('UPDATE events SET summary = ? WHERE id = ?')
    .bind(JSON.stringify({ ...summary, effects: [{ ...effect, packed }] }), stored?.id)
    .run()
  const { body } = await world.api(`/webhooks/${stored?.id}`)
  expect(body.decoded_summary.effects).toEqual([
    {
      kind: 'subscription',
      id: effect.id,
      result: 'applied',
      change: {
        customer: { from: null, to: 'cus_ada' },
        status: { from: 'trialing', to: 'active' },
        items: { from: null, to: [{ id: 'si_1', price: 'price_1', price_name: 'Pro, monthly', quantity: 3 }] },
        metadata: { from: null, to: null, personal: true },
        updated_at: { from: '2026-11-28T08:00:00Z', to: '2026-11-29T08:00:00Z' },
      },
    },
  ])
})
