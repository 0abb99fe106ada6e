import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { LOOKS, launch, look, picture, sessionCookie, URL_OF_CONSOLE, violations } from './browser.ts'

let browser: Browser
let context: BrowserContext
let project: string
let consumer: string
let grant: string
const at = (path = '') => `${URL_OF_CONSOLE}/console/p/${project}${path}`

beforeAll(async () => {
  browser = await launch()
  const { token } = await signIn(URL_OF_CONSOLE, 'search@example.com')
  const api = <T>(path: string, json: unknown, method: 'POST' | 'PUT' = 'POST') =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, method, json })
  project = (
    await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/projects`, { token, json: { name: 'Searched' } })
  ).id
  consumer = (
    await api<{ id: string }>('consumers/ext:user_42', { name: 'Ada Lovelace', email: 'ada@example.com' }, 'PUT')
  ).id
  await api('billing/features/adapters', { name: 'Adapters', type: 'boolean' }, 'PUT')
  grant = (await api<{ id: string }>('billing/grants', { consumer, feature: 'adapters' })).id
  context = await browser.newContext()
  await context.addCookies([sessionCookie(token)])
})
afterAll(() => browser?.close())

async function within(path: string, test: (page: Page) => Promise<void>): Promise<void> {
  const page = await context.newPage()
  await page.goto(at(path))
  await test(page)
  await page.close()
}

describe('the search', () => {
  it.each(['/', 'Control+k', 'Meta+k'])('opens on any page with %s, and leads to what it finds', async (keys) => {
    await within('/platform/settings/members', async (page) => {
      await page.keyboard.press(keys)
      const input = page.getByRole('dialog').getByRole('searchbox')
      await input.waitFor()
      await page.keyboard.type('ada')
      await page.locator('#found[data-for=ada] a').first().waitFor() // after the results for its first letters
      expect(
        await page
          .getByRole('dialog')
          .getByRole('link', { name: /Adapters/ })
          .count(),
      ).toBe(1)
      await page.keyboard.press('ArrowDown')
      await expect.poll(() => page.locator('a:focus').textContent()).toContain('Ada Lovelace')
      await page.keyboard.press('ArrowUp')
      await expect.poll(() => page.locator('dialog input:focus').count()).toBe(1)
      await Promise.all([page.waitForURL(at(`/platform/consumers/${consumer}`)), page.keyboard.press('Enter')])
    })
  })

  it('leads from the id of a grant to the grants of its consumer', async () => {
    await within('/platform/settings/members', async (page) => {
      await page.keyboard.press('/')
      await page.getByRole('dialog').getByRole('searchbox').waitFor()
      await page.keyboard.insertText(grant)
      const found = page
        .locator(`#found[data-for=${grant}]`)
        .getByRole('link', { name: /Adapters\s*Ada Lovelace\s*Grant/ })
      await found.click()
      await page.waitForURL(at(`/platform/consumers/${consumer}/grants`))
      await page.getByRole('heading', { name: 'Grants of Ada Lovelace' }).waitFor()
    })
  })

  it('takes a slash in a field as a character, and closes with Escape', async () => {
    await within('/platform/consumers', async (page) => {
      await page.locator('main input').first().fill('')
      await page.locator('main input').first().press('/')
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('searchbox').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    })
  })

  it('keeps what is typed while it opens, opens again after Escape, and closes by a click beside it', async () => {
    await within('', async (page) => {
      const dialog = page.getByRole('dialog')
      const found = dialog.getByRole('link', { name: /Ada Lovelace/ })
      for (const close of ['Escape', 'click']) {
        // The form comes only after the letters.
        await page.route('**/search', async (route) => {
          await new Promise((done) => setTimeout(done, 300))
          await route.continue()
        })
        await page.keyboard.press('/')
        await page.keyboard.type('ada l')
        await found.waitFor()
        expect(await dialog.getByRole('searchbox').inputValue()).toBe('ada l')
        await page.unroute('**/search')
        if (close === 'Escape') await page.keyboard.press(close)
        else await page.mouse.click(3, 3)
        await dialog.waitFor({ state: 'hidden' })
      }
      await page.keyboard.press('Control+k')
      await dialog.getByRole('searchbox').waitFor()
      // Closed and opened again before the browser says that it was closed, and before it takes the focus from the hidden box.
      for (const [from, key] of [
        ['body', `{ key: 'k', ctrlKey: true, bubbles: true }`],
        ['#dialog input', `{ key: '/', bubbles: true }`],
      ]) {
        await page.evaluate(`document.getElementById('dialog').close()
          document.querySelector('${from}').dispatchEvent(new KeyboardEvent('keydown', ${key}))`)
        await page.keyboard.type('ada l')
        await found.waitFor()
      }
    })
  })

  it('opens the menu of the account for what is in it', async () => {
    await within('/search?q=dark', async (page) => {
      await page.getByRole('main').getByRole('link', { name: /Theme/ }).click()
      await page.getByRole('button', { name: 'Dark' }).waitFor()
    })
  })

  it('has a page that works without a script', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false })
    await plain.addCookies(await context.cookies())
    const page = await plain.newPage()
    await page.goto(at())
    await page.getByRole('link', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('ada@')
    await page.getByRole('button', { name: 'Search' }).click()
    await page
      .getByRole('main')
      .getByRole('link', { name: /Ada Lovelace/ })
      .click()
    expect(page.url()).toBe(at(`/platform/consumers/${consumer}`))
    await plain.close()
  })

  it.each(LOOKS)('can be read and used by everybody at %i, %s', async (...how) => {
    await within('/search?q=ada', async (page) => {
      await look(page, how)
      expect(await violations(page)).toEqual([])
      await picture(page, `search-${how.join('-')}`)
      if (how[0] < 800) return
      await page.goto(at())
      await page.keyboard.press('/')
      await page.getByRole('dialog').getByRole('searchbox').fill('ada')
      await page
        .getByRole('dialog')
        .getByRole('link', { name: /Ada Lovelace/ })
        .waitFor()
      expect(await violations(page)).toEqual([])
      await picture(page, `search-dialog-${how.join('-')}`, false)
    })
  })
})
