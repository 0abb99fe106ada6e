import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { codeOf, launch, pictures, sessionCookie, URL_OF_CONSOLE, violations } from './browser.ts'
import { reachOutside, setOutside } from './outside.ts'

/** Single sign-on of a team, as its owner and its members go through it: from the domain to signing out. */

/** A certified OpenID provider, and the domain of the team's addresses. */
const [HOST, DOMAIN] = ['team.certified.dev', 'sso-team.dev']
const OWNER = `owner@${DOMAIN}`
const CONSOLE = `${URL_OF_CONSOLE}/console`

type Person = { context: BrowserContext; page: Page }
let browser: Browser
let owner: Person
let token: string
let project: string
let home: string
let callback: string
const people: Person[] = []

const api = <T>(path: string, json?: unknown, as = token) =>
  must<T>(`${URL_OF_CONSOLE}/${path}`, {
    token: as,
    ...(project && { project }),
    ...(json !== undefined && { json }),
  })

/** A browser of somebody, who is signed in if there is a token. */
async function person(session?: string): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  if (session) await context.addCookies([sessionCookie(session)])
  await reachOutside(context)
  const one = { context, page: await context.newPage() }
  people.push(one)
  return one
}

/** Says who is signed in at the provider from now on, in browsers that have not been there yet. */
function atProvider(account: { sub: string; email: string; email_verified?: boolean }): Promise<void> {
  return setOutside(HOST, { redirect_uris: [callback], account: { email_verified: true, ...account } })
}

/** Looks at a page that only this story leads to. The others are in pages.test.ts. */
async function shown(page: Page, name: string): Promise<void> {
  await pictures(page, `sso-${name}`)
  expect(await violations(page), name).toEqual([])
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()

async function enterAddress(page: Page, email: string): Promise<void> {
  await page.goto(`${CONSOLE}/sign-in`)
  await page.getByLabel('Email address').fill(email)
  await press(page, 'Send code')
}

beforeAll(async () => {
  browser = await launch()
  token = (await signInByApi(URL_OF_CONSOLE, OWNER)).token
  project = (await api<{ id: string }>('platform/v1/projects', { name: 'Acme' })).id
  home = `${CONSOLE}/p/${project}`
  owner = await person(token)
})
afterAll(() => browser?.close())

it('An owner proves the domain of the email addresses', async () => {
  const { page } = owner
  await page.goto(`${home}/platform/settings/domains`)
  await page.getByLabel('Name', { exact: true }).fill(DOMAIN)
  await page.getByLabel('Use it for').selectOption('Single sign-on')
  await press(page, 'Add domain')
  const name = (await page.locator('#record-name').textContent()) ?? ''
  const value = (await page.locator('#record-value').textContent()) ?? ''
  await pictures(page, 'sso-domain-pending')
  await setOutside(name, { all: { records: [{ type: 'TXT', data: value }] } })
  await press(page, 'Check now')
  await page.getByText('The domain is yours').waitFor()
  await shown(page, 'domain-verified')
})

it('connects the provider, tests the connection and activates it', async () => {
  const { page } = owner
  await page.goto(`${home}/platform/settings/sso`)
  await pictures(page, 'sso-none')
  await follow(page, 'Connect a provider')
  await pictures(page, 'sso-new')
  await page.getByLabel('Issuer').fill(`https://${HOST}`)
  await page.getByLabel('Name', { exact: true }).fill('Acme ID')
  await page.getByLabel('Client ID').fill('rp')
  await page.getByLabel('Client secret').fill('s3cret')
  await page.getByRole('checkbox', { name: DOMAIN }).check()
  await page.getByLabel('Role for new members').selectOption('Developer')
  await press(page, 'Create connection')
  callback = (await page.locator('#callback').textContent()) ?? ''
  await pictures(page, 'sso-draft')
  await press(page, 'Activate')
  await page.getByRole('alert').waitFor()
  await pictures(page, 'sso-untested')
  await atProvider({ sub: 'owner', email: OWNER })
  await press(page, 'Test')
  await follow(page, 'Continue to Acme ID')
  await page.getByText('The test run passed').waitFor()
  await follow(page, '← Acme ID')
  await press(page, 'Activate')
  await page.getByText('The connection is active.').waitFor()
  await shown(page, 'active')
  await follow(page, '← Single sign-on')
  await pictures(page, 'sso-list')
})

it('An address of the domain leads to the provider, which brings somebody new in', async () => {
  const { page } = await person()
  await enterAddress(page, `grace@${DOMAIN}`)
  await shown(page, 'choice')
  await atProvider({ sub: 'grace', email: `grace@${DOMAIN}` })
  await follow(page, `Continue to ${HOST}`)
  await page.getByRole('link', { name: 'Acme' }).first().click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(`${home}/platform/settings/members`)
  const own = page.getByRole('row').filter({ hasText: `grace@${DOMAIN}` })
  await expect.poll(() => own.innerText()).toMatch(/Developer.*Single sign-on/s)
})

it('says on the sign-in page why it does not let somebody in', async () => {
  const refused = async (account: Parameters<typeof atProvider>[0]) => {
    await atProvider(account)
    const { page, context } = await person()
    await page.goto(`${URL_OF_CONSOLE}/auth/sso/start?email=x@${DOMAIN}`)
    const said = await page.getByRole('alert').innerText()
    await pictures(page, `sso-refused-${account.sub}`)
    await context.close()
    return said
  }
  expect(await refused({ sub: 'unverified', email: `eve@${DOMAIN}`, email_verified: false })).toContain('is verified')
  expect(await refused({ sub: 'elsewhere', email: 'eve@elsewhere.dev' })).toContain(
    'is not verified for this single sign-on',
  )
  // Whoever sets up a provider could name an owner: the owner must have signed in with a code in the same browser.
  expect(await refused({ sub: 'boss', email: OWNER })).toContain('Sign in with a code first')
  const { page } = owner
  await page.goto(`${home}/platform/settings/sso`)
  await follow(page, 'Acme ID')
  await page.getByLabel('Role for new members').selectOption('None: people must be invited')
  await press(page, 'Save')
  await page.getByText('The connection was changed.').waitFor()
  expect(await refused({ sub: 'uninvited', email: `eve@${DOMAIN}` })).toContain('invite you')
})

it('is enforced once an owner with break-glass access has signed in with it', async () => {
  const { page } = owner
  await page.goto(`${home}/platform/settings/sso`)
  await follow(page, 'Acme ID')
  await follow(page, 'Enforce')
  await pictures(page, 'sso-enforce-not-yet')
  await follow(page, 'Go to Members')
  await page.getByRole('button', { name: 'Give break-glass access' }).click()
  await page.getByText('The owner can sign in without single sign-on').waitFor()
  await shown(page, 'break-glass')
  await page.goto(`${home}/platform/settings/sso`)
  await follow(page, 'Acme ID')
  await follow(page, 'Enforce')
  await atProvider({ sub: 'boss', email: OWNER })
  await follow(page, 'Continue to Acme ID')
  await shown(page, 'agreement')
  await follow(page, 'Link my account, and continue')
  await page.getByRole('button', { name: 'Enforce', exact: true }).waitFor()
  await expect.poll(() => page.locator('main').innerText()).toContain(OWNER)
  await shown(page, 'enforce')
  await press(page, 'Enforce')
  await page.getByText('Members must now sign in with this connection.').waitFor()
  await shown(page, 'enforced')
})

it('then asks a member who has signed in with a code to sign in with it, and leads them in', async () => {
  const email = `ada@${DOMAIN}`
  const ada = await signInByApi(URL_OF_CONSOLE, email)
  const boss = (await owner.context.cookies('https://localhost')).find(({ name }) => name === '__Host-session')?.value
  const { id } = await api<{ id: string }>('platform/v1/invitations', { email, role: 'viewer' }, boss)
  await api(`auth/invitations/${id}/accept`, {}, ada.token)
  const { page } = await person(ada.token)
  await page.goto(`${home}/platform/settings/members`)
  await page.getByRole('heading', { name: 'This project requires its own single sign-on' }).waitFor()
  await shown(page, 'required')
  await atProvider({ sub: 'ada', email })
  await follow(page, 'Continue to single sign-on')
  await page.getByRole('heading', { name: 'Members', exact: true }).waitFor()
  expect(page.url()).toBe(`${home}/platform/settings/members`)
})

it('The owner with break-glass access gets in with a code, which the audit log says', async () => {
  const { page } = await person()
  await enterAddress(page, OWNER)
  await press(page, 'Send a code instead')
  const challenge = await page.locator('input[name=challenge]').inputValue()
  await page.getByLabel('Code').fill(await codeOf(challenge))
  await press(page, 'Sign in')
  await page.getByRole('link', { name: 'Acme' }).first().click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(`${home}/platform/settings/audit-log`)
  const entry = page.getByRole('row').filter({ hasText: 'Signed in without the enforced single sign-on' })
  await expect.poll(() => entry.innerText()).toContain(OWNER)
  await pictures(page, 'sso-audit-log')
})

it('is no longer enforced, and signing out offers to sign out of the provider too', async () => {
  const { page } = owner
  await page.goto(`${home}/platform/settings/sso`)
  await follow(page, 'Acme ID')
  await follow(page, 'Stop enforcing')
  await pictures(page, 'sso-stop-enforcing')
  await press(page, 'Stop enforcing')
  await page.getByText('Members can sign in with a code or a passkey again.').waitFor()
  await page.locator('.account summary').click()
  await press(page, 'Sign out')
  const too = page.getByRole('link', { name: 'Sign out of Acme ID too' })
  await expect.poll(() => too.getAttribute('href')).toBe(`https://${HOST}/session/end?client_id=rp`)
  await shown(page, 'signed-out')
  await too.click()
  await page.waitForURL(`https://${HOST}/**`)
})
