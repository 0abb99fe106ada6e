import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import { bound, captureConsole, DIRECTORY, mailbox } from '../harness'
import { ask, codeIn, freshEmail, plant, redeem, sent, usersOf, wrong } from './signing-in'

describe('a sign-in code', () => {
  it('is eight characters of Crockford base32, in the mail alone, good for ten minutes', async () => {
    const email = freshEmail()
    const { EMAIL, mails } = mailbox()
    const start = stopClock()
    const printed = captureConsole()
    const answer = await ask(email, { bindings: { EMAIL } })
    const [mail] = mails
    const code = codeIn(mail)
    expect(Object.keys(answer.body)).toEqual(['challenge', 'expires_at'])
    expect(Date.parse(answer.body.expires_at)).toBe(start + 10 * MINUTE)
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(code)
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/)
    expect(mail).toMatchObject({ to: email, from: bound.EMAIL_FROM, subject: expect.stringContaining(code) })
    expect(mail?.text).toContain('https://platform.test/auth/sign-in')
    expect(printed.length).toBeGreaterThan(0)
    expect(printed.join('\n')).not.toContain(code)
    const { results } = await DIRECTORY.prepare('SELECT * FROM sign_in_codes').all()
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
      const { results } = await DIRECTORY.prepare('SELECT id FROM sessions WHERE user_id = ?').bind(user?.id).all()
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

  it('ends with a sign-in by a newer one of its address, and by no other', async () => {
    const start = stopClock()
    const email = freshEmail()
    const older = [await sent(email), await sent(email)]
    const [elsewhere, plus] = [await sent(), await sent(email.replace('@', '+more@'))]
    setClock(start + 1)
    const used = await sent(email)
    setClock(start + 2)
    const newer = await sent(email)
    expect((await redeem(used.challenge, wrong(used.code))).status).toBe(401) // no sign-in
    expect((await redeem(used.challenge, used.code)).status).toBe(201)
    for (const { challenge, code } of older) {
      const answer = await redeem(challenge, code)
      expect([answer.status, answer.body.code]).toEqual([401, 'invalid_code'])
    }
    for (const { challenge, code } of [newer, elsewhere, plus]) expect((await redeem(challenge, code)).status).toBe(201)
  })

  it('is good after a sign-in by it was refused', async () => {
    const email = freshEmail()
    const [older, newer] = [await sent(email), await sent(email)]
    for (let i = 0; i < 5; i++) await redeem(newer.challenge, wrong(newer.code, i))
    expect((await redeem(newer.challenge, newer.code)).status).toBe(401)
    expect((await redeem(older.challenge, older.code)).status).toBe(201)
  })

  it('is good until its ten minutes are over', async () => {
    const start = stopClock()
    const [early, late] = [await sent(), await sent()]
    setClock(start + 10 * MINUTE - 1)
    expect((await redeem(early.challenge, early.code)).status).toBe(201)
    setClock(start + 10 * MINUTE)
    const answer = await redeem(late.challenge, late.code)
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_code'])
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
    const { EMAIL, mails } = mailbox()
    const answer = await ask(email, { bindings: { EMAIL } })
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed'])
    expect(answer.body.errors[0].pointer).toBe('/email')
    expect(mails).toEqual([])
  })
})
