import { describe, expect, it } from 'vitest'
import { NOTICES_A_DAY } from '../../src/accounts/limits'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import {
  call,
  captureConsole,
  countingD1,
  freshEmail,
  freshProject,
  mailbox,
  ORIGIN,
  signedIn,
  storedText,
  unconfirm,
} from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { redeem, sent, usersOf } from '../sessions/signing-in'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const NEW_SIGN_IN = 'New sign-in to your account'

/** Signs in through the API. Returns the token, and the mails that followed. */
async function signIn(email: string, userAgent: string | null, country = 'NL') {
  const { challenge, code } = await sent(email)
  const { EMAIL, mails } = mailbox()
  const headers: Record<string, string> = userAgent === null ? {} : { 'User-Agent': userAgent }
  const answer = await redeem(challenge, code, { headers, country, bindings: { EMAIL } })
  expect(answer.status).toBe(201)
  return { token: answer.body.token as string, mails }
}

/** Signs in through the console, in a browser with such a cookie. Returns its cookie, and the mails that followed. */
async function signInHere(email: string, cookie?: string) {
  const { challenge, code } = await sent(email)
  const { EMAIL, mails } = mailbox()
  const answer = await call('/console/sign-in/code', {
    method: 'POST',
    headers: { Origin: ORIGIN, 'User-Agent': FIREFOX, ...(cookie && { Cookie: `__Host-browser=${cookie}` }) },
    body: new URLSearchParams({ challenge, code, email }),
    bindings: { EMAIL },
  })
  expect(answer.status).toBe(303)
  const set = answer.headers.getSetCookie().find((one) => one.startsWith('__Host-browser='))
  return { cookie: /=([0-9a-f]{32});/.exec(set ?? '')?.[1] as string, set, mails }
}

const mint = async (token: string, project: string, name = 'billing worker') => {
  const { EMAIL, mails } = mailbox()
  const options = { method: 'POST', token, project, json: { name } }
  expect((await call('/platform/v1/api-keys', { ...options, bindings: { EMAIL } })).status).toBe(201)
  return mails
}
const set = async (token: string, notices: boolean) => {
  const { EMAIL, mails } = mailbox()
  const answer = await call('/auth/user', { method: 'PATCH', token, json: { notices }, bindings: { EMAIL } })
  expect([answer.status, answer.body.notices]).toEqual([200, notices])
  return mails.map(({ subject }) => subject)
}
const events = async (token: string) => (await call('/auth/events', { token })).body.data.map(({ type }) => type)

describe('a sign-in from a browser that is not known', () => {
  it('is mailed, not the first of all, and not from a browser that has signed in before', async () => {
    const email = freshEmail()
    const first = await signInHere(email)
    expect(first.mails).toEqual([])
    expect((await signInHere(email, first.cookie)).mails).toEqual([])
    const other = await signInHere(email)
    expect(other.cookie).not.toBe(first.cookie)
    expect(other.mails).toMatchObject([{ to: email, subject: NEW_SIGN_IN }])
    const text = other.mails[0]?.text ?? ''
    expect(text).toContain('Client: Firefox on Linux')
    expect(text).toContain(`${ORIGIN}/console/sessions`)
    for (const cookie of [first.cookie, other.cookie]) expect((await signInHere(email, cookie)).mails).toEqual([])
    // A browser is known to one user, not to another who signs in there.
    const guest = freshEmail()
    await signIn(guest, 'curl/8.15.0')
    expect((await signInHere(guest, first.cookie)).mails).toHaveLength(1)
  })

  it.each(['nonsense', 'A'.repeat(32), '0'.repeat(31), ''])('gets a cookie in place of %j', async (cookie) => {
    const email = freshEmail()
    const { cookie: given, set } = await signInHere(email, cookie)
    expect(given).toMatch(/^[0-9a-f]{32}$/)
    expect(given).not.toBe(cookie)
    expect(set).toMatch(/; Max-Age=34560000;.*HttpOnly; Secure; SameSite=Lax/)
  })

  it('through the API, is one whose user agent has not signed in for 90 days', async () => {
    const start = stopClock()
    const email = freshEmail()
    await signIn(email, 'curl/8.15.0')
    expect((await signIn(email, 'curl/8.15.0')).mails).toEqual([])
    const { mails } = await signIn(email, 'https://evil.example/ x', 'BR')
    expect(mails).toMatchObject([{ to: email, subject: NEW_SIGN_IN }])
    expect(mails[0]?.text).toContain('Country: Brazil')
    expect(mails[0]?.text).not.toContain('evil') // anybody can choose a user agent
    setClock(start + 90 * DAY - HOUR)
    await keepHouse()
    expect((await signIn(email, 'curl/8.15.0')).mails).toEqual([])
    // Each sign-in begins the 90 days anew.
    setClock(start + 180 * DAY - 2 * HOUR)
    await keepHouse()
    expect((await signIn(email, 'curl/8.15.0')).mails).toEqual([])
    setClock(start + 270 * DAY)
    await keepHouse()
    expect((await signIn(email, 'curl/8.15.0')).mails).toHaveLength(1)
  })

  it.each(['', '?keep_current=true'])('is one again after signing out everywhere%s', async (query) => {
    const email = freshEmail()
    const { token } = await signIn(email, 'curl/8.15.0')
    expect((await call(`/auth/sessions${query}`, { method: 'DELETE', token })).status).toBe(204)
    expect((await signIn(email, 'curl/8.15.0')).mails).toHaveLength(1)
  })

  it('succeeds where the email fails, in one trip, and without waiting for it', async () => {
    const email = freshEmail()
    await signIn(email, 'curl/8.15.0')
    const { challenge, code } = await sent(email)
    const lines = captureConsole()
    const EMAIL = { send: () => Promise.reject(new Error('E_SENDER_NOT_VERIFIED')) } as unknown as SendEmail
    const { DB, count } = countingD1()
    const headers = { 'User-Agent': 'other/1' }
    expect((await redeem(challenge, code, { headers, bindings: { EMAIL, DB } })).status).toBe(201)
    expect(count.trips).toBe(1)
    const line = lines.find((one) => one.includes('notice_not_sent')) ?? ''
    expect(line).toContain('E_SENDER_NOT_VERIFIED')
    expect(lines.join('\n')).not.toContain(email)
  })

  it('is known by a hash: the database has no cookie', async () => {
    const { cookie } = await signInHere(freshEmail())
    expect(await storedText()).not.toContain(cookie)
  })
})

describe('a new API key', () => {
  it('is mailed to the user in whose name it was minted, in the API and in the console', async () => {
    const { project, owner } = await freshProject('Billing')
    const [mail, ...more] = await mint(owner.token, project)
    expect(more).toEqual([])
    expect(mail).toMatchObject({ to: owner.email, subject: 'A new API key was created in your name' })
    expect(mail?.text).toMatch(/“billing worker” \(key_\w+\)/)
    expect(mail?.text).toContain('the project “Billing”')
    expect(mail?.text).toMatch(new RegExp(`${ORIGIN}/console/p/${project}/platform/settings/api-keys/key_\\w+\\.`))
    expect(mail?.text).not.toContain('svc_v1_')
  })

  it('is named without text that an email program could turn into a link', async () => {
    const { project, owner } = await freshProject('see evil.example')
    const [mail] = await mint(owner.token, project, 'www.evil.example')
    expect(mail?.text).not.toContain('evil')
    expect(mail?.text).toContain('one of your projects')
  })
})

describe('notices', () => {
  it('are ten a day, of all kinds; more are only logged', async () => {
    const noon = Math.floor(Date.now() / DAY) * DAY + DAY + 12 * HOUR
    stopClock(noon)
    const { project, owner } = await freshProject()
    const lines = captureConsole()
    const mails = []
    for (let i = 0; i < 6; i++) mails.push(...(await mint(owner.token, project)))
    for (let i = 0; i < 6; i++) {
      setClock(noon + i * MINUTE)
      mails.push(...(await signIn(owner.email, `client/${i}`)).mails)
    }
    expect(mails).toHaveLength(10)
    expect(lines.filter((one) => one.includes('notice_limit_reached'))).toHaveLength(2)
    expect(await set(owner.token, false)).toEqual(['Security emails were turned off']) // it is not kept back by others
    expect(await set(owner.token, false)).toEqual([])
    expect(lines.filter((one) => one.includes('notice_limit_reached'))).toHaveLength(2)
    setClock(noon + 12 * HOUR)
    const { token, mails: none } = await signIn(owner.email, 'client/7')
    expect(none).toEqual([])
    await set(token, true)
    expect((await signIn(owner.email, 'client/8')).mails).toHaveLength(1)
  })

  it('are ten again on the next day', async () => {
    const evening = Math.floor(Date.now() / DAY) * DAY + DAY + 23 * HOUR
    stopClock(evening)
    const { project, owner } = await freshProject()
    const all = async () => (await Promise.all(Array.from({ length: 12 }, () => mint(owner.token, project)))).flat()
    expect(await all()).toHaveLength(10)
    setClock(evening + 2 * HOUR)
    await unconfirm(owner.user, 0)
    expect(await all()).toHaveLength(10)
  })

  it('are counted once each, however many are due at once', async () => {
    const { project, owner } = await freshProject()
    const all = await Promise.all(Array.from({ length: 14 }, () => mint(owner.token, project)))
    expect(all.flat()).toHaveLength(10)
  })

  it('can be turned off, which is mailed and logged, and on again', async () => {
    const { project, owner } = await freshProject()
    expect((await call('/auth/user', { token: owner.token })).body).toEqual({
      id: owner.user,
      email: owner.email,
      created_at: expect.any(String),
      notices: true,
    })
    expect(await set(owner.token, true)).toEqual([])
    expect(await set(owner.token, false)).toEqual(['Security emails were turned off'])
    expect(await set(owner.token, false)).toEqual([])
    expect(await mint(owner.token, project)).toEqual([])
    const { token, mails } = await signIn(owner.email, 'unheard-of/1')
    expect(mails).toEqual([])
    expect(await set(token, true)).toEqual([])
    expect(await mint(token, project)).toHaveLength(1)
    expect(await events(token)).toEqual(['notices_on', 'sign_in', 'notices_off'])
  })

  it('are not used up by turning them on once more', async () => {
    const { project, owner } = await freshProject()
    for (let i = 0; i < NOTICES_A_DAY; i++) expect(await set(owner.token, true)).toEqual([])
    expect(await mint(owner.token, project)).toHaveLength(1)
  })

  it('of turning them off have a limit too', async () => {
    const { token } = await signedIn()
    let mails = 0
    for (let i = 0; i < 20; i++) {
      mails += (await set(token, false)).length
      await set(token, true)
    }
    expect(mails).toBe(15)
  })

  it('are no user’s whose address only was tried', async () => {
    const { email, challenge } = await sent()
    const { EMAIL, mails } = mailbox()
    await redeem(challenge, 'AAAAAAAA', { bindings: { EMAIL } })
    expect([mails, await usersOf(email)]).toEqual([[], []])
  })
})
