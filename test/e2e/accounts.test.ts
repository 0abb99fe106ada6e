import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { execute, literal } from '../../scripts/lib/d1.ts'
import {
  codeOf,
  LOOKS,
  launch,
  look,
  picture,
  signIn,
  URL_OF_CONSOLE,
  violations,
  type Watch,
  watch,
} from './browser.ts'

/** Confirming a session, and what a user sees of their account. */

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  const email = `accounts-${javaScriptEnabled}@example.com`
  let context: BrowserContext
  let seen: Watch
  let page: Page
  let members: string

  beforeAll(async () => {
    context = await browser.newContext({ javaScriptEnabled })
    seen = watch(context)
    page = await context.newPage()
    await signIn(page, email)
    const token = (await context.cookies('https://localhost')).find(({ name }) => name === '__Host-session')?.value
    const { id } = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, {
      token: token as string,
      json: { name: 'Acme' },
    })
    members = `${URL_OF_CONSOLE}/console/p/${id}/platform/settings/members`
  })
  afterAll(() => context.close())

  /** Takes pictures of a page, wide and narrow, light and dark, and looks for what axe finds. */
  async function inspect(name: string) {
    if (!javaScriptEnabled) return
    for (const one of LOOKS) {
      await look(page, one)
      expect(await violations(page), name).toEqual([])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(one[0])
      await picture(page, `${name}-${one.join('-')}`)
    }
    await page.setViewportSize({ width: 1200, height: 800 })
  }

  it('a form that needs a confirmation leads to it, and back', async () => {
    const user = `(SELECT id FROM users WHERE email = ${literal(email)})`
    await execute('local', `UPDATE sessions SET confirmed_at = 0 WHERE user_id = ${user}`)
    const invite = async () => {
      await page.getByLabel('Email address').fill('accounts-guest@example.com')
      await page.getByLabel('Role', { exact: true }).selectOption('Owner')
      await page.getByRole('button', { name: 'Send invitation' }).click()
    }
    await page.goto(members)
    await invite()
    await page.getByText('Nothing has been changed yet').waitFor()
    await inspect('confirm')
    await page.getByRole('button', { name: 'Send code' }).click()
    const challenge = await page.locator('input[name=challenge]').inputValue()
    await page.getByLabel('Code').fill('AAAA-AAAA')
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await page.getByText('This code is incorrect').waitFor()
    await inspect('confirm-code')
    await page.getByLabel('Code').fill(await codeOf(challenge))
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await page.getByText('You have confirmed your identity').waitFor()
    expect(page.url().split('?')[0]).toBe(members)
    await invite()
    await page.getByText('The invitation was created').waitFor()
  })

  it('the sessions page shows what happened, and turns security emails off', async () => {
    await page.goto(`${URL_OF_CONSOLE}/console/sessions`)
    const activity = page.getByRole('region', { name: 'Account activity' })
    const rows = await activity.getByRole('row').allTextContents()
    expect(rows.some((text) => text.includes('Confirmed with a code'))).toBe(true)
    expect(rows.some((text) => text.includes('1 wrong code'))).toBe(true)
    expect(rows.some((text) => text.includes('Signed in'))).toBe(true)
    await inspect('sessions')
    await page.getByLabel('Send me an email').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your security email settings were saved').waitFor()
    await expect.poll(() => page.getByLabel('Send me an email').isChecked()).toBe(false)
    await page.getByRole('link', { name: 'All activity' }).click()
    await page.getByText('Turned security emails off').waitFor()
    await inspect('activity')
  })

  it('had no error but for the wrong code', () => {
    expect(seen.foreign).toEqual([])
    expect(seen.problems.filter((text) => !text.includes('status of 401'))).toEqual([])
  })
})
