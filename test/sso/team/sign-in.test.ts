import { describe, expect, it } from 'vitest'
import { DOMAIN_STATES } from '../../../src/domains/schema'
import { HOUR } from '../../../src/lib/time'
import { visit } from '../../console/visit'
import { addMember, browse, call, DIRECTORY, freshProject, invited, ORIGIN, signedIn } from '../../harness'
import { end } from '../../projects/ending'
import { signIn as byCode } from '../../sessions/signing-in'
import { insertDomain } from '../rows'
import { account, activate, CONNECTIONS, comeBack, connect, signIn, ssoMember, start, type Team, team } from './team'

const current = (token: string | null) => call('/auth/sessions/current', { token })
const memberOf = async ({ project, owner }: Team, user: string) =>
  (await call(`/platform/v1/members/${user}`, { project, token: owner.token })).body
const lastUsed = async ({ project, owner, connection }: Team) =>
  (await call(`${CONNECTIONS}/${connection}`, { project, token: owner.token })).body.last_used_at
const refused = (location: string | null) => new URL(location ?? '', ORIGIN).searchParams.get('refused')

describe('a first sign-in with single sign-on', () => {
  it('makes a user and a member in the default role, and opens a session of twelve hours', async () => {
    const of = await team()
    const { token, location } = await signIn(of, { sub: 'ada', email: `Ada@${of.domain}`, sid: 'provider-session' })
    expect(location).toBe('/console')
    const { body } = await current(token)
    expect(body.user.email).toBe(`ada@${of.domain}`)
    expect(body.session.connection_id).toBe(of.connection)
    expect(Date.parse(body.session.expires_at) - Date.parse(body.session.created_at)).toBe(12 * HOUR)
    expect(await memberOf(of, body.user.id)).toMatchObject({ role: 'developer', source: 'sso', invited_by: null })
    const { results } = await DIRECTORY.prepare('SELECT sid FROM sessions WHERE id = ?').bind(body.session.id).all()
    expect(results).toEqual([{ sid: 'provider-session' }])
    expect(await lastUsed(of)).toMatch(/^20/)
    const log = await call('/platform/v1/audit-log?action=member.joined', {
      project: of.project,
      token: of.owner.token,
    })
    expect(log.body.data[0]).toMatchObject({
      actor: { type: 'user', id: body.user.id },
      object: { type: 'member', id: body.user.id },
      details: { role: 'developer', sso_connection: of.connection },
    })
  })

  it('links a user who has the address, and leaves a member as they are', async () => {
    const of = await team()
    const owner = await addMember(of.project, 'owner')
    const email = `grace@${of.domain}`
    await DIRECTORY.prepare('UPDATE users SET email = ? WHERE id = ?').bind(email, owner.user).run()
    // Without proof, whoever sets up a provider could become owner.
    expect(refused((await signIn(of, { sub: 'grace', email })).location)).toBe('owner_unproven')
    const other = { '__Host-session': (await addMember(of.project, 'owner')).token }
    expect(refused((await signIn(of, { sub: 'grace', email }, { jar: other })).location)).toBe('owner_unproven')
    const { token } = await signIn(of, { sub: 'grace', email }, { jar: { '__Host-session': owner.token } })
    expect((await current(token)).body.user.id).toBe(owner.user)
    expect((await signIn(of, { sub: 'grace', email })).token).not.toBeNull()
    expect(await memberOf(of, owner.user)).toMatchObject({ role: 'owner', source: 'invitation' })
  })

  it('asks first where another site leads to it', async () => {
    const of = await team()
    for (const site of ['cross-site', 'same-site']) {
      const { status, text } = await call(`/auth/sso/start?connection=${of.connection}`, {
        headers: { 'Sec-Fetch-Site': site },
      })
      expect([status, text.includes(`/auth/sso/start?connection=${of.connection}`)]).toEqual([200, true])
    }
    const { status } = await call(`/auth/sso/start?connection=${of.connection}`, {
      headers: { Referer: 'https://evil.dev/' },
    })
    expect(status).toBe(200)
  })

  it('asks first where somebody is signed in and a link from nowhere leads to it, and begins nothing for HEAD', async () => {
    const of = await team()
    const path = `/auth/sso/start?connection=${of.connection}`
    const by = (method: string, headers: Record<string, string>) => call(path, { method, headers })
    const { token, email } = await addMember(of.project, 'admin')
    const cookie = { Cookie: `__Host-session=${token}` }
    for (const from of [{}, { 'Sec-Fetch-Site': 'none' }]) expect((await by('GET', from)).status).toBe(302)
    for (const from of [{}, { 'Sec-Fetch-Site': 'none' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const { status, text } = await by('GET', { ...cookie, ...from })
      expect([status, text.includes(`signed in as ${email}`)]).toEqual([200, true])
    }
    const ours = [{ 'Sec-Fetch-Site': 'same-origin' }, { Referer: `${ORIGIN}/console/x` }]
    for (const from of ours) expect((await by('GET', { ...cookie, ...from })).status).toBe(302)
    expect((await by('GET', { ...cookie, Referer: 'https://evil.dev/' })).status).toBe(200)
    const head = await by('HEAD', {})
    expect([head.status, head.headers.get('Location'), head.headers.get('Set-Cookie')]).toEqual([200, null, null])
  })

  it('lets in who is invited, where new people must be', async () => {
    const of = await team({ default_role: null })
    const email = `ada@${of.domain}`
    expect(refused((await signIn(of, { sub: 'ada', email })).location)).toBe('not_invited')
    const invitation = await invited(of.project, { email, role: 'admin' })
    const { token } = await signIn(of, { sub: 'ada', email })
    expect((await call(`/auth/invitations/${invitation.id}/accept`, { method: 'POST', token })).status).toBe(200)
    expect((await current(token)).status).toBe(200)
  })

  it.each([
    [
      'an address that is not verified',
      'email_unverified',
      (domain: string) => ({ email: `ada@${domain}`, email_verified: false }),
    ],
    ['an address of another domain', 'domain_not_owned', () => ({ email: 'ada@other.dev' })],
    ['an address below the domain', 'domain_not_owned', (domain: string) => ({ email: `ada@mail.${domain}` })],
    ['no address', 'email_missing', () => ({ email: null })],
  ])('is refused with %s', async (_, reason, claims) => {
    const of = await team()
    const { token: before } = await signedIn()
    const jar = { '__Host-session': before }
    const { location, token } = await signIn(of, { sub: 'ada', ...claims(of.domain) }, { jar })
    expect([refused(location), token]).toEqual([reason, null])
    expect((await current(before)).status).toBe(200)
    expect(await lastUsed(of)).toBeNull()
    const { results } = await DIRECTORY.prepare('SELECT * FROM sso_identities WHERE connection_id = ?')
      .bind(of.connection)
      .all()
    expect(results).toEqual([])
  })

  it('at once with another of the same person makes one user, one member and one identity', async () => {
    const of = await team()
    const email = `ada@${of.domain}`
    const first = await signIn(of, { sub: 'other', email: `other@${of.domain}` })
    expect(first.token).not.toBeNull()
    await account(of.host, { sub: 'ada', email })
    const begun = await Promise.all([1, 2, 3].map(() => start(`connection=${of.connection}`)))
    const backs = await Promise.all(begun.map(({ url }) => browse(url, new URL(ORIGIN).hostname)))
    const answers = await Promise.all(backs.map((url, i) => comeBack(url, begun[i]?.jar ?? {})))
    expect(answers.map(({ headers }) => headers.get('Location'))).toEqual(['/console', '/console', '/console'])
    for (const statement of [
      `SELECT count(*) AS n FROM users WHERE email = '${email}'`,
      `SELECT count(*) AS n FROM sso_identities WHERE connection_id = '${of.connection}' AND subject = 'ada'`,
      `SELECT count(*) AS n FROM members JOIN users ON users.id = user_id WHERE project_id = '${of.project}' AND email = '${email}'`,
    ]) {
      expect((await DIRECTORY.prepare(statement).first<{ n: number }>())?.n).toBe(1)
    }
  })
})

describe('a later sign-in', () => {
  it('goes by the subject, whatever the address is then', async () => {
    const of = await team()
    const ada = await ssoMember(of)
    const { token } = await signIn(of, { sub: 'ada', email: 'other@elsewhere.dev', email_verified: false })
    expect((await current(token)).body.user).toEqual({ id: ada.user, email: ada.email })
  })

  it('does not let back in who was removed', async () => {
    const of = await team()
    const ada = await ssoMember(of)
    await call(`/platform/v1/members/${ada.user}`, { method: 'DELETE', project: of.project, token: of.owner.token })
    expect(refused((await signIn(of, { sub: 'ada', email: ada.email })).location)).toBe('not_invited')
    // Somebody else's invitation is not theirs, whatever the provider says of their address.
    const { email } = await invited(of.project, { email: `grace@${of.domain}` })
    expect(refused((await signIn(of, { sub: 'ada', email })).location)).toBe('not_invited')
  })

  it.each([
    ['with the same account', { sub: 'ada', name: 'ada' }],
    ['with another address of the same account', { sub: 'ada', name: 'countess' }],
    ['with another account of the same address', { sub: 'new', name: 'ada' }],
    ['after they have signed up with a code', { sub: 'new', name: 'ada', signsUp: true }],
  ])('does not let back in who was removed and has deleted their account: %s', async (_, { sub, name, ...more }) => {
    const of = await team()
    const { project, owner } = of
    const ada = await ssoMember(of)
    await call(`/platform/v1/members/${ada.user}`, { method: 'DELETE', project, token: owner.token })
    const { token } = await byCode(ada.email)
    expect((await call('/auth/user', { method: 'DELETE', token })).status).toBe(204)
    if ('signsUp' in more) await byCode(ada.email)
    const email = `${name}@${of.domain}`
    const back = await signIn(of, { sub, email })
    expect([back.token, refused(back.location)]).toEqual([null, 'not_invited'])
    // What remembers them names nobody.
    const { results } = await DIRECTORY.prepare('SELECT * FROM former_members WHERE project_id = ?').bind(project).all()
    expect(JSON.stringify(results)).not.toMatch(new RegExp(`${ada.user}|ada@|${of.host}`))
    // Everybody else comes in, and so do they by an invitation.
    expect((await signIn(of, { sub: 'grace', email: `grace@${of.domain}` })).token).not.toBeNull()
    const { id } = await invited(project, { email, role: 'viewer' })
    const again = await signIn(of, { sub, email })
    expect(again.token).not.toBeNull()
    const accepted = await call(`/auth/invitations/${id}/accept`, { method: 'POST', token: again.token })
    expect([accepted.status, accepted.body.role]).toEqual([200, 'viewer'])
  })

  it('does not let back in who has left by deleting their account', async () => {
    const of = await team()
    const ada = await ssoMember(of)
    const { token } = await byCode(ada.email)
    expect((await call('/auth/user', { method: 'DELETE', token })).status).toBe(204)
    const back = await signIn(of, { sub: 'ada', email: ada.email })
    expect([back.token, refused(back.location)]).toEqual([null, 'not_invited'])
    // Another project does not know them.
    const other = await team()
    expect((await signIn(other, { sub: 'ada', email: `ada@${other.domain}` })).token).not.toBeNull()
  })

  it('lets in who was removed from another project', async () => {
    const of = await team()
    const ada = await ssoMember(of)
    await call(`/platform/v1/members/${ada.user}`, { method: 'DELETE', project: of.project, token: of.owner.token })
    const second = await freshProject()
    const domain = await insertDomain(second.project, of.domain)
    const fields = { domain_ids: [domain], default_role: 'viewer' }
    const { id } = await connect(second.project, second.owner.token, of.host, fields)
    await activate(second.project, second.owner.token, id)
    const { location, token } = await signIn({ host: of.host, connection: id }, { sub: 'ada', email: ada.email })
    expect([location, (await current(token)).body.user.id]).toEqual(['/console', ada.user])
  })

  it('is refused once the domain is lost, and works in its grace', async () => {
    const of = await team()
    const ada = await ssoMember(of)
    const state = (sql: string) => DIRECTORY.prepare(`UPDATE domains SET ${sql} WHERE id = ?`).bind(of.domainId).run()
    await state("state = 'grace', grace_until = 1")
    expect((await signIn(of, { sub: 'ada', email: ada.email })).token).not.toBeNull()
    await state("state = 'failed', grace_until = NULL, next_check_at = NULL")
    expect(refused((await signIn(of, { sub: 'ada', email: ada.email })).location)).toBe('domain_unverified')
  })

  it('is refused while the connection is disabled', async () => {
    const of = await team()
    await call(`${CONNECTIONS}/${of.connection}/disable`, {
      method: 'POST',
      project: of.project,
      token: of.owner.token,
    })
    const { answer } = await start(`connection=${of.connection}`)
    expect(refused(answer.headers.get('Location'))).toBe('connection_inactive')
  })

  it('is a dead page if the connection is deleted between the start and the callback', async () => {
    const of = await team()
    const begun = await start(`connection=${of.connection}`)
    const back = await browse(begun.url, new URL(ORIGIN).hostname)
    const options = { method: 'DELETE', project: of.project, token: of.owner.token }
    expect((await call(`${CONNECTIONS}/${of.connection}`, options)).status).toBe(204)
    const answer = await comeBack(back, begun.jar)
    expect([answer.status, answer.headers.get('Location'), answer.headers.get('Set-Cookie')]).toEqual([400, null, null])
  })

  it('is refused if the connection is disabled between the start and the callback', async () => {
    const of = await team()
    const begun = await start(`connection=${of.connection}`)
    const back = await browse(begun.url, new URL(ORIGIN).hostname)
    await call(`${CONNECTIONS}/${of.connection}/disable`, {
      method: 'POST',
      project: of.project,
      token: of.owner.token,
    })
    expect(refused((await comeBack(back, begun.jar)).headers.get('Location'))).toBe('connection_inactive')
  })
})

describe('the way there and back', () => {
  it('works once, in the browser that began it, at the address of its connection', async () => {
    const of = await team()
    const other = await team()
    const { answer, back, jar } = await signIn(of, { sub: 'ada', email: `ada@${of.domain}` })
    expect(answer.status).toBe(303)
    expect((await comeBack(back, jar)).status).toBe(400) // replayed
    const again = await start(`connection=${of.connection}`)
    const url = await browse(again.url, new URL(ORIGIN).hostname)
    const elsewhere = await start(`connection=${of.connection}`)
    expect((await comeBack(url, elsewhere.jar)).status).toBe(400) // another browser: login CSRF
    expect((await comeBack(url, {})).status).toBe(400)
    const mixed = new URL(url)
    mixed.pathname = `/sso/callback/${other.connection}`
    expect((await comeBack(mixed, again.jar)).status).toBe(400) // the address of another provider
    expect((await comeBack(url, again.jar)).status).toBe(303) // none of these used it up
  })

  it('lets two tabs of a browser sign in', async () => {
    const of = await team()
    await account(of.host, { sub: 'ada', email: `ada@${of.domain}` })
    const one = await start(`connection=${of.connection}`)
    const two = await start(`connection=${of.connection}`, one.jar)
    for (const { url } of [one, two]) {
      expect((await comeBack(await browse(url, new URL(ORIGIN).hostname), two.jar)).status).toBe(303)
    }
  })

  it.each([
    ['/console/p/prj_1?x=1', '/console/p/prj_1?x=1'],
    ['//evil.dev/console', '/console'],
    ['https://evil.dev/console', '/console'],
    ['/console/../../evil', '/console'],
    ['/\\evil.dev', '/console'],
    ['/consolevil', '/console'],
    [`/console?${'x'.repeat(2000)}`, '/console'],
    ['%2F%2Fevil.dev/console', '/console'],
    ['/console/%2e%2e//evil.dev', '/console'],
    ['/console\r\nLocation: https://evil.dev', '/console'],
    ['/console/\r\n\\evil.dev', '/console//evil.dev'],
    ['javascript:alert(1)//console', '/console'],
  ])('leads to next=%s only within the console', async (next, location) => {
    const of = await team()
    const query = new URLSearchParams({ connection: of.connection, next })
    const done = await signIn(of, { sub: 'ada', email: `ada@${of.domain}` }, { query: query.toString() })
    expect(done.location).toBe(location)
  })

  it('says why the provider signed nobody in, in our words only', async () => {
    const of = await team()
    const faults = { response: { code: null, error: 'access_denied', error_description: '<b>call 555</b>' } }
    const { location } = await signIn(of, { sub: 'ada' }, { faults })
    expect(refused(location)).toBe('sign_in_refused')
    const page = await call(location ?? '')
    expect(page.text).toContain('did not sign you in')
    expect(page.text).not.toContain('call 555')
  })
})

describe('where an address leads', () => {
  it('depends on its domain alone: to one connection, to a choice, or to a code', async () => {
    const of = await team()
    const one = await start(`email=nobody@${of.domain}`)
    expect(new URL(one.url).hostname).toBe(of.host)
    expect(new URL(one.url).searchParams.get('login_hint')).toBe(`nobody@${of.domain}`)
    const none = await start('email=ada@unknown.dev')
    expect(none.url).toBe('/console/sign-in?email=ada%40unknown.dev&next=%2Fconsole')
    const form = { email: `anybody@${of.domain}` }
    const page = await visit('/console/sign-in', null, { form })
    expect(page.text).toContain(`Continue to ${of.host}`)
    expect(page.text).not.toContain('Acme')
    expect(page.text).toContain(`/auth/sso/start?connection=${of.connection}`)
    const code = await visit('/console/sign-in', null, { form: { ...form, code: 'true' } })
    expect(code.text).toContain('Enter the code')
  })

  it('is no project that was deleted', async () => {
    const of = await team()
    await end(of)
    expect((await start(`email=ada@${of.domain}`)).url).toMatch('/console/sign-in?email=ada')
  })

  it.each(DOMAIN_STATES)('is a connection whose domain its project holds now: %s', async (state) => {
    const of = await team()
    await DIRECTORY.prepare(
      `UPDATE domains SET state = ?1, grace_until = iif(?1 = 'grace', 9e12, NULL),
       next_check_at = iif(?1 IN ('failed', 'released'), NULL, 9e12) WHERE id = ?2`,
    )
      .bind(state, of.domainId)
      .run()
    const { url } = await start(`email=ada@${of.domain}`)
    expect(url.startsWith('/console/sign-in?')).toBe(state !== 'verified' && state !== 'grace')
  })

  it('offers each of several projects', async () => {
    const of = await team({ name: 'First' })
    const second = await freshProject()
    const domain = await insertDomain(second.project, of.domain)
    const { id } = await connect(second.project, second.owner.token, of.host, { name: 'Second', domain_ids: [domain] })
    await activate(second.project, second.owner.token, id)
    const { answer } = await start(`email=ada@${of.domain}`)
    const { text } = answer
    expect(text.match(/Continue to [^<]*/g)?.map((label) => label.trim())).toEqual([
      `Continue to ${of.host}`,
      `Continue to ${of.host} (2)`,
    ])
    for (const name of ['First', 'Second', 'Test']) expect(text).not.toContain(name)
    // Nor does the link itself, on another site.
    const link = await call(`/auth/sso/start?connection=${id}`, { headers: { 'Sec-Fetch-Site': 'cross-site' } })
    expect([link.text.includes(`Continue to ${of.host}`), link.text.includes('Second')]).toEqual([true, false])
  })
})
