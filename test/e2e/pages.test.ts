import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makePages } from './all-pages.ts'
import { launch, picture, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'

const MAX_HTML = 60_000
const MAX_ASSETS = 50_000
const WIDE = { width: 1440, height: 900 }
const NARROW = { width: 390, height: 740 }
/** The smallest screen, and where tables have the least room: without the sidebar, and with it. */
const SMALLEST = 320
const TIGHT = [SMALLEST, 769, 1030]
/** The lowest screen of a laptop. */
const LOW = 720
/** The pages whose status is not 200. */
const STATUS: Record<string, number> = {
  link: 401,
  'sign-in-refused': 401,
  missing: 404,
  'invitation-missing': 404,
  'events-wrong': 422,
}
/** With CASES=all, axe checks each page whole in all of these looks. */
const ALL_LOOKS = [WIDE.width, NARROW.width, SMALLEST].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
)
/** One page of each kind: on a narrow screen the elements are the same, but the layout differs. */
const NARROW_TOO = [
  'sessions',
  'keys',
  'key',
  'new-key',
  'audit-log',
  'general',
  'members',
  'invitation',
  'events',
  'events-failed',
  'event',
  'health',
  'subscription',
  'consumers',
  'consumer',
  'edit-consumer',
  'unlinked',
  'link-customer',
  'plans',
  'edit-plan',
  'overview',
  'connection',
  'connection-begun',
  'verification',
  'domain',
  'sso-team',
  'docs',
  'docs-tables',
]

let browser: Browser
let token: string
let context: BrowserContext
let seen: Watch
/** The paths of all pages, by name. */
let paths: Record<string, string>

beforeAll(async () => {
  browser = await launch()
  ;({ token, paths } = await makePages())
  context = await browser.newContext({ viewport: WIDE })
  await context.addCookies([sessionCookie(token)])
  seen = watch(context)
}, 120_000)
afterAll(() => browser?.close())

async function settle(page: Page, name: string): Promise<void> {
  if (name === 'sign-in') await page.getByLabel('Email address').waitFor()
  if (name === 'reference') await page.getByText('Mint an API key').waitFor()
}

it('every page has no violations that axe finds, light and dark, fits into 320 px and more, and loads nothing from other origins', async () => {
  const page = await context.newPage()
  const wrong: string[] = []
  for (const [name, path] of Object.entries(paths)) {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(WIDE)
    if (name === 'sign-in') await context.clearCookies()
    const answer = await page.goto(URL_OF_CONSOLE + path)
    if (answer?.status() !== (STATUS[name] ?? 200)) wrong.push(`${name}: status ${answer?.status()}`)
    if (name === 'sign-in') await context.addCookies([sessionCookie(token)])
    await settle(page, name)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await picture(page, `${name}-${colorScheme}`, name !== 'reference')
      // In the dark, a page differs in its colors alone.
      const only = colorScheme === 'dark' ? 'color-contrast' : undefined
      wrong.push(...(await violations(page, only)).map((what) => `${name}, ${colorScheme}: ${what}`))
    }
    await page.setViewportSize(NARROW)
    await picture(page, `${name}-dark-390`, name !== 'reference')
    await page.emulateMedia({ colorScheme: 'light' })
    await picture(page, `${name}-light-390`, name !== 'reference')
    if (NARROW_TOO.includes(name)) wrong.push(...(await violations(page)).map((what) => `${name}, narrow: ${what}`))
    for (const width of [NARROW.width, ...TIGHT, WIDE.width]) {
      await page.setViewportSize({ width, height: LOW })
      const taken = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (taken > width) wrong.push(`${name}: ${taken} px wide at ${width} px`)
      const cut = await page.evaluate<boolean>(
        `[...document.querySelectorAll('.rows')].some((rows) => rows.scrollWidth > rows.clientWidth)`,
      )
      if (cut) wrong.push(`${name}: columns out of view at ${width} px`)
      const foot = await page.evaluate<number>(`document.querySelector('.foot')?.getBoundingClientRect().bottom ?? 0`)
      if (foot > LOW) wrong.push(`${name}: the foot of the sidebar ends at ${foot} px of ${LOW}`)
      const layout = width <= NARROW.width ? await violations(page, 'target-size') : []
      wrong.push(...layout.map((what) => `${name}, ${width} px: ${what}`))
    }
    for (const { width, colorScheme } of process.env.CASES === 'all' ? ALL_LOOKS : []) {
      await page.setViewportSize({ width, height: LOW })
      await page.emulateMedia({ colorScheme })
      wrong.push(...(await violations(page)).map((what) => `${name}, ${width} px, ${colorScheme}: ${what}`))
    }
  }
  await page.close()
  const { problems, foreign } = seen
  // A dead sign-in link and a refused sign-in are a 401, and no other page is.
  const stated = (text: string) =>
    /status of (404|422)/.test(text) || (/refused=|auth.sign-in/.test(text) && text.includes('status of 401'))
  const unexpected = problems.filter((text) => !stated(text))
  expect({ wrong, unexpected, foreign }).toEqual({ wrong: [], unexpected: [], foreign: [] })
}, 900_000)

it('the pages after a form have no violations either', async () => {
  const page = await context.newPage()
  await page.goto(URL_OF_CONSOLE + (paths['new-key'] as string))
  await page.getByLabel('Name').fill('One more')
  await page.getByText('Choose scopes', { exact: true }).click()
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByText('Select at least one scope').waitFor()
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('One more')
  expect(await violations(page)).toEqual([])
  await picture(page, 'new-key-wrong')
  await page.getByLabel('billing:read').check()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.locator('#secret').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'secret')
  await page.getByRole('link', { name: 'I have stored the secret' }).click()
  await page.goto(URL_OF_CONSOLE + (paths.keys as string))
  await page.getByRole('link', { name: 'Revoke One more' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'dialog')
  await page.close()
})

it('the sign-in pages have no violations', async () => {
  const anonymous = await browser.newContext()
  const page = await anonymous.newPage()
  await page.goto(`${URL_OF_CONSOLE}/console/sign-in`)
  await page.getByLabel('Email address').fill('somebody@example.com')
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByLabel('Code').fill('0000')
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This code is incorrect').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'code-wrong')
  await anonymous.close()
})

it('the HTML of a page is under 60 KB, and the script and style sheet are under 50 KB gzipped', async () => {
  const sizes: Record<string, number> = {}
  const assets = new Set<string>()
  for (const [name, path] of Object.entries(paths)) {
    const html = await (await fetch(URL_OF_CONSOLE + path, { headers: { Cookie: `__Host-session=${token}` } })).text()
    sizes[name] = Buffer.byteLength(html)
    if (!/^(reference|docs.*)$/.test(name))
      for (const [asset] of html.matchAll(/\/assets\/[\w-]+\.(css|js)/g)) assets.add(asset)
  }
  let weight = 0
  for (const asset of assets) {
    const bytes = Buffer.from(await (await fetch(URL_OF_CONSOLE + asset)).arrayBuffer())
    weight += gzipSync(bytes).byteLength
  }
  const [largest, size] = Object.entries(sizes).sort(([, a], [, b]) => b - a)[0] as [string, number]
  console.log(`Largest page: ${largest}, ${size} bytes; 50 events: ${sizes.events} bytes`)
  console.log(`Script and style, gzipped: ${weight} bytes`)
  expect(size).toBeLessThan(MAX_HTML)
  expect(weight).toBeLessThan(MAX_ASSETS)
  const [asset] = assets
  const { headers } = await fetch(URL_OF_CONSOLE + asset)
  expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none';.* frame-ancestors 'none'$/)
  for (const path of ['/docs', '/docs/start/first-hour', '/docs/start/first-hour.md', '/llms.txt']) {
    const page = await fetch(URL_OF_CONSOLE + path)
    expect([path, page.status, page.headers.get('X-Frame-Options')]).toEqual([path, 200, 'DENY'])
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'; script-src 'self'")
  }
  // The Worker answers for a missing asset, and the answer is not cached for a year.
  const missing = await fetch(`${URL_OF_CONSOLE}/assets/none.css`)
  expect([missing.status, missing.headers.get('Content-Type')]).toEqual([404, 'application/problem+json'])
  expect(missing.headers.get('Cache-Control')).toBeNull()
})

it('has its headings in one place, its controls at one height, and the titles of the chart in view', async () => {
  const page = await context.newPage()
  await page.setViewportSize(WIDE)
  const tops: Record<string, number> = {}
  const tall: string[] = []
  for (const name of ['keys', 'audit-log', 'general', 'events', 'invoices', 'overview', 'reference']) {
    await page.goto(URL_OF_CONSOLE + (paths[name] as string))
    tops[name] = await page.evaluate<number>(`document.querySelector('h1').getBoundingClientRect().top`)
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('main :is(input:not([type=checkbox], [type=hidden]), select, .head .button, form .actions button)')]
        .map((one) => one.getBoundingClientRect().height).filter((height) => height > 0)`,
    )
    if (name !== 'reference')
      tall.push(...heights.filter((height) => height !== 32).map((height) => `${name}: ${height}`))
  }
  expect({ tops: [...new Set(Object.values(tops))].length, tall }).toEqual({ tops: 1, tall: [] })
  await page.goto(URL_OF_CONSOLE + (paths.health as string))
  const widths = `['.chart', '.chart .plot', '.chart .plot svg'].map((one) => document.querySelector(one).clientWidth)`
  expect(new Set(await page.evaluate<number[]>(widths)).size).toBe(1)
  await page.setViewportSize(NARROW)
  await page.goto(URL_OF_CONSOLE + (paths.health as string))
  for (const title of ['Events received', 'Lag from receipt to completion']) {
    const box = await page.getByText(title, { exact: true }).boundingBox()
    expect(box && [box.x >= 0, box.x + box.width <= NARROW.width]).toEqual([true, true])
  }
  await page.close()
})

it('turns the order of a list by the heading of its column, on a narrow screen too', async () => {
  const page = await context.newPage()
  await page.setViewportSize(NARROW)
  const first = page.locator('main tbody tr').first()
  const colors = `[...document.querySelectorAll('main thead tr, main th[aria-sort]')].map((one) => getComputedStyle(one).backgroundColor)`
  for (const name of ['audit-log', 'changes']) {
    await page.goto(URL_OF_CONSOLE + (paths[name] as string))
    expect(new Set(await page.evaluate<string[]>(colors)).size).toBe(1)
    await page.getByRole('link', { name: 'When' }).click()
    await page.waitForURL(/order=asc/)
    expect(await page.getByRole('columnheader', { name: 'When' }).getAttribute('aria-sort')).toBe('ascending')
    expect(await first.innerText()).toContain(name === 'changes' ? 'Project created' : 'Created an API key')
    await page.getByRole('link', { name: 'When' }).click()
    await page.waitForURL((url) => !url.search.includes('order'))
  }
  await page.close()
})

it('names the consumer of an event on a narrow screen too, and gives a table the width of a wide one, but not a form', async () => {
  const page = await context.newPage()
  await page.setViewportSize(NARROW)
  await page.goto(URL_OF_CONSOLE + (paths.events as string))
  const event = page.locator('#events tr').filter({ hasText: 'Ada' }).first()
  const cells = ['Type', 'Status', 'Object', 'Consumer', 'Connection', 'Attempts', 'Received']
  const shown = await event.locator('td').evaluateAll((all) => all.map((one) => one.checkVisibility()))
  expect(cells.filter((_, n) => shown[n])).toEqual(['Type', 'Status', 'Object', 'Consumer', 'Received'])
  await page.setViewportSize({ width: 2560, height: 900 })
  const width = async (selector: string) => (await page.locator(selector).first().boundingBox())?.width
  expect(await width('main .rows')).toBe(1600)
  await page.goto(URL_OF_CONSOLE + (paths['edit-consumer'] as string))
  expect(await width('main form')).toBeLessThan(1100)
  await page.close()
})

it('works with the keyboard only', async () => {
  const page = await context.newPage()
  await page.goto(URL_OF_CONSOLE + (paths.keys as string))
  const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
  const tabTo = async (text: string) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab')
      if ((await focused()).startsWith(text)) return
    }
    throw new Error(`Tab never reached ${text}`)
  }
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await tabTo('Create API key')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Create API key' }).waitFor()
  await page.keyboard.type('By keyboard') // the field is focused
  await page.keyboard.press('Enter')
  await page.locator('#secret').waitFor()
  await tabTo('I have stored the secret')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await tabTo('API keys')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor()
  await tabTo('Revoke By keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo('Revoke key')
  await page.keyboard.press('Enter')
  await page.getByText('The API key was revoked').waitFor()
  await page.waitForLoadState()
  await tabTo('Acme production')
  await page.keyboard.press('Enter')
  await tabTo('All projects')
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('Acme production')
  await page.close()
})

it('works without JavaScript', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false })
  await plain.addCookies([sessionCookie(token)])
  const page = await plain.newPage()
  await page.goto(URL_OF_CONSOLE + (paths['new-key'] as string))
  await page.getByLabel('Name').fill('Plain')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await expect.poll(() => page.locator('#secret').textContent()).toMatch(/^svc_v1_/)
  await expect.poll(() => page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
  await page.getByRole('link', { name: 'I have stored the secret' }).click()
  await page.goto(URL_OF_CONSOLE + (paths.keys as string))
  await page.getByRole('link', { name: 'Revoke Plain' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await expect.poll(() => page.getByRole('status').first().textContent()).toContain('revoked')
  await page.goto(URL_OF_CONSOLE + (paths.event as string))
  await page.getByRole('link', { name: 'Replay', exact: true }).click()
  await page.getByRole('button', { name: 'Replay event' }).click()
  await expect.poll(() => page.getByRole('status').first().textContent()).toContain('processed again')
  await plain.close()
})
