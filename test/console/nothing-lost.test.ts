import { describe, expect, it } from 'vitest'
import { call, freshProject, ORIGIN, signedIn } from '../harness'
import { freshEmail, signIn } from '../sessions/signing-in'
import { submit, visit } from './visit'

describe('a form whose session has ended', () => {
  const typed = { name: 'Typed "twice" <b>' }
  /** The fields of the form that the page sends to this path. */
  const fieldsOf = (text: string, path: string) => {
    const [, form = ''] = text.split(`action="${path}"`)
    const [inside = ''] = form.split('</form>')
    const pairs = [...inside.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value = '']) => [
      name,
      value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
    ])
    return Object.fromEntries(pairs) as Record<string, string>
  }
  const projectsOf = async (token: string) => {
    const { body } = await call('/platform/v1/projects', { token })
    return (body as unknown as { data: { name: string }[] }).data.map(({ name }) => name)
  }

  it('is kept, and sent once its user has signed in again and has been asked', async () => {
    const email = freshEmail()
    const before = await signIn(email)
    const page = await visit('/console/projects/new', before.token)
    const form = { ...fieldsOf(page.text, '/console/projects'), ...typed, once: 'of the session' }
    await submit('/console/sign-out', before.token)

    const ended = await visit('/console/projects', before.token, { form })
    expect([ended.status, ended.headers.get('Set-Cookie')?.includes('Max-Age=0')]).toEqual([401, true])
    expect(ended.text).toContain('<h1>Your session ended</h1>')
    expect(fieldsOf(ended.text, '/console/projects')).toEqual(typed)

    const { token } = await signIn(email)
    const again = await visit('/console/projects', token, { form: typed })
    expect([again.status, again.text.includes(email)]).toEqual([403, true])
    const { form_token, ...kept } = fieldsOf(again.text, '/console/projects')
    expect([kept, await projectsOf(token)]).toEqual([typed, []])

    const sent = await visit('/console/projects', token, { form: { form_token: form_token ?? '', ...kept } })
    expect([sent.status, await projectsOf(token)]).toEqual([303, [typed.name]])
  })

  it('is not kept for another site', async () => {
    const headers = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' }
    for (const token of [null, (await signedIn()).token]) {
      const { status, text } = await visit('/console/projects', token, { form: typed, headers })
      expect([status, text.includes('twice')]).toEqual([403, false])
    }
  })

  it('is not kept when it signs out or updates a part of a page', async () => {
    const out = await visit('/console/sign-out', null, { form: {} })
    expect([out.status, out.headers.get('Location')]).toEqual([303, '/console/sign-in'])
    const part = await visit('/console/projects', null, { form: typed, headers: { 'HX-Request': 'true' } })
    expect([part.status, part.text]).toEqual([401, ''])
  })

  it('is said on the page to sign in, and not to whoever had no session', async () => {
    const { token } = await signedIn()
    await submit('/console/sign-out', token)
    const at = async (token: string | null) => (await visit('/console', token)).headers.get('Location') ?? ''
    expect([await at(null), await at(token)]).toEqual(['/console/sign-in', '/console/sign-in?done=your_session_ended'])
    expect((await visit(await at(token), null)).text).toContain('Your session ended.')
  })
})

it('a page leads back to the list as it was filtered, and to no other page', async () => {
  const { owner, project } = await freshProject()
  const list = `/console/p/${project}/platform/settings/api-keys`
  for (const [referer, back] of [
    [`${ORIGIN}${list}?state=revoked&cursor=x`, `${list}?state=revoked&amp;cursor=x`],
    [`${ORIGIN}/console/sessions?x=1`, list],
    [`https://elsewhere.example${list}?x=1`, list],
  ] as const) {
    const { text } = await visit(`${list}/new`, owner.token, { headers: { Referer: referer } })
    expect([referer, /href="([^"]*)">← /.exec(text)?.[1]]).toEqual([referer, back])
  }
})

it('the cursor goes to the first mistake of a form', async () => {
  const { token } = await signedIn()
  const focused = (text: string) => [...text.matchAll(/<input [^>]*autofocus[^>]*>/g)].map(([tag]) => tag)
  const { text } = await submit('/console/projects', token, { name: '' })
  expect(focused(text)).toEqual([expect.stringContaining('aria-invalid="true"')])
})
