import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, pictures, sessionCookie, URL_OF_CONSOLE, violations } from './browser.ts'
import { reachOutside, setOutside } from './outside.ts'

/** A certified OpenID provider. */
const HOST = 'test-run.certified.dev'
let browser: Browser
let context: BrowserContext
let page: Page
let token: string
let project: string
let connection: { id: string; callback_url: string }
const api = <T>(path: string, json?: unknown) =>
  must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
    token,
    ...(project && { project }),
    ...(json !== undefined && { json }),
  })

beforeAll(async () => {
  browser = await launch()
  token = (await signIn(URL_OF_CONSOLE, 'sso-test-run@example.com')).token
  project = (await api<{ id: string }>('projects', { name: 'Acme' })).id
  const client = { issuer: `https://${HOST}`, client_id: 'rp', client_secret: 's3cret' }
  connection = await api('sso/connections', { audience: 'team', name: 'Acme ID', ...client })
  await setOutside(HOST, { redirect_uris: [connection.callback_url] })
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addCookies([sessionCookie(token)])
  await reachOutside(context)
  page = await context.newPage()
})
afterAll(async () => {
  await context?.close()
  await browser?.close()
})

it('A test run goes to the provider and back, and shows each step', async () => {
  await page.goto(`${URL_OF_CONSOLE}/console/p/${project}/platform/settings/sso/${connection.id}`)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('link', { name: 'Continue to Acme ID' }).waitFor()
  await pictures(page, 'test-run-begin')
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'Continue to Acme ID' }).click()
  await page.getByText('The test run passed').waitFor()
  await pictures(page, 'test-run-passed')
  await expect.poll(() => page.locator('main').innerText()).toContain('ada@acme.dev')
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'Signature' }).innerText()).toContain('OK')
  expect(await violations(page)).toEqual([])
})

it.each([true, false])(
  'Somebody who is not a member runs it too, and both see the same, with JavaScript: %s',
  async (script) => {
    const member = await browser.newContext({ javaScriptEnabled: script })
    await member.addCookies([sessionCookie(token)])
    const waiting = await member.newPage()
    await waiting.goto(`${URL_OF_CONSOLE}/console/p/${project}/platform/settings/sso/${connection.id}`)
    await waiting.getByRole('button', { name: 'Test', exact: true }).click()
    const link = await waiting.locator('#link').innerText()
    const stranger = await browser.newContext()
    await reachOutside(stranger)
    const theirs = await stranger.newPage()
    await theirs.goto(link)
    if (script) await pictures(theirs, 'test-run-link')
    expect(script ? await violations(theirs) : []).toEqual([])
    await theirs.getByRole('link', { name: 'Continue to Acme ID' }).click()
    await theirs.getByText('The test run passed').waitFor()
    // Without a script, a link of the page asks again, and keeps the link to the provider meanwhile.
    if (!script) await waiting.getByRole('link', { name: 'Refresh' }).click()
    await waiting.getByText('The test run passed').first().waitFor()
    await waiting.getByRole('button', { name: 'Test again' }).waitFor()
    if (script) {
      await pictures(theirs, 'test-run-stranger')
      expect(await violations(theirs)).toEqual([])
      expect(await violations(waiting)).toEqual([])
    }
    await stranger.close()
    await member.close()
  },
)
