import { describe, expect, it } from 'vitest'
import { ROLES } from '../../src/lib/access'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import {
  addMember,
  call,
  countingD1,
  DIRECTORY,
  freshEmail,
  freshProject,
  invite,
  invited,
  mint,
  signedIn,
} from '../harness'
import { accept, as, decline, logged, rolesIn, told } from './members'

const own = (token: string) => call('/auth/invitations', { token })

describe('an invitation', () => {
  it.each(ROLES)('makes its address a member with the role %s', async (role) => {
    const { project, owner } = await freshProject('Acme')
    const person = await signedIn()
    const made = await invite(project, owner.token, { email: person.email.toUpperCase(), role })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^inv_/),
        email: person.email,
        role,
        state: 'pending',
        invited_by: { type: 'user', id: owner.user },
        expires_at: new Date(Date.parse(made.body.created_at) + 7 * DAY).toISOString(),
        sent_at: null,
        send_error: null,
        sends: 1,
        created_at: expect.any(String),
      },
    ])
    expect((await own(person.token)).body.data).toEqual([
      {
        id: made.body.id,
        project: { id: project, name: 'Acme' },
        role,
        invited_by: { type: 'user', id: owner.user, email: owner.email },
        expires_at: made.body.expires_at,
      },
    ])
    const accepted = await accept(person, made.body.id)
    expect([accepted.status, accepted.body]).toEqual([200, { project: { id: project, name: 'Acme' }, role }])
    expect((await as(project, owner.token).member(person.user)).body).toMatchObject({
      role,
      source: 'invitation',
      invited_by: owner.user,
    })
    expect((await as(project, owner.token).invitation(made.body.id)).body.state).toBe('accepted')
    expect((await own(person.token)).body.data).toEqual([])
    // Again the same while a member, with the role that they have then.
    await as(project, owner.token).give(person.user, 'viewer')
    expect((await accept(person, made.body.id)).body).toMatchObject({ role: 'viewer' })
    expect((await logged(project, person.user))[0]).toEqual(['member.joined', { role, invitation: made.body.id }])
    const log = await call(`/platform/v1/audit-log?object_id=${made.body.id}`, { project, token: owner.token })
    expect(log.body.data).toMatchObject([{ action: 'member.invited', details: { email: person.email, role } }])
  })

  it('lets nobody back in who was removed or left since', async () => {
    const { project, owner } = await freshProject()
    const person = await signedIn()
    const { id } = await invited(project, { email: person.email })
    await accept(person, id)
    await as(project, owner.token).remove(person.user)
    expect(told(await accept(person, id))).toEqual([409, 'invitation_not_pending'])
    expect(await rolesIn(project)).not.toHaveProperty(person.user)
  })

  it('is not found by anyone else', async () => {
    const { project } = await freshProject()
    const { id } = await invited(project)
    const stranger = await signedIn()
    for (const wrong of [id, 'inv_none', 'x', id.replace('inv', 'key')]) {
      expect(told(await accept(stranger, wrong))).toEqual([404, 'not_found'])
      expect(told(await decline(stranger, wrong))).toEqual([404, 'not_found'])
    }
    const other = await freshProject()
    const { invitation, resend, revoke } = as(other.project, other.owner.token)
    for (const ask of [invitation, resend, revoke]) expect(told(await ask(id))).toEqual([404, 'not_found'])
  })

  it('changes nothing for who became a member in another way first, and is closed', async () => {
    const { project } = await freshProject()
    const person = await addMember(project, 'viewer')
    const { id } = await invited(project, { email: person.email, role: 'admin' })
    expect((await accept(person, id)).body).toMatchObject({ role: 'viewer' })
    expect(await logged(project, person.user)).toEqual([])
    expect(told(await decline(person, id))).toEqual([409, 'invitation_not_pending'])
  })

  it('can be declined, again too, and not accepted then', async () => {
    const { project, owner } = await freshProject()
    const person = await signedIn()
    const { id } = await invited(project, { email: person.email })
    for (const _ of 'twice') expect((await decline(person, id)).status).toBe(204)
    expect(told(await accept(person, id))).toEqual([409, 'invitation_not_pending'])
    const { resend, revoke, invitations } = as(project, owner.token)
    expect(told(await resend(id))).toEqual([409, 'invitation_not_pending'])
    expect((await revoke(id)).status).toBe(204)
    expect((await invitations('?state=declined')).body.data.map((row) => row.id)).toEqual([id])
    expect((await logged(project, id)).map(([action]) => action)).toEqual(['invitation.declined'])
  })

  it('can be revoked, again too, unless it was accepted', async () => {
    const { project, owner } = await freshProject()
    const { revoke, resend, invitation } = as(project, owner.token)
    const person = await signedIn()
    const { id } = await invited(project, { email: person.email })
    for (const _ of 'twice') expect((await revoke(id)).status).toBe(204)
    expect(told(await accept(person, id))).toEqual([409, 'invitation_not_pending'])
    expect(told(await resend(id))).toEqual([409, 'invitation_not_pending'])
    expect((await logged(project, id)).map(([action]) => action)).toEqual(['invitation.revoked'])
    const again = await invited(project, { email: person.email })
    await accept(person, again.id)
    expect(told(await revoke(again.id))).toEqual([409, 'invitation_not_pending'])
    expect((await invitation(again.id)).body.state).toBe('accepted')
  })

  it('expires after its days, and a new one to the address ends it', async () => {
    stopClock()
    const { project, owner } = await freshProject()
    const person = await signedIn()
    const { body } = await invite(project, owner.token, { email: person.email, expires_in_days: 1 })
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = ?')
      .bind(Date.now() + 9 * DAY)
      .run()
    advance(DAY - 1)
    const { invitation } = as(project, owner.token)
    expect((await own(person.token)).body.data).toHaveLength(1)
    expect(told(await invite(project, owner.token, { email: person.email }))).toEqual([409, 'already_invited'])
    advance(1)
    expect((await invitation(body.id)).body.state).toBe('expired')
    expect((await own(person.token)).body.data).toEqual([])
    expect(told(await accept(person, body.id))).toEqual([409, 'invitation_expired'])
    expect(told(await decline(person, body.id))).toEqual([409, 'invitation_expired'])
    const next = await invite(project, owner.token, { email: person.email })
    expect(next.status).toBe(201)
    expect((await invitation(body.id)).body.state).toBe('revoked')
    expect((await accept(person, next.body.id)).status).toBe(200)
  })

  it.each([
    ['the limit of pending ones', { count: 100, fields: {} }, 409],
    ['the limit of mails', { count: 50, fields: { state: 'revoked' } }, 429],
  ] as const)('that has expired stays so where a new one is refused for %s', async (_, { count, fields }, status) => {
    const { project, owner } = await freshProject()
    const expired = await invited(project, { expires_at: 1 })
    for (let n = 0; n < count; n++) await invited(project, fields)
    if (status === 429) {
      await DIRECTORY.prepare("UPDATE invitations SET recent_sends = ? WHERE project_id = ? AND state = 'revoked'")
        .bind(JSON.stringify([Date.now()]), project)
        .run()
    }
    expect((await invite(project, owner.token, { email: expired.email })).status).toBe(status)
    const { invitation, invitations } = as(project, owner.token)
    expect((await invitation(expired.id)).body).toMatchObject({ state: 'expired' })
    expect((await invitations('?state=expired')).body.data.map(({ id }) => id)).toEqual([expired.id])
  })

  it('opens again for its full time where it is resent', async () => {
    stopClock()
    const { project, owner } = await freshProject()
    const person = await signedIn()
    const { body } = await invite(project, owner.token, { email: person.email, expires_in_days: 2 })
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = ?')
      .bind(Date.now() + 9 * DAY)
      .run()
    advance(3 * DAY)
    const again = await as(project, owner.token).resend(body.id)
    expect([again.status, again.body]).toMatchObject([202, { state: 'pending', sends: 2 }])
    expect(Date.parse(again.body.expires_at)).toBe(Date.now() + 2 * DAY)
    expect((await accept(person, body.id)).status).toBe(200)
    expect((await logged(project, body.id)).map(([action]) => action)).toEqual(['member.invited', 'invitation.resent'])
  })

  it('names what is in its way: a member, or another one to the address', async () => {
    const { project, owner } = await freshProject()
    const member = await addMember(project, 'viewer')
    expect(told(await invite(project, owner.token, { email: member.email.toUpperCase() }))).toEqual([
      409,
      'already_member',
    ])
    const first = await invited(project)
    const second = await invite(project, owner.token, { email: first.email })
    expect(told(second)).toEqual([409, 'already_invited'])
    expect(second.body.detail).toContain(first.id)
  })

  it.each([
    [{ email: 'nobody' }, '/email'],
    [{ email: `${'x'.repeat(243)}@example.com` }, '/email'],
    [{ role: 'god' }, '/role'],
    [{ expires_in_days: 0 }, '/expires_in_days'],
    [{ expires_in_days: 31 }, '/expires_in_days'],
  ])('is refused: %j', async (fields, pointer) => {
    const { project, owner } = await freshProject()
    const { status, body } = await invite(project, owner.token, fields)
    expect([status, body.errors[0].pointer]).toEqual([422, pointer])
  })

  it('of a key names the key, and no user as the inviter of the member', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project)
    const person = await signedIn()
    const { body } = await invite(project, secret, { email: person.email })
    expect(body.invited_by).toEqual({ type: 'api_key', id: key.id })
    expect((await own(person.token)).body.data[0].invited_by).toEqual({ type: 'api_key', id: key.id, email: null })
    await accept(person, body.id)
    expect((await as(project, secret).member(person.user)).body.invited_by).toBeNull()
    const log = await call('/platform/v1/audit-log?action=member.invited', { token: owner.token, project })
    expect(log.body.data[0].actor).toEqual({ type: 'api_key', id: key.id, email: null, name: 'test key' })
  })
})

describe('of who is removed, leaves or is demoted', () => {
  const states = async (project: string, token: string, except = '') => {
    const { body } = await as(project, token).invitations()
    return Object.fromEntries(body.data.filter(({ id }) => id !== except).map(({ role, state }) => [role, state]))
  }
  const END = 'revoked'
  const STAY = 'pending'
  it.each([
    ['removed', { viewer: STAY, developer: STAY, admin: END, owner: END }],
    ['left', { viewer: STAY, developer: STAY, admin: END, owner: END }],
    ['viewer', { viewer: STAY, developer: STAY, admin: END, owner: END }],
    ['admin', { viewer: STAY, developer: STAY, admin: STAY, owner: END }],
  ] as const)('%s: the invitations that they may not give any more end', async (how, expected) => {
    const { project, owner } = await freshProject()
    const person = await addMember(project, 'owner')
    for (const role of ROLES) await invited(project, { role, authorized_by: person.user })
    const theirs = await as(project, owner.token).invitations()
    const ofOther = await invited(project, { role: 'owner', authorized_by: owner.user })
    const { remove, give } = as(project, owner.token)
    if (how === 'removed') await remove(person.user)
    else if (how === 'left') await as(project, person.token).remove(person.user)
    else await give(person.user, how)
    expect(await states(project, owner.token, ofOther.id)).toEqual(expected)
    expect((await as(project, owner.token).invitation(ofOther.id)).body.state).toBe(STAY)
    for (const { id, role } of theirs.body.data) {
      const revoked = String(expected[role as keyof typeof expected]) === END
      expect(await logged(project, id)).toEqual(revoked ? [['invitation.revoked', { with_member: person.user }]] : [])
    }
  })

  it('those that their keys sent end too', async () => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    const { secret } = await mint(admin.token, project)
    const { body } = await invite(project, secret, { role: 'admin' })
    await as(project, owner.token).remove(admin.user)
    expect((await as(project, owner.token).invitation(body.id)).body.state).toBe('revoked')
  })
})

describe('the bounds', () => {
  it('the list of pending ones reads no closed ones, however many there are', async () => {
    const { project, owner } = await freshProject()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      ids.unshift((await invited(project)).id)
      for (let other = 0; other < 20; other++) await invited(project, { state: 'revoked' })
    }
    const { DB, count } = countingD1()
    const read = async (query: string) => {
      const path = `/platform/v1/invitations?state=pending&limit=2${query}`
      const { body } = await call(path, { token: owner.token, project, bindings: { DB } })
      return { listed: body.data.map(({ id }) => id), next: body.next_cursor }
    }
    const first = await read('')
    const second = await read(`&cursor=${first.next}`)
    expect([...first.listed, ...second.listed].sort()).toEqual([...ids].sort())
    expect([first.listed.length, second.listed.length]).toEqual([2, 1])
    expect(count.rows_read).toBeLessThan(40)
  })

  it('inviting and resending read no invitations that ended long ago, however many there are', async () => {
    const { project, owner } = await freshProject()
    for (let n = 0; n < 100; n++) await invited(project, { state: 'revoked', expires_at: 1 })
    const { id } = await invited(project)
    const { DB, count } = countingD1()
    const bindings = { DB }
    expect((await invite(project, owner.token, {}, { bindings })).status).toBe(201)
    expect((await as(project, owner.token).resend(id, { bindings })).status).toBe(202)
    expect(count.rows_read).toBeLessThan(120)
  })

  it('a hundred invitations of a project can be pending; those that have expired do not count', async () => {
    const { project, owner } = await freshProject()
    const [pending] = await Promise.all(Array.from({ length: 99 }, () => invited(project)))
    const expired = await invited(project, { expires_at: 1 })
    expect((await invite(project, owner.token)).status).toBe(201)
    expect(told(await invite(project, owner.token))).toEqual([409, 'invitation_limit_reached'])
    const { resend } = as(project, owner.token)
    expect(told(await resend(expired.id))).toEqual([409, 'invitation_limit_reached'])
    expect((await resend(pending?.id ?? '')).status).toBe(202)
  })

  it('five emails a day go to an address from one user, whichever of their projects send them', async () => {
    stopClock()
    const email = freshEmail()
    const { project: first, owner } = await freshProject()
    const json = { name: 'Another' }
    const more = await Promise.all(
      Array.from({ length: 5 }, () => call('/platform/v1/projects', { method: 'POST', token: owner.token, json })),
    )
    const projects = [first, ...more.map(({ body }) => body.id as string)]
    const send = (n: number) => invite(projects[n] ?? '', owner.token, { email })
    for (let n = 0; n < 3; n++) expect((await send(n)).status).toBe(201)
    // A key sends with the authority of whoever minted it.
    const { secret } = await mint(owner.token, projects[3] ?? '')
    expect((await invite(projects[3] ?? '', secret, { email })).status).toBe(201)
    const fifth = await send(4)
    expect(fifth.status).toBe(201)
    const refused = await send(5)
    expect(told(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('Retry-After'))).toBe(HOUR / SECOND)
    expect(refused.headers.get('RateLimit-Policy')).toBe('"invitation_address";q=5;w=86400')
    advance(MINUTE)
    expect(told(await as(projects[4] ?? '', owner.token).resend(fifth.body.id))).toEqual([429, 'rate_limited'])
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = ?')
      .bind(Date.now() + 2 * DAY)
      .run()
    advance(DAY)
    expect((await send(5)).status).toBe(201)
  })

  it('five emails a day go to an address from one project, whoever sends them', async () => {
    const email = freshEmail()
    const { project, owner } = await freshProject()
    const [name, domain] = email.split('@')
    const admin = await addMember(project, 'admin')
    for (let n = 0; n < 6; n++) {
      const by = n % 2 === 0 ? owner : admin
      const { status } = await invite(project, by.token, { email: `${name}+${n}@${domain}` })
      expect([n, status]).toEqual([n, n < 5 ? 201 : 429])
    }
  })

  it('others use none of them up, and no answer tells that somebody else has invited the address', async () => {
    const email = freshEmail()
    for (let n = 0; n < 12; n++) {
      const { project, owner } = await freshProject()
      expect((await invite(project, owner.token, { email })).status).toBe(201)
    }
    const { project, owner } = await freshProject()
    const [name, domain] = email.split('@')
    for (const tag of ['', '+a', '+b', '+c', '+d']) {
      const { status, headers } = await invite(project, owner.token, { email: `${name}${tag}@${domain}` })
      expect([status, headers.get('RateLimit')]).toEqual([201, null])
    }
  })

  it('they are counted for the mailbox, whatever follows a plus, and for no other', async () => {
    const { project, owner } = await freshProject()
    const [name, domain] = freshEmail().split('@')
    const send = (email: string) => invite(project, owner.token, { email })
    for (const tag of ['+a', '+d', '+b', '+a+b', '+']) expect((await send(`${name}${tag}@${domain}`)).status).toBe(201)
    for (const tag of ['', '+c', '+a.b', '+z']) {
      expect(told(await send(`${name}${tag}@${domain}`))).toEqual([429, 'rate_limited'])
    }
    const pending = await as(project, owner.token).invitations()
    await DIRECTORY.prepare("UPDATE invitations SET send_error = 'failed' WHERE project_id = ?").bind(project).run()
    expect(told(await as(project, owner.token).resend(pending.body.data[0].id))).toEqual([429, 'rate_limited'])
    for (const other of [`${name}x@${domain}`, `${name}+a@other.example`, `x${name}+a@${domain}`]) {
      expect((await send(other)).status).toBe(201)
    }
  })

  it('fifty emails a day go out from a project, revoked invitations included', async () => {
    const { project, owner } = await freshProject()
    for (let n = 0; n < 50; n++) await invited(project, { state: 'revoked' })
    const recent = JSON.stringify([Date.now()])
    const set = DIRECTORY.prepare('UPDATE invitations SET recent_sends = ? WHERE project_id = ?')
    await set.bind(recent, project).run()
    const refused = await invite(project, owner.token)
    expect(told(refused)).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('RateLimit-Policy')).toBe('"invitation_project";q=50;w=86400')
  })

  it('a minute passes between two emails of an invitation', async () => {
    stopClock()
    const { project, owner } = await freshProject()
    const { body } = await invite(project, owner.token)
    const { resend } = as(project, owner.token)
    advance(MINUTE - 1)
    const early = await resend(body.id)
    expect(told(early)).toEqual([429, 'rate_limited'])
    expect(early.headers.get('Retry-After')).toBe('60')
    advance(1)
    expect((await resend(body.id)).status).toBe(202)
  })
})
