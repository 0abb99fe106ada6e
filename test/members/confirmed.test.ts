import { describe, expect, it } from 'vitest'
import type { Role } from '../../src/lib/access'
import { addMember, call, freshProject, invite, mint, unconfirm } from '../harness'
import { as, logged, rolesIn, told } from './members'

/** A project with one member of a role, whose owner has not confirmed their session. */
async function stale(role: Role) {
  const { project, owner } = await freshProject()
  const member = await addMember(project, role)
  await unconfirm(owner.user)
  return { project, owner, member, by: as(project, owner.token) }
}

describe('changes of owners require a confirmed session', () => {
  const REFUSED = [403, 'confirmation_required']

  it.each<[string, Role, (world: Awaited<ReturnType<typeof stale>>) => Promise<unknown[]>, boolean]>([
    ['making a member an owner', 'viewer', async ({ by, member }) => told(await by.give(member.user, 'owner')), true],
    ['another role for an owner', 'owner', async ({ by, member }) => told(await by.give(member.user, 'admin')), true],
    ['another role for oneself', 'owner', async ({ by, owner }) => told(await by.give(owner.user, 'admin')), true],
    ['removing an owner', 'owner', async ({ by, member }) => told(await by.remove(member.user)), true],
    ['leaving as an owner', 'owner', async ({ by, owner }) => told(await by.remove(owner.user)), true],
    ['inviting an owner', 'viewer', async (w) => told(await invite(w.project, w.owner.token, { role: 'owner' })), true],
    ['making a member an admin', 'viewer', async ({ by, member }) => told(await by.give(member.user, 'admin')), false],
    ['removing an admin', 'admin', async ({ by, member }) => told(await by.remove(member.user)), false],
    [
      'inviting an admin',
      'viewer',
      async (w) => told(await invite(w.project, w.owner.token, { role: 'admin' })),
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
    expect((await as(project, admin.token).remove(admin.user)).status).toBe(204)
  })
})

/** Makes the sessions of a user as if they had just been confirmed. */
const confirmedAgain = (user: string) => unconfirm(user, 0)
