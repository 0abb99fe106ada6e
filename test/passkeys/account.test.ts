import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { stopClock } from '../clock'
import {
  call,
  captureConsole,
  countingD1,
  freshProject,
  mailbox,
  ORIGIN,
  type RequestOptions,
  signedIn,
  unconfirm,
} from '../harness'
import { redeem, sent, signIn, wrong } from '../sessions/signing-in'
import type { Authenticator } from './authenticator'
import { byCode, prove, register, requestOptions, signInBy, withPasskey } from './people'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const HERE = { headers: { 'User-Agent': FIREFOX }, country: 'NL' }

const told = ({ status, body }: { status: number; body: { code?: string } | null }) => [status, body?.code]
const log = async (token: string) => (await call('/auth/events', { token })).body.data
/** The types of the events, in the order of the alphabet: those of one call have the same time. */
const types = async (token: string) => (await log(token)).map(({ type }) => type).sort()
const idOf = async (token: string) => (await call('/auth/sessions/current', { token })).body.session.id
const recover = (token: string, code: string, options: RequestOptions = {}) =>
  call('/auth/session/recovery-code', { method: 'POST', token, json: { code }, ...options })
const remove = (token: string, id: string, options: RequestOptions = {}) =>
  call(`/auth/passkeys/${id}`, { method: 'DELETE', token, ...options })
const renew = (token: string, options: RequestOptions = {}) =>
  call('/auth/recovery-codes', { method: 'POST', token, ...options })
const sign = async (authenticator: Authenticator, options: RequestOptions = {}) =>
  signInBy(await authenticator.get(await requestOptions()), options)

describe('the log of an account', () => {
  it('has what happened with passkeys and recovery codes, each with its session', async () => {
    const { token } = await signIn()
    const { authenticator, passkey, recovery_codes } = await register(token)
    const opened = await sign(authenticator, HERE)
    const rename = { method: 'PATCH', token, json: { name: 'Phone' } }
    for (let n = 0; n < 2; n++) {
      expect((await call(`/auth/passkeys/${passkey.id}`, rename)).body.name).toBe('Phone') // logged once
    }
    await prove(token, authenticator, {}, HERE)
    await recover(token, recovery_codes[0] ?? '', HERE)
    await renew(token, HERE)
    await remove(token, passkey.id, HERE)
    const [own, other] = [await idOf(token), await idOf(opened.body.token)]
    const entries = (await log(token)).map(({ type, session_id }) => `${type} ${session_id}`)
    expect(entries.sort()).toEqual(
      [
        `sign_in ${own}`,
        `passkey_added ${own}`,
        `recovery_codes_made ${own}`,
        `passkey_sign_in ${other}`,
        `passkey_renamed ${own}`,
        `passkey_used ${own}`,
        `recovery_code_used ${own}`,
        `recovery_codes_made ${own}`,
        `passkey_deleted ${own}`,
      ].sort(),
    )
    const entry = (await log(token)).find(({ type }) => type === 'passkey_sign_in')
    expect(entry).toMatchObject({ count: 1, user_agent: FIREFOX, country: 'NL' })
  })

  it('has no entry for what was refused', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const before = await types(mine.token)
    const session = await byCode(mine)
    const signed = await mine.authenticator.get(await requestOptions(), { verified: false })
    const answers = [
      await prove(session.token, theirs.authenticator),
      await remove(session.token, mine.passkey.id),
      await remove(theirs.token, mine.passkey.id),
      await renew(session.token),
      await call('/auth/passkeys/options', { method: 'POST', token: session.token }),
      await signInBy(signed),
      await call(`/auth/passkeys/${mine.passkey.id}`, { method: 'PATCH', token: theirs.token, json: { name: 'x' } }),
    ]
    expect(answers.map(({ status }) => status).every((status) => status >= 400)).toBe(true)
    expect(await types(mine.token)).toEqual(before)
    expect(await types(theirs.token)).toEqual(before)
  })

  it('counts wrong recovery codes by the hour, in a row of their own', async () => {
    stopClock(Math.floor(Date.now() / HOUR) * HOUR + HOUR + MINUTE)
    const { token, codes, email } = await withPasskey()
    await recover(token, codes[0] ?? '')
    const { challenge, code } = await sent(email)
    for (let i = 0; i < 2; i++) expect((await redeem(challenge, wrong(code, i))).status).toBe(401)
    for (let i = 0; i < 4; i++) expect((await recover(token, 'AAAAA-AAAAA', HERE)).status).toBe(401)
    expect((await recover(token, codes[0] ?? '')).status).toBe(401) // It was used before.
    const failed = (await log(token)).filter(({ count }) => count > 1)
    expect(failed).toMatchObject([
      { type: 'recovery_code_failed', count: 5, session_id: null },
      { type: 'sign_in_failed', count: 2, session_id: null },
    ])
  })

  it('has the sign-out of the session that a passkey replaces in a browser, which ends only if the new one opens', async () => {
    const { token, authenticator } = await withPasskey()
    const replaced = await idOf(token)
    const inBrowser = async (wrong = {}) => {
      const { body } = await call('/console/sign-in/passkey/options', { method: 'POST', headers: { Origin: ORIGIN } })
      const credential = JSON.stringify(await authenticator.get(body as never, wrong))
      return call('/console/sign-in/passkey', {
        method: 'POST',
        headers: { Origin: ORIGIN, Cookie: `__Host-session=${token}` },
        body: new URLSearchParams({ credential }),
      })
    }
    expect((await inBrowser({ verified: false })).status).toBe(401)
    expect((await call('/auth/sessions/current', { token })).status).toBe(200)
    const answer = await inBrowser()
    expect(answer.status).toBe(303)
    expect((await call('/auth/sessions/current', { token })).status).toBe(401)
    const again = (await sign(authenticator)).body.token
    expect((await log(again)).map(({ type, session_id }) => [type, session_id])).toContainEqual(['sign_out', replaced])
    const cookie = answer.headers.getSetCookie().find((one) => one.startsWith('__Host-browser='))
    expect(cookie).toMatch(/=[0-9a-f]{32}; Max-Age=34560000;.*HttpOnly; Secure; SameSite=Lax/)
  })
})

describe('security emails', () => {
  it('tell of a sign-in with a passkey from a browser that is not known, as with a code', async () => {
    const { email, authenticator } = await withPasskey()
    const from = async (userAgent: string) => {
      const { EMAIL, mails } = mailbox()
      const answer = await sign(authenticator, { headers: { 'User-Agent': userAgent }, bindings: { EMAIL } })
      expect(answer.status).toBe(201)
      return { mails, token: answer.body.token as string }
    }
    const { mails, token } = await from(FIREFOX)
    expect(mails).toMatchObject([{ to: email, subject: 'New sign-in to your account' }])
    expect(mails[0]?.text).toContain('Client: Firefox on Linux')
    expect(mails[0]?.text).toContain(`${ORIGIN}/console/passkeys`)
    expect(mails[0]?.text).not.toContain('mailbox')
    expect((await from(FIREFOX)).mails).toEqual([])
    // Signing out everywhere ends this session too, and forgets the browsers.
    expect((await call('/auth/sessions', { method: 'DELETE', token })).status).toBe(204)
    expect((await call('/auth/sessions/current', { token })).status).toBe(401)
    expect((await from(FIREFOX)).mails).toHaveLength(1)
  })

  it('tell of each change of passkeys and recovery codes, unless it was refused', async () => {
    const { token, email } = await signedIn()
    const { EMAIL, mails } = mailbox()
    const bindings = { EMAIL }
    const [first, second] = [await register(token, { bindings }), await register(token)]
    await recover(token, 'AAAAA-AAAAA', { bindings })
    await remove(token, 'psk_0', { bindings })
    await recover(token, first.recovery_codes[0] ?? '', { bindings })
    await renew(token, { bindings })
    await remove(token, second.passkey.id, { bindings })
    expect(mails.map(({ subject }) => subject)).toEqual([
      'A passkey was added to your account',
      'A recovery code for your account was used',
      'New recovery codes were generated for your account',
      'A passkey was deleted from your account',
    ])
    for (const mail of mails) {
      expect(mail.to).toBe(email)
      expect(mail.text).toContain(`${ORIGIN}/console/sessions`)
      for (const code of first.recovery_codes) expect(mail.text).not.toContain(code)
    }
  })

  it('about passkeys are within the limit of the day and the switch, and their failure fails no call', async () => {
    stopClock(Math.floor(Date.now() / DAY) * DAY + DAY + 12 * HOUR)
    const { token } = await withPasskey()
    const { EMAIL, mails } = mailbox()
    const lines = captureConsole()
    for (let i = 0; i < 12; i++) expect((await renew(token, { bindings: { EMAIL } })).status).toBe(201)
    expect(mails).toHaveLength(9) // The first of the day was about the passkey.
    expect(lines.filter((one) => one.includes('notice_limit_reached'))).toHaveLength(3)

    const other = await withPasskey()
    await call('/auth/user', { method: 'PATCH', token: other.token, json: { notices: false } })
    expect((await renew(other.token, { bindings: { EMAIL } })).status).toBe(201)
    expect((await sign(other.authenticator, { ...HERE, bindings: { EMAIL } })).status).toBe(201)
    expect(mails).toHaveLength(9)
    expect(lines.filter((one) => one.includes('notice_limit_reached'))).toHaveLength(3)

    const broken = { send: () => Promise.reject(new Error('E_SENDER_NOT_VERIFIED')) } as unknown as SendEmail
    const third = await withPasskey()
    expect((await renew(third.token, { bindings: { EMAIL: broken } })).status).toBe(201)
    expect((await sign(third.authenticator, { ...HERE, bindings: { EMAIL: broken } })).status).toBe(201)
    expect(lines.filter((one) => one.includes('notice_not_sent'))).toHaveLength(2)
  })

  it('cost a change no trip', async () => {
    const { token, passkey } = await withPasskey()
    for (const act of [renew, (of: string, options: RequestOptions) => remove(of, passkey.id, options)]) {
      const { DB, count } = countingD1()
      expect((await act(token, { bindings: { DB } })).status).toBeLessThan(300)
      expect(count.trips).toBe(2)
    }
  })
})

describe('a project', () => {
  const of = (project: string, token: string) => ({
    remove: () => call(`/platform/v1/projects/${project}?name=Acme`, { method: 'DELETE', token }),
    restore: () => call(`/platform/v1/projects/${project}/restore`, { method: 'POST', token }),
  })

  it('is deleted after a confirmation by passkey', async () => {
    const { project, owner } = await freshProject('Acme')
    const { authenticator } = await register(owner.token)
    await unconfirm(owner.user)
    const { remove } = of(project, owner.token)
    expect(told(await remove())).toEqual([403, 'confirmation_required'])
    expect((await prove(owner.token, authenticator)).status).toBe(204)
    expect((await remove()).status).toBe(200)
  })

  it('that requires a passkey is not deleted or restored by a session without its second factor', async () => {
    const { project, owner } = await freshProject('Acme')
    await register(owner.token)
    const json = { settings: { require_passkey: true } }
    const set = await call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, json })
    expect(set.status).toBe(200)
    const [proven, other] = [of(project, owner.token), of(project, (await byCode(owner)).token)]
    expect(told(await other.remove())).toEqual([403, 'passkey_required'])
    expect((await proven.remove()).body.deleted_at).toBeTruthy()
    expect(told(await other.restore())).toEqual([403, 'passkey_required'])
    expect((await proven.restore()).body.deleted_at).toBeNull()
  })
})
