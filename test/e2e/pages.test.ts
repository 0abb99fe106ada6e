import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { launch, picture, sendStripe, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'
import { catalogPaths } from './catalog-paths.ts'
import { consumerPaths } from './consumer-paths.ts'
import { endpointPaths } from './endpoint-paths.ts'
import { foundBy } from './found.ts'
import { hmacConnection } from './hmac-connection.ts'
import { memberPaths } from './member-paths.ts'
import { setOutside } from './outside.ts'
import { ssoPaths } from './sso-paths.ts'

const SECRET = 'whsec_a_secret_of_the_page_tests'
const MAX_HTML = 60_000
const MAX_ASSETS = 50_000
const WIDE = { width: 1440, height: 900 }
const NARROW = { width: 390, height: 740 }
/** The smallest screen, and where tables have the least room: without the sidebar, and with it. */
const SMALLEST = 320
const TIGHT = [SMALLEST, 769, 1030]
/** The lowest screen of a laptop. */
const LOW = 720
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
const LINK = '/auth/sign-in?challenge=chl_1&code=ABC'

let browser: Browser
let token: string
let project: string
let empty: string
let context: BrowserContext
let seen: Watch
/** The paths of all pages, by name. */
let paths: Record<string, string>

beforeAll(async () => {
  browser = await launch()
  token = (await signInByApi(URL_OF_CONSOLE, 'pages@example.com')).token
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, ...(json !== undefined && { json }) })
  const make = (name: string) => api<{ id: string }>('projects', { name })
  empty = (await make('Nothing yet')).id
  project = (await make('Acme production')).id
  const connection = await api<{ id: string; secrets: { id: string }[] }>('billing/connections', {
    vendor: 'stripe',
    name: 'Stripe, test mode',
    livemode: false,
    signing_secret: SECRET,
  })
  const api_key = `rk_test_51${'Pages'.repeat(8)}`
  await setOutside(api_key, { objects: {}, refused: ['checkout/sessions'] })
  const put = (path: string, json: object) =>
    must(`${URL_OF_CONSOLE}/platform/v1/billing/${path}`, { method: 'PUT', token, project, json })
  await put(`connections/${connection.id}/api-key`, { api_key })
  const names = ['Production server', 'Nightly import', 'x'.repeat(100), 'CI']
  const more = { vendor: 'chargebee', name: 'A connection with quite a long name, for a second site', livemode: true }
  const begun = await api<{ id: string }>('billing/connections', more)
  const secured = { ...more, signing_secret: 'webhook:a-long-password' }
  const waiting = await api<{ id: string }>('billing/connections', secured)
  const sender = await hmacConnection({ token, project }, SECRET)
  const keys = await Promise.all(names.map((name) => api<{ key: { id: string } }>('api-keys', { name })))
  const types = ['customer.subscription.updated', 'invoice.paid', 'customer.created', 'payment_method.attached']
  const send = (_: unknown, n: number) => sendStripe(connection.id, SECRET, types[n % types.length] as string)
  const ids = await Promise.all(Array.from({ length: 60 }, send))
  const failed = await sendStripe(connection.id, SECRET, 'invoice.payment_failed', null)
  await sendStripe(connection.id, SECRET, 'invoice.payment_failed', null)
  const object = await foundBy(async () => (await api<{ data: { id: string }[] }>('billing/subscriptions')).data[0]?.id)
  // What is still being processed is left out of a replay.
  const some = { filter: { event_type: ['customer.created'] } }
  const replay = await foundBy(
    async () => (await api<{ replay_id: string }>('billing/webhooks/replay', some)).replay_id,
  )
  await put(`webhooks/failures/${connection.id}/payload_invalid/mute`, { until: null })
  const base = `/console/p/${project}/platform`
  const consumers = await consumerPaths({ token, project, empty }, (object) =>
    sendStripe(connection.id, SECRET, 'customer.updated', object),
  )
  const catalog = await catalogPaths({ token, project, empty }, 'user_1')
  const members = await memberPaths({ token, project, empty })
  const sso = await ssoPaths({ token, project, empty })
  const key = keys[0]?.key.id
  paths = {
    'sign-in': '/console/sign-in',
    link: LINK,
    projects: '/console',
    'new-project': '/console/projects/new',
    sessions: '/console/sessions',
    activity: '/console/sessions/activity',
    'end-all': '/console/sessions/end-all',
    passkeys: '/console/passkeys',
    'new-passkey': '/console/passkeys/new',
    'second-factor': '/console/second-factor',
    'overview-empty': `/console/p/${empty}`,
    overview: `/console/p/${project}`,
    general: `${base}/settings/general`,
    'replays-empty': `/console/p/${empty}/platform/billing/webhooks/replays`,
    replays: `${base}/billing/webhooks/replays`,
    'keys-empty': `/console/p/${empty}/platform/settings/api-keys`,
    keys: `${base}/settings/api-keys`,
    key: `${base}/settings/api-keys/${key}`,
    'new-key': `${base}/settings/api-keys/new`,
    'edit-key': `${base}/settings/api-keys/${key}/edit`,
    'rotate-key': `${base}/settings/api-keys/${key}/rotate`,
    'revoke-key': `${base}/settings/api-keys/${key}/revoke`,
    'audit-log': `${base}/settings/audit-log?action=api_key.*`,
    'connections-empty': `/console/p/${empty}/platform/billing/connections`,
    connections: `${base}/billing/connections`,
    'choose-vendor': `${base}/billing/connections/new`,
    'new-connection': `${base}/billing/connections/new?vendor=stripe`,
    'connection-begun': `${base}/billing/connections/${begun.id}`,
    'connection-waiting': `${base}/billing/connections/${waiting.id}`,
    'connection-hmac': `${base}/billing/connections/${sender}`,
    verification: `${base}/billing/connections/${sender}/verification`,
    'disable-connection': `${base}/billing/connections/${connection.id}/disable`,
    connection: `${base}/billing/connections/${connection.id}`,
    'delete-connection': `${base}/billing/connections/${connection.id}/delete`,
    'remove-vendor-key': `${base}/billing/connections/${connection.id}/api-key/remove`,
    'remove-secret': `${base}/billing/connections/${connection.id}/secrets/${connection.secrets[0]?.id}/remove`,
    'events-empty': `/console/p/${empty}/platform/billing/webhooks`,
    events: `${base}/billing/webhooks`,
    'events-found': `${base}/billing/webhooks?event_type=invoice.*&vendor=stripe`,
    'events-failed': `${base}/billing/webhooks?status=failed`,
    'mute-cause': `${base}/billing/webhooks/failures/${connection.id}/payload_invalid/mute`,
    'events-unknown': `${base}/billing/webhooks?q=nobody`,
    'events-more': `${base}/billing/webhooks?more=1&connection_id=${connection.id}&within=24h&ref=cus_1&status=failed`,
    'events-wrong': `${base}/billing/webhooks?error=x&min_attempts=0`,
    event: `${base}/billing/webhooks/${ids[0]}`,
    'event-other': `${base}/billing/webhooks/${failed}`,
    'dry-run': `${base}/billing/webhooks/${ids[0]}/replay`,
    'billing-empty': `/console/p/${empty}/platform/billing/invoices`,
    subscriptions: `${base}/billing/subscriptions`,
    subscription: `${base}/billing/subscriptions/${object}`,
    invoices: `${base}/billing/invoices?status=paid`,
    invoice: `${base}/billing/invoices/in_1?vendor=stripe`,
    customer: `${base}/billing/customers/stripe/cus_1`,
    'payment-methods': `${base}/billing/payment-methods`,
    purchases: `${base}/billing/purchases`,
    ...members,
    ...consumers,
    ...catalog,
    ...sso,
    ...(await endpointPaths({ token, project, empty })),
    'bulk-replay': `${base}/billing/webhooks/replay?event_type=invoice.paid`,
    replay: `${base}/billing/webhooks/replays/${replay}`,
    'health-empty': `/console/p/${empty}/platform/billing/webhooks/health`,
    health: `${base}/billing/webhooks/health`,
    reference: `/console/p/${project}/reference`,
    missing: '/console/nothing/here',
    docs: '/docs',
    'docs-tables': '/docs/reference/api',
  }
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
    await page.goto(URL_OF_CONSOLE + path)
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
  await page.setViewportSize(NARROW)
  await page.goto(URL_OF_CONSOLE + (paths.health as string))
  for (const title of ['Events received', 'Lag from receipt to completion']) {
    const box = await page.getByText(title, { exact: true }).boundingBox()
    expect(box && [box.x >= 0, box.x + box.width <= NARROW.width]).toEqual([true, true])
  }
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
