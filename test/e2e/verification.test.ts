import { createHmac } from 'node:crypto'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, picture, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'
import { hmacConnection } from './hmac-connection.ts'

const SECRET = 'a-secret-of-the-sender'
let browser: Browser
let context: BrowserContext
let seen: Watch
let project: string
let connection: string

beforeAll(async () => {
  browser = await launch()
  const { token } = await signIn(URL_OF_CONSOLE, 'verification@example.com')
  project = (await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, { token, json: { name: 'Senders' } }))
    .id
  connection = await hmacConnection({ token, project }, SECRET)
  context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
  await context.addCookies([sessionCookie(token)])
  seen = watch(context)
})
afterAll(() => browser?.close())

it('a delivery is tried on the page of the verification, which a preset fills in', async () => {
  const page = await context.newPage()
  await page.goto(`${URL_OF_CONSOLE}/console/p/${project}/platform/billing/connections/${connection}/verification`)
  await page.getByLabel('Start from a known sender').selectOption('github')
  await page.getByRole('button', { name: 'Fill in' }).click()
  await page.waitForURL(/preset=github/)
  await expect.poll(() => page.getByLabel('Signature header').inputValue()).toBe('x-hub-signature-256')
  await page.getByLabel('Template').fill('v1')
  await page.getByRole('button', { name: 'Save verification' }).click()
  await page.getByText('Must contain {body} once').waitFor()
  await expect.poll(() => page.getByLabel('Prefix').inputValue()).toBe('sha256=')
  expect(await violations(page)).toEqual([])
  await picture(page, 'verification-wrong')
  await page.getByLabel('Template').fill('{body}')
  await page.getByRole('button', { name: 'Save verification' }).click()
  await page.getByText('The verification was saved').waitFor()
  await page.getByRole('link', { name: 'Try a delivery' }).click()
  const body = '{\n  "id": "evt_1"\n}\n'
  const send = async (signature: string) => {
    await page.getByLabel('Headers').fill(`X-Hub-Signature-256: sha256=${signature}\nx-github-event: push`)
    await page.getByLabel('Body', { exact: true }).fill(body)
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.locator('#tried').waitFor()
    return page.locator('#tried').textContent()
  }
  expect(await send('0'.repeat(64))).toContain('Refused. The signature matches none of the live secrets')
  await expect.poll(() => page.locator('#tried #signed').textContent()).toBe(body)
  expect(await violations(page)).toEqual([])
  await picture(page, 'verification-refused')
  const signed = await send(createHmac('sha256', SECRET).update(body).digest('hex'))
  expect(signed).toContain('Accepted.')
  expect(signed).toContain('push')
  await picture(page, 'verification-accepted')
  await page.close()
  expect(seen.foreign).toEqual([])
})
