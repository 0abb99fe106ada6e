import { describe, expect, it } from 'vitest'
import { ROLE_SCOPES, ROLES, type Role, rankOf, SCOPES } from '../../src/lib/access'
import {
  type Answer,
  addMember,
  call,
  DIRECTORY,
  databaseOf,
  freshProject,
  invite,
  invited,
  mint,
  STORES,
  signedIn,
  storedTables,
} from '../harness'
import { as, beforeSecond, logged, rolesIn, told } from './members'

const MANAGERS: Role[] = ['admin', 'owner']

describe('a member', () => {
  it('is listed with how and when they came, newest first, and filtered by role', async () => {
    const { project, owner } = await freshProject()
    const viewer = await addMember(project, 'viewer')
    const { members, member } = as(project, owner.token)
    const { body } = await members()
    expect(body.data).toEqual([
      {
        user_id: viewer.user,
        email: viewer.email,
        role: 'viewer',
        source: 'invitation',
        invited_by: null,
        created_at: expect.any(String),
        break_glass: false,
        mail: 'all',
      },
      expect.objectContaining({ user_id: owner.user, role: 'owner', source: 'creator' }),
    ])
    expect((await members('?role=viewer')).body.data).toHaveLength(1)
    expect((await members('?role=admin')).body.data).toEqual([])
    expect((await member(viewer.user)).body).toEqual(body.data[0])
    const stranger = await signedIn()
    expect(told(await member(stranger.user))).toEqual([404, 'not_found'])
  })

  it('has a new role from the next request on, and the change is logged once', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'viewer')
    const { give } = as(project, owner.token)
    expect((await give(person.user, 'developer')).body).toMatchObject({ user_id: person.user, role: 'developer' })
    expect((await mint(person.token, project)).key.created_by.user_id).toBe(person.user)
    expect((await give(person.user, 'developer')).status).toBe(200)
    expect(await logged(project, person.user)).toEqual([['member.role_changed', { from: 'viewer', to: 'developer' }]])
  })

  it('who is removed loses access at once and stays a user', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'developer')
    expect((await as(project, owner.token).remove(person.user)).status).toBe(204)
    expect(told(await as(project, person.token).members())).toEqual([403, 'not_a_member'])
    expect((await call('/auth/sessions/current', { token: person.token })).status).toBe(200)
    expect(told(await as(project, owner.token).remove(person.user))).toEqual([404, 'not_found'])
    expect(await logged(project, person.user)).toEqual([['member.removed', { role: 'developer' }]])
  })

  it.each(ROLES)('who is %s may leave, if the project keeps an owner', async (role) => {
    const { project } = await freshProject()
    const person = await addMember(project, role)
    expect((await as(project, person.token).remove(person.user)).status).toBe(204)
    expect(await rolesIn(project)).not.toHaveProperty(person.user)
    expect(await logged(project, person.user)).toEqual([['member.left', { role }]])
  })

  it('of another project is not found', async () => {
    const { project, owner } = await freshProject()
    const other = await freshProject()
    const { give, remove } = as(project, owner.token)
    expect(told(await give(other.owner.user, 'admin'))).toEqual([404, 'not_found'])
    expect(told(await remove(other.owner.user))).toEqual([404, 'not_found'])
  })
})

describe('the last owner', () => {
  it('cannot step down, leave or be removed, by whatever statement', async () => {
    const { project, owner } = await freshProject()
    await addMember(project, 'admin')
    const { give, remove } = as(project, owner.token)
    expect(told(await give(owner.user, 'admin'))).toEqual([409, 'last_owner'])
    expect(told(await remove(owner.user))).toEqual([409, 'last_owner'])
    expect(told(await remove(owner.user, '?revoke_keys=true'))).toEqual([409, 'last_owner'])
    const all = DIRECTORY.prepare('DELETE FROM members WHERE project_id = ?').bind(project)
    await expect(all.run()).rejects.toThrow(/last_owner/)
    expect(Object.keys(await rolesIn(project))).toHaveLength(2)
    expect(await logged(project, owner.user)).toEqual([])
  })

  it('is guarded by triggers of every database, as the way past single sign-on is', async () => {
    for (const store of STORES) {
      const { results } = await databaseOf(store)
        .prepare("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        .all()
      expect(results).toEqual([
        { name: 'audit_log_counted', tbl_name: 'audit_log' },
        { name: 'audit_log_told', tbl_name: 'audit_log' },
        { name: 'consumer_ids_named', tbl_name: 'consumer_ids' },
        { name: 'consumers_created', tbl_name: 'consumers' },
        { name: 'consumers_erased', tbl_name: 'consumers' },
        { name: 'consumers_keyed', tbl_name: 'consumers' },
        { name: 'consumers_rekeyed', tbl_name: 'consumers' },
        { name: 'consumers_renamed', tbl_name: 'consumers' },
        { name: 'consumers_updated', tbl_name: 'consumers' },
        { name: 'customer_links_changed', tbl_name: 'customer_links' },
        { name: 'customer_links_made', tbl_name: 'customer_links' },
        { name: 'customer_links_moved', tbl_name: 'customer_links' },
        { name: 'customer_links_repinned', tbl_name: 'customer_links' },
        { name: 'customers_keyed', tbl_name: 'billing_objects' },
        { name: 'customers_rekeyed', tbl_name: 'billing_objects' },
        { name: 'customers_renamed', tbl_name: 'billing_objects' },
        { name: 'members_break_glass_changed', tbl_name: 'members' },
        { name: 'members_break_glass_removed', tbl_name: 'members' },
        { name: 'members_last_owner_changed', tbl_name: 'members' },
        { name: 'members_last_owner_removed', tbl_name: 'members' },
        { name: 'projects_break_glass', tbl_name: 'projects' },
      ])
    }
  })

  it('may step down once there is another: so a project changes hands', async () => {
    const { project, owner } = await freshProject()
    const next = await addMember(project, 'admin')
    const { give } = as(project, owner.token)
    expect((await give(next.user, 'owner')).status).toBe(200)
    expect((await give(owner.user, 'viewer')).body.role).toBe('viewer')
    expect(told(await give(next.user, 'viewer'))).toEqual([403, 'insufficient_role'])
    expect(await rolesIn(project)).toEqual({ [owner.user]: 'viewer', [next.user]: 'owner' })
  })
})

describe('nobody gives or changes more than they have', () => {
  const cases = MANAGERS.flatMap((actor) =>
    ROLES.flatMap((target) => ROLES.map((role) => [actor, target, role] as const)),
  )

  it.each(cases)('%s, of a member who is %s, to %s', async (actor, target, role) => {
    const { project } = await freshProject()
    const { token } = await addMember(project, actor)
    const person = await addMember(project, target)
    const reaches = rankOf(actor) >= Math.max(rankOf(target), rankOf(role))
    expect(told(await as(project, token).give(person.user, role))).toEqual(
      reaches ? [200, null] : [403, 'role_escalation'],
    )
    expect((await rolesIn(project))[person.user]).toBe(reaches ? role : target)
    const removed = await as(project, token).remove(person.user)
    const after = reaches ? role : target
    expect(told(removed)).toEqual(rankOf(actor) >= rankOf(after) ? [204, null] : [403, 'role_escalation'])
  })

  it.each(MANAGERS)('%s invites up to their own role', async (actor) => {
    const { project } = await freshProject()
    const { token } = await addMember(project, actor)
    for (const role of ROLES) {
      expect(told(await invite(project, token, { role }))).toEqual(
        rankOf(actor) >= rankOf(role) ? [201, null] : [403, 'role_escalation'],
      )
    }
  })

  it('an admin revokes an owner’s invitation, and does not resend it', async () => {
    const { project } = await freshProject()
    const { token } = await addMember(project, 'admin')
    const { id } = await invited(project, { role: 'owner' })
    const { resend, revoke } = as(project, token)
    expect(told(await resend(id))).toEqual([403, 'role_escalation'])
    expect((await revoke(id)).status).toBe(204)
  })

  type Target = { project: string; token: string; user: string; id: string }
  it.each<[string, (by: ReturnType<typeof as>, of: Target) => Promise<Answer>]>([
    ['another role for an owner', (by, { user }) => by.give(user, 'viewer')],
    ['removing an owner', (by, { user }) => by.remove(user)],
    ['removing an owner with their keys', (by, { user }) => by.remove(user, '?revoke_keys=true')],
    ['inviting an owner', (_, { project, token }) => invite(project, token, { role: 'owner' })],
    ['resending an owner’s invitation', (by, { id }) => by.resend(id)],
  ])('nothing is written of what an admin is refused: %s', async (_, change) => {
    const { project, owner } = await freshProject()
    await addMember(project, 'owner')
    await mint(owner.token, project)
    const { id } = await invited(project, { role: 'owner' })
    const { token } = await addMember(project, 'admin')
    const before = await storedTables()
    const refused = await change(as(project, token), { project, token, user: owner.user, id })
    expect(told(refused)).toEqual([403, 'role_escalation'])
    expect(await storedTables()).toEqual(before)
  })

  /** The scopes of a key, and the highest role that it gives. */
  const KEYS: [string, (typeof SCOPES)[number][], Role | null][] = [
    ['every scope', [...SCOPES], 'admin'],
    ['a developer’s and members:write', [...ROLE_SCOPES.developer, 'members:write'], 'developer'],
    ['a viewer’s and members:write', [...ROLE_SCOPES.viewer, 'members:write'], 'viewer'],
    ['members:write alone', ['members:write'], null],
  ]
  it.each(KEYS)('a key with %s acts as the role that it has all scopes of', async (_, scopes, highest) => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project, { scopes })
    for (const role of ROLES) {
      const reaches = highest !== null && rankOf(highest) >= rankOf(role)
      expect(told(await invite(project, secret, { role }))).toEqual(reaches ? [201, null] : [403, 'role_escalation'])
      const person = await addMember(project, role)
      expect(told(await as(project, secret).give(person.user, 'viewer'))).toEqual(
        reaches ? [200, null] : [403, 'role_escalation'],
      )
    }
  })
})

describe('a manager who lost the role between authentication and write', () => {
  it.each(['demoted', 'removed'] as const)('%s, writes nothing', async (how) => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    const person = await addMember(project, 'viewer')
    const { id } = await invited(project)
    const lose = async () => {
      if (how === 'demoted') await as(project, owner.token).give(admin.user, 'developer')
      else await as(project, owner.token).remove(admin.user)
    }
    const { give, remove, resend, revoke } = as(project, admin.token)
    for (const attempt of [
      (o: object) => give(person.user, 'developer', o),
      (o: object) => remove(person.user, '', o),
      (o: object) => remove(person.user, '?revoke_keys=true', o),
      (o: object) => resend(id, o),
      (o: object) => revoke(id, o),
      (o: object) => invite(project, admin.token, {}, o),
    ]) {
      await DIRECTORY.prepare("INSERT OR IGNORE INTO members VALUES (?, ?, 'admin', 0, 'invitation', NULL, 0, 'all')")
        .bind(project, admin.user)
        .run()
      await as(project, owner.token).give(admin.user, 'admin')
      const answer = await attempt({ bindings: { DB: beforeSecond(lose) } })
      expect(told(answer)).toEqual([403, how === 'demoted' ? 'insufficient_role' : 'not_a_member'])
    }
    expect((await rolesIn(project))[person.user]).toBe('viewer')
    const { body } = await as(project, owner.token).invitations()
    expect(body.data.map(({ state, sends }) => [state, sends])).toEqual([['pending', 1]])
    expect(await logged(project, person.user)).toEqual([])
  })
})
