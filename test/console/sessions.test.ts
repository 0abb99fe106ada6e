import { describe, expect, it } from 'vitest'
import { addMember, call, freshProject, unconfirm } from '../harness'
import { freshEmail, signIn } from '../sessions/signing-in'
import { submit, visit } from './visit'

const UA = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('sessions in the console', () => {
  const alive = async (token: string) => (await call('/auth/sessions/current', { token })).status

  it.each([
    [{}, [401, 200], '/console/sessions?done=sessions_ended'],
    [{ here: 'true' }, [401, 401], '/console/sign-in?done=signed_out_everywhere'],
  ])('end together, with %o', async (fields, left, target) => {
    const email = freshEmail()
    const [other, own, stranger] = [await signIn(email), await signIn(email), await signIn()]
    expect((await visit('/console/sessions/end-all', own.token)).text).toContain('API keys keep working')
    const done = await submit('/console/sessions/end-all', own.token, fields)
    expect([done.status, done.headers.get('Location')]).toEqual([303, target])
    expect([await alive(other.token), await alive(own.token)]).toEqual(left)
    expect(await alive(stranger.token)).toBe(200)
    expect(done.headers.get('Set-Cookie')?.includes('Max-Age=0') ?? false).toBe('here' in fields)
  })

  it('are named by what their client says of itself', async () => {
    const { token } = await signIn(freshEmail(), { headers: { 'User-Agent': UA } })
    const { text } = await visit('/console/sessions', token)
    expect(text).toContain('Firefox on Linux')
    expect(text).toContain('aria-current="page">Sessions</a>')
  })
})

describe('deleting the account', () => {
  const at = '/console/sessions/erase'

  it('asks for the address, of a confirmed user, and signs out', async () => {
    const { project, owner } = await freshProject('Mine')
    const user = await addMember(project, 'viewer')
    expect((await visit('/console/sessions', user.token)).text).toContain(at)
    const asked = await visit(at, user.token)
    expect([asked.status, asked.text.includes('Delete your account?')]).toEqual([200, true])
    const wrong = await submit(at, user.token, { email: owner.email })
    expect([wrong.status, wrong.text.includes('This is not your address')]).toEqual([422, true])
    const done = await submit(at, user.token, { email: ` ${user.email.toUpperCase()} ` })
    expect([done.status, done.headers.get('Location')]).toEqual([303, '/console/sign-in?done=account_deleted'])
    expect((await visit('/console', user.token)).status).toBe(303)

    const refused = await submit(at, owner.token, { email: owner.email })
    expect([refused.status, refused.text.includes('You are the only owner of “Mine”')]).toEqual([409, true])
    await unconfirm(owner.user)
    for (const answer of [await visit(at, owner.token), await submit(at, owner.token, { email: owner.email })]) {
      expect([answer.status, answer.headers.get('Location')?.startsWith('/console/confirm?next=')]).toEqual([303, true])
    }
  })
})
