import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { deliver, type Inbox, isReceipt } from '../../scripts/lib/deliver.ts'
import { findCode } from '../../scripts/lib/server-log.ts'
import { sleep } from '../../scripts/lib/terminal.ts'

export const URL_OF_CONSOLE = process.env.CONSOLE_URL ?? 'http://localhost:8787'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** How long a page may take, in milliseconds. It only stops a test that hangs: no test may depend on the speed of the machine. */
const PATIENCE = 60_000
/** Debian's packages of Chromium. The headless shell takes half the CPU time. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const browsers: Browser[] = []

/** Starts a headless Chromium: the one whose path CHROMIUM is, or else one of {@link BROWSERS}. */
export async function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find(existsSync)
  if (executablePath === undefined) {
    throw new Error(
      `Chromium not found at ${BROWSERS.join(' or ')}. Install it (apt-get install chromium-headless-shell), or set CHROMIUM.`,
    )
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE))
  browsers.push(browser)
  return browser
}

/** All pages that are open in the browsers of this file. */
export function openPages(): Page[] {
  return browsers.flatMap((browser) => browser.contexts().flatMap((context) => context.pages()))
}

/** Errors and requests that a test does not check itself. */
export type Watch = { problems: string[]; foreign: string[] }

/** Records all errors of a page, and all requests to other origins. */
export function watch(context: BrowserContext): Watch {
  const seen: Watch = { problems: [], foreign: [] }
  context.on('page', (page) => {
    page.on('pageerror', (error) => seen.problems.push(`${page.url()}: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') seen.problems.push(`${page.url()}: ${message.text()}`)
    })
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(URL_OF_CONSOLE) && !url.startsWith('data:')) seen.foreign.push(url)
    })
  })
  return seen
}

/**
 * Waits until no transition runs: after a change of the color scheme, colors are between the two for a while. What follows
 * the change begins with the next frames.
 */
const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)))`

/**
 * An element for each way in which text looks: its color, size and weight, and the backgrounds behind it. Each kind of control is one. axe takes two thirds of its time
 * for contrast, most of it for the rows of a table, of which one has the contrast of all.
 */
const LOOKS_OF_TEXT = `(() => {
  const behind = (one) => {
    if (!one) return ''
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one)
    return [backgroundColor, backgroundImage, opacity].join(' ') + ';' + behind(one.parentElement)
  }
  const isText = ({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== ''
  const looks = new Map()
  for (const one of document.body.querySelectorAll('*')) {
    const control = one.matches('input, select, textarea') ? [one.localName, one.type, one.placeholder === ''].join(' ') : ''
    if (!(control || [...one.childNodes].some(isText)) || !one.checkVisibility()) continue
    const { color, fontSize, fontWeight } = getComputedStyle(one)
    const look = [control, color, fontSize, fontWeight, behind(one)].join('|')
    if (!looks.has(look)) looks.set(look, one)
  }
  return [...looks.values()]
})()`

/**
 * The violations that axe finds, as `rule: element`. Contrast is measured once for each look of text.
 *
 * @param only the one rule to check, by default all of them
 */
export async function violations(page: Page, only?: 'color-contrast' | 'target-size'): Promise<string[]> {
  await page.waitForLoadState() // its text may be there before its styles
  await page.evaluate(SETTLED)
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE)
  if (only === 'target-size') return found(page, 'document', "runOnly: ['target-size']")
  const contrast = await found(page, LOOKS_OF_TEXT, "runOnly: ['color-contrast']")
  if (only) return contrast
  const others = "rules: { 'target-size': { enabled: true }, 'color-contrast': { enabled: false } }"
  return [...(await found(page, 'document', others)), ...contrast]
}

/** What axe finds in a part of the page. @param part JavaScript @param rules options of `axe.run` */
async function found(page: Page, part: string, rules: string): Promise<string[]> {
  const text = await page.evaluate<string>(
    `axe.run(${part}, { resultTypes: ['violations'], ${rules} }).then(({ violations }) => JSON.stringify(violations.flatMap(
      ({ id, nodes }) => nodes.slice(0, 4).map(({ html, any, all, none }) =>
        id + ': ' + html.slice(0, 160) + ' ' + [...any, ...all, ...none].map(({ message }) => message).join('; ').slice(0, 200)))))`,
  )
  return JSON.parse(text) as string[]
}

/** The looks of a page: wide and narrow, light and dark. */
export const LOOKS = [
  [1440, 'light'],
  [1440, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const

/** Shows a page in one of its looks. */
export async function look(page: Page, [width, colorScheme]: (typeof LOOKS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme })
}

/** Takes a picture of a page as it is, if SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}

/** Takes pictures of a page in all its looks, if SCREENSHOTS names a folder. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return
  for (const one of LOOKS) {
    await look(page, one)
    await picture(page, `${name}-${one.join('-')}`)
  }
  await look(page, LOOKS[0])
}

/** Signs in through the forms, with the code that the server printed. */
export async function signIn(page: Page, email: string, path = '/console'): Promise<void> {
  await page.goto(URL_OF_CONSOLE + path)
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
  const challenge = await page.locator('input[name=challenge]').inputValue()
  await page.getByLabel('Code').fill(await codeOf(challenge))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(URL_OF_CONSOLE + path)
}

/** The code that the server printed for a challenge. */
export async function codeOf(challenge: string): Promise<string> {
  for (const until = Date.now() + PATIENCE; Date.now() < until; await sleep(50)) {
    const code = findCode(challenge)
    if (code !== null) return code
  }
  throw new Error('the server did not print a code')
}

let sent = 0

/** Sends an event with a Stripe signature. An event without an object fails to process. */
export async function sendStripe(
  connection: string,
  secret: string,
  type: string,
  object: Record<string, unknown> | null = {},
): Promise<string> {
  sent += 1
  const inbox: Inbox = { url: URL_OF_CONSOLE, vendor: 'stripe', connection, secret, token: '', project: '' }
  const event = {
    id: `evt_e2e${Date.now()}${sent}`,
    object: 'event',
    api_version: '2026-03-25.dahlia',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    type,
    data: object && {
      object: { id: `sub_${sent}`, object: 'subscription', customer: 'cus_1', status: 'active', ...object },
    },
  }
  const answer = await deliver(inbox, String(sent), Buffer.from(JSON.stringify(event)))
  if (!isReceipt(answer)) throw new Error(`the delivery failed with ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body.event_ids[0] as string
}

/** The cookie of a console session, for a browser that begins signed in. */
export function sessionCookie(token: string) {
  return { name: '__Host-session', value: token, url: 'https://localhost', httpOnly: true, secure: true }
}
