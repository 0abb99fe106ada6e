import { beforeAll, describe, expect, it } from 'vitest'
import { stripeEventOf, stripeInvoice, stripePaymentMethod, stripeSubscription } from '../billing/payloads'
import { stripeSession } from '../billing/purchases/payloads'
import { insertConsumer, insertLink } from '../consumers/rows'
import { call, deliver, freshProject, settled } from '../harness'
import { visit } from './visit'

/* A project with connections of both modes. Each object, event and connection has its mode in its id or name. */

const MODES = ['live', 'test'] as const
const idsOf = (mode: string) => ({ customer: 'cus_1', id: `sub_${mode}` })

let project: string
let token: string
let consumer: string
beforeAll(async () => {
  const fresh = await freshProject()
  project = fresh.project
  token = fresh.owner.token
  consumer = await insertConsumer(project, 'ada')
  await insertLink(project, 'cus_1', { pinned: consumer })
  for (const mode of MODES) {
    const livemode = mode === 'live'
    const json = { vendor: 'stripe', name: `Stripe of ${mode}`, livemode, signing_secret: `whsec_${mode}_secret` }
    const { body } = await call('/platform/v1/billing/connections', { method: 'POST', token, project, json })
    const of = { ...idsOf(mode), livemode }
    const events = [
      stripeEventOf('customer.subscription.updated', stripeSubscription(of), { livemode }),
      stripeEventOf('invoice.paid', stripeInvoice({ ...of, id: `in_${mode}` }), { livemode }),
      stripeEventOf('payment_method.attached', stripePaymentMethod({ ...of, id: `pm_${mode}` }), { livemode }),
      stripeEventOf(
        'checkout.session.completed',
        stripeSession({ ...of, id: `cs_${mode}`, payment_intent: `pi_${mode}` }),
        { livemode },
      ),
      ...[1, 2].map(() => ({ ...stripeEventOf('broken', {}, { livemode }), data: {} })),
    ]
    for (const event of events) {
      const sent = await deliver(body.id, event, { secret: `whsec_${mode}_secret` })
      await settled(project, token, sent.body.event_ids[0])
    }
  }
})

const at = (path: string) => `/console/p/${project}${path}`
/** The rows of a page's lists that say of themselves that they are of a mode. */
async function rowsOf(path: string, headers: Record<string, string> = {}) {
  const { status, text } = await visit(path, token, { headers })
  expect([path, status, text.length < 60_000]).toEqual([path, 200, true])
  const rows = [...text.replace(/<details class="menu">.*?<\/details>/gs, '').matchAll(/<(tr|li)[ >].*?<\/\1>/gs)].map(
    ([row]) => row,
  )
  const of = (mode: string) => rows.filter((row) => new RegExp(`(_|Stripe of )${mode}\\b`).test(row))
  return { text, live: of('live'), test: of('test') }
}

describe('a row of test mode is marked, and one of live mode is not', () => {
  const LISTS: [path: string, n: number][] = [
    ['/platform/billing/webhooks', 6],
    ['/platform/billing/webhooks?status=failed', 3],
    ['/platform/billing/connections', 1],
    ['/platform/billing/webhooks/health', 1],
    ['/platform/billing/subscriptions', 1],
    ['/platform/billing/invoices', 1],
    ['/platform/billing/payment-methods', 1],
    ['/platform/billing/purchases', 1],
    ['/search?q=sub_', 1],
    ['/search?q=Stripe', 1],
    ['', 2],
  ]
  it.each(LISTS)('%s', async (path, n) => {
    const { live, test } = await rowsOf(at(path))
    expect([live.length, test.length]).toEqual([n, n])
    for (const row of test) expect(row).toContain('<span class="badge test">Test</span>')
    for (const row of live) expect(row).not.toContain('badge test')
  })

  it('what a consumer has', async () => {
    const { live, test } = await rowsOf(at(`/platform/consumers/${consumer}`))
    expect([live.length, test.length]).toEqual([3, 3])
    for (const row of test) expect(row).toContain('badge test')
    for (const row of live) expect(row).not.toContain('badge test')
  })

  it('the results of a search by the API', async () => {
    const { body } = await call('/platform/v1/search?q=in_', { token, project })
    const modes = Object.fromEntries(body.data.map(({ id, livemode }) => [id, livemode]))
    expect(modes).toMatchObject({ in_live: true, in_test: false })
  })
})
