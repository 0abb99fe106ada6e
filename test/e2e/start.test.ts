import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { launch, sendStripe, sessionCookie, signIn, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

const SECRET = 'whsec_a_secret_of_the_start_tests'
/** Clicks from an empty account to a processed event, filling in forms aside. */
const CLICKS = 10
let browser: Browser

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** A page that counts the clicks on it. */
function counted(page: Page) {
  const count = { clicks: 0 }
  const click = async (role: 'link' | 'button' | 'radio', name: string) => {
    count.clicks += 1
    await page
      .getByRole(role, { name, exact: role !== 'link' })
      .first()
      .click()
  }
  return { count, click }
}
const connectionOf = async (page: Page) =>
  /\/ingest\/(con_\w+)$/.exec((await page.locator('#ingest-url').textContent()) ?? '')?.[1] ?? ''
const callWith = (secret: string, project: string) =>
  fetch(`${URL_OF_CONSOLE}/platform/v1/api-keys/self`, {
    headers: { Authorization: `Bearer ${secret}`, 'X-Project-Id': project },
  })
const projectOf = (page: Page) => /\/p\/(prj_\w+)/.exec(page.url())?.[1] ?? ''

/** One story: each test continues where the previous one ended. */
describe('somebody new', () => {
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let steps: ReturnType<typeof counted>
  let connection: string

  beforeAll(async () => {
    context = await browser.newContext()
    seen = watch(context)
    page = await context.newPage()
    steps = counted(page)
    await signIn(page, 'newcomer@example.com')
  })
  afterAll(() => context?.close())

  const current = () => page.locator('#steps .step.current :is(h2, h3)').textContent()

  it('creates a project, and sees what comes next', async () => {
    await page.getByLabel('Name').fill('First')
    await steps.click('button', 'Create project')
    expect(await current()).toBe('Next: Create an API key')
  })

  it('creates a key and calls the API: the step turns by itself', async () => {
    await steps.click('link', 'Create API key')
    await page.getByLabel('Name').fill('Server')
    await steps.click('button', 'Create API key')
    const secret = (await page.locator('#secret').textContent()) ?? ''
    await steps.click('link', 'I have stored the secret')
    await page.getByText('Show the first call').click()
    await page.getByText('Waiting for the first call').waitFor()
    expect(await current()).toBe('Next: Connect a billing vendor')
    expect((await callWith(secret, projectOf(page))).status).toBe(200)
    await expect.poll(() => page.locator('#steps .step.done', { hasText: 'Call the API' }).count()).toBe(1)
    await expect.poll(() => page.locator('#said').textContent()).toBe('The API key has been used.')
  })

  it('connects Stripe, in the order in which Stripe asks', async () => {
    await steps.click('link', 'Connect a vendor')
    await steps.click('link', 'Stripe')
    await steps.click('radio', 'Test A test mode or sandbox account. No real money moves.')
    await steps.click('button', 'Create connection')
    connection = await connectionOf(page)
    await expect.poll(() => page.locator('.guide').textContent()).toContain('Workbench')
    await page.getByLabel('Signing secret').fill(SECRET)
    await steps.click('button', 'Save secret')
    await page.getByText('Waiting for the first delivery').waitFor()
  })

  it('is told why a delivery was refused, and then sees the first event processed, without a click', async () => {
    await sendStripe(connection, 'whsec_of_another_endpoint', 'invoice.paid').catch(() => null)
    await page.locator('#first .refusal', { hasText: 'the signature matches no signing secret' }).waitFor()
    await sendStripe(connection, SECRET, 'customer.subscription.created')
    await page.locator('#first .badge', { hasText: 'processed' }).waitFor()
    await expect.poll(() => page.locator('#first').getAttribute('hx-get')).toBeNull()
    await expect.poll(() => page.locator('#first.step.done h2').textContent()).toBe('Done: Receive the first event')
    // The rest of the page agrees.
    await expect.poll(() => page.locator('h1').textContent()).toBe('Stripe active')
    await expect.poll(() => page.locator('#facts').textContent()).toContain('customer.subscription.created processed')
    await expect.poll(() => page.getByRole('region', { name: 'Signing secrets' }).textContent()).not.toContain('Never')
    await steps.click('link', 'overview')
    await page.getByText('Events of the last 24 hours').or(page.locator('.bars')).first().waitFor()
    await expect.poll(() => page.locator('#setup').textContent()).toBe('Next: your first entitlement check')
    expect(steps.count.clicks).toBeLessThanOrEqual(CLICKS)
  })

  it('is told what needs attention, and gets to it', async () => {
    const attention = page.locator('.attention')
    await expect
      .poll(() => attention.textContent())
      .toContain('from Stripe in the last hour was refused: the signature matches no signing secret.')
    await attention.getByRole('link', { name: 'See why' }).click()
    expect(page.url()).toContain('#refused')
    await page.getByRole('heading', { name: 'Refused deliveries, last 24 hours' }).waitFor()
  })

  it('disables the connection after a question, and enables it again', async () => {
    await page.getByRole('link', { name: 'Disable' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.textContent()).toContain('Every delivery will be refused')
    await dialog.getByRole('button', { name: 'Disable connection' }).click()
    await page.getByText('This connection is disabled').first().waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('link', { name: 'Disable' }).waitFor()
  })

  it('changes its name and mode', async () => {
    await page.getByLabel('Name').fill('Stripe, production')
    await page.getByRole('radio', { name: 'Live' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The connection was updated').waitFor()
    await expect.poll(() => page.locator('.facts').textContent()).toContain('ModeLive')
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    expect(seen).toEqual({ problems: [], foreign: [] })
  })
})

it('all of this works without JavaScript: a link refreshes what waits', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const { token } = await signInByApi(URL_OF_CONSOLE, 'plain@example.com')
  await context.addCookies([sessionCookie(token)])
  const page = await context.newPage()
  await page.goto(`${URL_OF_CONSOLE}/console`)
  await page.getByLabel('Name').fill('Plain')
  await page.getByRole('button', { name: 'Create project' }).click()
  const project = projectOf(page)
  const { secret } = await must<{ secret: string }>(`${URL_OF_CONSOLE}/platform/v1/api-keys`, {
    token,
    project,
    json: { name: 'Server' },
  })
  await callWith(secret, project)
  await page.getByRole('link', { name: 'Refresh' }).click()
  await page.getByRole('link', { name: 'Connect a vendor' }).click()
  await page.getByRole('link', { name: 'Stripe' }).click()
  await page.getByRole('radio', { name: 'Live' }).check()
  await page.getByRole('button', { name: 'Create connection' }).click()
  const connection = await connectionOf(page)
  await page.getByLabel('Signing secret').fill(SECRET)
  await page.getByRole('button', { name: 'Save secret' }).click()
  await page.getByText('Waiting for the first delivery').waitFor()
  await sendStripe(connection, SECRET, 'customer.subscription.created')
  await page.getByRole('link', { name: 'Refresh' }).click()
  await page.getByRole('link', { name: 'View events' }).waitFor()
  await page.getByRole('link', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Disable connection' }).click()
  await expect.poll(() => page.locator('.warning').textContent()).toContain('This connection is disabled')
  await page.getByRole('link', { name: 'Delete connection' }).click()
  await page.getByRole('button', { name: 'Delete connection' }).click()
  await expect.poll(() => page.getByRole('status').first().textContent()).toContain('deleted')
  await page.getByRole('link', { name: 'Overview' }).click()
  await expect.poll(() => page.locator('main').textContent()).toContain('No vendor is connected.')
  await context.close()
})
