import { describe, expect, it } from 'vitest'
import { addMember, call, DIRECTORY, freshProject, ORIGIN, signedIn, unconfirm } from '../harness'
import { type Authenticator, newAuthenticator } from '../passkeys/authenticator'
import { byCode, register, withPasskey } from '../passkeys/people'
import { formToken, submit, visit } from './visit'

const PASSKEYS = '/console/passkeys'
const FACTOR = '/console/second-factor'
const location = ({ headers }: { headers: Headers }) => headers.get('Location')
const general = (project: string) => `/console/p/${project}/platform/settings/general`

/** The options that the script of a form gets. */
const optionsAt = async (path: string, token: string) => (await submit(`${path}/options`, token)).body as never

/** Sends the form of a passkey, as the script fills it in. */
async function send(path: string, token: string, authenticator: Authenticator, fields: Record<string, string> = {}) {
  const does = path === PASSKEYS ? 'create' : 'get'
  const credential = await authenticator[does](await optionsAt(path, token))
  return submit(path, token, { credential: JSON.stringify(credential), ...fields })
}

const codesOn = (text: string) => /<pre id="codes">([^<]*)<\/pre>/.exec(text)?.[1]?.split('\n') ?? []

describe('the page to sign in', () => {
  const options = async () => (await visit('/console/sign-in/passkey/options', null, { form: {} })).body as never

  it('signs in with a passkey, and continues to where the visitor wanted to go', async () => {
    const { authenticator, token } = await withPasskey()
    const credential = JSON.stringify(await authenticator.get(await options()))
    const form = { credential, next: '/console/sessions' }
    const answer = await visit('/console/sign-in/passkey', null, { form })
    expect([answer.status, location(answer)]).toEqual([303, '/console/sessions'])
    expect(answer.headers.get('Set-Cookie')).toMatch(
      /^__Host-session=svc_cs_[0-9a-f]{64}; .*HttpOnly; Secure; SameSite=Lax/,
    )
    const again = await visit('/console/sign-in/passkey', null, { form })
    expect([again.status, again.headers.get('Set-Cookie')]).toEqual([401, null])
    expect(again.text).toContain('We do not recognize this passkey')
    expect(token).toBeTruthy()
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['another form', '{"id":1}'],
  ])('refuses %s', async (_, credential) => {
    const answer = await visit('/console/sign-in/passkey', null, { form: { credential } })
    expect([answer.status, answer.headers.get('Set-Cookie')]).toEqual([401, null])
  })

  it('offers a passkey by a form that is hidden until the script shows it', async () => {
    const { text, headers } = await visit('/console/sign-in', null)
    expect(text).toMatch(/<form [^>]*data-passkey="get"[^>]* hidden/)
    expect(text).toMatch(/<script src="\/assets\/passkeys-[0-9a-f]{10}\.js" defer/)
    expect(headers.get('Content-Security-Policy')).toContain("script-src 'self';")
    expect(headers.get('Permissions-Policy')).not.toContain('publickey')
  })
})

describe('the page of passkeys', () => {
  it('adds the first passkey with recovery codes, then more, and renames and deletes them', async () => {
    const { token } = await signedIn()
    expect((await visit(PASSKEYS, token)).text).toContain('You have no passkeys.')
    const first = await send(PASSKEYS, token, await newAuthenticator(), { name: 'Laptop' })
    expect(first.status).toBe(201)
    expect(codesOn(first.text)).toHaveLength(10)
    const second = await send(PASSKEYS, token, await newAuthenticator(), { name: 'Phone', next: '/console/sessions' })
    expect([second.status, location(second)]).toEqual([303, '/console/sessions'])
    const { text } = await visit(PASSKEYS, token)
    expect(text).toContain('You have 10 recovery codes left of 10')
    const [id = ''] = /psk_\w+/.exec(text) ?? []
    const renamed = await submit(`${PASSKEYS}/${id}/rename`, token, { name: 'Old laptop' })
    expect(location(renamed)).toBe(`${PASSKEYS}?done=passkey_renamed`)
    expect((await submit(`${PASSKEYS}/${id}/rename`, token, { name: ' ' })).status).toBe(422)
    expect((await visit(`${PASSKEYS}/${id}/delete`, token)).text).toContain('Delete the passkey “Old laptop”?')
    expect(location(await submit(`${PASSKEYS}/${id}/delete`, token))).toBe(`${PASSKEYS}?done=passkey_deleted`)
    expect((await visit(PASSKEYS, token)).text).not.toContain(id)
  })

  it('makes new recovery codes once, however often the form is sent', async () => {
    const { token, codes, user } = await withPasskey()
    await DIRECTORY.prepare('UPDATE recovery_codes SET created_at = created_at - 1 WHERE user_id = ?').bind(user).run()
    const renewed = async () => (await call('/auth/recovery-codes', { token })).body.created_at
    const page = (await visit(`${PASSKEYS}/codes`, token)).text
    const form = { known: /name="known" value="([^"]*)"/.exec(page)?.[1] ?? '' }
    const { status, text } = await submit(`${PASSKEYS}/codes`, token, form)
    expect([status, codesOn(text).length]).toEqual([201, 10])
    expect(codesOn(text)).not.toEqual(codes)
    const at = await renewed()
    for (const again of [form, {}]) {
      const answer = await submit(`${PASSKEYS}/codes`, token, again)
      expect([answer.status, location(answer)]).toEqual([303, `${PASSKEYS}?done=codes_renewed_before`])
    }
    expect((await visit(`${PASSKEYS}?done=codes_renewed_before`, token)).text).toContain('Nothing was changed')
    expect(await renewed()).toBe(at)
    const { token: other } = await byCode({ token, user, email: '' })
    const json = { code: codesOn(text)[0] }
    expect((await call('/auth/session/recovery-code', { method: 'POST', token: other, json })).status).toBe(204)
  })

  it('makes recovery codes for a user who has none left in the database', async () => {
    const { token, user } = await withPasskey()
    await DIRECTORY.prepare('DELETE FROM recovery_codes WHERE user_id = ?').bind(user).run()
    expect((await visit(`${PASSKEYS}/codes`, token)).text).toContain('name="known" value=""')
    expect((await submit(`${PASSKEYS}/codes`, token, { known: '' })).status).toBe(201)
    expect((await submit(`${PASSKEYS}/codes`, token, { known: '' })).status).toBe(303)
  })

  it('says why a passkey was not added, and adds none', async () => {
    const { token } = await signedIn()
    const credential = await (await newAuthenticator()).create(await optionsAt(PASSKEYS, token), {
      origin: 'https://x.test',
    })
    const answer = await submit(PASSKEYS, token, { credential: JSON.stringify(credential), name: 'Laptop' })
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('could not be verified')])
    expect((await visit(PASSKEYS, token)).text).toContain('You have no passkeys.')
  })

  it("shows and changes nobody else's", async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const path = `${PASSKEYS}/${mine.passkey.id}`
    for (const part of ['rename', 'delete']) expect((await visit(`${path}/${part}`, theirs.token)).status).toBe(404)
    expect((await submit(`${path}/rename`, theirs.token, { name: 'x' })).status).toBe(404)
    expect((await submit(`${path}/delete`, theirs.token)).status).toBe(404)
  })

  it('leads to a confirmation first, and to the second factor where there is a passkey already', async () => {
    const person = await withPasskey()
    const { token } = await byCode(person)
    const change = `${PASSKEYS}/${person.passkey.id}/delete`
    const led = (path: string, next: string) => `${path}?next=${encodeURIComponent(next)}`
    expect(location(await visit(change, token))).toBe(led(FACTOR, change))
    const headers = { Referer: `${ORIGIN}${PASSKEYS}`, 'HX-Request': 'true' }
    const asked = await submit(`${PASSKEYS}/options`, token, {}, { headers })
    expect([asked.status, asked.headers.get('HX-Redirect')]).toEqual([401, led(FACTOR, PASSKEYS)])
    await unconfirm(person.user)
    expect(location(await visit(`${PASSKEYS}/new`, person.token))).toBe(led('/console/confirm', `${PASSKEYS}/new`))
    // A form that was opened before the confirmation ended changes nothing.
    for (const form of ['codes', `${person.passkey.id}/delete`])
      expect(location(await submit(`${PASSKEYS}/${form}`, person.token))).toMatch(/^\/console\/confirm/)
    expect((await visit(PASSKEYS, person.token)).text).toContain(`${PASSKEYS}/${person.passkey.id}/delete`)
    // A passkey confirms, too.
    expect((await visit('/console/confirm?next=/console', person.token)).text).toContain('Use your passkey instead')
    const confirmed = await send(FACTOR, person.token, person.authenticator, { next: `${PASSKEYS}/new` })
    expect(location(confirmed)).toBe(`${PASSKEYS}/new?done=second_factor`)
    expect((await visit(`${PASSKEYS}/new`, person.token)).status).toBe(200)
  })
})

describe('the second factor', () => {
  /** A project that requires a passkey, and another session of its owner. */
  async function requiring() {
    const { project, owner } = await freshProject()
    const { authenticator, recovery_codes } = await register(owner.token)
    const set = await submit(`${general(project)}/settings`, owner.token, { require_passkey: 'true' })
    expect(location(set)).toBe(`${general(project)}?done=settings_changed`)
    return { project, owner, authenticator, codes: recovery_codes, session: await byCode(owner) }
  }

  it('is asked for by a project that requires it, and leads back to the page', async () => {
    const { project, authenticator, session } = await requiring()
    const path = general(project)
    const first = await visit(`${path}?x=1`, session.token)
    expect([first.status, location(first)]).toEqual([303, `${FACTOR}?next=${encodeURIComponent(`${path}?x=1`)}`])
    const page = await visit(location(first) ?? '', session.token)
    expect(page.text).toContain('Use your passkey')
    const proved = await send(FACTOR, session.token, authenticator, { next: path })
    expect([proved.status, location(proved)]).toEqual([303, `${path}?done=second_factor`])
    expect((await visit(path, session.token)).status).toBe(200)
    expect(location(await visit(`${FACTOR}?next=${path}`, session.token))).toBe(path)
  })

  it('is a recovery code where the passkey is lost', async () => {
    const { project, codes, session } = await requiring()
    const wrong = await submit(`${FACTOR}/code`, session.token, { code: 'AAAAA-AAAAA', next: general(project) })
    expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining('This code is incorrect')])
    const right = await submit(`${FACTOR}/code`, session.token, { code: codes[0] ?? '', next: general(project) })
    expect(location(right)).toBe(`${general(project)}?done=second_factor`)
    expect((await visit(general(project), session.token)).status).toBe(200)
  })

  it('is a first passkey for who has none, and nothing for a viewer', async () => {
    const { project } = await requiring()
    const admin = await addMember(project, 'admin')
    const at = location(await visit(general(project), admin.token)) ?? ''
    const { text } = await visit(at, admin.token)
    expect(text).toContain(`href="/console/passkeys/new?next=${encodeURIComponent(general(project))}"`)
    const added = await send(PASSKEYS, admin.token, await newAuthenticator(), { name: 'x', next: general(project) })
    expect(added.text).toContain(`href="${general(project)}"`)
    expect((await visit(general(project), admin.token)).status).toBe(200)
    expect((await visit(general(project), (await addMember(project, 'viewer')).token)).status).toBe(200)
  })

  it.each(['https://evil.test/console', '//evil.test', '/other', 'javascript:alert(1)'])(
    'leads nowhere else: %s',
    async (next) => {
      const person = await withPasskey()
      const { token } = await byCode(person)
      expect(location(await send(FACTOR, token, person.authenticator, { next }))).toBe('/console?done=second_factor')
    },
  )

  it('is needed to require it: an owner who has not used a passkey is led to it, an admin sees no form', async () => {
    const { project, owner } = await freshProject()
    const headers = { Referer: ORIGIN + general(project) }
    const refused = await submit(`${general(project)}/settings`, owner.token, { require_passkey: 'true' }, { headers })
    expect(location(refused)).toBe(`${FACTOR}?next=${encodeURIComponent(general(project))}`)
    expect((await visit(general(project), owner.token)).text).not.toMatch(/name="require_passkey"[^>]* checked/)
    const admin = await addMember(project, 'admin')
    const { text } = await visit(general(project), admin.token)
    expect(text).not.toContain('name="require_passkey"')
    const form = { form_token: await formToken(admin.token), require_passkey: 'true' }
    expect((await visit(`${general(project)}/settings`, admin.token, { form })).status).toBe(403)
  })
})
