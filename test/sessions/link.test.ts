import { describe, expect, it } from 'vitest'
import { call, type Mail, ORIGIN, type RequestOptions } from '../harness'
import { current, redeem, sent } from './signing-in'

describe('the link in the email', () => {
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

  it('refuses a form from another site', async () => {
    const { challenge, code } = await sent()
    for (const headers of [{}, { Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      expect((await press({ challenge, code }, { headers })).status).toBe(403)
    }
    expect((await redeem(challenge, code)).status).toBe(201)
  })

  it('escapes what the address contains', async () => {
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
