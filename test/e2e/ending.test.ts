import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { launch, pictures, sessionCookie, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

/** An owner deletes a project and undoes it, and a user deletes the account, with and without JavaScript. */

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let project: string
  let key: string

  const callKeys = () =>
    fetch(`${URL_OF_CONSOLE}/platform/v1/api-keys`, {
      headers: { Authorization: `Bearer ${key}`, 'X-Project-Id': project },
    })
  const shown = (name: string) => pictures(page, `ending-${name}${javaScriptEnabled ? '' : '-plain'}`)

  beforeAll(async () => {
    const { token } = await signInByApi(URL_OF_CONSOLE, `ending-${javaScriptEnabled}@example.com`)
    project = (
      await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, { token, json: { name: 'Last days' } })
    ).id
    const minted = { token, project, json: { name: 'a key' } }
    key = (await must<{ secret: string }>(`${URL_OF_CONSOLE}/platform/v1/api-keys`, minted)).secret
    context = await browser.newContext({ javaScriptEnabled })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  const general = () => `${URL_OF_CONSOLE}/console/p/${project}/platform/settings/general`

  it('asks for the name, with the focus on Cancel', async () => {
    await page.goto(general())
    await shown('general')
    await page.getByRole('link', { name: 'Delete this project' }).click()
    const asked = javaScriptEnabled ? page.getByRole('dialog') : page.locator('main')
    await asked.getByRole('heading', { name: 'Delete “Last days”?' }).waitFor()
    await shown('dialog')
    if (javaScriptEnabled) expect((await page.locator(':focus').textContent())?.trim()).toBe('Cancel')
    await asked.getByLabel('Type the name').fill('Last day')
    await asked.getByRole('button', { name: 'Delete project' }).click()
    await page.getByText('This is not the name of the project').waitFor()
    expect((await callKeys()).status).toBe(200)
  })

  it('deletes it: the key is dead, and the start page offers to undo it', async () => {
    await page.goto(general())
    await page.getByRole('link', { name: 'Delete this project' }).click()
    await page.getByLabel('Type the name').fill('Last days')
    await page.getByRole('button', { name: 'Delete project' }).click()
    await page.getByText('The project was deleted.').waitFor()
    const row = page.getByRole('row').filter({ hasText: 'Last days' })
    await expect.poll(() => row.textContent()).toMatch(/20\d\d-\d\d-\d\d .*Undo/)
    await shown('deleted')
    expect((await callKeys()).status).toBe(401)
  })

  it('undoes it: everything is back', async () => {
    await page.getByRole('button', { name: 'Undo the deletion of Last days' }).click()
    await page.waitForURL(new RegExp(`/console/p/${project}`))
    await page.getByText('The project was restored').waitFor()
    expect((await callKeys()).status).toBe(200)
  })

  it('deletes an account after a question, and signs out', async () => {
    const email = `leaving-${javaScriptEnabled}@example.com`
    const { token } = await signInByApi(URL_OF_CONSOLE, email)
    await context.addCookies([sessionCookie(token)])
    await page.goto(`${URL_OF_CONSOLE}/console/sessions`)
    await page.getByRole('link', { name: 'Delete my account' }).click()
    const asked = javaScriptEnabled ? page.getByRole('dialog') : page.locator('main')
    await asked.getByRole('heading', { name: 'Delete your account?' }).waitFor()
    await shown('account')
    if (javaScriptEnabled) expect((await page.locator(':focus').textContent())?.trim()).toBe('Cancel')
    await asked.getByLabel('Type your email address').fill(email)
    await asked.getByRole('button', { name: 'Delete my account' }).click()
    await page.getByText('Your account was deleted.').waitFor()
    const answer = await fetch(`${URL_OF_CONSOLE}/auth/sessions`, { headers: { Authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
  })

  it('has no errors and loads nothing from elsewhere', () => {
    // The page of the wrong name is a 422.
    expect(seen.problems.filter((line) => !line.includes('422'))).toEqual([])
    expect(seen.foreign).toEqual([])
  })
})
