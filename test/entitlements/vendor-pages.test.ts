import { expect, it } from 'vitest'
import { iso } from '../../src/lib/time'
import type { SignedVendor } from '../billing/signed'
import { vendorWorld } from '../billing/vendor-world'

/* The pages that lead from a vendor's dashboard to the first allowed feature: what they tell readers to send is sent, and gives what they say. */

const PAGES = import.meta.glob<string>('../../docs/guides/from-*.md', { query: '?raw', import: 'default', eager: true })
const PRODUCED = Object.entries(PAGES).flatMap(([path, text]) => {
  const [, event] = /```json\n(.+?)```/s.exec(text) ?? []
  return event === undefined ? [] : [{ name: path.replace(/^.*from-|\.md$/g, ''), text, event }]
})

it('covers the vendors that can be tried without an account', () => {
  const names = PRODUCED.map(({ name }) => name).toSorted()
  expect(names).toEqual(['chargebee', 'lemon-squeezy', 'paddle', 'polar', 'shopify', 'square', 'stripe'])
})

it.each(PRODUCED)(
  'the page of $name: its event and its plan give the answer that it promises',
  async ({ text, event }) => {
    const [, sent = ''] = /\/billing\/plans .*?-d '(\{.+?\})'/s.exec(text) ?? []
    const plan = JSON.parse(sent) as { prices: { vendor: SignedVendor }[] }
    const vendor = plan.prices[0]?.vendor ?? 'stripe'
    const world = await vendorWorld(vendor, { livemode: false })
    const [, question = ''] = /(\/consumers\/ext:user_4711[^"]+)"/.exec(text) ?? []
    await world.ask('PUT', '/consumers/ext:user_4711', { json: {} })
    await world.catalog.feature('exports')
    expect((await world.ask('POST', '/billing/plans', { json: plan })).status).toBe(201)

    const told = JSON.parse(event.replaceAll('NOW', iso(Date.now())))
    for (const payload of Array.isArray(told) ? told : [told]) {
      const headers = {
        'x-shopify-topic': 'orders/paid',
        'x-shopify-event-id': '4711',
        'x-shopify-triggered-at': iso(Date.now()),
      }
      const { status } = await world.tell(vendor === 'shopify' ? { headers, body: payload } : payload, 'Sandbox')
      expect(status).toBe('processed')
    }
    const answer = async () => {
      const { body } = await world.ask<{ features: Record<string, { allowed: boolean; reason: string }> }>(
        'GET',
        question,
      )
      const { allowed, reason } = body.features.exports ?? {}
      return `\`"allowed":${allowed}\` with \`"reason":"${reason}"\``
    }
    const first = await answer()
    expect(text).toContain(first)
    if (vendor === 'shopify') return
    expect(first).toContain('test_mode')
    await world.settings({ test_mode_counts: true })
    const second = await answer()
    expect(second).toContain('true')
    expect(text).toContain(second)
  },
)
