import { describe, expect, it } from 'vitest'
import operations from '../../docs/operate/operations.md?raw'
import { DAY, HOUR, MINUTE } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { call, countingD1, DIRECTORY, freshKey } from '../harness'
import { current, freshEmail, redeem, sent, signIn } from './signing-in'

describe('a session', () => {
  it('is answered once with its token, which is stored hashed', async () => {
    const { challenge, code, email } = await sent()
    const start = stopClock()
    const { status, body } = await redeem(challenge, code, { headers: { 'User-Agent': 'tests/1.0' } })
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['token', 'expires_at', 'user'])
    expect(body.token).toMatch(/^svc_cs_[0-9a-f]{64}$/)
    expect(body.user).toEqual({ id: expect.stringMatching(/^usr_/), email })
    expect(Date.parse(body.expires_at)).toBe(start + 12 * HOUR)
    const { results } = await DIRECTORY.prepare('SELECT * FROM sessions WHERE user_id = ?').bind(body.user.id).all()
    expect(JSON.stringify(results)).not.toContain(body.token.slice(7))
    const read = await current(body.token)
    expect(read.body).toEqual({
      session: {
        id: results[0]?.id,
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        expires_at: body.expires_at,
        confirmed_until: expect.any(String),
        second_factor_at: null,
        connection_id: null,
        user_agent: 'tests/1.0',
        current: true,
      },
      user: { id: body.user.id, email },
    })
    expect(read.text).not.toContain(body.token.slice(7))
  })

  it("is listed among its user's, newest first, and knows itself", async () => {
    const email = freshEmail()
    const [one, two, three] = [await signIn(email), await signIn(email), await signIn(email)]
    await signIn() // somebody else's
    const list = await call('/auth/sessions', { token: two.token })
    expect(list.body.data.map((row) => row.current)).toEqual([false, true, false])
    const own = await Promise.all([three, two, one].map(async ({ token }) => (await current(token)).body.session.id))
    expect(list.body.data.map((row) => row.id)).toEqual(own)
  })

  it("is ended by itself or by another of its user, and by no one else's", async () => {
    const email = freshEmail()
    const [one, two] = [await signIn(email), await signIn(email)]
    const stranger = await signIn()
    const id = (await current(one.token)).body.session.id

    const refused = await call(`/auth/sessions/${id}`, { method: 'DELETE', token: stranger.token })
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found'])
    expect((await current(one.token)).status).toBe(200)

    expect((await call(`/auth/sessions/${id}`, { method: 'DELETE', token: two.token })).status).toBe(204)
    const ended = await current(one.token)
    expect([ended.status, ended.body.code]).toEqual([401, 'unknown_session'])
    expect((await call(`/auth/sessions/${id}`, { method: 'DELETE', token: two.token })).status).toBe(404)

    expect((await call('/auth/sessions/current', { method: 'DELETE', token: two.token })).status).toBe(204)
    expect((await current(two.token)).body.code).toBe('unknown_session')
    expect((await call('/platform/v1/projects', { token: two.token })).body.code).toBe('unknown_session')
    expect((await current(stranger.token)).status).toBe(200)
  })

  it("is ended with all others of its user, and with none of anybody else's", async () => {
    const email = freshEmail()
    const [one, two, three] = [await signIn(email), await signIn(email), await signIn(email)]
    const stranger = await signIn()
    const end = (query: string) => call(`/auth/sessions${query}`, { method: 'DELETE', token: two.token })
    expect((await end('?keep_current=true')).status).toBe(204)
    for (const { token } of [one, three]) expect((await current(token)).body.code).toBe('unknown_session')
    expect((await current(two.token)).status).toBe(200)
    expect((await end('?keep_current=true')).status).toBe(204)
    expect((await end('')).status).toBe(204)
    expect((await current(two.token)).body.code).toBe('unknown_session')
    expect((await current(stranger.token)).status).toBe(200)
  })

  it('takes no API key', async () => {
    const { project, secret } = await freshKey()
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/current'],
      ['DELETE', '/current'],
      ['DELETE', '/ses_x'],
    ] as const) {
      const answer = await call(`/auth/sessions${path}`, { method, token: secret, project })
      expect([answer.status, answer.body.code]).toEqual([403, 'console_session_required'])
    }
  })

  it('ends twelve hours after its last use', async () => {
    const start = stopClock()
    const { token, email } = await signIn()
    setClock(start + 12 * HOUR - 1)
    expect((await current(token)).status).toBe(200) // and slides
    setClock(start + 24 * HOUR - 2)
    expect((await current(token)).status).toBe(200)
    setClock(start + 36 * HOUR - 2)
    const answer = await current(token)
    expect([answer.status, answer.body.code]).toEqual([401, 'session_expired'])
    const other = await signIn(email)
    expect((await call('/auth/sessions', { token: other.token })).body.data).toHaveLength(1)
  })

  it('slides at most every ten minutes', async () => {
    const start = stopClock()
    const { token } = await signIn()
    const use = async (ms: number) => {
      setClock(start + ms)
      const { DB, count } = countingD1()
      expect((await call('/platform/v1/projects', { token, bindings: { DB } })).status).toBe(200)
      return count.rows_written
    }
    const ends = async () => Date.parse((await current(token)).body.session.expires_at) - start
    expect(await use(10 * MINUTE - 1)).toBe(0)
    expect(await ends()).toBe(12 * HOUR)
    expect(await use(10 * MINUTE)).toBe(1)
    expect(await ends()).toBe(12 * HOUR + 10 * MINUTE)
    expect(await use(20 * MINUTE - 1)).toBe(0)
    expect(await use(20 * MINUTE)).toBe(1)
  })

  it('never lives past seven days, however busy', async () => {
    const start = stopClock()
    const { token } = await signIn()
    for (let ms = 0; ms < 7 * DAY; ms += 11 * HOUR) {
      setClock(start + ms)
      expect((await current(token)).status, `after ${ms / HOUR} h`).toBe(200)
      const ends = Date.parse((await current(token)).body.session.expires_at)
      expect(ends).toBeLessThanOrEqual(start + 7 * DAY)
    }
    setClock(start + 7 * DAY - 1)
    expect((await current(token)).status).toBe(200)
    setClock(start + 7 * DAY)
    const answer = await current(token)
    expect([answer.status, answer.body.code]).toEqual([401, 'session_expired'])
  })
})

it.each([1, 0])(
  'end by the commands of docs/operate/operations.md: those of one user, or all (%i is left)',
  async (left) => {
    const [ada, other] = [await signIn(), await signIn()]
    const [, section = ''] = /^## Ending sessions\n([\s\S]*?)\n## /m.exec(operations) ?? []
    const commands = [...section.matchAll(/--command "(.*)"$/gm)].map(([, sql = '']) => sql)
    expect(commands).toHaveLength(2)
    await DIRECTORY.prepare(commands[left ? 0 : 1]?.replace('ada@example.com', ada.email) ?? '').run()
    expect((await current(ada.token)).body.code).toBe('unknown_session')
    expect((await current(other.token)).status).toBe(left ? 200 : 401)
  },
)

describe('all sessions of a user', () => {
  it.each([
    ['', 'unknown_session'],
    ['?keep_current=false', 'unknown_session'],
    ['?keep_current=true', undefined],
  ])('end together%s, and nobody else’s do', async (query, ofCurrent) => {
    const email = freshEmail()
    const [one, two, three] = [await signIn(email), await signIn(email), await signIn(email)]
    const stranger = await signIn()
    const all = () => call(`/auth/sessions${query}`, { method: 'DELETE', token: two.token })
    const answer = await all()
    expect([answer.status, answer.text]).toEqual([204, ''])
    for (const { token } of [one, three]) expect((await current(token)).body.code).toBe('unknown_session')
    expect((await current(two.token)).body.code).toBe(ofCurrent)
    expect((await current(stranger.token)).status).toBe(200)
    expect((await all()).status).toBe(ofCurrent ? 401 : 204)
    const { body } = await call('/auth/sessions', { token: (await signIn(email)).token })
    expect(body.data).toHaveLength(ofCurrent ? 1 : 2)
  })

  it('stay if the call is refused', async () => {
    const email = freshEmail()
    const [one, two] = [await signIn(email), await signIn(email)]
    for (const query of ['?keep_current=maybe', '?keep=true']) {
      expect((await call(`/auth/sessions${query}`, { method: 'DELETE', token: one.token })).status).toBe(422)
    }
    const { project, secret } = await freshKey()
    const refused = await call('/auth/sessions', { method: 'DELETE', token: secret, project })
    expect([refused.status, refused.body.code]).toEqual([403, 'console_session_required'])
    expect((await current(two.token)).status).toBe(200)
  })
})
