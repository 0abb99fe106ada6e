import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { launch, sessionCookie, signIn, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

/** Members and invitations: an owner and the person they invite, each in a browser of their own. */

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  const guestEmail = `members-guest-${javaScriptEnabled}@example.com`
  const contexts: BrowserContext[] = []
  const seen: Watch[] = []
  let owner: Page
  let guest: Page
  let token: string
  let project: string
  let members: string

  const opened = async () => {
    const context = await browser.newContext({ javaScriptEnabled })
    contexts.push(context)
    seen.push(watch(context))
    return context
  }
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, {
      token,
      ...(project !== undefined && { project }),
      ...(json !== undefined && { json }),
    })

  beforeAll(async () => {
    token = (await signInByApi(URL_OF_CONSOLE, `members-owner-${javaScriptEnabled}@example.com`)).token
    project = (await api<{ id: string }>('projects', { name: 'Acme' })).id
    members = `${URL_OF_CONSOLE}/console/p/${project}/platform/settings/members`
    const context = await opened()
    await context.addCookies([sessionCookie(token)])
    owner = await context.newPage()
    guest = await (await opened()).newPage()
  })
  afterAll(() => Promise.all(contexts.map((context) => context.close())))

  const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
  const notice = (page: Page) => page.getByRole('status').first().textContent()
  const roleOf = () => owner.getByLabel(`Role of ${guestEmail}`)
  /** Follows a link to a confirmation, which opens in a dialog with JavaScript, and confirms. */
  const confirm = async (page: Page, link: string, button: string, tick?: string) => {
    await page.getByRole('link', { name: link }).click()
    const asked = javaScriptEnabled ? page.getByRole('dialog') : page.locator('main')
    if (tick) await asked.getByLabel(tick).check()
    await asked.getByRole('button', { name: button }).click()
  }

  it('an owner invites, and is told why an address cannot be invited', async () => {
    await owner.goto(members)
    await owner.getByRole('link', { name: 'Invite', exact: true }).click()
    await owner.getByLabel('Email address').fill(guestEmail)
    await owner.getByLabel('Role', { exact: true }).selectOption('Viewer')
    await owner.getByRole('button', { name: 'Send invitation' }).click()
    await owner.getByText('The invitation was created').waitFor()
    await expect.poll(() => rowOf(owner, guestEmail).textContent()).toContain('pending')
    await owner.getByLabel('Email address').fill(guestEmail)
    await owner.getByRole('button', { name: 'Send invitation' }).click()
    await owner.getByText('This address has a pending invitation').waitFor()
    await expect.poll(() => owner.getByLabel('Email address').inputValue()).toBe(guestEmail)
  })

  it('the invited person opens the link in the email, signs in, and accepts', async () => {
    const { data } = await api<{ data: { id: string }[] }>('invitations')
    const path = `/console/invitations/${data[0]?.id}`
    await guest.goto(URL_OF_CONSOLE + path)
    await guest.getByText('Sign in with the address that the invitation was sent to').waitFor()
    await signIn(guest, guestEmail, path)
    await guest.getByRole('heading', { name: 'Invitation to Acme' }).waitFor()
    // A sign-in with nothing but an invitation leads to it too.
    await guest.goto(`${URL_OF_CONSOLE}/console`)
    await guest.getByRole('button', { name: 'Accept' }).click()
    await guest.waitForURL(new RegExp(`/console/p/${project}`))
    expect(await notice(guest)).toBe('You are now a member of this project.')
    await guest.goto(members)
    await expect.poll(() => rowOf(guest, guestEmail).textContent()).toContain('Viewer')
    await expect.poll(() => guest.getByRole('combobox').count()).toBe(0)
    await expect.poll(() => guest.getByRole('link', { name: 'Invite', exact: true }).count()).toBe(0)
  })

  it('the owner promotes them at once', async () => {
    await owner.goto(members)
    const save = owner.getByRole('button', { name: `Save role of ${guestEmail}` })
    // There is nothing to save before another role is chosen.
    await expect.poll(() => save.isVisible()).toBe(false)
    await roleOf().selectOption('Admin')
    await save.click()
    await owner.getByText('The role was changed').waitFor()
    await expect.poll(() => roleOf().inputValue()).toBe('admin')
    await guest.goto(members)
    await guest.getByRole('heading', { name: 'Invite someone' }).waitFor()
    // An admin cannot change an owner.
    await expect.poll(() => guest.getByRole('combobox', { name: /Role of members-owner/ }).count()).toBe(0)
  })

  it('demotes them after a question, and not from a page that is out of date', async () => {
    const old = await (contexts[0] as BrowserContext).newPage()
    await old.goto(members)
    await owner.goto(members)
    await roleOf().selectOption('Developer')
    const save = owner.getByRole('button', { name: `Save role of ${guestEmail}` })
    await save.click()
    const question = javaScriptEnabled ? owner.getByRole('dialog') : owner.locator('main')
    await question.getByRole('heading', { name: `Make ${guestEmail} developer?` }).waitFor()
    if (javaScriptEnabled) {
      // Cancel is in focus, and leaves the page as it is.
      await owner.keyboard.press('Enter')
      await question.waitFor({ state: 'hidden' })
      await save.click()
    }
    await question.getByRole('button', { name: 'Change role' }).click()
    await owner.getByText('The role was changed').waitFor()
    await expect.poll(() => roleOf().inputValue()).toBe('developer')
    await old.getByLabel(`Role of ${guestEmail}`).selectOption('Owner')
    await old.getByRole('button', { name: `Save role of ${guestEmail}` }).click()
    await old.getByText('the role is developer now').waitFor()
    await expect.poll(() => old.getByLabel(`Role of ${guestEmail}`).inputValue()).toBe('developer')
    await old.close()
  })

  it('removes them with their keys, and they no longer have access', async () => {
    await guest.goto(`${URL_OF_CONSOLE}/console/p/${project}/platform/settings/api-keys/new`)
    await guest.getByLabel('Name').fill('Key of the guest')
    await guest.getByRole('button', { name: 'Create API key' }).click()
    await guest.locator('#secret').waitFor()
    await owner.goto(members)
    await confirm(owner, `Remove ${guestEmail}`, 'Remove member', 'Revoke it too')
    await owner.getByText('or whose secret they received, were revoked').waitFor()
    await expect.poll(() => rowOf(owner, guestEmail).count()).toBe(0)
    expect((await api<{ data: unknown[] }>('api-keys')).data).toEqual([])
    await guest.goto(members)
    await guest.getByRole('heading', { name: 'Page not found' }).waitFor()
  })

  it('an invitation is revoked, and the invited person is told', async () => {
    const { id } = await api<{ id: string }>('invitations', { email: guestEmail, role: 'developer' })
    await owner.goto(members)
    await confirm(owner, `Revoke the invitation to ${guestEmail}`, 'Revoke invitation')
    await owner.getByText('The invitation was revoked').waitFor()
    await guest.goto(`${URL_OF_CONSOLE}/console/invitations/${id}`)
    await guest.getByText('This invitation was revoked').waitFor()
  })

  it('the last owner cannot leave; with another owner, they can', async () => {
    await owner.goto(members)
    await expect.poll(() => rowOf(owner, 'you').textContent()).toContain('The only owner cannot leave')
    const { id } = await api<{ id: string }>('invitations', { email: guestEmail, role: 'owner' })
    await guest.goto(`${URL_OF_CONSOLE}/console/invitations/${id}`)
    await guest.getByRole('button', { name: 'Accept' }).click()
    await guest.waitForURL(new RegExp(`/console/p/${project}`))
    await owner.goto(members)
    await confirm(owner, 'Leave the project', 'Leave project')
    await owner.getByText('You left the project').waitFor()
    expect(new URL(owner.url()).pathname).toBe('/console')
  })

  it('has no errors, and asks nobody else for anything', () => {
    const stated = (text: string) => /status of (404|409)/.test(text)
    expect(seen.flatMap(({ problems }) => problems).filter((text) => !stated(text))).toEqual([])
    expect(seen.flatMap(({ foreign }) => foreign)).toEqual([])
  })
})
