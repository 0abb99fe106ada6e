import { describe, expect, it } from 'vitest'
import { visit } from '../../console/visit'
import { type Answer, addMember, browse, call, freshProject, invited, ORIGIN, unconfirm } from '../../harness'
import { signIn as byCode } from '../../sessions/signing-in'
import { account, comeBack, cookiesOf, signIn, ssoMember, start, team } from './team'

/* Whoever sets up a provider can vouch for any address of its domains: that makes nobody an owner. */

const told = ({ status, body }: Answer) => [status, body?.code]
const refused = (location: string | null) => new URL(location ?? '', ORIGIN).searchParams.get('refused')
const accept = (id: string, token: string | null) => call(`/auth/invitations/${id}/accept`, { method: 'POST', token })
const roleOf = async (of: { project: string; owner: { token: string } }, user: string) =>
  (await call(`/platform/v1/members/${user}`, { project: of.project, token: of.owner.token })).body.role

/** Somebody who is invited as an owner, and a session for their address by single sign-on. */
async function invitedOwner() {
  const of = await team({ default_role: null })
  const email = `boss@${of.domain}`
  const invitation = await invited(of.project, { email, role: 'owner' })
  const { token } = await signIn(of, { sub: 'boss', email })
  return { ...of, email, invitation, token }
}

describe('an invitation to become an owner', () => {
  it('is not accepted in a session from single sign-on', async () => {
    const { project, owner, invitation, token } = await invitedOwner()
    for (const _ of [1, 2]) expect(told(await accept(invitation.id, token))).toEqual([403, 'sso_session_limited'])
    const at = `/console/invitations/${invitation.id}`
    const form_token = /name="form_token" value="(\w+)"/.exec((await visit(at, token)).text)?.[1] ?? ''
    const page = await visit(`${at}/accept`, token, { form: { form_token } })
    expect([page.status, page.text.includes('Sign in with a code or a passkey')]).toEqual([403, true])
    const { body } = await call('/platform/v1/members', { project, token: owner.token })
    expect(body.data).toHaveLength(1)
    expect((await call(`/auth/invitations/${invitation.id}/decline`, { method: 'POST', token })).status).toBe(204)
  })

  it('is accepted with a code, which removes what a provider has linked before', async () => {
    const of = await invitedOwner()
    const { project, email, invitation, token, owner } = of
    const own = await byCode(email)
    expect((await accept(invitation.id, own.token)).body.role).toBe('owner')
    expect(told(await call('/auth/sessions/current', { token }))).toEqual([401, 'unknown_session'])
    expect(refused((await signIn(of, { sub: 'boss', email })).location)).toBe('owner_unproven')
    const proved = await signIn(of, { sub: 'boss', email }, { jar: { '__Host-session': own.token } })
    expect(proved.token).not.toBeNull()
    const log = await call('/platform/v1/audit-log?action=sso_identity.deleted', { project, token: owner.token })
    expect(log.body.data).toMatchObject([{ actor: { type: 'user', id: own.user.id } }])
  })
})

it('an invitation to become an owner is closed by somebody who is a member already, whose role stays', async () => {
  const of = await team({ default_role: 'viewer' })
  const email = `boss@${of.domain}`
  const invitation = await invited(of.project, { email, role: 'owner' })
  const { token, user } = await ssoMember(of, 'boss')
  expect((await accept(invitation.id, token)).body).toMatchObject({ role: 'viewer' })
  expect(await roleOf(of, user)).toBe('viewer')
})

describe('a member who becomes an owner', () => {
  it('must prove it to be linked again', async () => {
    const of = await team()
    const [ada, bob] = [await ssoMember(of), await ssoMember(of, 'bob')]
    const promote = { method: 'PATCH', project: of.project, token: of.owner.token, json: { role: 'owner' } }
    expect((await call(`/platform/v1/members/${ada.user}`, promote)).body.role).toBe('owner')
    expect(told(await call('/auth/sessions/current', { token: ada.token }))).toEqual([401, 'unknown_session'])
    expect((await call('/auth/sessions/current', { token: bob.token })).status).toBe(200)
    expect(refused((await signIn(of, { sub: 'ada', email: ada.email })).location)).toBe('owner_unproven')
    const own = await byCode(ada.email)
    const { token } = await signIn(of, { sub: 'ada', email: ada.email }, { jar: { '__Host-session': own.token } })
    expect((await call(`/platform/v1/projects/${of.project}`, { token })).body.role).toBe('owner')
    // The same role again, and another one, leave the identity.
    await call(`/platform/v1/members/${ada.user}`, promote)
    await call(`/platform/v1/members/${bob.user}`, { ...promote, json: { role: 'admin' } })
    for (const session of [token, bob.token]) {
      expect((await call('/auth/sessions/current', { token: session })).status).toBe(200)
    }
  })
})

it('an invitation to any other role is accepted in such a session', async () => {
  const of = await team({ default_role: null })
  const email = `ada@${of.domain}`
  const { id } = await invited(of.project, { email, role: 'admin' })
  const { token } = await signIn(of, { sub: 'ada', email })
  expect((await accept(id, token)).body.role).toBe('admin')
  const { body } = await call('/auth/sessions/current', { token })
  expect(await roleOf(of, body.user.id)).toBe('admin')
})

describe('an owner who has just signed in with a code', () => {
  /** A connection that an admin has set up, and an owner whose address its domain has. */
  async function adminsConnection() {
    const { project, owner: founder } = await freshProject()
    const admin = await addMember(project, 'admin')
    const of = await team({ name: 'Mine' }, { project, owner: admin })
    const boss = await addMember(project, 'owner', `boss@${of.domain}`)
    const jar = { '__Host-session': boss.token }
    await account(of.host, { sub: 'theirs', email: boss.email })
    return { ...of, founder, admin, boss, jar, query: `connection=${of.connection}` }
  }
  const comesBack = async (url: string, jar: Record<string, string>) =>
    comeBack(await browse(url, new URL(ORIGIN).hostname), jar)

  it('is told who set a connection up before it is linked to their account, and is not linked by one click', async () => {
    const { project, admin, boss, jar, host, query } = await adminsConnection()
    const page = await start(query, jar)
    expect(page.answer.status).toBe(200)
    for (const said of [admin.email, host, 'Mine', 'sign in as you', 'Link my account']) {
      expect(page.answer.text).toContain(said)
    }
    expect(page.answer.text).not.toContain('Continue to')
    const link = /href="([^"]*agree=\w+)"/.exec(page.answer.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const agreed = await start(link.split('?')[1] ?? '', jar)
    const { headers } = await comesBack(agreed.url, agreed.jar)
    expect(cookiesOf(headers)['__Host-session']).toBeDefined()
    const listed = await call(`/platform/v1/sso/identities?user_id=${boss.user}`, { project, token: admin.token })
    expect(listed.body.data).toHaveLength(1)
    // They have agreed: from the session that the connection opened, they are not asked again.
    const again = await start(query, cookiesOf(headers))
    expect([again.answer.status, new URL(again.url).hostname]).toEqual([302, host])
  })

  it.each(['nothing', 'a made-up agreement', "another session's agreement", 'a sign-in that began before the session'])(
    'is refused with %s',
    async (what) => {
      const { boss, jar, query, connection } = await adminsConnection()
      const other = await byCode(boss.email)
      const theirs = /agree=(\w+)"/.exec((await start(query, { '__Host-session': other.token })).answer.text)?.[1]
      const agree = { 'a made-up agreement': '0'.repeat(64), "another session's agreement": theirs ?? '' }[what]
      const asked = await start(agree ? `${query}&agree=${agree}` : query, jar)
      expect(asked.answer.text).toContain('Link my account')
      // Signed out, nobody is asked: then the session that comes back has not agreed.
      const begun = await start(`connection=${connection}`)
      const back = await comesBack(begun.url, { ...begun.jar, ...jar })
      expect(refused(back.headers.get('Location'))).toBe('owner_unproven')
    },
  )

  it('is asked nothing as another member, or without a proof', async () => {
    const { admin, boss, query, host, jar } = await adminsConnection()
    expect((await start(query, { '__Host-session': admin.token })).url).toContain(host)
    await unconfirm(boss.user)
    expect((await start(query, jar)).url).toContain(host)
  })
})
