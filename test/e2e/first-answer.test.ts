import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { LOOKS, launch, look, pictures, sessionCookie, URL_OF_CONSOLE, violations, watch } from './browser.ts'

/** Clicks from an empty project to the first allowed feature, filling in forms aside. */
const CLICKS = 20
let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** The console of an empty project. */
async function empty(email: string, javaScriptEnabled: boolean) {
  const { token } = await signInByApi(URL_OF_CONSOLE, email)
  const { id } = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, {
    token,
    json: { name: 'First' },
  })
  const context = await browser.newContext({ javaScriptEnabled })
  await context.addCookies([sessionCookie(token)])
  const page = await context.newPage()
  const seen = watch(context)
  await page.goto(`${URL_OF_CONSOLE}/console/p/${id}`)
  return { context, page, seen, clicks: counting(page) }
}

function counting(page: Page) {
  let n = 0
  const click = async (role: 'link' | 'button' | 'radio', name: string | RegExp) => {
    n += 1
    await page
      .getByRole(role, { name, exact: typeof name === 'string' && role === 'button' })
      .first()
      .click()
  }
  return Object.assign(click, { count: () => n })
}

/** In each look of a page, axe finds nothing, and no part is wider than the screen. */
async function looksGood(page: Page, name: string): Promise<void> {
  await pictures(page, name)
  for (const one of LOOKS) {
    await look(page, one)
    expect([name, one, await violations(page)]).toEqual([name, one, []])
    expect([name, one, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([
      name,
      one,
      one[0],
    ])
  }
  await look(page, LOOKS[0])
}

async function connect(page: Page, click: ReturnType<typeof counting>) {
  await click('link', 'Connect a vendor')
  await click('link', 'Stripe')
  await click('radio', /^Test/)
  await click('button', 'Create connection')
  const secret = (await page.locator('#example-secret').textContent()) ?? ''
  await page.getByLabel('Signing secret').fill(secret)
  await click('button', 'Save secret')
}

async function catalog(page: Page, click: ReturnType<typeof counting>) {
  await click('link', 'Create a feature')
  await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('seats')
  await click('button', 'Create feature')
  await click('link', 'Create a plan')
  await page.getByLabel('Key').fill('team')
  await page.getByLabel('Name', { exact: true }).fill('Team')
  await page.locator('[id="value.seats"]').fill('5')
  await click('button', 'Create plan')
  await click('button', 'Review change')
  await click('button', /^Save/)
}

it('leads from an empty project to the first allowed feature, without a terminal', async () => {
  const { context, page, seen, clicks: click } = await empty('first-answer@example.com', true)
  await click('link', 'Create API key')
  await page.getByLabel('Name').fill('Server')
  await looksGood(page, 'key-by-job')
  await click('button', 'Create API key')
  await click('button', 'Try it')
  await page.locator('.try', { hasText: '200: the key works' }).waitFor()
  await click('link', 'I have stored the secret')
  await connect(page, click)
  await looksGood(page, 'test-event')
  await click('button', 'Send a test event')
  await page.locator('#now .badge', { hasText: 'processed' }).first().waitFor()
  await looksGood(page, 'test-event-sent')
  await click('link', 'Overview')
  await page.locator('#setup', { hasText: 'Next: your first entitlement check' }).waitFor()
  await looksGood(page, 'road')
  await catalog(page, click)
  await looksGood(page, 'road-consumer')
  await click('button', 'Create this consumer')
  await page.getByText('Not allowed: Seats').waitFor()
  await looksGood(page, 'answer-denied')
  await click('button', 'Grant access in test mode')
  await page.getByText('Allowed: Seats (5)').waitFor()
  const clicks = click.count()
  console.log(`Clicks to the first allowed feature: ${clicks}`)
  expect(clicks).toBeLessThanOrEqual(CLICKS)
  await page.getByText('See the API call').click()
  for (const language of ['TypeScript', 'Python', 'Go', 'curl']) {
    await page.getByText(language, { exact: true }).click()
    const shown = await page.locator('.answer .panel:visible').textContent()
    expect([language, shown?.includes('/platform/v1/entitlements/check')]).toEqual([language, true])
  }
  await looksGood(page, 'answer-allowed')
  await page.getByRole('link', { name: 'Overview' }).click()
  await expect.poll(() => page.locator('#steps').count()).toBe(0)
  expect(seen).toEqual({ problems: [], foreign: [] })
  await context.close()
})

it('does so without JavaScript', async () => {
  const { context, page, clicks: click } = await empty('first-answer-plain@example.com', false)
  await connect(page, click)
  await page.getByLabel('What happens').selectOption({ index: 0 })
  await click('button', 'Send a test event')
  await click('link', 'Overview')
  // Without a script the page stays as it was read: the event may be processed only later.
  const steps = page.locator('#steps', { hasText: 'The last subscription is for' })
  await expect.poll(async () => (await page.reload()) && steps.count()).toBe(1)
  await catalog(page, click)
  await click('button', 'Create this consumer')
  await click('button', 'Grant access in test mode')
  await page.getByText('Allowed: Seats (5)').waitFor()
  await page.getByText('See the API call').click()
  await page.getByText('Go', { exact: true }).click()
  await expect.poll(() => page.locator('.answer .panel:visible').textContent()).toContain('package main')
  await context.close()
})
