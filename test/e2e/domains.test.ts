import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, pictures, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** One story. What resolvers say is tested in test/domains: here it does not matter whether any can be reached. */
describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let path: string

  beforeAll(async () => {
    const { token } = await signIn(URL_OF_CONSOLE, `domains-${javaScriptEnabled}@example.com`)
    const made = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, { token, json: { name: 'Acme' } })
    path = `${URL_OF_CONSOLE}/console/p/${made.id}/platform/settings/domains`
    context = await browser.newContext({ javaScriptEnabled })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  const shown = (name: string) => pictures(page, `${name}${javaScriptEnabled ? '' : '-plain'}`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const add = async (name: string, purpose: string) => {
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Use it for').selectOption(purpose)
    await press('Add domain')
  }

  it('adds a domain, and says what is wrong with a name', async () => {
    await page.goto(path)
    await add('co.uk', 'sso')
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('co.uk')
    await add('bücher-company.de', 'surface')
    await page.getByRole('heading', { level: 1, name: 'bücher-company.de' }).waitFor()
    await expect
      .poll(() => page.locator('#record-name').textContent())
      .toBe('_platform-challenge.xn--bcher-company-wob.de')
    await expect.poll(() => page.locator('#record-value').textContent()).toMatch(/^platform-verify=[0-9a-z]{32}$/)
    if (javaScriptEnabled) expect(await violations(page)).toEqual([])
  })

  it('checks it, and shows what each resolver says', async () => {
    await press('Check now')
    const resolvers = page.getByRole('table').getByRole('row')
    await resolvers.filter({ hasText: 'dns.google' }).waitFor()
    await shown('domain-checked')
    await page.goto(path)
    await shown('domains-list')
    await page.goBack()
    await expect.poll(() => resolvers.count()).toBe(3)
    if (javaScriptEnabled) expect(await violations(page)).toEqual([])
  })

  it('deletes it', async () => {
    await page.getByRole('link', { name: 'Delete', exact: true }).click()
    await press('Delete domain')
    await page.getByText('No domains yet.').waitFor()
    if (javaScriptEnabled) expect(await violations(page)).toEqual([])
    const asked = ['422', '409'].map((status) => `status of ${status}`)
    expect(seen.problems.filter((one) => !asked.some((status) => one.includes(status)))).toEqual([])
    expect(seen.foreign).toEqual([])
  })
})
