import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, URL_OF_CONSOLE, violations } from './browser.ts'
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
  const cookie = { name: '__Host-session', value: token, url: 'https://localhost', httpOnly: true, secure: true }
  await context.addCookies([cookie])
  await reachOutside(context)
  page = await context.newPage()
})
afterAll(async () => {
  await context?.close()
  await browser?.close()
})

async function picture(name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  for (const [width, scheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: scheme })
    await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

it('A test run goes to the provider and back, and shows each step', async () => {
  await page.goto(`${URL_OF_CONSOLE}/console/p/${project}/platform/settings/sso/${connection.id}`)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('link', { name: 'Continue to Acme ID' }).waitFor()
  await picture('test-run-begin')
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'Continue to Acme ID' }).click()
  await page.getByText('The test run passed').waitFor()
  await picture('test-run-passed')
  expect(await page.locator('main').innerText()).toContain('ada@acme.dev')
  expect(await page.getByRole('row').filter({ hasText: 'Signature' }).innerText()).toContain('ok')
  expect(await violations(page)).toEqual([])
})

it('Somebody who is not a member runs it too, and sees the same', async () => {
  const { url } = await api<{ url: string }>(`sso/connections/${connection.id}/test`, {})
  const stranger = await browser.newContext()
  await reachOutside(stranger)
  page = await stranger.newPage()
  await page.goto(url)
  await page.getByText('The test run passed').waitFor()
  await picture('test-run-stranger')
  expect(await violations(page)).toEqual([])
  await stranger.close()
})
