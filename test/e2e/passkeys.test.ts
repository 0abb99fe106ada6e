import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { codeOf, launch, signIn, URL_OF_CONSOLE, type Watch, watch } from './browser.ts'

/** Passkeys in Chromium, whose virtual authenticator stands in for that of a laptop. */

let browser: Browser
const contexts: BrowserContext[] = []
const seen: Watch[] = []
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser?.close())
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()))
  const found = seen.splice(0).flatMap(({ problems, foreign }) => [...problems, ...foreign])
  // Chromium calls the page that refuses a passkey an error of the console.
  expect(found.filter((text) => !/sign-in\/passkey: .*status of 401/.test(text))).toEqual([])
})

/** A page of a new browser, and the device that it runs on, with its authenticator. */
async function newDevice(options: { javaScriptEnabled?: boolean } = {}) {
  const context = await browser.newContext(options)
  contexts.push(context)
  seen.push(watch(context))
  const page = await context.newPage()
  const device = await context.newCDPSession(page)
  await device.send('WebAuthn.enable')
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { page, device, authenticatorId, context }
}

const at = (path: string) => URL_OF_CONSOLE + path
const button = (page: Page, name: string) => page.getByRole('button', { name })
const signOut = async (page: Page) => {
  await page.context().clearCookies()
  await page.goto(at('/console/sign-in'))
}

/** Adds a passkey on its page. @returns the recovery codes, if it is the first one */
async function addPasskey(page: Page, name: string): Promise<string[]> {
  await page.getByLabel('Name').fill(name)
  await button(page, 'Add the passkey').click()
  await page.getByRole('heading', { name: 'Recovery codes' }).first().waitFor()
  return ((await page.locator('#codes').textContent()) ?? '').split('\n')
}

async function credentialsOf(device: CDPSession, authenticatorId: string) {
  return (await device.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}

it('registers a passkey, signs in with it, and deletes it', async () => {
  const { page, device, authenticatorId } = await newDevice()
  await signIn(page, 'passkey-owner@example.com')
  await page.goto(at('/console/passkeys'))
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  await expect.poll(() => page.getByLabel('Name').inputValue()).toContain('on Linux')
  const codes = await addPasskey(page, 'Laptop')
  expect(codes).toHaveLength(10)
  await page.getByRole('link', { name: 'I have stored the codes' }).click()
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'Laptop' }).count()).toBe(1)
  const [credential] = await credentialsOf(device, authenticatorId)
  expect([credential?.isResidentCredential, credential?.rpId]).toEqual([true, 'localhost'])

  await signOut(page)
  await button(page, 'Sign in with a passkey').click()
  await page.waitForURL(at('/console'))
  // Its second factor is there, and the session is confirmed: nothing else is asked for.
  await page.goto(at('/console/passkeys'))
  await page.getByRole('link', { name: 'Delete Laptop' }).click()
  await button(page, 'Delete the passkey').click()
  await page.getByText('You have no passkeys.').waitFor()

  await signOut(page)
  await button(page, 'Sign in with a passkey').click()
  await page.getByText('We do not recognize this passkey').waitFor()
})

it('says so if the browser has no passkey, and can be asked again', async () => {
  const { page, device, authenticatorId } = await newDevice()
  await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await signIn(page, 'passkey-unverified@example.com')
  await page.goto(at('/console/passkeys/new'))
  await button(page, 'Add the passkey').click()
  await page.getByText('No passkey was used. Try again.').waitFor()
  await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  expect(await addPasskey(page, 'Laptop')).toHaveLength(10)
})

it('asks for the second factor where a project requires it: a passkey, or a recovery code if the device is lost', async () => {
  const laptop = await newDevice()
  const { page } = laptop
  const email = 'passkey-required@example.com'
  await signIn(page, email)
  await page.goto(at('/console/projects/new'))
  await page.getByLabel('Name').fill('Safe')
  await button(page, 'Create').click()
  await page.waitForURL(/\/console\/p\/prj_/)
  const [, project = ''] = /\/p\/(prj_\w+)/.exec(page.url()) ?? []
  const general = at(`/console/p/${project}/platform/settings/general`)

  // Requiring a passkey leads to adding one first.
  const require = async () => {
    await page.getByLabel('Require a passkey for admins and owners').check()
    const form = page.locator('form').filter({ has: page.getByLabel('Require a passkey') })
    await form.getByRole('button', { name: 'Save' }).click()
  }
  await page.goto(general)
  await require()
  await page.getByRole('link', { name: 'Add a passkey' }).click()
  const codes = await addPasskey(page, 'Laptop')
  await page.getByRole('link', { name: 'I have stored the codes' }).click()
  await page.waitForURL(general)
  await require()
  await page.getByText('The setting was changed.').waitFor()

  // Another session, signed in by code.
  await signOut(page)
  await signIn(page, email)
  await page.goto(general)
  await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
  await button(page, 'Use your passkey').click()
  await page.getByText('You have confirmed your second factor for this session.').waitFor()
  expect(page.url().startsWith(general)).toBe(true)

  // A browser elsewhere, without the device and without a script.
  const other = await newDevice({ javaScriptEnabled: false })
  await signInByForm(other.page, email)
  await other.page.goto(general)
  await expect.poll(() => button(other.page, 'Use your passkey').isVisible()).toBe(false)
  await expect.poll(() => other.page.getByText('Passkeys need JavaScript').isVisible()).toBe(true)
  await other.page.getByLabel('Recovery code').fill((codes[0] ?? '').toLowerCase())
  await button(other.page, 'Use the recovery code').click()
  await other.page.waitForURL((url) => url.href.startsWith(general))

  // With the new device: the lost passkey goes, and a new one comes.
  const phone = await newDevice()
  await signIn(phone.page, email)
  await phone.page.goto(at('/console/second-factor?next=/console/passkeys'))
  await phone.page.getByLabel('Recovery code').fill(codes[1] ?? '')
  await button(phone.page, 'Use the recovery code').click()
  await phone.page.getByText('8 recovery codes left of 10').waitFor()
  await phone.page.getByRole('link', { name: 'Add a passkey' }).click()
  await phone.page.getByLabel('Name').fill('Phone')
  await button(phone.page, 'Add the passkey').click()
  await phone.page.getByText('The passkey was added.').waitFor()
  await phone.page.getByRole('link', { name: 'Delete Laptop' }).click()
  await button(phone.page, 'Delete the passkey').click()
  await phone.page.getByText('The passkey was deleted').waitFor()
  await phone.page.goto(general)
  await expect.poll(() => phone.page.getByLabel('Require a passkey for admins and owners').isChecked()).toBe(true)

  await signOut(page)
  await button(page, 'Sign in with a passkey').click()
  await page.getByText('We do not recognize this passkey').waitFor()
})

/** Signs in on pages without a script. */
async function signInByForm(page: Page, email: string) {
  await page.goto(at('/console/sign-in'))
  await page.getByLabel('Email address').fill(email)
  await button(page, 'Send code').click()
  await page.getByLabel('Code').fill(await codeOf(await page.locator('input[name=challenge]').inputValue()))
  await button(page, 'Sign in').click()
  await page.waitForURL(at('/console'))
}
