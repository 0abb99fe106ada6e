import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { hashCode } from '../../src/sessions/secret'
import { bound, call, countingD1, freshKey, ORIGIN, type RequestOptions } from '../harness'

type Mail = { from: string; to: string; subject: string; text: string }

let people = 0
/** An address that nobody in the tests has had yet. */
function freshEmail() {
  people += 1
  return `person-${Date.now()}-${people}@example.com`
}

/** The send_email binding, recording: the one boundary that cannot be real here. */
function mailbox() {
  const mails: Mail[] = []
  const EMAIL = { send: async (mail: Mail) => void mails.push(mail) } as unknown as SendEmail
  return { mails, bindings: { EMAIL } }
}

const codeIn = (mail: Mail | undefined) => /code is ([0-9A-HJKMNP-TV-Z]{8})\b/.exec(mail?.text ?? '')?.[1] as string

const ask = (email: unknown, options: RequestOptions = {}) =>
  call('/auth/codes', { method: 'POST', json: { email }, ...options })
const redeem = (challenge: string, code: string, options: RequestOptions = {}) =>
  call('/auth/sessions', { method: 'POST', json: { challenge, code }, ...options })

/** Asks for a code and reads it from the mail. */
async function sent(email = freshEmail(), settings: RequestOptions['bindings'] = {}) {
  const { mails, bindings } = mailbox()
  const { status, body } = await ask(email, { bindings: { ...bindings, ...settings } })
  expect(status).toBe(202)
  expect(mails).toHaveLength(1)
  return { email, challenge: body.challenge as string, code: codeIn(mails[0]), mail: mails[0] as Mail }
}

/** Signs in the long way. */
async function signIn(email = freshEmail(), options: RequestOptions = {}) {
  const { challenge, code } = await sent(email)
  const { status, body } = await redeem(challenge, code, options)
  expect(status).toBe(201)
  return {
    email,
    token: body.token as string,
    user: body.user as { id: string; email: string },
    expires_at: body.expires_at,
  }
}

/** A code of our choosing in the place of the one that was sent. */
async function plant(challenge: string, code: string) {
  const hash = await hashCode(bound.CODE_PEPPER as string, challenge, code)
  await env.DB.prepare('UPDATE sign_in_codes SET code_hash = ? WHERE id = ?').bind(hash, challenge).run()
}

const current = (token: string) => call('/auth/sessions/current', { token })
const usersOf = async (email: string) =>
  (await env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).all()).results
/** A code that is not this one. */
const wrong = (code: string, i = 0) => code.slice(0, 7) + 'ABCDEFGH'.replace(code[7] as string, 'Z')[i]

/** Everything printed while the work was done. */
async function printedBy(work: () => Promise<unknown>): Promise<string> {
  const lines: string[] = []
  for (const method of ['log', 'warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((...parts) => void lines.push(parts.join(' ')))
  }
  await work()
  vi.restoreAllMocks()
  return lines.join('\n')
}

/** Sets the clock, and leaves it standing. */
function clock() {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  const start = Date.now()
  return { start, at: (ms: number) => vi.setSystemTime(start + ms) }
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a sign-in code', () => {
  it('is eight characters of Crockford base32, in the mail alone, good for ten minutes', async () => {
    const email = freshEmail()
    const { mails, bindings } = mailbox()
    const before = Date.now()
    const printed = await printedBy(async () => {
      const answer = await ask(email, { bindings })
      expect(Object.keys(answer.body)).toEqual(['challenge', 'expires_at'])
      const ends = Date.parse(answer.body.expires_at)
      expect(ends).toBeGreaterThanOrEqual(before + 10 * MINUTE)
      expect(ends).toBeLessThanOrEqual(Date.now() + 10 * MINUTE)
      expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(codeIn(mails[0]))
    })
    const [mail] = mails
    const code = codeIn(mail)
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/)
    expect(mail).toMatchObject({ to: email, from: bound.EMAIL_FROM, subject: expect.stringContaining(code) })
    expect(mail?.text).toContain('https://platform.test/auth/sign-in')
    expect(printed).not.toContain(code)
    const { results } = await env.DB.prepare('SELECT * FROM sign_in_codes').all()
    expect(JSON.stringify(results)).not.toContain(code)
  })

  it('is never the same', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => sent()))
    expect(new Set(all.map(({ code }) => code)).size).toBe(20)
    expect(new Set(all.map(({ challenge }) => challenge)).size).toBe(20)
  })

  it.each([
    ['as it was sent', '01ABCDEF'],
    ['in lower case', '01abcdef'],
    ['with a dash', '01AB-CDEF'],
    ['with spaces around and inside', '  01AB CDEF '],
    ['with O for 0 and I for 1', 'OIABCDEF'],
    ['with o for 0 and l for 1', 'olabcdef'],
  ])('is taken %s', async (_, typed) => {
    const { challenge } = await sent()
    await plant(challenge, '01ABCDEF')
    expect((await redeem(challenge, typed)).status).toBe(201)
  })

  it.each(['01ABCDEG', '01ABCDE', '01ABCDEFF', 'Q1ABCDEF', 'FEDCBA10', '', '01ABCDEF\u0000', '０１ABCDEF'])(
    'is not taken as %j',
    async (typed) => {
      const { challenge } = await sent()
      await plant(challenge, '01ABCDEF')
      const answer = await redeem(challenge, typed)
      expect([answer.status, answer.body.code]).toEqual([401, 'invalid_code'])
      expect((await redeem(challenge, '01ABCDEF')).status).toBe(201)
    },
  )

  it('is good once', async () => {
    const { challenge, code } = await sent()
    expect((await redeem(challenge, code)).status).toBe(201)
    for (let i = 0; i < 2; i++) {
      const again = await redeem(challenge, code)
      expect([again.status, again.body.code]).toEqual([401, 'invalid_code'])
    }
  })

  it('opens one session when it is redeemed many times at once', async () => {
    for (let round = 0; round < 3; round++) {
      const { email, challenge, code } = await sent()
      const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(challenge, code)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
      const [user, ...more] = await usersOf(email)
      expect(more).toEqual([])
      const { results } = await env.DB.prepare('SELECT id FROM sessions WHERE user_id = ?').bind(user?.id).all()
      expect(results).toHaveLength(1)
    }
  })

  it('stands five tries: the fifth may be the right one', async () => {
    const { challenge, code } = await sent()
    for (let i = 0; i < 4; i++) expect((await redeem(challenge, wrong(code, i))).status).toBe(401)
    expect((await redeem(challenge, code)).status).toBe(201)
  })

  it('is dead after five wrong tries, one after the other or at once', async () => {
    const one = await sent()
    for (let i = 0; i < 5; i++) expect((await redeem(one.challenge, wrong(one.code, i))).status).toBe(401)
    const refused = await redeem(one.challenge, one.code)
    expect([refused.status, refused.body.code]).toEqual([401, 'invalid_code'])

    const two = await sent()
    const tries = await Promise.all(Array.from({ length: 8 }, (_, i) => redeem(two.challenge, wrong(two.code, i))))
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401]))
    expect((await redeem(two.challenge, two.code)).status).toBe(401)
  })

  it('has tries of its own: wrong ones elsewhere cost it nothing', async () => {
    const email = freshEmail()
    const [victim, attacked] = [await sent(email), await sent(email)]
    for (let i = 0; i < 6; i++) await redeem(attacked.challenge, wrong(attacked.code, i))
    expect((await redeem(victim.challenge, victim.code)).status).toBe(201)
  })

  it('is good with its own challenge alone', async () => {
    const email = freshEmail()
    const [one, two] = [await sent(email), await sent(email)]
    const somebody = await sent()
    for (const challenge of [two.challenge, somebody.challenge, 'chl_00000000000000000000000000', '', email]) {
      const answer = await redeem(challenge, one.code)
      expect([answer.status, answer.body.code], challenge).toEqual([401, 'invalid_code'])
    }
    expect((await redeem(one.challenge, one.code)).body.user.email).toBe(email)
    expect((await redeem(two.challenge, two.code)).status).toBe(201) // the other one is unharmed
  })

  it('is good until its ten minutes are over', async () => {
    const { at } = clock()
    const [early, late] = [await sent(), await sent()]
    at(10 * MINUTE - 1)
    expect((await redeem(early.challenge, early.code)).status).toBe(201)
    at(10 * MINUTE)
    const answer = await redeem(late.challenge, late.code)
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_code'])
  })

  it('is sent to an address twenty times an hour; then the answer is the same and nothing is sent', async () => {
    const { at } = clock()
    const email = freshEmail()
    for (let i = 0; i < 20; i++) {
      at(i * SECOND)
      await sent(email)
    }
    const { mails, bindings } = mailbox()
    const spellings = [email, email.toUpperCase()]
    for (const spelling of spellings) {
      const answer = await ask(spelling, { bindings })
      expect(answer.status).toBe(202)
      expect(Object.keys(answer.body)).toEqual(['challenge', 'expires_at'])
      expect((await redeem(answer.body.challenge, 'ABCDEFGH')).status).toBe(401)
    }
    expect(mails).toEqual([])
    await sent() // anybody else's address is not affected
    at(HOUR)
    await sent(email) // the first of the twenty is an hour old
    expect((await ask(email, { bindings })).status).toBe(202)
    expect(mails).toEqual([])
  })

  it.each([
    '',
    'nobody',
    '@example.com',
    'a@',
    'a b@example.com',
    'a@b',
    'a@exa mple.com',
    'a@example.com\nBcc: b@example.com',
    'a@example.com, b@example.com',
    '<a@example.com>',
    `${'x'.repeat(250)}@example.com`,
    null,
    7,
    ['a@example.com'],
    {},
  ])('is not sent to %j: 422', async (email) => {
    const { mails, bindings } = mailbox()
    const answer = await ask(email, { bindings })
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed'])
    expect(answer.body.errors[0].pointer).toBe('/email')
    expect(mails).toEqual([])
  })
})

describe('whether an address is known', () => {
  /** All that an answer shows, but for what differs from one to the next by itself. */
  async function shown(email: string, settings: RequestOptions['bindings']) {
    const { DB, count } = countingD1()
    const { bindings } = mailbox()
    const answer = await ask(email, { bindings: { ...bindings, ...settings, DB } })
    const headers = [...answer.headers.keys()].sort()
    const { challenge, expires_at, ...rest } = answer.body
    return {
      status: answer.status,
      headers,
      form: [challenge.length, expires_at.length],
      rest,
      trips: count.trips,
      statements: count.statements,
    }
  }

  it.each(['open', 'invited'] as const)('is not told by the answer, nor by what it costs: %s', async (SIGN_UP) => {
    const { email } = await signIn()
    const known = await shown(email, { SIGN_UP })
    const unknown = await shown(freshEmail(), { SIGN_UP })
    expect(known).toMatchObject({ status: 202, trips: 1 })
    expect(unknown).toEqual(known)
  })

  it('decides by invitation who is sent a code', async () => {
    const { email } = await signIn()
    const { mails, bindings } = mailbox()
    const invited = { ...bindings, SIGN_UP: 'invited' }
    const answer = await ask(email, { bindings: invited })
    expect(mails.map(({ to }) => to)).toEqual([email])
    expect((await redeem(answer.body.challenge, codeIn(mails[0]), { bindings: invited })).status).toBe(201)
    mails.length = 0
    const stranger = freshEmail()
    expect((await ask(stranger, { bindings: invited })).status).toBe(202)
    expect(mails).toEqual([])
  })

  it('by invitation, makes no user of a stranger who has a code', async () => {
    const { email, challenge, code } = await sent() // sent while sign-up was open
    const answer = await redeem(challenge, code, { bindings: { SIGN_UP: 'invited' } })
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_code'])
    expect(await usersOf(email)).toEqual([])
  })

  it('a first sign-in makes the user, later ones find them, in any case of the address', async () => {
    const email = freshEmail()
    expect(await usersOf(email)).toEqual([])
    const first = await signIn(email)
    const second = await signIn(email.toUpperCase().replace('EXAMPLE.COM', 'Example.com'))
    expect(second.user).toEqual({ id: first.user.id, email })
    expect(await usersOf(email)).toHaveLength(1)
  })
})

describe('delivery', () => {
  const asking = (host: string, settings: Record<string, string> = {}) => {
    const { mails, bindings } = mailbox()
    const email = freshEmail()
    const work = async () => {
      const answer = await call(`${host}/auth/codes`, {
        method: 'POST',
        json: { email },
        bindings: { ...bindings, ...settings },
      })
      expect(answer.status).toBe(202)
    }
    return { mails, email, work }
  }
  const PRINTED = /Sign-in code for (\S+): ([0-9A-HJKMNP-TV-Z]{8})\b/

  it.each(['http://localhost', 'http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787'])(
    'is in the terminal where local start-up asked for that: %s',
    async (host) => {
      const { mails, email, work } = asking(host)
      const printed = await printedBy(work)
      expect(PRINTED.exec(printed)?.[1]).toBe(email)
      expect(printed).toContain(`${host}/auth/sign-in`)
      expect(mails).toEqual([])
    },
  )

  it.each([
    ['https://platform.test', {}],
    ['https://localhost.example.com', {}],
    ['https://localhost.', {}],
    ['https://127.0.0.1.example.com', {}],
    ['http://localhost', { SIGN_IN_DELIVERY: 'email' }],
  ])('is by mail anywhere else, and not a word of it is printed: %s %j', async (host, settings) => {
    const { mails, email, work } = asking(host, settings)
    const printed = await printedBy(work)
    expect(mails.map(({ to }) => to)).toEqual([email])
    expect(printed).not.toContain(codeIn(mails[0]))
    expect(printed).not.toContain(email)
  })

  it.each([
    [
      'the binding fails',
      {
        send: async () => {
          throw new Error('E_SENDER_NOT_VERIFIED')
        },
      },
      'E_SENDER_NOT_VERIFIED',
    ],
    ['there is no binding', undefined, 'no send_email binding'],
  ])('that fails is logged without the code, and answered 202: %s', async (_, EMAIL, why) => {
    const email = freshEmail()
    const printed = await printedBy(async () => {
      const answer = await ask(email, { bindings: { EMAIL: EMAIL as unknown as SendEmail } })
      expect(answer.status).toBe(202)
      expect(Object.keys(answer.body)).toEqual(['challenge', 'expires_at'])
    })
    const line = printed.split('\n').find((one) => one.includes('sign_in_code_not_sent'))
    expect(JSON.parse(line as string)).toMatchObject({ level: 'error', error: expect.stringContaining(why) })
    expect(printed).not.toMatch(/\b[0-9A-HJKMNP-TV-Z]{8}\b/)
    expect(printed).not.toContain(email)
  })
})

describe('a session', () => {
  it('is answered once with its token, which is stored hashed', async () => {
    const { challenge, code, email } = await sent()
    const before = Date.now()
    const { status, body } = await redeem(challenge, code, { headers: { 'User-Agent': 'tests/1.0' } })
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['token', 'expires_at', 'user'])
    expect(body.token).toMatch(/^svc_cs_[0-9a-f]{64}$/)
    expect(body.user).toEqual({ id: expect.stringMatching(/^usr_/), email })
    expect(Date.parse(body.expires_at)).toBeGreaterThanOrEqual(before + 12 * HOUR)
    const { results } = await env.DB.prepare('SELECT * FROM sessions WHERE user_id = ?').bind(body.user.id).all()
    expect(JSON.stringify(results)).not.toContain(body.token.slice(7))
    const read = await current(body.token)
    expect(read.body).toEqual({
      session: {
        id: results[0]?.id,
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        expires_at: body.expires_at,
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
    expect(list.body.data.map((row: any) => row.current)).toEqual([false, true, false])
    const own = await Promise.all([three, two, one].map(async ({ token }) => (await current(token)).body.session.id))
    expect(list.body.data.map((row: any) => row.id)).toEqual(own)
  })

  it('ends by itself, by another of its user, and by nobody else', async () => {
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

  it('is no place for an API key', async () => {
    const { project, secret } = await freshKey()
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/current'],
      ['DELETE', '/current'],
      ['DELETE', '/ses_x'],
    ] as const) {
      const answer = await call(`/auth/sessions${path}`, { method, token: secret, project })
      expect([answer.status, answer.body.code]).toEqual([403, 'console_session_required'])
    }
  })

  it('ends twelve hours after its last use', async () => {
    const { at } = clock()
    const { token, email } = await signIn()
    at(12 * HOUR - 1)
    expect((await current(token)).status).toBe(200) // and slides
    at(24 * HOUR - 2)
    expect((await current(token)).status).toBe(200)
    at(36 * HOUR - 2)
    const answer = await current(token)
    expect([answer.status, answer.body.code]).toEqual([401, 'session_expired'])
    const other = await signIn(email)
    expect((await call('/auth/sessions', { token: other.token })).body.data).toHaveLength(1)
  })

  it('slides at most every ten minutes', async () => {
    const { start, at } = clock()
    const { token } = await signIn()
    const use = async (ms: number) => {
      at(ms)
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
    const { start, at } = clock()
    const { token } = await signIn()
    for (let ms = 0; ms < 7 * DAY; ms += 11 * HOUR) {
      at(ms)
      expect((await current(token)).status, `after ${ms / HOUR} h`).toBe(200)
      const ends = Date.parse((await current(token)).body.session.expires_at)
      expect(ends).toBeLessThanOrEqual(start + 7 * DAY)
    }
    at(7 * DAY - 1)
    expect((await current(token)).status).toBe(200)
    at(7 * DAY)
    const answer = await current(token)
    expect([answer.status, answer.body.code]).toEqual([401, 'session_expired'])
  })
})

describe('the link of the mail', () => {
  const linkOf = (mail: Mail) => /https:\/\/\S+\/auth\/sign-in\S+/.exec(mail.text)?.[0] as string
  const OURS = { Origin: ORIGIN }
  const press = (fields: Record<string, string>, options: RequestOptions = {}) =>
    call('/auth/sign-in', { method: 'POST', headers: OURS, body: new URLSearchParams(fields), ...options })

  it('opens a page with a button: fetching it, however often, spends nothing', async () => {
    const { challenge, code, mail } = await sent()
    for (let i = 0; i < 6; i++) {
      const page = await call(linkOf(mail))
      expect(page.status).toBe(200)
      expect(page.headers.get('Content-Type')).toMatch(/^text\/html/)
      expect(page.text).toContain('<button')
      expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
      expect(page.headers.get('Referrer-Policy')).toBe('same-origin')
    }
    expect((await redeem(challenge, code)).status).toBe(201)
  })

  it('signs in when the button is pressed, once', async () => {
    const { challenge, code, email } = await sent()
    const page = await press({ challenge, code })
    expect([page.status, page.headers.get('Location')]).toEqual([303, '/console'])
    const token = /svc_cs_[0-9a-f]{64}/.exec(page.headers.get('Set-Cookie') ?? '')?.[0] as string
    expect((await current(token)).body.user.email).toBe(email)
    expect(page.text).not.toContain('svc_cs_')
    const again = await press({ challenge, code })
    expect(again.status).toBe(401)
    expect(again.text).not.toContain('svc_cs_')
    expect(again.headers.get('Set-Cookie')).toBeNull()
  })

  it('signs nobody in from another site', async () => {
    const { challenge, code } = await sent()
    for (const headers of [{}, { Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      expect((await press({ challenge, code }, { headers })).status).toBe(403)
    }
    expect((await redeem(challenge, code)).status).toBe(201)
  })

  it('writes what the address says as text', async () => {
    const page = await call(
      `/auth/sign-in?challenge=${encodeURIComponent('"><script>x()</script>')}&code=%27%22%3Cb%3E`,
    )
    expect(page.text).not.toMatch(/<script>|<b>/)
  })

  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  it.each<[string, BodyInit | undefined, Record<string, string>, number[]]>([
    ['no form at all', undefined, {}, [400, 401, 415]],
    ['an empty form', '', form, [400, 401]],
    ['a form without the code', 'challenge=x', form, [400, 401]],
    ['fields given twice', 'challenge=x&challenge=y&code=1&code=2', form, [400, 401]],
    ['JSON', '{"challenge":"x","code":"y"}', { 'Content-Type': 'application/json' }, [400, 401, 415]],
    ['a multipart form without its boundary', 'x', { 'Content-Type': 'multipart/form-data' }, [400, 401, 415]],
    [
      'a multipart form cut short',
      '--b\r\nContent-Dis',
      { 'Content-Type': 'multipart/form-data; boundary=b' },
      [400, 401],
    ],
    ['escapes that are none', 'challenge=%ff%00&code=%zz', form, [400, 401]],
    ['10 MB', `challenge=${'x'.repeat(10_000_000)}&code=y`, form, [413]],
  ])('refuses %s', async (_, body, headers, statuses) => {
    const answer = await call('/auth/sign-in', {
      method: 'POST',
      headers: { ...OURS, ...headers },
      ...(body !== undefined && { body }),
    })
    expect(statuses, answer.text.slice(0, 300)).toContain(answer.status)
  })
})
