import { describe, expect, it } from 'vitest'
import { countingD1, failingD1, LIMIT_REACHED, signedIn } from '../harness'
import { current, freshEmail, redeem, sent, wrong } from '../sessions/signing-in'
import { type Visit, visit } from './visit'

type Link = { challenge: string; code: string }
const open = ({ challenge, code }: Link, token: string | null = null, options: Visit = {}) =>
  visit(`/auth/sign-in?challenge=${challenge}&code=${code}`, token, options)
const press = ({ challenge, code }: Link, token: string | null = null, more: Record<string, string> = {}) =>
  visit('/auth/sign-in', token, { form: { challenge, code, ...more } })
const tokenOf = (headers: Headers) => /svc_cs_[0-9a-f]{64}/.exec(headers.get('Set-Cookie') ?? '')?.[0] ?? ''
/** The hidden fields of the page's form. */
const fieldsOf = (text: string) =>
  Object.fromEntries([...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]))
const idOf = async (token: string) => (await current(token)).body.session.id

describe('the page of a sign-in link', () => {
  it('says whose account it opens, and asks nothing more of a browser that is signed out', async () => {
    const link = await sent()
    const { status, text } = await open(link)
    expect(status).toBe(200)
    expect(text).toContain(`as <strong>${link.email}</strong>`)
    expect(text).not.toContain('already signed in')
    expect(Object.keys(fieldsOf(text)).sort()).toEqual(['challenge', 'code'])
  })

  it('says so of a link that works no longer, and never whose it was', async () => {
    const used = await sent()
    await redeem(used.challenge, used.code)
    const wronged = await sent()
    const links = [
      used,
      { challenge: wronged.challenge, code: wrong(wronged.code) },
      { challenge: 'chl_none', code: wronged.code },
      { challenge: '', code: '' },
    ]
    for (const link of links) {
      const { status, text } = await open(link)
      expect([status, text.includes('This link no longer works')]).toEqual([401, true])
      expect(text).not.toContain('@example.com')
    }
  })

  it('helps nobody to guess a code: a wrong one counts as an attempt', async () => {
    const link = await sent()
    for (let i = 0; i < 3; i++) await open({ ...link, code: wrong(link.code, i) })
    expect((await redeem(link.challenge, wrong(link.code, 3))).status).toBe(401)
    expect((await open(link)).status).toBe(200) // four attempts; the right code is none
    await open({ ...link, code: wrong(link.code, 4) })
    expect((await open(link)).status).toBe(401)
    expect((await redeem(link.challenge, link.code)).status).toBe(401)
  })

  it('asks the database once, and not at all over the limit', async () => {
    const link = await sent()
    const { DB, count } = countingD1()
    expect((await open(link, null, { bindings: { DB, LIMIT_PUBLIC: LIMIT_REACHED } })).status).toBe(429)
    expect(count.trips).toBe(0)
    expect((await open(link, null, { bindings: { DB } })).status).toBe(200)
    expect(count.trips).toBe(1)
  })

  it('asks before it replaces a session, names both accounts, and ends the replaced one', async () => {
    const before = await signedIn()
    const link = await sent()
    const { text } = await open(link, before.token)
    expect(text).toContain(`as <strong>${link.email}</strong>`)
    expect(text).toContain(`already signed in as ${before.email}`)
    expect(text).toContain(`Stay signed in as ${before.email}`)
    expect((await current(before.token)).status).toBe(200)

    const answer = await press(link, before.token, fieldsOf(text))
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console'])
    expect((await current(tokenOf(answer.headers))).body.user.email).toBe(link.email)
    expect((await current(before.token)).body.code).toBe('unknown_session')
  })

  it('says so when it is the same account', async () => {
    const email = freshEmail()
    const { token } = await signedIn(email)
    const { text } = await open(await sent(email), token)
    expect(text).toContain('already signed in with this address')
  })

  it.each([
    ['opened while signed out', async () => ({})],
    ['opened while signed in as another', async () => ({ replaces: await idOf((await signedIn()).token) })],
  ])('asks again if the browser’s session is not the one it asked about: %s', async (_, fields) => {
    const link = await sent()
    const { token, email } = await signedIn()
    const asked = await press(link, token, await fields())
    expect([asked.status, asked.headers.get('Set-Cookie')]).toEqual([200, null])
    expect(asked.text).toContain(`already signed in as ${email}`)
    expect((await current(token)).status).toBe(200)
    const answer = await press(link, token, fieldsOf(asked.text)) // the code is not used up
    expect(answer.status).toBe(303)
    expect((await current(token)).status).toBe(401)
  })

  it('ends no session if the code does not sign in', async () => {
    const { token } = await signedIn()
    const link = await sent()
    const replaces = await idOf(token)
    expect((await press({ ...link, code: wrong(link.code) }, token, { replaces })).status).toBe(401)
    expect((await current(token)).status).toBe(200)
  })

  it('ends only the session of this browser, whatever the form says', async () => {
    const victim = await signedIn()
    const link = await sent()
    const answer = await press(link, null, { replaces: await idOf(victim.token) })
    expect(answer.status).toBe(303)
    expect((await current(victim.token)).status).toBe(200)
  })

  it('takes a cookie that is no longer good as none', async () => {
    const ended = await signedIn()
    await visit('/auth/sessions/current', null, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${ended.token}` },
    })
    const link = await sent()
    expect((await open(link, ended.token)).text).not.toContain('already signed in')
    expect((await press(link, ended.token)).status).toBe(303)
  })

  it('does not take a failure of the database for a browser that is signed out', async () => {
    const { token } = await signedIn()
    const link = await sent()
    const DB = failingD1('D1_ERROR: Network connection lost.')
    expect((await open(link, token, { bindings: { DB } })).status).toBe(503)
    expect((await current(token)).status).toBe(200)
  })
})

describe('the page of a code', () => {
  it('ends the session that the browser had', async () => {
    const before = await signedIn()
    const { challenge, code, email } = await sent()
    const form = { email, challenge, code, next: '' }
    expect((await visit('/console/sign-in/code', before.token, { form: { ...form, code: wrong(code) } })).status).toBe(
      401,
    )
    expect((await current(before.token)).status).toBe(200)
    const answer = await visit('/console/sign-in/code', before.token, { form })
    expect((await current(tokenOf(answer.headers))).body.user.email).toBe(email)
    expect((await current(before.token)).body.code).toBe('unknown_session')
  })
})
