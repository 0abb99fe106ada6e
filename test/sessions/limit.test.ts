import { describe, expect, it } from 'vitest'
import { visit } from '../console/visit'
import { type Answer, call, countingD1, LIMIT_REACHED, mailbox, ORIGIN } from '../harness'
import { freshEmail, sent } from './signing-in'

const LINK = { challenge: 'chl_x', code: 'ABCD1234' }
type Options = NonNullable<Parameters<typeof call>[1]>

/** Every way to ask for a code or to redeem one, and what it answers within the limit. */
const DOORS: Record<string, [(options: Options) => Promise<Answer>, number]> = {
  'POST /auth/codes': [
    (options) => call('/auth/codes', { method: 'POST', json: { email: freshEmail() }, ...options }),
    202,
  ],
  'POST /auth/sessions': [(options) => call('/auth/sessions', { method: 'POST', json: LINK, ...options }), 401],
  'GET /auth/sign-in': [(options) => call(`/auth/sign-in?${new URLSearchParams(LINK)}`, options), 401],
  'POST /auth/sign-in': [(options) => visit('/auth/sign-in', null, { form: LINK, ...options }), 401],
  'POST /console/sign-in': [
    (options) => visit('/console/sign-in', null, { form: { email: freshEmail() }, ...options }),
    200,
  ],
  'POST /console/sign-in/code': [(options) => visit('/console/sign-in/code', null, { form: LINK, ...options }), 401],
}

describe.each(Object.entries(DOORS))('%s', (_, [ask, usual]) => {
  it('is within the limit of sign-in requests, before the database is asked', async () => {
    const { EMAIL, mails } = mailbox()
    expect((await ask({ bindings: { EMAIL } })).status).toBe(usual)
    const mailed = mails.length
    const { DB, count } = countingD1()
    expect((await ask({ bindings: { EMAIL, DB, LIMIT_SIGN_IN: LIMIT_REACHED } })).status).toBe(429)
    expect([count.trips, mails.length]).toEqual([0, mailed])
  })
})

it('the limit is one for all ways to sign in, by address', async () => {
  const keys = new Set<string>()
  const limit: RateLimit['limit'] = async ({ key }) => {
    keys.add(key)
    return { success: true }
  }
  const { EMAIL } = mailbox()
  for (const [ask] of Object.values(DOORS)) {
    const headers = { 'CF-Connecting-IP': '2001:db8:cc::1', Origin: ORIGIN }
    await ask({ headers, bindings: { EMAIL, LIMIT_SIGN_IN: { limit } } })
  }
  expect(keys.size).toBe(1)
})

it('keeps 200 characters of what a browser says of itself', async () => {
  const { challenge, code } = await sent()
  const headers = { 'User-Agent': `tests/${'x'.repeat(300)}` }
  const { body } = await call('/auth/sessions', { method: 'POST', json: { challenge, code }, headers })
  const read = await call('/auth/sessions/current', { token: body.token })
  expect(read.body.session.user_agent).toBe(headers['User-Agent'].slice(0, 200))
})
