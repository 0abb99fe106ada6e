import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { relative } from '../../src/console/ui/format.ts'
import { launch, sendStripe, sessionCookie, URL_OF_CONSOLE, violations } from './browser.ts'

const SECRET = 'whsec_a_secret_of_the_frame_tests'
const NARROW = { width: 390, height: 844 }
let browser: Browser
let context: BrowserContext
let token: string
let project: string
let other: string
const at = (path = '', id = project) => `${URL_OF_CONSOLE}/console/p/${id}${path}`

const api = <T>(path: string, json?: unknown) =>
  must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, ...(json !== undefined && { json }) })

beforeAll(async () => {
  browser = await launch()
  token = (await signIn(URL_OF_CONSOLE, 'frame@example.com')).token
  other = (await api<{ id: string }>('projects', { name: 'Other' })).id
  // More than the menu of projects shows.
  for (let n = 1; n <= 8; n++) await api('projects', { name: `Project ${n}` })
  project = (await api<{ id: string }>('projects', { name: 'Framed' })).id
  const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
  const { id } = await api<{ id: string }>('billing/connections', fields)
  await api('api-keys', { name: 'Server' })
  for (const type of ['customer.subscription.updated', 'invoice.paid']) await sendStripe(id, SECRET, type)
  context = await browser.newContext()
  await context.addCookies([sessionCookie(token)])
})
afterAll(() => browser?.close())

/** Runs a test in a page of its own. */
async function within(path: string, test: (page: Page) => Promise<void>, of: BrowserContext = context) {
  const page = await of.newPage()
  await page.goto(path)
  await test(page)
  await page.close()
}

async function contextWith(options: NonNullable<Parameters<Browser['newContext']>[0]>): Promise<BrowserContext> {
  const made = await browser.newContext(options)
  await made.addCookies([sessionCookie(token)])
  return made
}

describe('the frame', () => {
  const SECTIONS: [string, string][] = [
    ['Overview', ''],
    ['Events', '/platform/billing/webhooks'],
    ['Connections', '/platform/billing/connections'],
    ['Replays', '/platform/billing/webhooks/replays'],
    ['Health', '/platform/billing/webhooks/health'],
    ['Subscriptions', '/platform/billing/subscriptions'],
    ['Invoices', '/platform/billing/invoices'],
    ['Payment methods', '/platform/billing/payment-methods'],
    ['Plans', '/platform/billing/plans'],
    ['Features', '/platform/billing/features'],
    ['Changes', '/platform/changes'],
    ['Webhooks out', '/platform/webhook-endpoints'],
    ['Consumers', '/platform/consumers'],
    ['Unlinked customers', '/platform/consumers/unlinked'],
    ['General', '/platform/settings/general'],
    ['API keys', '/platform/settings/api-keys'],
    ['Members', '/platform/settings/members'],
    ['Audit log', '/platform/settings/audit-log'],
    ['API reference', '/reference'],
  ]

  it('leads to every section, and the title names page and project', () =>
    within(at(), async (page) => {
      const menu = page.getByRole('navigation', { name: 'Main' })
      for (const [label, path] of SECTIONS) {
        // Beside some, there is a number.
        await menu.getByRole('link', { name: new RegExp(`^${label}( \\d|$)`) }).click()
        await page.waitForURL(at(path))
        await expect.poll(() => menu.locator('[aria-current=page]').innerText()).toMatch(new RegExp(`^${label}\\b`))
        expect(await page.title()).toBe(`${label} · Framed · Platform API`)
      }
    }))

  it('shows the mode of the project beside its name, and its status', () =>
    within(at('/platform/settings/general'), async (page) => {
      // Beside it, there is a number if the project has open notices.
      await expect.poll(() => page.locator('.where span.badge').innerText()).toBe('Test')
      await page.locator('#status', { hasText: 'Healthy' }).click()
      await page.getByRole('heading', { level: 1, name: /Health/ }).waitFor()
    }))

  it.each([true, false])(
    'keeps a theme, whatever the system asks for; with a script: %s',
    async (javaScriptEnabled) => {
      const own = await contextWith({ colorScheme: 'light', javaScriptEnabled })
      const background = (page: Page) =>
        page
          .evaluate<string>('getComputedStyle(document.body).backgroundColor')
          .then((color) => color.replaceAll(' ', ''))
      const LIGHT = 'rgb(255,255,255)'
      await within(
        at('/platform/settings/general'),
        async (page) => {
          expect(await background(page)).toBe(LIGHT)
          await page.locator('.account summary').click()
          await page.getByRole('button', { name: 'Dark' }).click()
          await page.waitForURL(at('/platform/settings/general'))
          await expect.poll(() => background(page)).not.toBe(LIGHT)
          // The documentation is files, and knows the choice by a script.
          for (const path of [...(javaScriptEnabled ? ['/docs'] : []), at('/platform/billing/plans')]) {
            await page.goto(new URL(path, URL_OF_CONSOLE).href)
            expect(await background(page)).not.toBe(LIGHT)
          }
          await page.emulateMedia({ colorScheme: 'dark' })
          await page.locator('.account summary').click()
          expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe('true')
          await page.getByRole('button', { name: 'Light' }).click()
          await expect.poll(() => background(page)).toBe(LIGHT)
          // Without a script, the page is loaded again and the menu is closed.
          if (!javaScriptEnabled) await page.locator('.account summary').click()
          await page.getByRole('button', { name: 'System' }).click()
          await expect.poll(() => background(page)).not.toBe(LIGHT)
        },
        own,
      )
      await own.close()
    },
  )

  it.each([true, false])('keeps how times are shown; with a script: %s', async (javaScriptEnabled) => {
    const own = await contextWith({ javaScriptEnabled, timezoneId: 'Asia/Tokyo' })
    const path = '/platform/settings/api-keys'
    await within(
      at(path),
      async (page) => {
        const made = page.locator('.keys time').first()
        const choose = async (name: string) => {
          // Without a script, the page is loaded again and the menu is closed.
          if (!(await page.getByRole('group', { name: 'Times' }).isVisible()))
            await page.locator('.account summary').click()
          await page.getByRole('button', { name, exact: true }).click()
          await page.waitForURL(at(path))
          return expect.poll(() => made.innerText())
        }
        expect(await made.innerText()).toMatch(/ago$|^just now$/)
        const utc = new Date(Date.parse((await made.getAttribute('datetime')) ?? ''))
        const text = (date: Date) => date.toISOString().slice(0, 19).replace('T', ' ')
        await (await choose('UTC')).toBe(`${text(utc)} UTC`)
        const tokyo = `${text(new Date(utc.getTime() + 9 * 3_600_000))} GMT+9`
        await (await choose('Local')).toBe(javaScriptEnabled ? tokyo : `${text(utc)} UTC`)
        await (await choose('Relative')).toMatch(/ago$|^just now$/)
      },
      own,
    )
    await own.close()
  })

  it('keeps a group closed that was closed, but not that of the current page', async () => {
    const own = await contextWith({})
    const isOpen = (page: Page) => page.getByRole('link', { name: 'Invoices', exact: true }).isVisible()
    await within(
      at(),
      async (page) => {
        await page.getByText('Billing', { exact: true }).click()
        await expect.poll(() => isOpen(page)).toBe(false)
        await page.goto(at('/platform/settings/general'))
        expect(await isOpen(page)).toBe(false)
        await page.goto(at('/platform/billing/plans'))
        expect(await isOpen(page)).toBe(true)
        await page.getByText('Webhooks', { exact: true }).click()
        await page.goto(at())
        expect(await isOpen(page)).toBe(false)
        await expect.poll(() => page.getByRole('link', { name: 'Replays', exact: true }).isVisible()).toBe(false)
      },
      own,
    )
    await own.close()
  })

  it('says in the sidebar and in the icon of the tab that events failed', async () => {
    const failing = (await api<{ id: string }>('projects', { name: 'Failing' })).id
    const fields = { vendor: 'stripe', name: 'Stripe', livemode: false, signing_secret: SECRET }
    const connection = await must<{ id: string }>(`${URL_OF_CONSOLE}/platform/v1/billing/connections`, {
      token,
      project: failing,
      json: fields,
    })
    await sendStripe(connection.id, SECRET, 'invoice.payment_failed', null)
    const failed = `${URL_OF_CONSOLE}/platform/v1/billing/webhooks/search?status=failed`
    const failedEvents = async () => (await must<{ data: object[] }>(failed, { token, project: failing })).data.length
    await expect.poll(failedEvents).toBe(1)
    const icon = (page: Page) => page.locator('link[rel=icon]').getAttribute('href')
    await within(at('/platform/settings/general'), (page) =>
      expect.poll(() => icon(page)).toMatch(/\/icon-\w{10}\.svg/),
    )
    await within(at('', failing), async (page) => {
      await expect.poll(() => page.locator('#events-count').innerText()).toMatch(/^1\s+failed$/)
      await expect.poll(() => icon(page)).toMatch(/\/icon-(degraded|failing)-/)
      await page.locator('#status', { hasText: /Degraded|Failing/ }).waitFor()
    })
  })

  it('keeps the section when the project is switched', () =>
    within(at('/platform/billing/invoices'), async (page) => {
      await page.locator('.projects summary').click()
      await page.getByRole('link', { name: 'Project 8', exact: true }).click()
      await page.waitForURL(/platform.billing.invoices$/)
      expect(page.url()).not.toContain(project)
    }))

  it('finds a project whose name is typed, and opens it with the keyboard alone', () =>
    within(at('/platform/billing/invoices'), async (page) => {
      await page.locator('.projects summary').press('Enter')
      expect(
        await page.getByRole('searchbox', { name: 'Find a project' }).evaluate((one) => one.matches(':focus')),
      ).toBe(true)
      await page.keyboard.type('oTHe')
      await page.locator('#projects-found [data-for=oTHe]').waitFor()
      // The menu covers a part of the link below it.
      expect((await violations(page)).filter((what) => !what.includes('class="find"'))).toEqual([])
      await page.keyboard.press('ArrowDown')
      await expect.poll(() => page.locator('a:focus').innerText()).toBe('Other')
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await page.waitForURL(at('/platform/billing/invoices', other))
    }))

  it.each([
    ['/platform', ''],
    ['/platform/settings', '/platform/settings/general'],
    ['/platform/billing', '/platform/billing/subscriptions'],
  ])('leads from %s, above other pages, to a page', (path, to) =>
    within(at(path), async (page) => expect(page.url()).toBe(at(to))),
  )

  it.each([true, false])('is a drawer on a narrow screen; with a script: %s', async (javaScriptEnabled) => {
    const narrow = await contextWith({ viewport: NARROW, javaScriptEnabled })
    const path = at('/platform/settings/api-keys')
    const drawer = (page: Page) => page.getByRole('navigation', { name: 'Main' })
    await within(
      path,
      async (page) => {
        await expect.poll(() => drawer(page).isVisible()).toBe(false)
        const open = page.getByRole('button', { name: 'Menu' })
        await open.click()
        await expect.poll(() => drawer(page).isVisible()).toBe(true)
        await page.keyboard.press('Escape')
        await expect.poll(() => drawer(page).isVisible()).toBe(false)
        await open.click()
        await drawer(page).getByRole('link', { name: 'Health', exact: true }).click()
        await page.waitForURL(at('/platform/billing/webhooks/health'))
      },
      narrow,
    )
    await narrow.close()
  })

  it('shows error codes to anybody, and to a user in the frame', async () => {
    const url = `${URL_OF_CONSOLE}/errors#key_rotated`
    await within(url, async (page) => {
      await expect.poll(() => page.getByRole('navigation', { name: 'Main' }).count()).toBe(1)
      await expect
        .poll(() => page.getByRole('row').filter({ hasText: 'key_rotated' }).innerText())
        .toContain('rotate the key again')
    })
    const anybody = await browser.newContext()
    await within(url, async (page) => await expect.poll(() => page.getByRole('navigation').count()).toBe(0), anybody)
    await anybody.close()
  })
})

describe('a page', () => {
  it('keeps its times true while it is open, in UTC and in the reader’s own time', async () => {
    const berlin = await contextWith({ timezoneId: 'Europe/Berlin' })
    await berlin.clock.install()
    await api('api-keys', { name: 'Just now' })
    await within(
      at('/platform/settings/api-keys'),
      async (page) => {
        const created = page.locator('td time').first()
        await expect.poll(() => created.innerText()).toBe('just now')
        await expect.poll(() => created.getAttribute('title')).toMatch(/ UTC\n.* Europe\/Berlin$/)
        await berlin.clock.fastForward('02:50') // leaves half a minute for a busy machine
        await expect.poll(() => created.innerText()).toBe('3 min ago')
        await berlin.clock.fastForward('50:00:00')
        await expect.poll(() => created.innerText()).toBe('2 d ago')
      },
      berlin,
    )
    await berlin.close()
  })

  it('says so when it cannot update itself, and stops when it can again', async () => {
    const made = await contextWith({})
    await made.clock.install()
    await within(
      at('/platform/billing/webhooks/health'),
      async (page) => {
        const note = page.locator('#stale')
        await page.locator('#status', { hasText: 'Healthy' }).waitFor()
        await expect.poll(() => note.isVisible()).toBe(false)
        await made.setOffline(true)
        await made.clock.fastForward(11_000)
        await note.getByText('the server cannot be reached').waitFor()
        await made.setOffline(false)
        await made.clock.fastForward(11_000)
        await note.waitFor({ state: 'hidden' })
      },
      made,
    )
    await made.close()
  })

  it('keeps a form that is sent offline, or after its session has ended in another tab', async () => {
    const email = 'ending@example.com'
    const sessionOf = async () => sessionCookie((await signIn(URL_OF_CONSOLE, email)).token)
    const of = await contextWith({})
    await of.addCookies([await sessionOf()])
    const create = async (page: Page) => page.getByRole('button', { name: 'Create project' }).click()
    await within(
      `${URL_OF_CONSOLE}/console/projects/new`,
      async (page) => {
        await page.getByLabel('Name').fill('Typed in vain')
        await of.setOffline(true)
        await create(page)
        expect(await page.locator('#stale').textContent()).toContain('You are offline, and nothing was sent.')
        expect(await page.getByLabel('Name').inputValue()).toBe('Typed in vain')
        await of.setOffline(false)

        await of.clearCookies()
        await create(page)
        await page.getByRole('heading', { name: 'Your session ended' }).waitFor()
        expect(await page.getByRole('link', { name: 'Sign in on a new tab' }).getAttribute('target')).toBe('_blank')
        await of.addCookies([await sessionOf()])
        for (const title of ['Your session ended', 'Send the form again?']) {
          await page.getByRole('heading', { name: title }).waitFor()
          await page.getByRole('button', { name: 'Send the form' }).click()
        }
        await page.getByText('The project was created.').waitFor()
        expect(await page.title()).toContain('Typed in vain')
      },
      of,
    )
    await of.close()
  })

  it('says how far away a time is in the words of the server', () =>
    within(at('/platform/billing/webhooks'), async (page) => {
      const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
      const steps = [0, 0.49, 0.51, 1.49, 1.51, 6.6, 23.4, 23.6, 29.6, 30.4, 30.6, 59.4, 59.6, 400]
      const ahead = steps.flatMap((n) => [minute, hour, day].map((size) => n * size))
      const now = Date.UTC(2026, 0, 2)
      for (const distance of ahead.flatMap((ms) => [ms, -ms])) {
        const said = await page.evaluate(`relative(${now + distance}, ${now})`)
        expect([distance, said]).toEqual([distance, relative(now + distance, now)])
      }
    }))

  it('has the focus on Cancel where a dialog ends something', () =>
    within(at('/platform/settings/api-keys'), async (page) => {
      await page.getByRole('link', { name: 'Revoke Server' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.getByRole('dialog').isVisible()).toBe(false)
      await expect.poll(() => page.getByRole('link', { name: 'Revoke Server' }).count()).toBe(1)
    }))

  it('lets the chart be read by pointer and by keyboard', () =>
    within(at('/platform/billing/webhooks/health'), async (page) => {
      const readout = page.locator('#readout')
      await expect.poll(() => readout.innerText()).toContain('arrow keys')
      await page.locator('.chart .hit').first().hover()
      await expect.poll(() => readout.innerText()).toMatch(/UTC: \d+ received, \d+ completed/)
      await page.mouse.move(0, 0)
      await expect.poll(() => readout.innerText()).toContain('arrow keys')
      await page.locator('.chart .plot').focus()
      await page.keyboard.press('End')
      await expect.poll(() => readout.innerText()).toMatch(/UTC: \d+ received/)
    }))

  it('is printed without the frame', () =>
    within(at('/platform/billing/webhooks'), async (page) => {
      await page.emulateMedia({ media: 'print' })
      await expect.poll(() => page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(false)
      await expect.poll(() => page.getByRole('cell', { name: 'invoice.paid' }).isVisible()).toBe(true)
    }))
})
