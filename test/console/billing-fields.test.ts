import { describe, expect, it } from 'vitest'
import { stripeEventOf, stripeInvoice, stripeItem, stripeSubscription } from '../billing/payloads'
import { billingWorld } from '../billing/world'
import { visit } from './visit'

describe('a billing object in the console', () => {
  it('shows amounts, links, lines and metadata, and that a list was cut off', async () => {
    const world = await billingWorld()
    const line = { id: 'il_1', description: '1 × <b>Pro</b>', amount: 1900, currency: 'usd', quantity: 1 }
    const invoice = stripeInvoice({
      tax: 380,
      post_payment_credit_notes_amount: 500,
      customer_tax_ids: [{ type: 'eu_vat', value: '<b>DE1' }],
      metadata: { note: '<script>' },
      lines: { object: 'list', data: [line], has_more: true },
    })
    const price = { id: 'price_1', nickname: 'Team <yearly>', unit_amount: 1200, currency: 'usd' }
    const items = { object: 'list', data: [stripeItem({ price })], has_more: false }
    const subscription = stripeSubscription({ items, pause_collection: { behavior: 'void', resumes_at: null } })
    await world.deliver(
      stripeEventOf('invoice.finalized', invoice),
      stripeEventOf('customer.subscription.updated', subscription),
    )
    const page = async (path: string) =>
      (await visit(`/console/p/${world.project}/platform/billing/${path}`, world.owner.token)).text
    const shown = await page(`invoices/${invoice.id}`)
    expect(shown).toContain('<dt>Subtotal</dt><dd>$24.00</dd>')
    expect(shown).toContain(`<a href="${invoice.hosted_invoice_url}" rel="noreferrer"`)
    expect(shown).toMatch(/<dt>Subscription<\/dt><dd><a href="[^"]+\/subscriptions\/sub_\w+\?vendor=stripe"/)
    expect(shown).toContain('<dt>Post payment credit notes amount</dt><dd>$5.00</dd>')
    expect(shown).toContain('<dt>Customer tax IDs</dt><dd>eu_vat &lt;b&gt;DE1</dd>')
    expect(shown).toContain('1 × &lt;b&gt;Pro&lt;/b&gt;')
    expect(shown).toContain('$19.00')
    expect(shown).toContain('&lt;script&gt;')
    expect(shown).toContain('A list in this object was cut off')
    // A value that is missing is a dash, and a field that had no value was set, not changed.
    expect(await page('invoices')).toContain('data-label="Due"><span class="quiet none">–</span>')
    expect(shown).toContain('<span class="quiet">Currency:</span> USD')
    // One name for each field.
    expect(shown).not.toContain('Due date')
    const other = await page(`subscriptions/${subscription.id}`)
    expect(other).toContain(
      '<dt>Pause collection</dt><dd><ul class="changes"><li><span class="quiet">Behavior:</span> void</li>',
    )
    expect(other).toContain('$12.00')
    expect(other).toContain('Team &lt;yearly&gt;')
    expect(other).not.toContain('was cut off')
  })

  it('says that an open invoice is overdue, and what remains to be paid', async () => {
    const world = await billingWorld()
    const now = Math.floor(Date.now() / 1000)
    const today = now - (now % 86_400)
    const invoices = [
      [{ due_date: now - 86_500, amount_paid: 900, amount_remaining: 1500 }, 'overdue', '$15.00'],
      [{ due_date: now + 900 }, 'open', '$24.00'],
      [{ due_date: null }, 'open', '$24.00'],
      [{ due_date: today }, 'open', '$24.00'], // a day, which has not ended
      [{ due_date: now - 86_500, amount_remaining: 0 }, 'open', '$0.00'],
      [{ due_date: now - 86_500, status: 'paid' }, 'paid', '–'],
    ] as const
    const sent = invoices.map(([fields]) => stripeInvoice(fields))
    await world.deliver(...sent.map((one) => stripeEventOf('invoice.updated', one)))
    const page = async (path: string) =>
      (await visit(`/console/p/${world.project}/platform/billing/${path}`, world.owner.token)).text
    const rows = (await page('invoices')).split('<tr>')
    const wordsOf = ({ id }: { id?: unknown }) =>
      rows
        .find((row) => row.includes(`/invoices/${id}?`))
        ?.replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
    for (const [n, [, status, remaining]] of invoices.entries())
      expect([n, wordsOf(sent[n] ?? {})]).toEqual([n, expect.stringContaining(` $24.00 ${status} Test ${remaining} `)])
    expect(await page(`invoices/${sent[0]?.id}`)).toContain('<span class="badge bad">overdue</span>')
    // The search and the filter say the same.
    for (const [n, [, status]] of invoices.entries()) {
      const { text } = await visit(`/console/p/${world.project}/search?q=${sent[n]?.id}`, world.owner.token)
      expect([n, /\$24\.00 · (\w+)</.exec(text)?.[1]?.toLowerCase()]).toEqual([n, status])
    }
    const listed = async (query: string) =>
      (await world.api(`/invoices?${query}`)).body.data.map(({ id }: { id: string }) => id).sort()
    const which = (isOverdue: boolean) =>
      sent.filter((_, n) => (invoices[n]?.[1] === 'overdue') === isOverdue).map(({ id }) => id)
    expect(await listed('overdue=true')).toEqual(which(true))
    expect(await listed('overdue=false')).toEqual(which(false).sort())
    expect(await listed('overdue=true&status=paid')).toEqual([])
    const narrowed = await page('invoices?overdue=true')
    expect(narrowed.match(/class="name" href="[^"]*invoices\/in_/g)).toHaveLength(1)
    expect(narrowed).toMatch(/aria-current="[a-z]+"[^>]*>\s*Overdue/)
    expect(narrowed).toMatch(/href="\?status=paid"/)
  })

  it('shows the items of a purchase, and the money that went back', async () => {
    const world = await billingWorld()
    const paid = { mode: 'payment', payment_status: 'paid', amount_total: 4900, currency: 'eur' }
    const session = { id: 'cs_1', object: 'checkout.session', payment_intent: 'pi_1', ...paid }
    const refund = { id: 're_1', object: 'refund', payment_intent: 'pi_1', amount: 900, currency: 'eur' }
    await world.deliver(
      stripeEventOf('checkout.session.completed', { ...session, metadata: { price_id: 'price_1' } }),
      stripeEventOf('refund.created', { ...refund, status: 'succeeded' }),
    )
    const page = async (path: string) =>
      (await visit(`/console/p/${world.project}/platform/billing/${path}`, world.owner.token)).text
    const list = await page('purchases')
    expect(list).toContain('price_1')
    expect(list).toMatch(/class="number spare" data-label="Refunded">€9\.00</)
    const shown = await page('purchases/pi_1')
    expect(shown).toContain('<dt>Refunded amount</dt><dd>€9.00</dd>')
    expect(shown).toContain('re_1')
  })
})
