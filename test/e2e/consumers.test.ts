import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { launch, sendStripe, sessionCookie, URL_OF_CONSOLE, violations, type Watch, watch } from './browser.ts'

/** Against hanging only. */
const SECRET = 'whsec_a_secret_of_the_consumer_tests'
let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

/** One story: each test continues where the previous one ended. */
describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let project: string
  let base: string
  let token: string
  let connection: string
  const api = <T>(path: string, json?: unknown, method?: 'PUT') =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
      token,
      ...(project !== undefined && { project }),
      ...(json !== undefined && { json }),
      ...(method && { method }),
    })

  beforeAll(async () => {
    token = (await signIn(URL_OF_CONSOLE, `consumers-${javaScriptEnabled}@example.com`)).token
    project = (await api<{ id: string }>('projects', { name: 'Acme' })).id
    base = `${URL_OF_CONSOLE}/console/p/${project}/platform`
    const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
    connection = (await api<{ id: string }>('billing/connections', fields)).id
    context = await browser.newContext({ javaScriptEnabled })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const notice = () => page.getByRole('status').first().textContent()
  const main = () => page.locator('main').innerText()
  const rowOf = (text: string) => page.locator('main').getByRole('row').filter({ hasText: text })
  /** Where a question is asked: in a dialog, or without JavaScript on a page of its own. */
  const asked = () => (javaScriptEnabled ? page.getByRole('dialog') : page.locator('main'))
  const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

  it('creates the first consumer, and says what is wrong with a form', async () => {
    await page.goto(`${base}/consumers`)
    expect(await main()).toContain('curl -X PUT')
    await link('New consumer').click()
    await page.getByLabel('Your ID').fill('user 1')
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
    await press('Create consumer')
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada Lovelace')
    await page.getByLabel('Your ID').fill('user_1')
    await page.getByLabel('Email address').fill('Ada@example.com')
    await press('Create consumer')
    expect(await notice()).toBe('The consumer was created.')
    expect(await main()).toContain('ada@example.com')
  })

  it('edits its metadata, line breaks included', async () => {
    await link('Edit').click()
    await page.getByLabel('Key of entry 1').fill('note')
    await page.getByLabel('Value of entry 1').fill('one\ntwo')
    await press('Save')
    expect(await notice()).toBe('The consumer was changed.')
    await expect.poll(() => page.locator('#metadata').textContent()).toContain('"note": "one\\ntwo"')
  })

  it('finds consumers by id and by email address', async () => {
    await api('consumers/ext:user_2', { email: 'ada@example.com', name: 'Ada L.' }, 'PUT')
    const find = async (text: string) => {
      await page.goto(`${base}/consumers`)
      await page.getByLabel('Find by name, email address or ID').fill(text)
      await page.keyboard.press('Enter')
    }
    await find('user_1')
    await title('Ada Lovelace')
    await find('ada@example.com')
    await rowOf('user_2').waitFor()
    await expect.poll(() => rowOf('user_').count()).toBe(2)
    await find('nobody')
    await page.getByRole('heading', { name: 'No consumer found' }).waitFor()
    await link('Show all consumers').click()
    await rowOf('user_1').getByRole('link').click()
    await title('Ada Lovelace')
  })

  it('blocks a consumer after a question whose Cancel is in focus, and unblocks it', async () => {
    const block = () => page.getByRole('link', { name: 'Block', exact: true }).click()
    await block()
    await asked().getByRole('heading', { name: 'Block Ada Lovelace?' }).waitFor()
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Cancel')
    await page.keyboard.press('Enter')
    await title('Ada Lovelace')
    await block()
    await asked().getByLabel('Reason').fill('chargeback')
    await asked().getByRole('button', { name: 'Block consumer' }).click()
    await page.getByText('This consumer is blocked: “chargeback”.').waitFor()
    await page.getByRole('link', { name: 'Unblock', exact: true }).click()
    await asked().getByRole('button', { name: 'Unblock consumer' }).click()
    expect(await notice()).toBe('The consumer is active again.')
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await expect.poll(() => page.getByRole('region', { name: 'History' }).innerText()).toContain('Blocked a consumer')
  })

  it('links customers: by events, to a consumer that is there, to a new one, and to none', async () => {
    const customer = (id: string, external?: string) =>
      sendStripe(connection, SECRET, 'customer.created', {
        id,
        object: 'customer',
        email: `${id}@example.com`,
        name: id,
        metadata: external === undefined ? {} : { consumer_external_id: external },
      })
    await customer('cus_event', 'user_1')
    await sendStripe(connection, SECRET, 'customer.subscription.created', { id: 'sub_ada', customer: 'cus_event' })
    for (const id of ['cus_old', 'cus_new', 'cus_test']) await customer(id)
    const list = `${base}/consumers/unlinked`
    await expect
      .poll(async () => {
        await page.goto(list)
        return rowOf('cus_').count()
      })
      .toBe(3)
    const open = async (id: string) => {
      await page.goto(list)
      await rowOf(id)
        .getByRole('link', { name: /Link to/ })
        .click()
    }
    await open('cus_old')
    await page.getByLabel('Consumer', { exact: true }).fill('ada@example.com')
    await press('Link customer')
    await page.getByText('Several consumers match').waitFor()
    await rowOf('user_1').getByRole('button', { name: 'Link to' }).click()
    expect(await notice()).toBe('The customer is linked to this consumer.')
    await expect.poll(() => rowOf('cus_old').innerText()).toContain('Set manually')
    await expect
      .poll(() => page.getByRole('region', { name: 'Customers' }).innerText())
      .toMatch(/cus_event\s+Stripe\s+By its metadata, in customer\.\w+/)
    await expect.poll(() => page.getByRole('region', { name: 'Subscriptions' }).innerText()).toContain('sub_ada')
    await open('cus_new')
    await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe('cus_new@example.com')
    await page.getByLabel('Your ID').fill('user_3')
    await press('Create and link')
    await title('cus_new')
    await open('cus_test')
    await press('Mark as having no consumer')
    expect(await main()).toContain('No consumer')
    await page.goto(list)
    await expect.poll(() => rowOf('cus_').count()).toBe(0)
    await link('Marked as having none').click()
    await expect.poll(() => rowOf('cus_test').innerText()).toContain('No consumer, set manually')
  })

  it('unpins a customer on the page of its consumer', async () => {
    await page.goto(`${base}/consumers/ext:user_1?tab=billing`)
    await page.getByRole('link', { name: 'Unpin cus_old' }).click()
    await asked().getByRole('button', { name: 'Unpin customer' }).click()
    await page.getByText('The customer was unpinned').waitFor()
    await expect.poll(() => rowOf('cus_old').count()).toBe(0)
  })

  it('merges two consumers, and the merged one leads to the survivor', async () => {
    const merged = page.url()
    await link('Merge into…').click()
    await page.getByLabel('Merge into', { exact: true }).fill('user_2')
    await press('Continue')
    await title('Merge Ada Lovelace into Ada L.?')
    expect(await main()).toContain('1 customer at your vendors')
    await press('Merge consumers')
    expect(await notice()).toBe('The consumers were merged into this one.')
    expect(await main()).toContain('user_1')
    await page.goto(merged)
    await page.getByText('This consumer was merged into').getByRole('link').click()
    await title('Ada L.')
  })

  it('revokes a device after a question', async () => {
    await api('consumers/ext:user_2/devices/inst_1', { platform: 'ios', name: 'Ada’s phone' }, 'PUT')
    await page.goto(`${base}/consumers/ext:user_2?tab=devices`)
    await page.getByRole('link', { name: 'Revoke Ada’s phone' }).click()
    await asked().getByRole('heading', { name: 'Revoke Ada’s phone?' }).waitFor()
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Cancel')
    await asked().getByRole('button', { name: 'Revoke device' }).click()
    expect(await notice()).toContain('The device was revoked')
    await expect.poll(() => rowOf('inst_1').innerText()).toContain('Revoked')
  })

  it('erases a consumer only if its id is typed', async () => {
    await link('Erase').click()
    await asked().getByLabel('Type the ID').fill('user_9')
    await asked().getByRole('button', { name: 'Erase consumer' }).click()
    await page.getByText('Nothing was erased').waitFor()
    await page.getByLabel('Type the ID').fill('user_2')
    await press('Erase consumer')
    await page.getByText('This consumer was erased.').waitFor()
    expect(await main()).not.toContain('ada@example.com')
    await expect.poll(() => page.getByRole('region', { name: 'Erasure' }).innerText()).toContain('Payloads removed')
    await expect.poll(() => link('Edit').count()).toBe(0)
  })

  it('needs no mouse: from the sidebar to a block, by keyboard alone', async () => {
    await page.goto(`${base}/consumers`)
    const walkTo = async (name: string) => {
      for (let tries = 0; tries < 80; tries++) {
        await page.keyboard.press('Tab')
        const focused = await page.evaluate<string>('document.activeElement.textContent.trim()')
        if (focused === name) return page.keyboard.press('Enter')
      }
      throw new Error(`${name} cannot be reached`)
    }
    await walkTo('cus_new')
    await title('cus_new')
    await walkTo('Block')
    await asked().getByLabel('Reason').waitFor()
    await asked().getByRole('button', { name: 'Block consumer' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('This consumer is blocked.').waitFor()
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    const unexpected = seen.problems.filter((text) => !text.includes('status of 422'))
    expect({ unexpected, foreign: seen.foreign }).toEqual({ unexpected: [], foreign: [] })
  })

  it('has no violations that axe finds in its questions, light and dark, wide and narrow', async () => {
    if (!javaScriptEnabled) return
    await page.goto(`${base}/consumers/ext:user_3`)
    await link('Erase').click()
    await asked().waitFor()
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1440, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 844 })
        expect(await violations(page)).toEqual([])
      }
  })
})
