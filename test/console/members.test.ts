import { describe, expect, it } from 'vitest'
import type { Role } from '../../src/lib/access'
import {
  addMember,
  call,
  countingD1,
  D1_LOST,
  DIRECTORY,
  freshKey,
  freshProject,
  invite,
  invited,
  mint,
  STORE,
  signedIn,
  stripeConnection,
  tamperedD1,
} from '../harness'
import { as, logged, rolesIn } from '../members/members'
import { at, leadsTo, rowOf, told } from './member-pages'
import { submit, visit } from './visit'

describe('the list of members', () => {
  it.each([
    ['viewer', 0, ['Leave']],
    ['developer', 0, ['Leave']],
    // An admin changes those up to admin: the other roles, and their own.
    ['admin', 3, ['Remove', 'Remove', 'Leave']],
    ['owner', 4, ['Remove', 'Remove', 'Remove', 'Leave']],
  ] as const)('shows who may change whom to the role %s', async (role, selects, buttons) => {
    const { project, owner } = await freshProject()
    const cast: Record<string, { token: string; email: string }> = { owner }
    for (const one of ['viewer', 'developer', 'admin'] as const) cast[one] = await addMember(project, one)
    await addMember(project, 'owner')
    const { token } = cast[role] as { token: string }
    const { text } = await visit(at(project), token)
    for (const { email } of Object.values(cast)) expect(text).toContain(email)
    const [people = ''] = text.split('<h2>Invitations</h2>')
    expect(people.split('<select name="role"').length - 1).toBe(role === 'owner' ? selects + 1 : selects)
    const found = [...people.matchAll(/data-dialog="?[^>]*>(\w+)<span/g)].map(([, verb]) => verb)
    expect(found.sort()).toEqual([...(role === 'owner' ? ['Remove'] : []), ...buttons].sort())
    expect(text.includes('id="invite"')).toBe(selects > 0)
    // Nobody is offered a role above their own.
    expect(text.includes('<option value="owner"')).toBe(role === 'owner')
  })

  it('says how each came, by whom, and how many API keys of theirs work', async () => {
    const { project, owner } = await freshProject()
    const guest = await signedIn()
    const { body } = await invite(project, owner.token, { email: guest.email, role: 'admin' })
    expect((await submit(`/console/invitations/${body.id}/accept`, guest.token)).status).toBe(303)
    await mint(guest.token, project)
    const { key } = await mint(guest.token, project)
    const before = (await visit(at(project), owner.token)).text
    expect(rowOf(before, guest.email)).toContain(`<span class="cut">${owner.email}</span>`)
    expect(rowOf(before, guest.email)).toContain('data-label="API keys"><span>2</span>')
    expect(rowOf(before, 'you</span>')).toContain('Created the project')
    await submit(`/console/p/${project}/platform/settings/api-keys/${key.id}/revoke`, owner.token)
    expect(rowOf((await visit(at(project), owner.token)).text, guest.email)).toContain('<span>1</span>')
  })

  it('does without the API keys and the mode of the project while its store does not answer', async () => {
    const { project, owner } = await freshKey()
    await stripeConnection(owner.token, project)
    const badge = /class="badge (good|warn)" title="[^"]*connections/
    expect((await visit(at(project), owner.token)).text).toMatch(badge)
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/from "(api_keys|connections)"/.test(sql)) throw new Error(D1_LOST)
      return run()
    })
    const { status, text } = await visit(at(project), owner.token, { bindings: { DB } })
    expect(status).toBe(200)
    expect(rowOf(text, 'you</span>')).toContain('<span class="quiet">Not known</span>')
    expect(text).not.toMatch(badge)
    expect((await visit(at(project, '/invitations'), owner.token, { bindings: { DB } })).status).toBe(200)
  })

  it('says why the only owner has no role to choose and cannot leave', async () => {
    const { project, owner } = await freshProject()
    await addMember(project, 'admin')
    const { text } = await visit(at(project), owner.token)
    expect(rowOf(text, owner.email)).toContain('The only owner cannot leave')
    expect(rowOf(text, owner.email)).not.toContain('<select')
    const page = await visit(at(project, '/leave'), owner.token)
    expect([page.status, page.text.includes('its only owner')]).toEqual([200, true])
    expect(page.text).not.toContain(`action="${at(project, '/leave')}"`)
    const forced = await submit(at(project, '/leave'), owner.token)
    expect([forced.status, forced.text.includes('its only owner')]).toEqual([409, true])
    expect(await told(submit(at(project, `/${owner.user}/role`), owner.token, step('owner', 'admin')))).toEqual({
      status: 409,
      location: null,
      wrong: ['This is the only owner of the project. Make another member an owner first.'],
    })
    expect((await rolesIn(project))[owner.user]).toBe('owner')
  })

  it('takes three steps one after the other: the session, what it shows, the frame', async () => {
    const { project, owner } = await freshKey()
    const other = await addMember(project, 'admin')
    await invited(project, { authorized_by: other.user })
    const count = async () => {
      const { DB, count } = countingD1()
      const { status } = await visit(at(project), owner.token, { bindings: { DB } })
      return [status, count.trips, count.rows_written]
    }
    // Members and keys are read side by side, and so is what the sidebar shows.
    const trips = 1 + (1 + 1) + (1 + 1)
    expect(await count()).toEqual([200, trips, 0])
    // Somebody who has left has sent an invitation.
    await as(project, owner.token).remove(other.user)
    expect(await count()).toEqual([200, trips + 1, 0])
  })

  it('has pages', async () => {
    const { project, owner } = await freshProject()
    for (let n = 0; n < 15; n++) await addMember(project, 'viewer')
    const first = await visit(at(project), owner.token)
    expect(first.text).not.toContain('you</span>')
    const next = /href="(\?cursor=[^"]+)" rel="next"/.exec(first.text)?.[1]
    const second = await visit(at(project, next), owner.token)
    expect(rowOf(second.text, 'you</span>')).toContain(owner.email)
  })
})

const step = (from: Role, role: Role, more: Record<string, string> = {}) => ({ from, role, ...more })

describe('the weight of a page', () => {
  it('is under 60 KB with the longest addresses', async () => {
    const { project, owner } = await freshProject()
    for (let n = 0; n < 16; n++) await addMember(project, 'viewer')
    await DIRECTORY.prepare(
      `UPDATE users SET email = substr(id || hex(zeroblob(127)), 1, 242) || '@example.com'
       WHERE id IN (SELECT user_id FROM members WHERE project_id = ?)`,
    )
      .bind(project)
      .run()
    for (let n = 0; n < 22; n++) {
      const email = `${String(n).padEnd(242, 'x')}@example.com`
      await invited(project, { email, authorized_by: owner.user, ...(n < 3 && { expires_at: 1 }) })
    }
    await DIRECTORY.prepare('UPDATE members SET invited_by = ?2 WHERE project_id = ?1').bind(project, owner.user).run()
    await DIRECTORY.prepare('UPDATE invitations SET send_error = ?2 WHERE project_id = ?1')
      .bind(project, 'e'.repeat(200))
      .run()
    for (const path of ['', '/invitations']) {
      const { text } = await visit(at(project, path), owner.token)
      expect(text).toContain('rel="next"')
      expect(new TextEncoder().encode(text).byteLength).toBeLessThan(60_000)
    }
  })
})

describe('a change of role', () => {
  it('up is made at once; down asks first, says what follows, and is made then', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'developer')
    const path = at(project, `/${person.user}/role`)
    expect(await told(submit(path, owner.token, step('developer', 'admin')))).toEqual(
      leadsTo(at(project), 'role_changed'),
    )
    expect((await rolesIn(project))[person.user]).toBe('admin')
    await mint(person.token, project, { name: 'With members' })
    await mint(person.token, project, { name: 'Without', scopes: ['billing:read'] })
    const offer = await invite(project, person.token, { role: 'admin' })
    const kept = await invite(project, person.token, { role: 'viewer' })
    const asked = await submit(path, owner.token, step('admin', 'viewer'))
    expect([asked.status, (await rolesIn(project))[person.user]]).toEqual([200, 'admin'])
    expect(asked.text).toContain(`Make ${person.email} viewer?`)
    expect(asked.text).toContain('“With members”')
    expect(asked.text).toContain(offer.body.email)
    for (const other of ['“Without”', kept.body.email]) expect(asked.text).not.toContain(other)
    expect(await told(submit(path, owner.token, step('admin', 'viewer', { sure: 'true' })))).toEqual(
      leadsTo(at(project), 'role_changed'),
    )
    expect((await rolesIn(project))[person.user]).toBe('viewer')
    expect((await as(project, owner.token).invitation(offer.body.id)).body.state).toBe('revoked')
    expect((await logged(project, person.user)).map(([action]) => action)).toEqual([
      'member.role_changed',
      'member.role_changed',
    ])
  })

  it('on a page that is out of date changes nothing, and says so', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'viewer')
    const path = at(project, `/${person.user}/role`)
    for (const [fields, reason] of [
      [step('admin', 'developer'), 'the role is viewer now'],
      [step('admin', 'developer', { sure: 'true' }), 'the role is viewer now'],
      [step('developer', 'admin'), 'the role is viewer now'],
    ] as const) {
      const { status, wrong } = await told(submit(path, owner.token, fields))
      expect([status, wrong.length, wrong[0]]).toEqual([409, 1, expect.stringContaining(reason)])
    }
    await as(project, owner.token).remove(person.user)
    const gone = await told(submit(path, owner.token, step('viewer', 'admin')))
    expect([gone.status, gone.wrong]).toEqual([404, [expect.stringContaining('someone else had already removed')]])
    expect(await logged(project, person.user)).toHaveLength(1)
  })

  it.each([
    ['admin', 'developer', 'owner', 403, 'You can give and change roles up to your own'],
    ['admin', 'owner', 'viewer', 403, 'You can give and change roles up to your own'],
    ['owner', 'viewer', 'king', 422, 'must be one of'],
  ] as const)('by an %s, of a %s to %s, is refused at its row', async (own, from, role, status, reason) => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, from)
    const token = own === 'owner' ? owner.token : (await addMember(project, own)).token
    const answer = await submit(at(project, `/${person.user}/role`), token, { from, role })
    expect([answer.status, rowOf(answer.text, person.email).toLowerCase()]).toEqual([
      status,
      expect.stringContaining(reason.toLowerCase()),
    ])
    expect((await rolesIn(project))[person.user]).toBe(from)
  })
})

describe('the audit log', () => {
  it('says in words what was done to whom', async () => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'viewer')
    const { body } = await invite(project, owner.token, { role: 'developer' })
    await submit(at(project, `/${person.user}/role`), owner.token, step('viewer', 'developer'))
    await submit(at(project, `/${person.user}/remove`), owner.token)
    const { text } = await visit(`/console/p/${project}/platform/settings/audit-log`, owner.token)
    for (const [did, about] of [
      ['Changed the role of a member<span class="line quiet">from viewer to developer', person.email],
      ['Removed a member', person.email],
      ['Invited someone', body.email],
    ] as const)
      expect(rowOf(text, did)).toContain(about)
  })
})

describe('removing and leaving', () => {
  it.each([
    [{}, 'member_removed', false],
    [{ revoke_keys: 'true' }, 'member_removed_with_keys', true],
  ])('a member with %o: their keys', async (fields, done, revoked) => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'admin')
    const { key, secret } = await mint(person.token, project, { name: 'Deploys' })
    const handed = await mint(owner.token, project, { name: 'Handed over' })
    // One of each that has expired, which is not named.
    const over = [person, owner].map(({ token }) => mint(token, project, { name: 'Long over' }))
    for (const { id, key_prefix: known } of [handed.key, ...(await Promise.all(over)).map((one) => one.key)])
      await submit(`/console/p/${project}/platform/settings/api-keys/${id}/rotate`, person.token, { known })
    await STORE.prepare("UPDATE api_keys SET expires_at = 1 WHERE project_id = ? AND name = 'Long over'")
      .bind(project)
      .run()
    const path = at(project, `/${person.user}/remove`)
    const { text } = await visit(path, owner.token)
    for (const said of [
      '1 API key was created by them',
      'Deploys',
      'members:write',
      'Handed over',
      'Revoke it too',
      'and the 1 other key whose secret they know',
    ])
      expect(text).toContain(said)
    expect(text).not.toContain('Long over')
    expect(await told(submit(path, owner.token, fields))).toEqual(leadsTo(at(project), done))
    expect((await rolesIn(project))[person.user]).toBeUndefined()
    expect((await as(project, secret).members()).status).toBe(revoked ? 401 : 200)
    const left = await call(`/platform/v1/api-keys/${handed.key.id}`, { token: owner.token, project })
    expect(left.status).toBe(revoked ? 404 : 200)
    // The page of the key says that its scope sleeps.
    const page = await visit(`/console/p/${project}/platform/settings/api-keys/${key.id}`, owner.token)
    expect(page.text.includes('has no effect now')).toBe(!revoked)
    expect(page.text).toContain('former member')
    const again = await told(submit(path, owner.token, fields))
    expect([again.status, again.wrong]).toEqual([404, [expect.stringContaining('out of date')]])
  })

  it('an owner cannot be removed by an admin, and oneself is led to leaving', async () => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    const path = at(project, `/${owner.user}/remove`)
    expect((await visit(path, admin.token)).status).toBe(403)
    expect((await told(submit(path, admin.token))).status).toBe(403)
    const own = await visit(at(project, `/${admin.user}/remove`), admin.token)
    expect([own.status, own.headers.get('Location')]).toEqual([303, at(project, '/leave')])
    expect(Object.keys(await rolesIn(project))).toHaveLength(2)
  })

  it.each(['viewer', 'developer', 'admin', 'owner'] as const)('a %s leaves', async (role) => {
    const { project, owner } = await freshProject('The other one')
    const person = await addMember(project, role)
    const { status, text } = await visit(at(project, '/leave'), person.token)
    expect([status, text.includes('Leave this project?')]).toEqual([200, true])
    expect(await told(submit(at(project, '/leave'), person.token))).toEqual(leadsTo('/console', 'project_left'))
    expect(await rolesIn(project)).toEqual({ [owner.user]: 'owner' })
    expect((await visit(at(project), person.token)).status).toBe(404)
    expect(await logged(project, person.user)).toEqual([['member.left', { role }]])
  })

  it('revokes no keys for a user who may not revoke keys', async () => {
    const { project } = await freshProject()
    const viewer = await addMember(project, 'viewer')
    expect((await submit(at(project, '/leave'), viewer.token, { revoke_keys: 'true' })).status).toBe(403)
    expect((await rolesIn(project))[viewer.user]).toBe('viewer')
  })
})
