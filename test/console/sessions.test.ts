import { describe, expect, it } from 'vitest'
import { HOUR } from '../../src/lib/time'
import { addMember, call, freshProject, unconfirm } from '../harness'
import { prove, withPasskey } from '../passkeys/people'
import { freshEmail, redeem, sent, signIn, wrong } from '../sessions/signing-in'
import { enforced } from '../sso/team/team'
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
    expect(text).toContain('aria-current="page">Sessions and account</a>')
  })

  it('are followed by what last happened to the account, in words', async () => {
    const email = freshEmail()
    const { token } = await signIn(email, { headers: { 'User-Agent': UA }, country: 'NL' })
    const { challenge, code } = await sent(email)
    for (let i = 0; i < 2; i++) await redeem(challenge, wrong(code, i), { headers: { 'User-Agent': '<b>x</b>' } })
    for (const path of ['/console/sessions', '/console/sessions/activity']) {
      const { text } = await visit(path, token)
      for (const words of ['Signed in', 'Firefox on Linux', 'Netherlands', '2 wrong codes', '&lt;b&gt;x&lt;/b&gt;'])
        expect(text).toContain(words)
      expect(text).not.toContain('<b>x</b>')
    }
  })

  it('are followed by what happened with passkeys', async () => {
    const { token, codes, passkey, authenticator } = await withPasskey()
    await prove(token, authenticator)
    await submit(`/console/passkeys/${passkey.id}/rename`, token, { name: 'Phone' })
    for (const code of ['AAAAA-AAAAA', codes[0] ?? '']) await submit('/console/second-factor/code', token, { code })
    await submit(`/console/passkeys/${passkey.id}/delete`, token)
    const { text } = await visit('/console/sessions/activity', token)
    for (const words of [
      'Added a passkey',
      'Generated recovery codes',
      'Confirmed with a passkey',
      'Renamed a passkey',
      '1 wrong recovery code',
      'Used a recovery code',
      'Deleted a passkey',
    ])
      expect(text).toContain(words)
  })

  it('have a choice of security emails', async () => {
    const { token } = await signIn()
    const box = async () =>
      /<input type="checkbox" name="notices"[^>]*>/.exec((await visit('/console/sessions', token)).text)?.[0]
    expect(await box()).toContain('checked')
    for (const [fields, checked] of [
      [{}, false],
      [{ notices: 'true' }, true],
    ] as const) {
      const saved = await submit('/console/sessions/notices', token, { ...fields })
      expect(saved.headers.get('Location')).toBe('/console/sessions?done=notices_saved')
      expect((await box())?.includes('checked')).toBe(checked)
      expect((await call('/auth/user', { token })).body.notices).toBe(checked)
    }
  })
})

it('a page of a session leads to the sign-in page once the session has ended unused, and a page for anybody stays', async () => {
  const { token } = await signIn()
  expect((await visit('/console/sessions', token)).headers.get('Refresh')).toBe(String((12 * HOUR) / 1000))
  expect((await visit('/console/sign-in', null)).headers.get('Refresh')).toBeNull()
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

  it('says on the form that nobody else could sign in without the single sign-on that is enforced', async () => {
    const { project, owner } = await enforced()
    await addMember(project, 'owner')
    const { status, text } = await submit(at, owner.token, { email: owner.email })
    const wrong = /role="alert">([^<]*)/.exec(text)?.[1]
    expect([status, wrong]).toEqual([409, expect.stringContaining('You are the only owner with break-glass access to')])
    expect(text).toContain('Delete your account?')
  })
})
