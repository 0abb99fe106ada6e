import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, sendStripe, sessionCookie, URL_OF_CONSOLE } from './browser.ts'

const SECRET = 'whsec_a_secret_of_the_event_tests'
const CONNECTION = { vendor: 'stripe', name: 'Stripe, live', livemode: true, signing_secret: SECRET }
let browser: Browser
let token: string
let project: string
let connection: string
let list: string

beforeAll(async () => {
  browser = await launch()
  token = (await signIn(URL_OF_CONSOLE, 'events@example.com')).token
  project = (await api<{ id: string }>('projects', { name: 'Events' })).id
  connection = (await api<{ id: string }>('billing/connections', CONNECTION)).id
  list = `${URL_OF_CONSOLE}/console/p/${project}/platform/billing/webhooks`
})
afterAll(() => browser?.close())

function api<T>(path: string, json?: unknown): Promise<T> {
  const options = { token, ...(project && { project }), ...(json !== undefined && { json }) }
  return must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, options)
}

/** How much wider the rows are than their place. */
const OVERFLOW = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.rows'))`

/** How many lines the row with the most of them has. */
const LINES = `Math.max(...[...document.querySelectorAll('#events tr')].map(({ clientHeight }) => Math.round((clientHeight - 16) / 20)))`

/** How many rows the bar says are ticked. The style sheet writes the number, so only the accessibility tree has it. */
async function countIn(page: Page) {
  const device = await page.context().newCDPSession(page)
  const { nodes } = await device.send('Accessibility.getFullAXTree')
  const texts = nodes.filter(({ role }) => role?.value === 'StaticText').map(({ name }) => name?.value)
  return texts[texts.indexOf(' selected') - 1]
}

describe('the columns of events', () => {
  it('name consumers where there is room for them, and stay within the page and two lines at any width', async () => {
    const named = { ...CONNECTION, name: 'Stripe account of the northern subsidiary' }
    const { id } = await api<{ id: string }>('billing/connections', named)
    const customer = 'cus_of_the_northern_subsidiary_1'
    const subscription = { object: 'subscription', id: 'sub_of_the_northern_subsidiary_1', customer, status: 'active' }
    await send('customer.subscription.updated', subscription, id)
    const metadata = { consumer_external_id: 'of_events' }
    await send('customer.updated', { object: 'customer', id: customer, metadata }, id)
    await api('consumers', { external_id: 'of_events', name: 'Ada Augusta King, Countess of Lovelace' })
    await send('invoice.payment_failed', null, id)
    await send('a.type.of.many.words_that_are_longer_than_a_column_has_room_for.even_in_two_lines', null, id)
    const page = await tab()
    await page.goto(list)
    const name = page.locator('#events').getByText('Countess of Lovelace').first()
    for (const [width, isShown] of [
      [390, true],
      [768, true],
      [800, null],
      [1280, null],
      [1360, null],
      [1440, true],
      [1600, true],
      [1664, true],
      [1855, true],
      [1920, true],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      const over = await page.evaluate<number>(OVERFLOW)
      // Null: the width of the other columns decides.
      expect([width, isShown === null ? null : await name.isVisible(), over]).toEqual([width, isShown, 0])
      // Below, a row is a card.
      if (width > 768) expect([width, await page.evaluate<number>(LINES)]).toEqual([width, 2])
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.locator('.columns summary').click()
    await page.getByRole('checkbox', { name: 'Consumer' }).uncheck()
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => name.isVisible()).toBe(false)
  })
})

/** A tab of a signed-in user. */
async function tab(options: { javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await browser.newContext({ ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  await context.addCookies([sessionCookie(token)])
  return context.newPage()
}

/** Sends an event and waits until it is processed. */
async function send(type: string, object: Record<string, unknown> | null = {}, to = connection): Promise<string> {
  const id = await sendStripe(to, SECRET, type, object)
  await expect.poll(async () => (await api<{ status: string }>(`billing/webhooks/${id}`)).status).toMatch(FINAL)
  return id
}
const FINAL = /^(processed|ignored|failed)$/

describe.each([
  ['with JavaScript', true, 'cus_scripted'],
  ['without JavaScript', false, 'cus_plain'],
])('events, %s', (_, javaScriptEnabled, customer) => {
  it('finds by any id, says what it was taken for, and narrows by chips and menus', async () => {
    const page = await tab({ javaScriptEnabled })
    const box = page.getByLabel('Find by ID or event type')
    const id = await send('invoice.paid', { object: 'invoice', id: `in_of_${customer}`, customer, status: 'paid' })
    const menu = (name: string) => page.locator('.toolbar summary', { hasText: name })
    await page.goto(list)
    await box.fill(id)
    await box.press('Enter')
    await page.waitForURL(`${list}/${id}`)
    await page.goto(list)
    await box.fill(customer)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(`${list}?ref=${customer}`)
    await expect.poll(() => page.locator('#events tr').count()).toBe(1)
    await menu('Received: any time').click()
    await page.getByRole('link', { name: 'Last hour' }).click()
    await page.waitForURL(/within=1h/)
    await menu('Connection: any').click()
    await page.getByRole('link', { name: 'Stripe, live', exact: true }).click()
    await page.waitForURL(/connection_id=con_/)
    await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'failed' }).click()
    await page.waitForURL(/status=failed/)
    await page.getByText('No events match these filters').waitFor()
    await page.getByRole('link', { name: `Remove the filter Object ID: ${customer}` }).click()
    await page.waitForURL((url) => !url.search.includes('ref='))
    await menu('Received: last hour').click()
    await page.getByRole('link', { name: 'Custom…' }).click()
    await page.getByLabel('Received before (UTC)').fill('2026-01-01T00:00')
    await page.getByRole('button', { name: 'Apply filters' }).click()
    await page.waitForURL(/received_before=2026-01-01/)
    expect(page.url()).toMatch(/status=failed/)
    await page.getByRole('link', { name: 'Clear all' }).click()
    await page.waitForURL(/webhooks\?$|webhooks$/)
    await box.fill('nobody')
    await box.press('Enter')
    await page.getByText('Nothing matches “nobody”').waitFor()
  })

  it('says why an event failed, and replays it after a question', async () => {
    const id = await send('invoice.payment_failed', null)
    const page = await tab({ javaScriptEnabled })
    await page.goto(`${list}/${id}`)
    await page.getByText('The payload is not a valid event from Stripe.').waitFor()
    await page.getByRole('link', { name: 'Replay anyway' }).click()
    const question = javaScriptEnabled ? page.getByRole('dialog') : page.getByRole('main')
    await question.getByText('Replay this event?').waitFor()
    expect(page.url()).toBe(`${list}/${id}${javaScriptEnabled ? '' : '/replay'}`)
    await question.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Replay anyway' }).click()
    await question.getByRole('button', { name: 'Replay event' }).click()
    await page.waitForURL(new RegExp(`${id}(\\?replayed=1)?$`))
    const result = page.locator('#now').getByText('The event was processed again, and failed.')
    if (!javaScriptEnabled) await expect.poll(async () => (await page.reload()) && result.count()).toBe(1)
    await result.waitFor()
    await expect.poll(() => page.getByText('will be processed again').count()).toBe(0)
    await expect.poll(() => page.locator('.attempts > li').count()).toBe(2)
  })

  it('shows a payload whose parts fold', async () => {
    const id = await send('customer.subscription.updated', { livemode: false, plan: { nested: { deep: 'inside' } } })
    const page = await tab({ javaScriptEnabled })
    await page.goto(`${list}/${id}`)
    const payload = page.getByLabel('Payload as JSON')
    await expect.poll(() => payload.getByText('"inside"').isVisible()).toBe(false)
    await payload.getByText('"plan"').click()
    await payload.getByText('"nested"').click()
    await expect.poll(() => payload.getByText('"inside"').isVisible()).toBe(true)
    await payload.getByText('"data"').click()
    await expect.poll(() => payload.getByText('"plan"').isVisible()).toBe(false)
    await page.getByText('This is a test event, but its connection is set to live mode.').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Stripe, live' }).getAttribute('href')).toContain(connection)
    const copy = page.getByRole('button', { name: 'Copy payload' })
    await expect.poll(() => copy.count()).toBe(javaScriptEnabled ? 1 : 0)
    if (!javaScriptEnabled) return
    await copy.click()
    await page.getByText('Copied', { exact: true }).first().waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(JSON.parse(copied).type).toBe('customer.subscription.updated')
    await page.getByRole('button', { name: `Copy ${id}` }).click()
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(id)
  })

  it('lists replays, and follows one until it is done', async () => {
    await send('invoice.voided', null)
    const page = await tab({ javaScriptEnabled })
    await page.goto(`${list}?event_type=invoice.voided`)
    await page.getByRole('link', { name: 'Replay these…' }).click()
    await page.getByText('Event type: invoice.voided').waitFor()
    await page.getByRole('button', { name: /^Replay \d+ events?$/ }).click()
    const done = page.getByRole('heading', { name: 'Replay done' })
    if (!javaScriptEnabled) await expect.poll(async () => (await page.reload()) && done.count()).toBe(1)
    await done.waitFor()
    await page.getByRole('link', { name: 'See why' }).click()
    await page.waitForURL(/replay_id=rpl_.*status=failed/)
    await expect.poll(() => page.locator('#events tr').count()).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Replays' }).click()
    const row = page.locator('.rows tbody tr').first()
    await expect.poll(() => row.textContent()).toContain('events@example.com')
    await expect.poll(() => row.textContent()).toContain('Event type: invoice.voided')
    await row.getByRole('link').first().click()
    await done.waitFor()
  })

  it('replays the events that are chosen, and a row opens by a click beside its box', async () => {
    const type = javaScriptEnabled ? 'invoice.sent' : 'invoice.overdue'
    for (let i = 0; i < 3; i++) await send(type, null)
    const page = await tab({ javaScriptEnabled })
    await page.setViewportSize({ width: 1920, height: 900 }) // as wide as a row shows its attempts
    const some = `${list}?event_type=${type}`
    await page.goto(some)
    const boxes = page.locator('#events [name=id]')
    const bar = page.locator('.chosen')
    expect(await bar.isVisible()).toBe(false)
    expect(await page.getByLabel('Select all').isVisible()).toBe(javaScriptEnabled)
    if (javaScriptEnabled) {
      await page.getByLabel('Select all').check()
      await expect.poll(() => page.locator('#said').textContent()).toBe('3 selected')
      expect(await countIn(page)).toBe('3')
      await bar.getByRole('button', { name: 'Clear' }).click()
      await expect.poll(() => page.locator('#said').textContent()).toBe('0 selected')
      await page
        .locator('#events td.number')
        .first()
        .click({ position: { x: 5, y: 10 } }) // why it failed is below
      await page.waitForURL(/webhooks\/evt_/)
      await page.goto(some)
    }
    await boxes.first().check()
    await boxes.last().check()
    expect([page.url(), await bar.isVisible()]).toEqual([some, true])
    expect(await countIn(page)).toBe('2')
    await boxes.last().press('Enter')
    await page.getByRole('heading', { name: 'Replay 2 events?' }).waitFor()
    await page.getByRole('button', { name: 'Replay 2 events' }).click()
    await page.getByText('2 chosen events').waitFor()
  })
})

describe('the list of events', () => {
  /** What the pill says, with its reason. */
  const state = async (page: Page) =>
    `${await page.locator('[data-pill]').textContent()} ${await page.locator('[data-pill-reason]').textContent()}`.trim()
  const says = (page: Page, text: RegExp) => expect.poll(() => state(page)).toMatch(text)

  it('updates itself until it is paused, by the user or because somebody reads it', async () => {
    const page = await tab()
    await page.goto(list)
    await says(page, /^Updating$/)
    const count = () => page.locator('#status-ignored .count').textContent()
    const before = Number(await count())
    const first = await send('price.created', { object: 'price', id: 'price_1' })
    await page.locator(`#${first} .badge`, { hasText: 'ignored' }).waitFor()
    await expect.poll(async () => Number(await count())).toBe(before + 1)
    await page.getByRole('button', { name: 'Pause' }).click()
    await says(page, /^Paused by you$/)
    const second = await send('price.updated', { object: 'price', id: 'price_1' })
    await page.waitForTimeout(4000) // longer than the interval of the updates
    await expect.poll(() => page.locator(`#${second}`).count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator(`#${second}`).waitFor()
    await page.locator(`#${second}`).hover()
    await says(page, /^Paused while you read$/)
    const third = await send('price.deleted', { object: 'price', id: 'price_1' })
    await page.getByRole('button', { name: 'Show 1 new event' }).click()
    await page.locator(`#${third}`).waitFor()
  })

  it('says that it is offline or has to wait, and goes on by itself', async () => {
    const page = await tab()
    await page.goto(list)
    await says(page, /^Updating$/)
    await page.context().setOffline(true)
    await says(page, /^Offline the server did not answer; trying again/)
    await page.context().setOffline(false)
    await says(page, /^Updating$/)
    await page.route('**/live*', (route) => route.fulfill({ status: 503 }))
    await says(page, /^Offline the server answered with an error \(503\)/)
    await page.unroute('**/live*')
    await says(page, /^Updating$/)
    await page.route('**/live*', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '5' } }))
    await says(page, /^Paused too many requests; it continues in \d s$/)
    await page.unroute('**/live*')
    await says(page, /^Updating$/)
  })

  it('can be used with the keyboard only', async () => {
    const page = await tab()
    await page.goto(list)
    await page.getByLabel('Find by ID or event type').focus()
    const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()')
    const tabTo = async (text: RegExp) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab')
        if (text.test(await focused())) return
      }
      throw new Error(`Tab never reached ${text}`)
    }
    await tabTo(/^Received: any time$/)
    await page.keyboard.press('Enter')
    await tabTo(/^Last 24 hours$/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/within=24h/)
    await page.getByRole('link', { name: 'Remove the filter Received: last 24 hours' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => !url.search.includes('within'))
  })
})
