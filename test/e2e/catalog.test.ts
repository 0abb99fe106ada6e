import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, sendStripe, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'

/** Against hanging only. */
const SECRET = 'whsec_a_secret_of_the_catalog_tests'
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

  beforeAll(async () => {
    const { token } = await signIn(URL_OF_CONSOLE, `catalog-${javaScriptEnabled}@example.com`)
    const api = <T>(path: string, json: unknown, project?: string, method?: 'PUT') =>
      must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
        token,
        json,
        ...(project && { project }),
        ...(method && { method }),
      })
    const project = (await api<{ id: string }>('projects', { name: 'Acme' })).id
    base = `${URL_OF_CONSOLE}/console/p/${project}/platform`
    const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
    const connection = (await api<{ id: string }>('billing/connections', fields, project)).id
    await api('consumers/ext:user_1', { name: 'Ada' }, project, 'PUT')
    await sendStripe(connection, SECRET, 'customer.subscription.updated', {
      ...{ id: 'sub_ada', customer: 'cus_ada', metadata: { consumer_external_id: 'user_1' } },
      items: { object: 'list', data: [{ id: 'si_1', quantity: 3, price: { id: 'price_pro', product: 'prod_1' } }] },
    })
    context = await browser.newContext({ javaScriptEnabled })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const notice = () => page.getByRole('status').first().textContent()
  const main = () => page.locator('main').innerText()
  const rowOf = (text: string) => page.locator('main').getByRole('row').filter({ hasText: text })
  /** Where a question is asked: in a dialog, or without JavaScript on a page of its own. */
  const asked = () => (javaScriptEnabled ? page.getByRole('dialog') : page.locator('main'))

  it('lets subscriptions in test mode count', async () => {
    await page.goto(`${base}/settings/general?tab=entitlements`)
    await page.getByLabel('Test-mode subscriptions and purchases grant access').check()
    await page.locator('main').getByRole('button', { name: 'Save' }).click()
    expect(await notice()).toBe('The setting was changed.')
  })

  it('creates features, with keys made from their names; only a quantity asks how it is combined', async () => {
    for (const [key, type] of [
      ['sso', 'On or off'],
      ['seats', 'A quantity'],
    ] as const) {
      await page.goto(`${base}/billing/features`)
      await link('New feature').click()
      await page.getByLabel('Name').fill(key.toUpperCase())
      const made = javaScriptEnabled ? key : null
      await expect.poll(() => page.getByLabel('Key').getAttribute('placeholder')).toBe(made)
      await page.getByLabel('Type').selectOption(type)
      await expect.poll(() => page.getByLabel('If several sources include it').isVisible()).toBe(key === 'seats')
      await press('Create feature')
      expect(await notice()).toContain('The feature was created.')
    }
  })

  it('makes a plan for a price without one, and shows who gains before it saves', async () => {
    await expect
      .poll(async () => {
        await page.goto(`${base}/billing/plans`)
        return rowOf('price_pro').count()
      })
      .toBe(1)
    await page.getByRole('link', { name: 'Add to plan… price_pro' }).click()
    await link('New plan').click()
    await page.getByLabel('Key').fill('pro')
    await page.getByLabel('Name').fill('Pro')
    await page.getByLabel(/^SSO/).check()
    await page.getByLabel(/^SEATS/).fill('many')
    await press('Create plan')
    await page.getByRole('alert').waitFor()
    await page.getByLabel(/^SEATS/).fill('5')
    await page.getByLabel('per seat: seats').check()
    await press('Create plan')
    expect(await notice()).toContain('The plan was created.')
    await expect.poll(() => page.getByLabel('ID of price 1').inputValue()).toBe('price_pro')
    await press('Review change')
    await page.getByRole('heading', { name: 'Who is affected' }).waitFor()
    expect(await main()).toContain('1 consumer would be affected.')
    expect(await main()).toContain('1 consumer gains SEATS')
    if (javaScriptEnabled) expect(await violations(page)).toEqual([])
    await press('Back to the form')
    await expect.poll(() => page.getByLabel('ID of price 1').inputValue()).toBe('price_pro')
    await press('Review change')
    await press('Save for 1 consumer')
    expect(await notice()).toContain('The plan was changed.')
    await link('← Plans').click()
    expect(await main()).toContain('Every price in the 1,000 subscriptions and 1,000 purchases')
  })

  it('shows what a consumer may do and why, down to the event', async () => {
    await page.goto(`${base}/consumers/ext:user_1`)
    await expect
      .poll(() => page.getByRole('row', { name: /^SEATS/ }).innerText())
      .toMatch(/Allowed\s+15\s+Included in Pro/)
    await page
      .getByRole('row', { name: /^SEATS/ })
      .getByText('1 source')
      .click()
    await page
      .getByRole('row', { name: /^SEATS/ })
      .getByRole('link', { name: 'customer.subscription.updated' })
      .click()
    await page.getByRole('heading', { name: 'customer.subscription.updated' }).waitFor()
  })

  it('denies a feature, explains it, and revokes that after a question', async () => {
    await page.goto(`${base}/consumers/ext:user_1`)
    await link('Grant or deny…').click()
    await expect.poll(() => page.getByLabel('Plan', { exact: true }).isVisible()).toBe(false)
    await page.getByLabel('What to do').selectOption('Deny a feature')
    await expect.poll(() => page.getByLabel('Value').isVisible()).toBe(false)
    await press('Create grant')
    await page.getByText('Must be selected.').waitFor()
    await page.getByLabel('Feature', { exact: true }).selectOption('SSO (sso)')
    await press('Create grant')
    expect(await notice()).toContain('The grant was created.')
    expect(
      await page.getByRole('region', { name: 'Entitlements' }).getByRole('row').filter({ hasText: 'sso' }).innerText(),
    ).toMatch(/Not allowed\s+.*A grant denies it/s)
    await page.getByRole('link', { name: 'Revoke no sso' }).click()
    await asked().getByRole('button', { name: 'Revoke grant' }).click()
    expect(await notice()).toContain('The grant was revoked')
    await expect.poll(() => rowOf('Denies sso').innerText()).toContain('Revoked')
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    const unexpected = seen.problems.filter((text) => !text.includes('status of 422'))
    expect({ unexpected, foreign: seen.foreign }).toEqual({ unexpected: [], foreign: [] })
  })
})
