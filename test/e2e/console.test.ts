import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, launch, sendStripe, signIn, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

const SECRET = 'whsec_a_secret_of_the_browser_tests'
let browser: Browser
let context: BrowserContext
let page: Page
let seen: Watch

beforeAll(async () => {
  browser = await launch()
  context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  seen = watch(context)
  page = await context.newPage()
})
afterAll(() => browser?.close())

const button = (name: string) => page.getByRole('button', { name })
const link = (name: string) => page.getByRole('link', { name, exact: true })
const here = () => page.url().slice(URL_OF_CONSOLE.length)

/** Calls the API with a key, as a customer's server would. */
const call = (secret: string, project: string) =>
  fetch(`${URL_OF_CONSOLE}/platform/v1/api-keys/self`, {
    headers: { Authorization: `Bearer ${secret}`, 'X-Project-Id': project },
  })

/** One story: each test continues where the previous one ended. */
describe('a customer in the console', () => {
  let project: string
  let secret: string
  let connection: string
  let event: string

  it('is sent to sign in, and returns to the requested page', async () => {
    await page.goto(`${URL_OF_CONSOLE}/console/sessions`)
    expect(here()).toBe('/console/sign-in?next=%2Fconsole%2Fsessions')
    await signIn(page, 'customer@example.com', '/console/sessions')
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Sessions')
    const cookie = (await context.cookies()).find(({ name }) => name === '__Host-session')
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' })
  })

  const rowsOfSessions = () => page.getByRole('region', { name: 'Sessions' }).getByRole('row')

  it('signs in with the link from the email', async () => {
    const other = await browser.newContext()
    const tab = await other.newPage()
    await tab.goto(`${URL_OF_CONSOLE}/console/sign-in`)
    await tab.getByLabel('Email address').fill('customer@example.com')
    await tab.getByRole('button', { name: 'Send code' }).click()
    const challenge = await tab.locator('input[name=challenge]').inputValue()
    await tab.goto(`${URL_OF_CONSOLE}/auth/sign-in?challenge=${challenge}&code=${await codeOf(challenge)}`)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.waitForURL(`${URL_OF_CONSOLE}/console`)
    await page.reload()
    await expect.poll(() => rowsOfSessions().count()).toBe(3)
    await other.close()
  })

  it('ends the other session', async () => {
    const row = rowsOfSessions().filter({ hasNotText: 'this session' }).nth(1)
    await row.getByRole('button').click()
    await expect.poll(() => page.getByRole('status').first().textContent()).toContain('ended')
    await expect.poll(() => rowsOfSessions().count()).toBe(2)
  })

  it('creates a project', async () => {
    await page.goto(`${URL_OF_CONSOLE}/console`)
    await page.getByLabel('Name').fill('Acme <b>production</b>')
    await button('Create project').click()
    project = /\/p\/(prj_\w+)/.exec(page.url())?.[1] ?? ''
    expect(here()).toContain(`/console/p/${project}`)
    await link('API keys').click()
    await expect.poll(() => page.locator('.empty #example-curl-example').textContent()).toContain('curl ')
  })

  it('creates an API key, and copies its secret', async () => {
    await link('Create API key').first().click()
    await page.getByLabel('Name').fill('Server')
    await button('Create API key').click()
    secret = (await page.locator('#secret').textContent()) ?? ''
    expect(secret).toMatch(/^svc_v1_[0-9a-f]{96}$/)
    await page.getByRole('button', { name: 'Copy secret' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret)
    expect(page.url()).not.toContain(secret.slice(8, 20))
    await link('I have stored the secret: continue setting up').click()
    await link('API keys').click()
    expect(await page.content()).not.toContain(secret)
    await expect.poll(() => page.getByRole('cell', { name: 'Never' }).count()).toBe(1) // used; it expires
  })

  it('uses the key, and sees when it was last used', async () => {
    expect((await call(secret, project)).status).toBe(200)
    await expect.poll(async () => (await page.reload()) && page.getByRole('cell', { name: 'just now' }).count()).toBe(2)
  })

  it('lets it expire earlier', async () => {
    await link('Edit Server').click()
    await page.getByLabel('Expires').selectOption('In 30 days')
    await button('Save').click()
    await expect.poll(() => page.getByRole('status').first().textContent()).toContain('changed')
    await expect.poll(() => page.locator('.facts').textContent()).toContain('Expiresin 30 d')
  })

  it('rotates it after a confirmation: the old secret works until the new one is used', async () => {
    await link('Rotate Server').click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.textContent()).toMatch(/The key was last used at .* UTC \(just now\)/)
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.isVisible()).toBe(false)
    await link('Rotate Server').click()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    const fresh = (await page.locator('#secret').textContent()) ?? ''
    expect((await call(secret, project)).status).toBe(200)
    expect((await call(fresh, project)).status).toBe(200)
    expect((await call(secret, project)).status).toBe(401)
    secret = fresh
    await link('I have stored the secret').click()
  })

  it('revokes it after a confirmation', async () => {
    await link('Revoke Server').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
    await expect.poll(() => page.getByRole('status').first().textContent()).toContain('revoked')
    expect((await call(secret, project)).status).toBe(401)
  })

  it('connects Stripe', async () => {
    await link('Connections').click()
    await link('Connect a vendor').first().click()
    await page.getByRole('link', { name: /^Stripe/ }).click()
    await page.getByRole('radio', { name: 'Test' }).check()
    await page.getByLabel('Name').fill('Stripe, test mode')
    await button('Create connection').click()
    const address = (await page.locator('#ingest-url').textContent()) ?? ''
    connection = /\/ingest\/(con_\w+)$/.exec(address)?.[1] ?? ''
    expect(connection).not.toBe('')
    await page.getByLabel('Signing secret').fill(SECRET)
    await button('Save secret').click()
    await page.getByText('Waiting for the first delivery').waitFor()
    expect(await page.content()).not.toContain(SECRET)
  })

  it('adds a second signing secret and removes it', async () => {
    await page.getByText('Add a secret, or rotate one').click()
    await page.getByRole('textbox', { name: 'Signing secret' }).fill('whsec_anotherSecretOf0000')
    await button('Add secret').click()
    await link('Remove secret ending in 0000').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove secret' }).click()
    await expect.poll(() => page.locator('.rows tbody tr').count()).toBe(1)
  })

  it('watches signed events arrive', async () => {
    await link('Events').first().click()
    await expect.poll(() => page.locator('#no-events').textContent()).toContain('No events yet')
    event = await sendStripe(connection, SECRET, 'customer.subscription.updated')
    await page.locator(`#${event}`).waitFor()
    await page.locator(`#${event} .badge`, { hasText: 'processed' }).waitFor()
    await sendStripe(connection, SECRET, 'invoice.paid', { object: 'invoice', id: 'in_1' })
    await page.getByRole('link', { name: 'invoice.paid' }).waitFor()
  })

  it('is not interrupted while reading: a button shows new rows', async () => {
    await page.locator(`#${event}`).hover()
    const fresh = await sendStripe(connection, SECRET, 'customer.created', { object: 'customer' })
    await button('Show 1 new event').click()
    await page.locator(`#${fresh}`).waitFor()
  })

  it('searches, and the address contains the search', async () => {
    await page.getByLabel('Find by ID or event type').fill('customer.subscription.*')
    await button('Search').click()
    expect(here()).toContain('event_type=customer.subscription.*')
    await expect.poll(() => page.locator('#events tr').count()).toBe(1)
    await page.reload()
    await link('Remove the filter Event type: customer.subscription.*').waitFor()
  })

  it('opens the event', async () => {
    await link('customer.subscription.updated').click()
    await expect
      .poll(() => page.getByLabel('Payload as JSON').textContent())
      .toContain('"type": "customer.subscription.updated"')
    await expect.poll(() => page.locator('.facts').getByRole('link', { name: 'cus_1' }).count()).toBe(1)
    await page.getByText('Raw bytes').click()
    await expect.poll(() => page.getByLabel('Raw bytes').textContent()).toContain('000000  7b 22')
  })

  it('replays it', async () => {
    await page.getByRole('link', { name: 'Replay', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay event' }).click()
    await page.getByText('The event was processed again.').first().waitFor()
  })

  it('replays all of them, and sees the progress', async () => {
    await link('Events').first().click()
    await link('Replay all…').click()
    await button('Replay 3 events').click()
    await page.getByText('3 of 3 events processed again').waitFor()
  })

  it('reads the chart, with a text alternative and a table', async () => {
    await link('Health').first().click()
    await expect.poll(() => page.locator('.tiles').first().textContent()).toMatch(/Received3/)
    const chart = page.getByRole('img', { name: /Lag over 1 hour: 3 events received/ })
    await chart.waitFor()
    await expect.poll(() => chart.locator('path.line').count()).toBe(3)
    await page.getByText('Show as a table').click()
    await expect.poll(() => page.getByLabel('Lag', { exact: true }).getByRole('row').count()).toBeGreaterThan(1)
  })

  it('reads the API reference, which says that it is loading until its description has come', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    await page.route('**/openapi.json', (route) => asked.then(() => route.continue()))
    await link('API reference').click()
    await page.locator('#reference').getByText('Loading …').waitFor()
    expect(await page.getByText('No operations').count()).toBe(0)
    resolve()
    await page.getByText('Mint an API key').waitFor()
  })

  it('signs out, also in another tab', async () => {
    const other = await page.context().newPage()
    await other.goto(`${URL_OF_CONSOLE}/console/sessions`)
    await page.goto(`${URL_OF_CONSOLE}/console`)
    await page.locator('.account summary').click()
    await button('Sign out').click()
    await expect.poll(() => page.getByRole('status').first().textContent()).toContain('signed out')
    await other.waitForURL(/\/console\/sign-in\?next=%2Fconsole%2Fsessions$/)
    await other.close()
    await page.goto(`${URL_OF_CONSOLE}/console`)
    expect(here()).toBe('/console/sign-in')
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    expect(seen).toEqual({ problems: [], foreign: [] })
  })
})
