import { describe, expect, it } from 'vitest'
import type { Role } from '../../src/lib/access'
import { auditRows } from '../console/visit'
import { addMember, call, freshProject, invite, mint, unconfirm } from '../harness'
import { newWorld } from '../routes/world'
import { connect, team } from '../sso/team/team'
import { as, logged, rolesIn, told } from './members'

/** A project with one member of a role, whose owner has not confirmed their session. */
async function stale(role: Role) {
  const { project, owner } = await freshProject()
  const member = await addMember(project, role)
  await unconfirm(owner.user)
  return { project, owner, member, by: as(project, owner.token) }
}

describe('changes of owners and admins require a confirmed session', () => {
  const REFUSED = [403, 'confirmation_required']

  it.each<[string, Role, (world: Awaited<ReturnType<typeof stale>>) => Promise<unknown[]>, boolean]>([
    ['making a member an owner', 'viewer', async ({ by, member }) => told(await by.give(member.user, 'owner')), true],
    ['another role for an owner', 'owner', async ({ by, member }) => told(await by.give(member.user, 'admin')), true],
    ['another role for oneself', 'owner', async ({ by, owner }) => told(await by.give(owner.user, 'admin')), true],
    ['removing an owner', 'owner', async ({ by, member }) => told(await by.remove(member.user)), true],
    ['leaving as an owner', 'owner', async ({ by, owner }) => told(await by.remove(owner.user)), true],
    ['inviting an owner', 'viewer', async (w) => told(await invite(w.project, w.owner.token, { role: 'owner' })), true],
    ['making a member an admin', 'viewer', async ({ by, member }) => told(await by.give(member.user, 'admin')), true],
    ['removing an admin', 'admin', async ({ by, member }) => told(await by.remove(member.user)), true],
    ['inviting an admin', 'viewer', async (w) => told(await invite(w.project, w.owner.token, { role: 'admin' })), true],
    [
      'making a member a developer',
      'viewer',
      async ({ by, member }) => told(await by.give(member.user, 'developer')),
      false,
    ],
    ['removing a developer', 'developer', async ({ by, member }) => told(await by.remove(member.user)), false],
    [
      'inviting a developer',
      'viewer',
      async (w) => told(await invite(w.project, w.owner.token, { role: 'developer' })),
      false,
    ],
  ])('%s', async (_, role, change, needed) => {
    const world = await stale(role)
    const before = await rolesIn(world.project)
    const refused = await change(world)
    if (!needed) return expect(refused[1]).toBeNull()
    expect(refused).toEqual(REFUSED)
    expect(await rolesIn(world.project)).toEqual(before)
    expect(await logged(world.project, world.member.user)).toEqual([])
    expect(await logged(world.project, world.owner.user)).toEqual([])
    const confirmed = await stale(role)
    await confirmedAgain(confirmed.owner.user)
    expect((await change(confirmed))[1]).toBeNull()
  })

  it('revokes no key before it', async () => {
    const { project, owner, member, by } = await stale('owner')
    const { secret } = await mint(member.token, project)
    expect(told(await by.remove(member.user, '?revoke_keys=true'))).toEqual(REFUSED)
    expect((await call('/platform/v1/api-keys/self', { token: secret, project })).status).toBe(200)
    expect(told(await by.remove(owner.user, '?revoke_keys=true'))).toEqual(REFUSED)
  })

  it('is asked of nobody who may not make them anyway: that is what they are told', async () => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    await unconfirm(admin.user)
    expect(told(await as(project, admin.token).remove(owner.user))).toEqual([403, 'role_escalation'])
    expect(told(await as(project, admin.token).give(admin.user, 'owner'))).toEqual([403, 'role_escalation'])
  })
})

describe('what cannot be undone, or persists, requires a confirmed session', () => {
  /** A call, and whether it needs the confirmation. */
  type Act = [what: string, method: string, path: (w: Acting) => string, json: object | undefined, needed: boolean]
  type Acting = Awaited<ReturnType<typeof acting>>
  async function acting() {
    const world = await newWorld()
    const { connection } = await team({}, world)
    const draft = await connect(world.project, world.owner.token, 'draft.plain.dev')
    const minted = async (scopes?: string[]) =>
      (await mint(world.owner.token, world.project, scopes ? { scopes } : {})).key.id as string
    const keys: Record<string, string> = { all: await minted() }
    for (const scope of ['sso:write', 'consumers:erase', 'billing:read']) keys[scope] = await minted([scope])
    await unconfirm(world.owner.user)
    return { ...world, team: connection, draft: draft.id as string, keys }
  }
  const V1 = '/platform/v1'
  const keys = () => `${V1}/api-keys`
  const tokens = () => `${V1}/billing/entitlement-keys/rotate`
  const rotation = (which: string) => (w: Acting) => `${V1}/api-keys/${w.keys[which]}/rotate`
  const ofTeam = (w: Acting) => `${V1}/sso/connections/${w.team}`
  const projectOf = (w: Acting) => `${V1}/projects/${w.project}`
  const OTHER = 'sso_00000000000000000000000001'
  const settings = (changes: object) => ({ settings: changes })
  const ofCustomers = (w: Acting) => `${V1}/sso/connections/${w.sso.id}`
  const ACTS: Act[] = [
    ['erasing a consumer', 'DELETE', (w) => `${V1}/consumers/${w.consumer}`, undefined, true],
    ['replacing keys of tokens', 'POST', tokens, { compromised: true }, true],
    ['rotating keys of tokens', 'POST', tokens, { compromised: false }, false],
    ['minting a key with every scope', 'POST', keys, { name: 'all' }, true],
    ['minting a key for members', 'POST', keys, { name: 'm', scopes: ['members:write'] }, true],
    ['minting a key for single sign-on', 'POST', keys, { name: 's', scopes: ['billing:read', 'sso:write'] }, true],
    ['minting a key that erases', 'POST', keys, { name: 'e', scopes: ['consumers:erase'] }, true],
    ['minting an ordinary key', 'POST', keys, { name: 'b', scopes: ['billing:read'] }, false],
    ['rotating a key with every scope', 'POST', rotation('all'), undefined, true],
    ['rotating a key for single sign-on', 'POST', rotation('sso:write'), undefined, true],
    ['rotating a key that erases', 'POST', rotation('consumers:erase'), undefined, true],
    ['rotating an ordinary key', 'POST', rotation('billing:read'), undefined, false],
    ['revoking a key with every scope', 'DELETE', (w) => `${V1}/api-keys/${w.keys.all}`, undefined, false],
    ['changing a connection of the team', 'PATCH', ofTeam, { default_role: 'viewer' }, true],
    ['changing its secret', 'PATCH', ofTeam, { client_secret: 'other' }, true],
    ['changing a draft of the team', 'PATCH', (w) => `${V1}/sso/connections/${w.draft}`, { client_id: 'new' }, true],
    ['renaming a connection of the team', 'PATCH', ofTeam, { name: 'Renamed' }, false],
    ['activating a connection of the team', 'POST', (w) => `${ofTeam(w)}/activate`, undefined, true],
    ['changing a connection of customers', 'PATCH', ofCustomers, { client_id: 'new' }, false],
    ['trusting a connection of another project', 'PATCH', projectOf, settings({ trusted_connections: [OTHER] }), true],
    ['trusting none', 'PATCH', projectOf, settings({ trusted_connections: [] }), true],
    ['requiring no passkey', 'PATCH', projectOf, settings({ require_passkey: false }), true],
    ['changing another setting', 'PATCH', projectOf, settings({ grace_days: 3 }), false],
    ['activating a connection of customers', 'POST', (w) => `${ofCustomers(w)}/activate`, undefined, false],
  ]

  it.each(ACTS)('%s', async (what, method, path, json, needed) => {
    const world = await acting()
    const { project, owner } = world
    const act = (token: string) => call(path(world), { method, project, token, json })
    if (what === 'activating a connection of the team') {
      await call(`${ofTeam(world)}/disable`, { method: 'POST', project, token: owner.token })
    }
    const before = await auditRows(project)
    const first = await act(owner.token)
    if (!needed) return expect(first.status, first.text).toBeLessThan(300)
    expect(told(first)).toEqual([403, 'confirmation_required'])
    expect(await auditRows(project)).toBe(before)
    await confirmedAgain(owner.user)
    const then = await act(owner.token)
    expect(then.status, then.text).toBeLessThan(300)
  })

  it('of a session: the scope of a key decides', async () => {
    const { project, secret, consumer, key } = await acting()
    expect((await call(`${V1}/consumers/${consumer}`, { method: 'DELETE', project, token: secret })).status).toBe(202)
    expect((await invite(project, secret, { role: 'admin' })).status).toBe(201)
    const itself = `${V1}/api-keys/${key.id}/rotate`
    expect((await call(itself, { method: 'POST', project, token: secret })).status).toBe(200)
  })
})

/** Makes the sessions of a user as if they had just been confirmed. */
const confirmedAgain = (user: string) => unconfirm(user, 0)
