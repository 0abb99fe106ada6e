import { describe, expect, it } from 'vitest'
import { call, countingD1, freshEmail, freshProject, invited, mailbox, type RequestOptions } from '../harness'
import { ask, codeIn, redeem, usersOf } from '../sessions/signing-in'
import { accept, as, told } from './members'

const BY_INVITATION = { SIGN_UP: 'invited' }

/** What a request for a code shows, and what it costs. */
async function shown(email: string, settings: RequestOptions['bindings']) {
  const { DB, count } = countingD1()
  const { EMAIL, mails } = mailbox()
  const answer = await ask(email, { bindings: { EMAIL, ...settings, DB } })
  const { challenge, expires_at, ...rest } = answer.body
  const seen = {
    status: answer.status,
    headers: [...answer.headers.keys()].sort(),
    form: [challenge.length, expires_at.length],
    rest,
    trips: count.trips,
    statements: count.statements,
    written: count.rows_written,
  }
  return { seen, challenge, code: codeIn(mails[0]), mails: mails.length }
}

/** What redeeming a code shows, and what it costs. */
async function redeemed(challenge: string, code: string) {
  const { DB, count } = countingD1()
  const answer = await redeem(challenge, code, { bindings: { ...BY_INVITATION, DB } })
  return { answer, trips: count.trips, statements: count.statements }
}

describe('where people sign up by invitation', () => {
  it('an invited address and a stranger’s get the same answer in the same trips, and only the first gets a code', async () => {
    const { project } = await freshProject()
    const { email } = await invited(project)
    const known = await shown(email, BY_INVITATION)
    const unknown = await shown(freshEmail(), BY_INVITATION)
    expect(known.seen).toMatchObject({ status: 202, trips: 1 })
    expect(unknown.seen).toEqual(known.seen)
    expect([known.mails, unknown.mails]).toEqual([1, 0])
  })

  it('who has the code becomes a user, and a member by accepting', async () => {
    const { project, owner } = await freshProject()
    const { id, email } = await invited(project, { role: 'developer' })
    const { challenge, code } = await shown(email.toUpperCase(), BY_INVITATION)
    expect(await usersOf(email)).toEqual([])
    const { answer } = await redeemed(challenge, code)
    expect(answer.status).toBe(201)
    const [user] = await usersOf(email)
    expect((await accept({ token: answer.body.token }, id)).body.role).toBe('developer')
    expect((await as(project, owner.token).member(user?.id ?? '')).body.email).toBe(email)
  })

  it.each([
    ['has expired', { expires_at: 1 }],
    ['was revoked', { state: 'revoked' }],
    ['was declined', { state: 'declined' }],
  ])('an invitation that %s makes nobody known', async (_, fields) => {
    const { project } = await freshProject()
    const { email } = await invited(project, fields)
    const { mails } = await shown(email, BY_INVITATION)
    expect(mails).toBe(0)
    // Nor does a code that was sent while sign-up was open.
    const open = await shown(email, {})
    const { answer } = await redeemed(open.challenge, open.code)
    expect(told(answer)).toEqual([401, 'invalid_code'])
    expect(await usersOf(email)).toEqual([])
  })

  it('redeeming costs an invited and an uninvited address the same', async () => {
    const { project } = await freshProject()
    const { email } = await invited(project)
    const first = await shown(email, {})
    const second = await shown(freshEmail(), {})
    const known = await redeemed(first.challenge, first.code)
    const unknown = await redeemed(second.challenge, second.code)
    expect([known.answer.status, unknown.answer.status]).toEqual([201, 401])
    expect([known.trips, known.statements]).toEqual([unknown.trips, unknown.statements])
  })

  it('an invitation opens no project before it is accepted', async () => {
    const { project } = await freshProject()
    const { email } = await invited(project)
    const { challenge, code } = await shown(email, BY_INVITATION)
    const { token } = (await redeemed(challenge, code)).answer.body
    expect(told(await as(project, token).members())).toEqual([403, 'not_a_member'])
    expect((await call('/platform/v1/projects', { token })).body.data).toEqual([])
    expect((await call('/auth/invitations', { token })).body.data).toHaveLength(1)
  })
})
