import { describe, expect, it } from 'vitest'
import type { Env } from '../../src/env'
import { call, freshProject, signedIn, withLimits } from '../harness'
import { submit, visit } from './visit'

/** Signs in through the forms, with the code from the email. */
async function signInByForm(next?: string) {
  const mails: { text: string }[] = []
  const send = async (mail: { text: string }) => void mails.push(mail)
  const bindings = { EMAIL: { send } as unknown as NonNullable<Env['EMAIL']>, SIGN_IN_DELIVERY: 'email' }
  const email = `person-${Math.random().toString(36).slice(2)}@example.com`
  const asked = await visit('/console/sign-in', null, { form: { email, ...(next && { next }) }, bindings })
  const challenge = /name="challenge" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
  const code = /code is ([0-9A-Z]{8})/.exec(mails[0]?.text ?? '')?.[1] ?? ''
  const kept = /name="next" value="([^"]*)"/.exec(asked.text)?.[1] ?? ''
  const form = { email, challenge, code, next: kept }
  return { form, email, asked, redeem: () => visit('/console/sign-in/code', null, { form }) }
}

describe('signing in', () => {
  it('sets a __Host- cookie for a session that the API accepts too', async () => {
    const { redeem, email } = await signInByForm()
    const answer = await redeem()
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console'])
    const cookies = answer.headers.getSetCookie()
    const [cookie = ''] = cookies.filter((one) => one.startsWith('__Host-session='))
    expect(cookie).toMatch(
      /^__Host-session=svc_cs_[0-9a-f]{64}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(cookies.map((one) => one.split('=')[0])).toEqual(['__Host-browser', '__Host-session'])
    const token = /svc_cs_[0-9a-f]{64}/.exec(cookie)?.[0] ?? ''
    expect((await call('/auth/sessions/current', { token })).body.user.email).toBe(email)
    expect((await visit('/console', token)).text).toContain(email)
  })

  it('accepts a code once, and shows the error next to the field', async () => {
    const { redeem } = await signInByForm()
    expect((await redeem()).status).toBe(303)
    const again = await redeem()
    expect(again.status).toBe(401)
    expect(again.text).toContain('This code is incorrect, has expired, or was already used.')
    expect(again.headers.get('Set-Cookie')).toBeNull()
  })

  it('shows an error for an invalid email address, and keeps the input', async () => {
    const answer = await visit('/console/sign-in', null, { form: { email: 'nobody' } })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('value="nobody"')
    expect(answer.text).toContain('aria-invalid="true"')
  })

  it.each([
    ['/console/sessions', '/console/sessions'],
    ['/console/p/x?a=b', '/console/p/x?a=b'],
    ['https://evil.example/console', '/console'],
    ['//evil.example/console', '/console'],
    ['/console/../platform/v1/api-keys', '/console'],
    ['/console.evil.example', '/console'],
    ['/console\\@evil.example', '/console'],
    ['\\\\evil.example', '/console'],
    ['javascript:alert(1)', '/console'],
    ['/console/../auth/sessions', '/console'],
  ])('continues to %s as %s', async (next, target) => {
    const { redeem } = await signInByForm(next)
    expect((await redeem()).headers.get('Location')).toBe(target)
  })

  it('refuses a form from another site', async () => {
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const answer = await visit('/console/sign-in', null, { form: { email: 'a@example.com' }, headers })
      expect(answer.status).toBe(403)
    }
    const bare = await call('/console/sign-in', {
      method: 'POST',
      body: new URLSearchParams({ email: 'a@example.com' }),
    })
    expect(bare.status).toBe(403)
  })

  it('has the same rate limit as the API, and says how long to wait', async () => {
    withLimits()
    const headers = { 'CF-Connecting-IP': '2001:db8:ffff::1' }
    const ask = () => visit('/console/sign-in/code', null, { form: { challenge: 'x', code: 'y' }, headers })
    // Twice as many as a minute allows, because another minute may begin meanwhile.
    let refused: Awaited<ReturnType<typeof ask>> | undefined
    for (let i = 0; i < 28 && refused?.status !== 429; i++) refused = await ask()
    expect(refused?.status).toBe(429)
    expect(refused?.text).toContain(`You can try again in ${refused?.headers.get('Retry-After')} seconds.`)
  })

  it('does not make the cookie a credential of the API', async () => {
    const { project, owner } = await freshProject()
    const headers = { Cookie: `__Host-session=${owner.token}` }
    for (const path of ['/platform/v1/projects', '/platform/v1/api-keys', '/auth/sessions']) {
      expect((await call(path, { project, headers })).body.code).toBe('missing_credentials')
    }
  })

  it.each([
    'x__Host-session=TOKEN',
    'other=1; x__Host-session=TOKEN',
    'other=__Host-session=TOKEN',
    '__Host-sessionx=TOKEN',
    '__Host-session.x=TOKEN',
    '__host-session=TOKEN',
    '__Secure-session=TOKEN',
    'session=TOKEN',
    '__Host-session=TOKENx',
    '__Host-session=',
  ])('does not accept the cookie %s', async (cookie) => {
    const { token } = await signedIn()
    const headers = { Cookie: cookie.replace('TOKEN', token) }
    const answer = await visit('/console/sessions', null, { headers })
    expect([answer.status, answer.headers.get('Location')]).toEqual([
      303,
      '/console/sign-in?next=%2Fconsole%2Fsessions',
    ])
  })

  it.each(['__Host-session=TOKEN', 'x__Host-session=no; __Host-session=TOKEN', 'a=1;__Host-session=TOKEN; b=2'])(
    'accepts the cookie %s',
    async (cookie) => {
      const { token, email } = await signedIn()
      const answer = await visit('/console', null, { headers: { Cookie: cookie.replace('TOKEN', token) } })
      expect([answer.status, answer.text.includes(email)]).toEqual([200, true])
    },
  )

  it.each(['http://', 'https://[', '//', 'not a url at all', 'javascript:alert(1)', '\\\\', 'http://%00/', ''])(
    'sends a partial update to sign in whatever it says it is for: HX-Current-URL %j',
    async (current) => {
      const headers = { 'HX-Request': 'true', 'HX-Current-URL': current }
      for (const path of ['/console', '/console/sessions']) {
        const answer = await visit(path, null, { headers })
        expect([path, current, answer.status]).toEqual([path, current, 401])
        expect(answer.headers.get('HX-Redirect')).toMatch(/^\/console\/sign-in(\?next=|$)/)
      }
    },
  )

  it('signs out: the token stops working, and the cookie is deleted', async () => {
    const { token } = await signedIn()
    const answer = await submit('/console/sign-out', token)
    expect(answer.headers.get('Set-Cookie')).toBe('__Host-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax')
    expect((await call('/auth/sessions/current', { token })).status).toBe(401)
    const after = await visit('/console/sessions', token)
    expect(after.headers.get('Location')).toBe('/console/sign-in?next=%2Fconsole%2Fsessions&done=your_session_ended')
  })

  it('deletes the cookie of a session that has ended', async () => {
    const { token } = await signedIn()
    await submit('/console/sign-out', token)
    const { headers } = await visit('/console/sessions', token)
    expect(headers.get('Set-Cookie')).toMatch(/^__Host-session=; Max-Age=0;/)
  })

  it('does not end the session of another user', async () => {
    const mine = await signedIn()
    const theirs = await signedIn()
    const { body } = await call('/auth/sessions', { token: theirs.token })
    expect((await submit(`/console/sessions/${body.data[0].id}/end`, mine.token)).status).toBe(404)
    expect((await call('/auth/sessions/current', { token: theirs.token })).status).toBe(200)
  })
})
