import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, picture, sendStripe, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'

/** The page of a purchase, and the setting that says what a refund takes back. */

const SECRET = 'whsec_a_secret_of_the_purchase_tests'
const WIDTHS = [1280, 390]
/** Wide enough for all columns of a list. */
const WIDE = { width: 1440, height: 900 }
let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** One story: each test continues where the previous one ended. */
describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let base: string
  let connection: string

  beforeAll(async () => {
    const { token } = await signIn(URL_OF_CONSOLE, `purchases-${javaScriptEnabled}@example.com`)
    const api = <T>(path: string, json: unknown, project?: string, method?: 'PUT' | 'PATCH') =>
      must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
        token,
        json,
        ...(project && { project }),
        ...(method && { method }),
      })
    const project = (await api<{ id: string }>('projects', { name: 'Acme' })).id
    base = `${URL_OF_CONSOLE}/console/p/${project}/platform`
    const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
    connection = (await api<{ id: string }>('billing/connections', fields, project)).id
    await api(`projects/${project}`, { settings: { test_mode_counts: true } }, undefined, 'PATCH')
    await api('consumers/ext:user_1', { name: 'Ada' }, project, 'PUT')
    await api('billing/features/sso', { name: 'Single sign-on', type: 'boolean' }, project, 'PUT')
    const prices = [{ vendor: 'stripe', ref: 'price_life', lasts: 'forever' }]
    await api('billing/plans', { key: 'life', name: 'Lifetime', features: { sso: { value: true } }, prices }, project)
    await buy('pi_life', 'price_life')
    await buy('pi_other', 'price_without_a_plan')
    context = await browser.newContext({ javaScriptEnabled })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
    await page.setViewportSize(WIDE)
  })
  afterAll(() => context?.close())

  const buy = (payment_intent: string, price_id: string) =>
    sendStripe(connection, SECRET, 'checkout.session.completed', {
      ...{ id: `cs_${payment_intent}`, object: 'checkout.session', mode: 'payment', payment_status: 'paid' },
      ...{ payment_intent, customer: 'cus_ada', amount_total: 4900, currency: 'eur', status: 'complete' },
      metadata: { price_id, consumer_external_id: 'user_1' },
    })
  const happens = (type: string, object: object) =>
    sendStripe(connection, SECRET, type, { payment_intent: 'pi_life', currency: 'eur', ...object })
  const main = () => page.locator('main').innerText()
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const opened = async (path: string) => {
    await page.goto(`${base}/${path}`)
    return main()
  }
  /** Looks at a page in both widths. */
  const looked = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      if (javaScriptEnabled) expect(await violations(page)).toEqual([])
      await picture(page, `${name}-${width}-${javaScriptEnabled ? 'script' : 'plain'}`)
    }
    await page.setViewportSize(WIDE)
  }

  it('leads from the list to a purchase, which says what it gives', async () => {
    await expect.poll(() => opened('billing/purchases')).toMatch(/(pi_life.*pi_other|pi_other.*pi_life)/s)
    await link('pi_life').click()
    await page.getByRole('heading', { name: 'Items' }).waitFor()
    expect(await main()).toMatch(/Grants access\s+indefinitely/)
    await looked('purchase')
    await page.getByRole('region', { name: 'Items' }).getByRole('link', { name: 'Lifetime' }).click()
    await page.getByRole('heading', { name: 'Lifetime' }).waitFor()
  })

  it('says why an item gives nothing, and leads to what is lacking', async () => {
    expect(await opened('billing/purchases/pi_other')).toContain('price_without_a_plan is not mapped to a plan.')
    await looked('purchase-unmapped')
    await link('Add it to a plan').click()
    await page.getByRole('heading', { name: 'Add to plan' }).waitFor()
  })

  it('shows a dispute and refunds in one table, and by which event the item ended', async () => {
    const now = Math.floor(Date.now() / 1000)
    const refund = { object: 'refund', status: 'succeeded', reason: 'requested_by_customer' }
    const dispute = { id: 'dp_1', object: 'dispute', status: 'won', reason: 'fraudulent' }
    await happens('charge.dispute.closed', { ...dispute, amount: 4900, created: now - 60 })
    await happens('refund.created', { ...refund, id: 're_1', amount: 900, created: now - 30 })
    const event = await happens('refund.created', { ...refund, id: 're_2', amount: 4000, created: now })
    const rows = page.getByRole('region', { name: 'Refunds and disputes' }).locator('tbody tr')
    await expect
      .poll(async () => {
        await opened('billing/purchases/pi_life')
        return rows.allInnerTexts()
      })
      .toEqual([
        expect.stringMatching(/Dispute dp_1.*€49\.00.*Won.*Fraudulent/s),
        expect.stringMatching(/Refund re_1.*€9\.00.*Succeeded.*Requested by customer/s),
        expect.stringMatching(/Refund re_2.*€40\.00.*Succeeded/s),
      ])
    expect(await main()).toContain('Refunded in full by refund re_2.')
    await looked('purchase-refunded')
    await page.getByRole('region', { name: 'Items' }).getByRole('link', { name: 'See the event' }).click()
    expect(page.url()).toContain(event)
    await page.getByRole('heading', { name: 'refund.created' }).waitFor()
  })

  it('keeps a plan after a refund, once the setting says so', async () => {
    await page.goto(`${base}/settings/general?tab=purchases`)
    const rules = page.locator('main')
    await rules.getByLabel('When the payment was fully refunded').selectOption('The purchase keeps granting access')
    await looked('purchase-rules')
    await rules.getByRole('button', { name: 'Save' }).click()
    expect(await page.getByRole('status').first().textContent()).toBe('The setting was changed.')
    await expect.poll(() => rules.getByLabel('When the payment was fully refunded').inputValue()).toBe('keep')
    expect(await opened('billing/purchases/pi_life')).toContain('Grants access')
  })

  it('is on the page of the consumer', async () => {
    await page.goto(`${base}/consumers/ext:user_1?tab=billing`)
    const list = page.getByRole('region', { name: 'Purchases' })
    await expect.poll(() => list.locator('tbody tr').count()).toBe(2)
    await looked('consumer-purchases')
    await list.getByRole('link', { name: 'pi_life' }).click()
    await page.getByRole('heading', { name: 'Refunds and disputes' }).waitFor()
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    expect(seen).toEqual({ problems: [], foreign: [] })
  })
})
