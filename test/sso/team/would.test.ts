import { expect, it } from 'vitest'
import { addMember, browse, call, DIRECTORY, invited, ORIGIN } from '../../harness'
import { open } from '../customers'
import { account, CONNECTIONS, connect, type Person, signIn, ssoMember, type Team, team } from './team'

/** A test run by somebody. @returns what it says that a real sign-in would do */
async function wouldOf(of: Team, person: Person): Promise<string> {
  const asOwner = { project: of.project, token: of.owner.token }
  await account(of.host, person)
  const { body } = await call(`${CONNECTIONS}/${of.connection}/test`, { method: 'POST', ...asOwner })
  const { provider, cookie } = await open(body.url)
  const back = await browse(provider.href, new URL(ORIGIN).hostname)
  await call(back.href, { headers: { Cookie: cookie } })
  return (await call(`${CONNECTIONS}/${of.connection}/tests/${body.test_id}`, asOwner)).body.would
}

/** What a real sign-in does: why it is refused, or the role of the user afterwards. */
async function done(of: Team, person: Person) {
  const { token, location } = await signIn(of, person)
  if (token === null) return { refused: new URL(location ?? '', ORIGIN).searchParams.get('refused') }
  const { user } = (await call('/auth/sessions/current', { token })).body
  const member = await call(`/platform/v1/members/${user.id}`, { project: of.project, token: of.owner.token })
  return { role: member.status === 200 ? member.body.role : null }
}

const ada = ({ domain }: Team): Person => ({ sub: 'ada', email: `ada@${domain}` })

/** Ada is linked, and then removed from the project. */
async function removed(of: Team) {
  await remove(of, (await ssoMember(of)).user)
}

async function remove({ project, owner }: Team, user: string) {
  await call(`/platform/v1/members/${user}`, { method: 'DELETE', project, token: owner.token })
}

/** Ada is a member, and has never signed in with the connection. */
async function member(of: Team, role: 'admin' | 'owner') {
  const { user } = await addMember(of.project, role)
  await DIRECTORY.prepare('UPDATE users SET email = ? WHERE id = ?').bind(ada(of).email, user).run()
  return user
}

const invite = async (of: Team) => {
  await invited(of.project, { email: `ada@${of.domain}`, role: 'admin' })
}

async function loseDomain({ domainId }: Team) {
  const lost = "UPDATE domains SET state = 'failed', grace_until = NULL, next_check_at = NULL WHERE id = ?"
  await DIRECTORY.prepare(lost).bind(domainId).run()
}

type Case = {
  prepare?: (of: Team) => Promise<unknown>
  person?: (of: Team) => Person
  settings?: Record<string, unknown>
  would: string
  does: object
}
const NOT_INVITED = {
  would: 'They are not a member of this project, and must be invited.',
  does: { refused: 'not_invited' },
}
const MAY_ACCEPT = { would: 'would be signed in. They could then accept their invitation.', does: { role: null } }
const JOINS = {
  would: 'would be signed in, and become a member of the project with the role developer.',
  does: { role: 'developer' },
}
const CASES: Record<string, Case> = {
  'no address': {
    person: () => ({ sub: 'ada', email: null }),
    would: 'A real sign-in of ada would be refused. The provider did not send an email address.',
    does: { refused: 'email_missing' },
  },
  'an address that no user can have': {
    person: ({ domain }) => ({ sub: 'ada', email: `ada ada@${domain}` }),
    would: 'The provider did not send an email address.',
    does: { refused: 'email_missing' },
  },
  'an address that is not verified': {
    person: (of) => ({ ...ada(of), email_verified: false }),
    would: 'does not say that',
    does: { refused: 'email_unverified' },
  },
  'an address of another domain': {
    person: () => ({ sub: 'ada', email: 'ada@other.dev' }),
    would: 'other.dev is not a verified domain of this connection.',
    does: { refused: 'domain_not_owned' },
  },
  'a lost domain': {
    prepare: loseDomain,
    would: 'The connection has no verified domain.',
    does: { refused: 'domain_unverified' },
  },
  'a lost domain, somebody who is linked': {
    prepare: async (of) => {
      await ssoMember(of)
      await loseDomain(of)
    },
    would: 'The connection has no verified domain.',
    does: { refused: 'domain_unverified' },
  },
  'an owner without proof': {
    prepare: (of) => member(of, 'owner'),
    would: 'An owner must have signed in with a code or a passkey first.',
    does: { refused: 'owner_unproven' },
  },
  'another member': {
    prepare: (of) => member(of, 'admin'),
    would: 'would be signed in. They are already a member: admin.',
    does: { role: 'admin' },
  },
  'a member who is linked, with another address now': {
    prepare: (of) => ssoMember(of),
    person: () => ({ sub: 'ada', email: 'ada@elsewhere.dev', email_verified: false }),
    would: 'would be signed in. They are already a member: developer.',
    does: { role: 'developer' },
  },
  'somebody new, with a default role': {
    ...JOINS,
  },
  'somebody who is invited, with a default role': {
    prepare: invite,
    ...JOINS,
  },
  'somebody who is invited, without a default role': {
    prepare: invite,
    settings: { default_role: null },
    ...MAY_ACCEPT,
  },
  'somebody new, without a default role': {
    settings: { default_role: null },
    ...NOT_INVITED,
  },
  'somebody who was removed, with a default role': {
    prepare: removed,
    ...NOT_INVITED,
  },
  'a member who was removed without ever signing in with it, with a default role': {
    prepare: async (of) => remove(of, await member(of, 'admin')),
    ...NOT_INVITED,
  },
  'a member who was removed without ever signing in with it, and is invited again': {
    prepare: async (of) => {
      await remove(of, await member(of, 'admin'))
      await invite(of)
    },
    ...MAY_ACCEPT,
  },
  'somebody who was removed, and whose identity was deleted, with a default role': {
    prepare: async (of) => {
      await removed(of)
      await DIRECTORY.prepare('DELETE FROM sso_identities WHERE project_id = ?').bind(of.project).run()
    },
    ...NOT_INVITED,
  },
  'somebody who was removed, and is invited again': {
    prepare: async (of) => {
      await removed(of)
      await invite(of)
    },
    ...MAY_ACCEPT,
  },
}

it.each(Object.entries(CASES))('a test run says what a sign-in does: %s', async (_, fields) => {
  const { prepare, person = ada, settings = {}, would, does } = fields
  const of = await team(settings)
  await prepare?.(of)
  const said = await wouldOf(of, person(of))
  expect(said).toContain(would)
  expect(await done(of, person(of))).toEqual(does)
  expect(said.includes('would be refused')).toBe('refused' in does)
})

it('a test run of a draft says what a sign-in does once the connection is active', async () => {
  const of = await team()
  const json = { domain_ids: [] }
  await call(`${CONNECTIONS}/${of.connection}/disable`, { method: 'POST', project: of.project, token: of.owner.token })
  await call(`${CONNECTIONS}/${of.connection}`, { method: 'PATCH', project: of.project, token: of.owner.token, json })
  const draft = await connect(of.project, of.owner.token, of.host, {
    domain_ids: [of.domainId],
    default_role: 'viewer',
  })
  const said = await wouldOf({ ...of, connection: draft.id }, ada(of))
  expect(said).toBe(
    `ada@${of.domain} would be signed in, and become a member of the project with the role viewer. The connection must be activated first.`,
  )
})
