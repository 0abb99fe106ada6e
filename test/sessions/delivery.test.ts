import { describe, expect, it } from 'vitest'
import { call, captureConsole, countingD1, mailbox, type RequestOptions } from '../harness'
import { ask, codeIn, freshEmail, redeem, sent, signIn, usersOf } from './signing-in'

describe('whether an address is known', () => {
  /** All that an answer shows, but for what differs from one to the next by itself. */
  async function shown(email: string, settings: RequestOptions['bindings']) {
    const { DB, count } = countingD1()
    const { EMAIL } = mailbox()
    const answer = await ask(email, { bindings: { EMAIL, ...settings, DB } })
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
    const { EMAIL, mails } = mailbox()
    const invited = { EMAIL, SIGN_UP: 'invited' }
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
  /** Asks for a code at a host. Returns what was mailed and what was printed. */
  async function askAt(host: string, settings: RequestOptions['bindings'] = {}) {
    const { EMAIL, mails } = mailbox()
    const email = freshEmail()
    const lines = captureConsole()
    const bindings = { EMAIL, ...settings }
    const { status, body } = await call(`${host}/auth/codes`, { method: 'POST', json: { email }, bindings })
    expect([status, Object.keys(body)]).toEqual([202, ['challenge', 'expires_at']])
    return { mails, email, printed: lines.join('\n') }
  }
  const PRINTED = /Sign-in code for (\S+): ([0-9A-HJKMNP-TV-Z]{8})\b/

  it.each(['http://localhost', 'http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787'])(
    'is in the terminal where local start-up asked for that: %s',
    async (host) => {
      const { mails, email, printed } = await askAt(host)
      expect(PRINTED.exec(printed)?.[1]).toBe(email)
      expect(printed).toContain(`${host}/auth/sign-in`)
      expect(mails).toEqual([])
    },
  )

  it.each([
    ['https://platform.test', {}],
    ['https://localhost.example.com', { OTHER_HOSTS: 'localhost.example.com' }],
    ['https://localhost.', {}],
    ['https://127.0.0.1.example.com', { OTHER_HOSTS: '127.0.0.1.example.com' }],
    ['http://localhost', { SIGN_IN_DELIVERY: 'email' }],
  ])('is by mail anywhere else, and not a word of it is printed: %s %j', async (host, settings) => {
    const { mails, email, printed } = await askAt(host, settings)
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
    const { email, printed } = await askAt('https://platform.test', { EMAIL: EMAIL as unknown as SendEmail })
    const line = printed.split('\n').find((one) => one.includes('sign_in_code_not_sent'))
    expect(JSON.parse(line as string)).toMatchObject({ level: 'error', error: expect.stringContaining(why) })
    // The version is a random UUID, eight digits of which can look like a code.
    expect(printed.replace(/"version":"[^"]+"/g, '')).not.toMatch(/\b[0-9A-HJKMNP-TV-Z]{8}\b/)
    expect(printed).not.toContain(email)
  })
})
