import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { codeOf, launch, sessionCookie, signIn, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

/** API keys, the audit log, General, sessions and signing in, each with and without JavaScript. */

const LONG = 'n'.repeat(100)
let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

type Row = { id: string; name: string; scopes: string[]; expires_at: string | null }

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  const email = `settings-${javaScriptEnabled}@example.com`
  let context: BrowserContext
  let page: Page
  let seen: Watch
  let token: string
  let project: string
  let base: string

  beforeAll(async () => {
    token = (await signInByApi(URL_OF_CONSOLE, email)).token
    project = (await api<{ id: string }>('projects', { name: 'Before' })).id
    base = `${URL_OF_CONSOLE}/console/p/${project}/platform/settings`
    const permissions = ['clipboard-read', 'clipboard-write']
    context = await browser.newContext({ javaScriptEnabled, permissions })
    await context.addCookies([sessionCookie(token)])
    seen = watch(context)
    page = await context.newPage()
  })
  afterAll(() => context?.close())

  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
      token,
      ...(project !== undefined && { project }),
      ...(json !== undefined && { json }),
    })
  const keys = async () => (await api<{ data: Row[] }>('api-keys?limit=100')).data
  const button = (name: string) => page.getByRole('button', { name })
  const link = (name: string) => page.getByRole('link', { name })
  const notice = () => page.getByRole('status').first().textContent()
  const ticked = () =>
    page.locator('[name=scope]:checked').evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  const create = async (name: string) => {
    await page.goto(`${base}/api-keys/new`)
    await page.getByLabel('Name').fill(name)
    await button('Create API key').click()
    return (await page.locator('#secret').textContent()) ?? ''
  }

  it('chooses scopes by a preset, or one by one', async () => {
    await page.goto(`${base}/api-keys/new`)
    const matrix = page.getByRole('table', { name: 'Scopes' })
    expect(await ticked()).toEqual(['consumers:read', 'consumers:write', 'entitlements:read'])
    await expect.poll(() => matrix.isVisible()).toBe(false)
    await page.getByText('Choose scopes', { exact: true }).click()
    // Without a script, a preset could not tick its scopes, so they are not shown beside it.
    await expect.poll(() => matrix.isVisible()).toBe(javaScriptEnabled)
    const mine = page.getByLabel('Only the scopes I select')
    if (javaScriptEnabled) {
      await page.getByLabel('Operations: events and replays').check()
      expect(await ticked()).toEqual(['billing:read', 'billing:write', 'connections:read'])
      await page.getByLabel('billing:write').uncheck()
      await expect.poll(() => mine.isChecked()).toBe(true)
      await page.getByLabel('billing:write').check()
      await expect.poll(() => page.getByLabel('Operations: events and replays').isChecked()).toBe(true)
    }
    await mine.check()
    await expect.poll(() => matrix.isVisible()).toBe(true)
    await page.getByLabel('audit_log:read').check()
    const chosen = await ticked()
    await page.getByLabel('Name').fill('Chosen')
    await button('Create API key').click()
    await page.locator('#secret').waitFor()
    expect((await keys())[0]).toMatchObject({ name: 'Chosen', scopes: chosen })
  })

  it('asks for a date only if the key expires on a date', async () => {
    await page.goto(`${base}/api-keys/new`)
    const date = page.getByLabel('Date (UTC)')
    expect([await page.getByLabel('Expires').inputValue(), await date.isVisible()]).toEqual(['90', false])
    await page.getByLabel('Expires').selectOption('On a date…')
    await page.getByLabel('Name').fill('Dated')
    await button('Create API key').click()
    await page.getByText('Pick a date').waitFor()
    await date.fill('2031-05-04')
    if (javaScriptEnabled) {
      await page.getByLabel('Expires').selectOption('Never')
      await expect.poll(() => date.inputValue()).toBe('')
      await page.getByLabel('Expires').selectOption('On a date…')
      await date.fill('2031-05-04')
    }
    await button('Create API key').click()
    await page.locator('#secret').waitFor()
    expect((await keys())[0]).toMatchObject({ name: 'Dated', expires_at: '2031-05-04T23:59:59.999Z' })
  })

  it('shows examples that read the key from the environment, in tabs', async () => {
    const secret = await create('Examples')
    const shown = async () => (await page.locator('.panel:visible pre').allTextContents()).join()
    expect(await shown()).toBe(`PLATFORM_API_KEY=${secret}\nPLATFORM_PROJECT_ID=${project}`)
    for (const tab of ['curl', 'Node.js']) {
      await page.getByText(tab, { exact: true }).click()
      expect(await shown()).toContain('/platform/v1/api-keys/self')
      expect(await shown()).not.toContain(secret)
    }
    await page.keyboard.press('ArrowLeft')
    expect(await shown()).toContain('curl ')
    await expect.poll(() => button('Try it').count()).toBe(javaScriptEnabled ? 1 : 0)
    if (!javaScriptEnabled) return
    await button('Try it').click()
    await page.locator('.try', { hasText: '200: the key works. It is “Examples” of the project “Before”.' }).waitFor()
  })

  it('mints nothing more if the page of the secret is loaded again', async () => {
    const secret = await create('Once')
    const before = (await keys()).length
    page.once('dialog', (dialog) => dialog.accept())
    await page.reload()
    expect(await notice()).toContain('This key already exists')
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('Once')
    expect(await page.content()).not.toContain(secret)
    expect((await keys()).length).toBe(before)
    await link('Rotate Once').click()
    await button('Rotate key').click()
    const fresh = (await page.locator('#secret').textContent()) ?? ''
    page.once('dialog', (dialog) => dialog.accept())
    await page.reload()
    expect(await notice()).toContain('Nothing was changed: the key')
    const headers = { Authorization: `Bearer ${fresh}`, 'X-Project-Id': project }
    expect((await fetch(`${URL_OF_CONSOLE}/platform/v1/api-keys/self`, { headers })).status).toBe(200)
  })

  if (javaScriptEnabled) {
    it.each<[string, () => Promise<unknown>, boolean]>([
      ['nothing was copied', () => page.locator('h1').click(), true],
      ['an example without the secret was copied', () => copyTab('curl'), true],
      ['the secret was copied', () => copy('Copy secret'), false],
      ['the .env file was copied', () => copy('Copy .env example'), false],
      ['the secret was selected and copied', () => selectSecret(), false],
    ])('asks before leaving: %s', async (_, act, asks) => {
      await create('Left')
      await act()
      let asked = false
      page.once('dialog', (dialog) => {
        asked = dialog.type() === 'beforeunload'
        return dialog.accept()
      })
      await page.goto(`${base}/api-keys`)
      page.removeAllListeners('dialog')
      expect(asked).toBe(asks)
    })
    const copyTab = async (name: string) => {
      await page.getByText(name, { exact: true }).click()
      await copy(`Copy ${name} example`)
    }
    const copy = async (name: string) => {
      await button(name).click()
      await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
    }
    const selectSecret = async () => {
      await page.locator('#secret').click({ clickCount: 3 })
      await page.keyboard.press('Control+C')
    }

    it('a second click on the button does not send the form again', async () => {
      await page.goto(`${base}/api-keys/new`)
      await page.getByLabel('Name').fill('Twice')
      await button('Create API key').dblclick()
      await page.locator('#secret').waitFor()
      await link('I have stored the secret').click()
    })
  }

  it.each([360, 700, 1024, 1440])('hides no action at %i px, however long the name', async (width) => {
    if (!(await keys()).some(({ name }) => name === LONG)) await api('api-keys', { name: LONG })
    const [{ id } = { id: '' }] = (await keys()).filter(({ name }) => name === LONG)
    await page.setViewportSize({ width, height: 800 })
    for (const path of ['', `/${id}`]) {
      await page.goto(`${base}/api-keys${path}`)
      for (const verb of ['Edit', 'Rotate', 'Revoke']) {
        const action = link(`${verb} ${LONG}`)
        await action.scrollIntoViewIfNeeded()
        const box = await action.boundingBox()
        expect([verb, box && box.x >= 0 && box.x + box.width <= width]).toEqual([verb, true])
        await action.click({ trial: true }) // nothing covers it
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('opens a key, edits it, and revokes it', async () => {
    const { key } = await api<{ key: Row }>('api-keys', { name: 'Worker' })
    await page.goto(`${base}/api-keys`)
    await link('Worker').first().click()
    expect(page.url()).toBe(`${base}/api-keys/${key.id}`)
    await link('Edit Worker').click()
    await page.getByLabel('Name').fill('Worker 2')
    await page.getByLabel('Expires').selectOption('In 7 days')
    await button('Save').click()
    expect(await notice()).toContain('changed')
    const text = await page.locator('main').innerText()
    expect(text).toContain('Worker 2')
    expect(text).toContain('Expires soon')
    expect(text).toContain('Changed an API key')
    await link('Revoke Worker 2').click()
    await button('Revoke key').click()
    expect(await notice()).toContain('revoked')
    await page.goto(`${base}/api-keys/${key.id}`)
    await expect.poll(() => page.locator('main').innerText()).toContain('The key was revoked at')
    await expect.poll(() => link('Edit Worker 2').count()).toBe(0)
  })

  it('reads the audit log in words, and filters it', async () => {
    await page.goto(`${base}/audit-log`)
    await page.getByLabel('Who').selectOption(email)
    await page.getByLabel('What').selectOption('Revoked an API key')
    await button('Apply filters').click()
    await expect.poll(() => page.locator('.audit tbody tr').count()).toBe(1)
    const row = page.locator('.audit tbody tr')
    await expect.poll(() => row.innerText()).toContain('Revoked an API key')
    await row.locator('summary').click()
    await expect.poll(() => row.locator('.ids').innerText()).toContain('api_key.revoked')
    const hidden =
      "document.querySelector('.rows.audit').scrollWidth - document.querySelector('.rows.audit').clientWidth"
    expect(await page.evaluate(hidden)).toBe(0)
    await row.getByRole('link', { name: 'Worker 2' }).click()
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toContain('Worker 2')
    await page.goto(`${base}/audit-log?created_before=2020-01-01T00:00`)
    await page.getByText('No matching entries').waitFor()
    await link('show all entries').click()
    await expect.poll(() => page.locator('.audit tbody tr').count()).toBeGreaterThan(3)
  })

  it('renames the project', async () => {
    await page.goto(`${base}/general`)
    const save = page
      .locator('form')
      .filter({ has: page.getByLabel('Project name') })
      .getByRole('button', { name: 'Save' })
    await page.getByLabel('Project name').fill(' ')
    await save.click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Project name').fill('After')
    await save.click()
    expect(await notice()).toContain('was renamed')
    await expect.poll(() => page.locator('.side .projects summary').innerText()).toContain('After')
    await page.locator('.side').getByRole('link', { name: 'Audit log' }).click()
    await expect.poll(() => page.locator('.audit tbody tr').first().innerText()).toContain('Renamed the project')
  })

  it('creates another project, and finds it in the list', async () => {
    await page.goto(`${URL_OF_CONSOLE}/console`)
    await page.locator('main').getByRole('link', { name: 'New project' }).click()
    await page.getByLabel('Name').fill(LONG)
    await button('Create project').click()
    expect(await notice()).toContain('created')
    await page.goto(`${URL_OF_CONSOLE}/console`)
    await page.locator('main').getByRole('link', { name: LONG }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await expect.poll(() => page.locator('.side .projects summary').innerText()).toContain(LONG)
  })

  it('signs in with a code, after asking for a new one', async () => {
    const other = await browser.newContext({ javaScriptEnabled })
    const tab = await other.newPage()
    await tab.goto(`${URL_OF_CONSOLE}/console/sign-in?next=/console/sessions`)
    await tab.getByLabel('Email address').fill(email)
    await tab.getByRole('button', { name: 'Send code' }).click()
    const first = await tab.locator('input[name=challenge]').inputValue()
    await tab.getByLabel('Code').fill('00000000')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByText('This code is incorrect').waitFor()
    await tab.getByRole('button', { name: 'Send a new code' }).click()
    await expect.poll(() => tab.locator('input[name=challenge]').inputValue()).not.toBe(first)
    const challenge = await tab.locator('input[name=challenge]').inputValue()
    await tab.getByLabel('Code').fill(await codeOf(challenge))
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.waitForURL(`${URL_OF_CONSOLE}/console/sessions`)
    await other.close()
  })

  it('signs out everywhere else, and then here too', async () => {
    const other = await browser.newContext({ javaScriptEnabled })
    const tab = await other.newPage()
    await signIn(tab, email, '/console/sessions')
    await page.goto(`${URL_OF_CONSOLE}/console/sessions`)
    await expect.poll(() => page.locator('[aria-label="Sessions"] tbody tr').count()).toBeGreaterThan(1)
    const end = async (here: boolean) => {
      await link('Sign out everywhere').click()
      if (here) await page.getByLabel('Sign out of this browser too').check()
      await button('End sessions').click()
    }
    await end(false)
    expect(await notice()).toContain('All your other sessions have ended')
    await expect.poll(() => page.locator('[aria-label="Sessions"] tbody tr').count()).toBe(1)
    await tab.reload()
    expect(tab.url()).toContain('/console/sign-in')
    await other.close()
    await end(true)
    expect(await notice()).toContain('You are signed out everywhere')
    await page.goto(`${URL_OF_CONSOLE}/console`)
    expect(page.url()).toBe(`${URL_OF_CONSOLE}/console/sign-in`)
  })

  it('saw no script errors, no policy violations, and no requests to other origins', () => {
    const unexpected = seen.problems.filter((text) => !text.includes('status of 422'))
    expect({ unexpected, foreign: seen.foreign }).toEqual({ unexpected: [], foreign: [] })
  })
})
