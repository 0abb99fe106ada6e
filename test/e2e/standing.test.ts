import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { LOOKS, launch, look, sendStripe, sessionCookie, URL_OF_CONSOLE, violations } from './browser.ts'

const SECRET = 'whsec_a_secret_of_the_sidebar'
let browser: Browser
let context: BrowserContext
/** A project with a failed event and an unlinked customer, and one with neither. */
let project: string
let empty: string
const at = (path = '', id = project) => `${URL_OF_CONSOLE}/console/p/${id}${path}`

beforeAll(async () => {
  browser = await launch()
  const { token } = await signIn(URL_OF_CONSOLE, 'standing@example.com')
  const api = <T>(path: string, json?: unknown, of?: string) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
      token,
      ...(of !== undefined && { project: of }),
      ...(json !== undefined && { json }),
    })
  empty = (await api<{ id: string }>('projects', { name: 'Empty' })).id
  project = (await api<{ id: string }>('projects', { name: 'Failing' })).id
  const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
  const { id } = await api<{ id: string }>('billing/connections', fields, project)
  await sendStripe(id, SECRET, 'invoice.payment_failed', null)
  await sendStripe(id, SECRET, 'customer.subscription.updated')
  const counted = async () => {
    const { counts } = await api<{ counts: Record<string, number> }>('billing/webhooks/health', undefined, project)
    return [counts.failed, counts.processed]
  }
  await vi.waitFor(async () => expect(await counted()).toEqual([1, 1]), { timeout: 60_000, interval: 500 })
  context = await browser.newContext()
  await context.addCookies([sessionCookie(token)])
})
afterAll(() => browser?.close())

/** What the sidebar and the tab say, and where. */
async function seen(page: Page) {
  const boxOf = (one: string) => page.locator(one).boundingBox()
  return {
    status: await page.locator('#status').innerText(),
    icon: await page.locator('link[rel=icon]').getAttribute('href'),
    failed: await page.locator('#events-count').innerText(),
    unlinked: await page.locator('#unlinked-count').innerText(),
    places: await Promise.all(['#status', '#events-count', '#unlinked-count', '.foot', '.about .docs'].map(boxOf)),
  }
}

/** Holds back what loads after a page, until it is let go. */
async function hold(page: Page): Promise<() => void> {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/status', async (route) => {
    await held
    await route.continue()
  })
  return letGo
}

const isLoaded = (page: Page) => page.locator('#status[hx-trigger="every 60s"]').waitFor()

describe('what the sidebar says about the project', () => {
  it('stays when another page of the project opens, and nothing moves when it has loaded again', async () => {
    const page = await context.newPage()
    await page.goto(at())
    await isLoaded(page)
    // The icon of the tab follows the sidebar.
    await expect
      .poll(() => seen(page))
      .toMatchObject({
        status: expect.stringMatching(/^(Degraded|Failing)$/),
        failed: expect.stringMatching(/^1\s+failed$/),
        unlinked: expect.stringMatching(/^1\s+without a consumer$/),
        icon: expect.stringMatching(/\/icon-(degraded|failing)-/),
      })
    const letGo = await hold(page)
    await page.goto(at('/platform/consumers/unlinked'))
    const before = await seen(page)
    expect(before.status).toMatch(/^(Degraded|Failing)$/)
    expect(before.icon).toMatch(/\/icon-(degraded|failing)-/)
    letGo()
    await isLoaded(page)
    expect(await seen(page)).toEqual(before)
    for (const one of LOOKS) {
      await look(page, one)
      expect([one, await violations(page)]).toEqual([one, []])
    }
    await page.close()
  })

  it('is not that of another project', async () => {
    const page = await context.newPage()
    await page.goto(at())
    await isLoaded(page)
    const letGo = await hold(page)
    await page.goto(at('', empty))
    expect(await page.locator('#status').innerText()).toBe('Status')
    for (const one of ['#events-count', '#unlinked-count']) expect(await page.locator(one).isVisible()).toBe(false)
    letGo()
    await page.locator('#status', { hasText: 'Healthy' }).waitFor()
    for (const one of ['#events-count', '#unlinked-count']) expect(await page.locator(one).isVisible()).toBe(false)
    await page.close()
  })
})
