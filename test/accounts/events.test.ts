import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { type Answer, call, countingD1, DIRECTORY, freshAddress, freshEmail, type RequestOptions } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { redeem, sent, signIn, wrong } from '../sessions/signing-in'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const HERE = { headers: { 'User-Agent': FIREFOX }, country: 'NL' }

const events = (token: string, query = '', options: RequestOptions = {}) =>
  call(`/auth/events${query}`, { token, ...options })
/** What each event of the account says, newest first. */
const told = ({ body }: Answer) =>
  body.data.map(({ type, count, user_agent, country, session_id }) => [type, count, user_agent, country, session_id])
const types = async (token: string) => (await events(token)).body.data.map(({ type }) => type)
const idOf = async (token: string) => (await call('/auth/sessions/current', { token })).body.session.id

describe('the log of an account', () => {
  it('has sign-ins, sign-outs and confirmations, newest first, with client, country and session', async () => {
    const start = stopClock()
    const email = freshEmail()
    const step = (n: number) => setClock(start + n * MINUTE)
    const first = await signIn(email, HERE)
    const firstId = await idOf(first.token)
    step(1)
    const second = await signIn(email, { headers: { 'User-Agent': 'curl/8.15.0' }, country: 'T1' })
    const secondId = await idOf(second.token)
    step(2)
    const { challenge, code } = await sent(email)
    const json = { challenge, code }
    await call('/auth/session/confirm', { method: 'POST', token: second.token, json, ...HERE })
    step(3)
    await call(`/auth/sessions/${firstId}`, { method: 'DELETE', token: second.token, ...HERE })
    step(4)
    await call('/auth/sessions?keep_current=true', { method: 'DELETE', token: second.token, ...HERE })
    step(5)
    await call('/auth/sessions/current', { method: 'DELETE', token: second.token, ...HERE })
    step(6)
    const third = await signIn(email, HERE)
    const page = await events(third.token)
    expect(told(page)).toEqual([
      ['sign_in', 1, FIREFOX, 'NL', await idOf(third.token)],
      ['sign_out', 1, FIREFOX, 'NL', secondId],
      ['signed_out_everywhere', 1, FIREFOX, 'NL', secondId],
      ['session_ended', 1, FIREFOX, 'NL', firstId],
      ['confirmed', 1, FIREFOX, 'NL', secondId],
      ['sign_in', 1, 'curl/8.15.0', null, secondId],
      ['sign_in', 1, FIREFOX, 'NL', firstId],
    ])
    expect(page.body.data.map(({ at }) => Date.parse(at) - start)).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => n * MINUTE))
    expect((await events((await signIn()).token)).body.data).toHaveLength(1) // another user's
  })

  it('has no entry for what did not happen', async () => {
    const { token, email } = await signIn()
    const other = await signIn()
    await call(`/auth/sessions/${await idOf(other.token)}`, { method: 'DELETE', token })
    const { challenge, code } = await sent(email)
    await call('/auth/session/confirm', { method: 'POST', token: other.token, json: { challenge, code } })
    expect(await types(token)).toEqual(['sign_in'])
    expect(await types(other.token)).toEqual(['sign_in'])
  })

  it('counts wrong codes of anybody by the hour, in one row, with the last client', async () => {
    const hour = Math.floor(Date.now() / HOUR) * HOUR + HOUR
    stopClock(hour + MINUTE)
    const { email, token } = await signIn()
    for (let i = 0; i < 3; i++) {
      setClock(hour + (2 + i) * MINUTE)
      const { challenge, code } = await sent(email)
      for (let n = 0; n < 5; n++) {
        const headers = { 'User-Agent': `attacker/${i}`, 'CF-Connecting-IP': freshAddress() }
        expect((await redeem(challenge, wrong(code, n), { headers, country: 'BR' })).status).toBe(401)
      }
      // A code without tries left is no attempt.
      expect((await redeem(challenge, code)).status).toBe(401)
    }
    setClock(hour + HOUR)
    const { challenge, code } = await sent(email)
    await call(`/auth/sign-in?challenge=${challenge}&code=${wrong(code)}`) // the page of the link counts too
    await call('/auth/session/confirm', { method: 'POST', token, json: { challenge, code: wrong(code, 1) } })
    const page = await events(token)
    expect(told(page)).toEqual([
      ['sign_in_failed', 2, null, null, null],
      ['sign_in', 1, null, null, expect.any(String)],
      ['sign_in_failed', 15, 'attacker/2', 'BR', null],
    ])
    expect(Date.parse(page.body.data[2]?.at ?? '')).toBe(hour + 4 * MINUTE)
  })

  it('leaves nothing for an address that is no user’s, and costs the same', async () => {
    const [known, unknown] = [await sent((await signIn()).email), await sent()]
    const before = await rows()
    const costs = []
    for (const { challenge, code } of [known, unknown]) {
      const { DB, count } = countingD1()
      const answer = await redeem(challenge, wrong(code), { bindings: { DB } })
      costs.push([answer.status, answer.body.code, count.trips, count.statements])
    }
    expect(costs[0]).toEqual(costs[1])
    expect(costs[0]?.slice(0, 3)).toEqual([401, 'invalid_code', 1])
    expect((await rows()) - before).toBe(1)
  })

  it('has the sign-out of the session that a sign-in in the same browser replaces', async () => {
    const [one, two] = [await signIn(), await sent()]
    const headers = { Cookie: `__Host-session=${one.token}`, Origin: 'https://platform.test' }
    const replaces = await idOf(one.token)
    const redeemed = async (path: string, code: string) => {
      const body = new URLSearchParams({ challenge: two.challenge, code, replaces })
      return (await call(path, { method: 'POST', headers, body })).status
    }
    // One that is refused replaces none.
    for (const path of ['/auth/sign-in', '/console/sign-in/code']) {
      expect([path, await redeemed(path, wrong(two.code))]).toEqual([path, 401])
      expect([path, await idOf(one.token)]).toEqual([path, replaces])
    }
    expect(await redeemed('/auth/sign-in', two.code)).toBe(303)
    const again = await signIn(one.email)
    expect(told(await events(again.token)).map(([type, , , , session]) => [type, session])).toContainEqual([
      'sign_out',
      replaces,
    ])
  })

  it('is kept for 90 days', async () => {
    const start = stopClock()
    const email = freshEmail()
    await signIn(email)
    setClock(start + 90 * DAY - MINUTE)
    await keepHouse()
    const { token } = await signIn(email)
    expect(await types(token)).toEqual(['sign_in', 'sign_in'])
    setClock(start + 90 * DAY + MINUTE)
    await keepHouse()
    expect(await types(token)).toEqual(['sign_in'])
  })

  it('has no network address, and costs a sign-in no round trip', async () => {
    const { challenge, code } = await sent()
    const { DB, count } = countingD1()
    const address = '203.0.113.77'
    const answer = await redeem(challenge, code, { bindings: { DB }, headers: { 'CF-Connecting-IP': address } })
    expect([answer.status, count.trips]).toEqual([201, 1])
    const { results } = await DIRECTORY.prepare('SELECT * FROM account_events').all()
    expect(JSON.stringify(results)).not.toContain(address)
    expect(JSON.stringify(results)).not.toContain('@')
  })
})

async function rows() {
  return (await DIRECTORY.prepare('SELECT count(*) AS n FROM account_events').first<{ n: number }>())?.n ?? 0
}
