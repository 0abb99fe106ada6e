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
  const stored = await rows<{ id: string; summary: string; rest: number }>(
    'SELECT id, summary, coalesce(length(summary_rest), 0) AS rest FROM events WHERE project_id = ?',
    world.project,
  )
  expect(stored).toHaveLength(4)
  expect(stored.filter(({ rest }) => rest > 0)).toHaveLength(2)
  for (const { id, summary, rest } of stored) {
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
    if (plain > 1000) expect(summary.length + rest).toBeLessThan(plain / 2)
    await STORE.prepare('UPDATE events SET summary = ?, summary_rest = NULL WHERE id = ?')
      .bind(JSON.stringify(shown), id)
      .run()
    expect(await read()).toEqual(shown)
  }
})

const OF_EFFECT = 'q8buu8SURKxtVHiTGKPNiytzG2LkbkP07B1QlK+jAM5lOZUoOdcYnCfwpgHc4WBoqGtkEWJggS0cQHKWSHK1tQA='
const OF_SUMMARY =
  'ab462b02c1859fa1928e527e3238a452608d4023335d43435d23cb10030b84c990f67c313837630da5c49444ac6d5d78d31aa3ed8cab9030c428250cd18b8980a27c1d05706ecda94429018cc1790b6f5ac21d9e205f5ba0f81a119ee821525b1b5b0b00'

it.each([
  ['first, in its effect', { packed: OF_EFFECT }, null],
  ['since then, in the rest of the summary', {}, OF_SUMMARY],
])('reads a change as it was packed %s', async (_, ofEffect, rest) => {
  const world = await billingWorld()
  await world.deliver(stripeEventOf('customer.subscription.created', stripeSubscription(), { at: 1_780_000_000 }))
  const [event] = await rows<{ id: string; object: string }>(
    "SELECT id, summary->>'$.object.id' AS object FROM events WHERE project_id = ?",
    world.project,
  )
  const effect = { kind: 'subscription', id: event?.object, result: 'applied' }
  const summary = {
    vendor: 'stripe',
    object: {},
    refs: [],
    effects: [{ ...effect, ...ofEffect }],
    ...(rest && { rest: 1 }),
  }
  await STORE.prepare('UPDATE events SET summary = ?, summary_rest = unhex(?) WHERE id = ?')
    .bind(JSON.stringify(summary), rest, event?.id)
    .run()
  const { decoded_summary } = (await world.api(`/webhooks/${event?.id}`)).body
  expect(decoded_summary).toMatchObject({
    subscription: rest && 'sub_1',
    occurred_at: rest && '2026-11-29T08:00:00Z',
    customer: null,
  })
  expect(decoded_summary.effects).toEqual([
    {
      ...effect,
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

it('ignores the rest of a summary that a version before it has replaced', async () => {
  const world = await billingWorld()
  await world.deliver(stripeEventOf('customer.subscription.created', stripeSubscription(), { at: 1_780_000_000 }))
  await STORE.prepare(
    "UPDATE events SET summary = json_object('vendor', 'stripe', 'object', json('{}'), 'refs', json('[]'))",
  ).run()
  const [event] = await rows<{ id: string; rest: number }>(
    'SELECT id, length(summary_rest) AS rest FROM events WHERE project_id = ?',
    world.project,
  )
  expect(event?.rest).toBeGreaterThan(0)
  const { decoded_summary } = (await world.api(`/webhooks/${event?.id}`)).body
  expect(decoded_summary).toMatchObject({ subscription: null, effects: [] })
})
