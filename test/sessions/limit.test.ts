import { describe, expect, it } from 'vitest'
import { submit, visit } from '../console/visit'
import {
  type Answer,
  bound,
  call,
  countingD1,
  freshAddress,
  LIMIT_REACHED,
  mailbox,
  ORIGIN,
  signedIn,
} from '../harness'
import { freshEmail, sent } from './signing-in'

type Link = { challenge: string; code: string }
const LINK: Link = { challenge: 'chl_x', code: 'ABCD1234' }
type Options = NonNullable<Parameters<typeof call>[1]>

/** Every way to ask for a code, and what it answers within the limit. */
const ASKS: Record<string, [(options: Options) => Promise<Answer>, usual: number, trips: number]> = {
  'POST /auth/codes': [
    (options) => call('/auth/codes', { method: 'POST', json: { email: freshEmail() }, ...options }),
    202,
    0,
  ],
  // It reads first whether single sign-on is offered instead, which sends nothing.
  'POST /console/sign-in': [
    (options) => visit('/console/sign-in', null, { form: { email: freshEmail() }, ...options }),
    200,
    1,
  ],
  // It reads the session, and again for the page that says so.
  'POST /console/confirm/code': [
    async (options) => submit('/console/confirm/code', (await signedIn()).token, {}, options),
    200,
    2,
  ],
}
/** Every way to redeem a code, and what it answers to a right one. Wrong ones are 401. */
const STEPS: Record<string, [(options: Options, link?: Link) => Promise<Answer>, number]> = {
  'POST /auth/sessions': [(options, json = LINK) => call('/auth/sessions', { method: 'POST', json, ...options }), 201],
  'GET /auth/sign-in': [(options, link = LINK) => call(`/auth/sign-in?${new URLSearchParams(link)}`, options), 200],
  'POST /auth/sign-in': [(options, form = LINK) => visit('/auth/sign-in', null, { form, ...options }), 303],
  'POST /console/sign-in/code': [
    (options, form = LINK) => visit('/console/sign-in/code', null, { form, ...options }),
    303,
  ],
}

describe.each(Object.entries(ASKS))('%s', (_, [ask, usual, trips]) => {
  it('is within the limit of sign-in requests, before a code is made', async () => {
    const { EMAIL, mails } = mailbox()
    expect((await ask({ bindings: { EMAIL } })).status).toBe(usual)
    const mailed = mails.length
    const { DB, count } = countingD1()
    expect((await ask({ bindings: { EMAIL, DB, LIMIT_SIGN_IN: LIMIT_REACHED } })).status).toBe(429)
    expect([count.trips, count.rows_written, mails.length]).toEqual([trips, 0, mailed])
  })
})

describe.each(Object.entries(STEPS))('%s', (_, [step, right]) => {
  const from = () => ({ 'CF-Connecting-IP': freshAddress(), Origin: ORIGIN })

  it('counts against its address and challenge if it fails: over the limit, the database is not asked', async () => {
    const headers = from()
    const { DB, count } = countingD1()
    expect((await step({ headers, bindings: { LIMIT_SIGN_IN: LIMIT_REACHED } })).status).toBe(401)
    expect((await step({ headers, bindings: { DB } })).status).toBe(429)
    expect(count.trips).toBe(0)
    expect((await step({ headers: from() })).status).toBe(401)
    expect((await step({ headers }, { ...LINK, challenge: 'chl_another' })).status).toBe(401)
  })

  it('does not count if it succeeds', async () => {
    for (let n = 0; n < 2; n++) {
      const { challenge, code } = await sent()
      const bindings = { LIMIT_SIGN_IN: LIMIT_REACHED }
      expect((await step({ headers: from(), bindings }, { challenge, code })).status).toBe(right)
    }
  })

  it('counts as public, too', async () => {
    expect((await step({ headers: from(), bindings: { LIMIT_PUBLIC: LIMIT_REACHED } })).status).toBe(429)
  })
})

it('thirty colleagues sign in from one address within a minute', async () => {
  const headers = { 'CF-Connecting-IP': freshAddress() }
  const { LIMIT_SIGN_IN } = bound
  for (let n = 0; n < 30; n++) {
    const { challenge, code } = await sent()
    const json = { challenge, code }
    const answer = await call('/auth/sessions', { method: 'POST', json, headers, bindings: { LIMIT_SIGN_IN } })
    expect([n, answer.status]).toEqual([n, 201])
  }
})

it('colleagues ask for codes and sign in beside one who enters a wrong code each second', async () => {
  const { EMAIL } = mailbox()
  const headers = { 'CF-Connecting-IP': freshAddress() }
  const { LIMIT_SIGN_IN, LIMIT_PUBLIC } = bound
  const ask = (path: string, json: object) =>
    call(path, { method: 'POST', json, headers, bindings: { EMAIL, LIMIT_SIGN_IN, LIMIT_PUBLIC } })
  for (let n = 0; n < 60; n++) {
    const wrong = await ask('/auth/sessions', { ...LINK, challenge: `chl_${n}` })
    expect([n, wrong.status]).toEqual([n, 401])
  }
  expect((await ask('/auth/codes', { email: freshEmail() })).status).toBe(202)
  const { challenge, code } = await sent()
  expect((await ask('/auth/sessions', { challenge, code })).status).toBe(201)
})

it('one limit is for all ways to ask for a code, by address; another for all ways to redeem one', async () => {
  const keys = new Set<string>()
  const limit: RateLimit['limit'] = async ({ key }) => {
    keys.add(key)
    return { success: true }
  }
  const { EMAIL } = mailbox()
  let counted = 0
  for (const [ask] of [...Object.values(ASKS), ...Object.values(STEPS)]) {
    const headers = { 'CF-Connecting-IP': '2001:db8:cc::1', Origin: ORIGIN }
    await ask({ headers, bindings: { EMAIL, LIMIT_SIGN_IN: { limit: (of) => limit(of).finally(() => counted++) } } })
  }
  expect([keys.size, counted]).toEqual([2, 7])
})

it('keeps 200 characters of what a browser says of itself', async () => {
  const { challenge, code } = await sent()
  const headers = { 'User-Agent': `tests/${'x'.repeat(300)}` }
  const { body } = await call('/auth/sessions', { method: 'POST', json: { challenge, code }, headers })
  const read = await call('/auth/sessions/current', { token: body.token })
  expect(read.body.session.user_agent).toBe(headers['User-Agent'].slice(0, 200))
})
