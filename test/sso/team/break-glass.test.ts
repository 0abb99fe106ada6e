import { describe, expect, it } from 'vitest'
import { visit } from '../../console/visit'
import { type Answer, addMember, call, DIRECTORY, freshProject, mailbox, mint, unconfirm } from '../../harness'
import { register, requestOptions, signInBy } from '../../passkeys/people'
import { end, restore } from '../../projects/ending'
import { signIn as byCode } from '../../sessions/signing-in'
import { passTest } from '../rows'
import { CONNECTIONS, enforced, ssoOwner, team } from './team'

const told = ({ status, body }: Answer) => [status, body?.code]
const MEMBERS = '/platform/v1/members'
const give = (project: string, token: string, user: string) =>
  call(`${MEMBERS}/${user}/break-glass`, { method: 'PUT', project, token })
const take = (project: string, token: string, user: string) =>
  call(`${MEMBERS}/${user}/break-glass`, { method: 'DELETE', project, token })
const enforce = (project: string, token: string, connection: string) =>
  call(`${CONNECTIONS}/${connection}`, { method: 'PATCH', project, token, json: { enforce: true } })

type Owner = { email: string; token: string }

describe('enforcing', () => {
  it('needs a test, a verified domain, a session of the connection and a break-glass owner', async () => {
    const of = await team()
    const { project, owner, connection, domainId } = of
    const sso = await ssoOwner(of)
    await call(`${MEMBERS}/${sso.user}`, { method: 'PATCH', project, token: owner.token, json: { role: 'admin' } })
    expect(told(await enforce(project, sso.token, connection))).toEqual([403, 'insufficient_role'])
    const { secret } = await mint(owner.token, project)
    expect(told(await enforce(project, secret, connection))).toEqual([403, 'console_session_required'])
    await DIRECTORY.prepare("UPDATE members SET role = 'owner' WHERE user_id = ?").bind(sso.user).run()
    await unconfirm(sso.user)
    expect(told(await enforce(project, sso.token, connection))).toEqual([403, 'confirmation_required'])
    await unconfirm(sso.user, 0)
    expect(told(await enforce(project, owner.token, connection))).toEqual([409, 'sso_session_required'])
    expect(told(await enforce(project, sso.token, connection))).toEqual([409, 'break_glass_missing'])
    await give(project, owner.token, owner.user)
    await DIRECTORY.prepare('UPDATE sso_connections SET revision = revision + 1 WHERE id = ?').bind(connection).run()
    expect(told(await enforce(project, sso.token, connection))).toEqual([409, 'connection_untested'])
    await passTest(connection)
    await DIRECTORY.prepare("UPDATE domains SET state = 'pending' WHERE id = ?").bind(domainId).run()
    expect(told(await enforce(project, sso.token, connection))).toEqual([409, 'domain_unverified'])
    await DIRECTORY.prepare("UPDATE domains SET state = 'verified' WHERE id = ?").bind(domainId).run()
    expect((await enforce(project, sso.token, connection)).body).toMatchObject({ enforce: true })
    const options = { project, token: sso.token }
    expect(told(await call(`${CONNECTIONS}/${connection}`, { method: 'DELETE', ...options }))).toEqual([
      409,
      'connection_enforced',
    ])
    expect(told(await call(`${CONNECTIONS}/${connection}/disable`, { method: 'POST', ...options }))).toEqual([
      409,
      'connection_enforced',
    ])
  })
})

describe('break-glass access', () => {
  it('is given to owners by owners, in a confirmed session, and logged once', async () => {
    const { project, owner } = await freshProject()
    const [admin, second] = [await addMember(project, 'admin'), await addMember(project, 'owner')]
    expect(told(await give(project, admin.token, owner.user))).toEqual([403, 'insufficient_role'])
    expect(told(await give(project, owner.token, admin.user))).toEqual([409, 'not_an_owner'])
    expect(told(await give(project, owner.token, 'usr_nobody'))).toEqual([404, 'not_found'])
    for (const _ of [1, 2]) expect((await give(project, owner.token, second.user)).status).toBe(204)
    const member = await call(`${MEMBERS}/${second.user}`, { project, token: owner.token })
    expect(member.body.break_glass).toBe(true)
    for (const _ of [1, 2]) expect((await take(project, owner.token, second.user)).status).toBe(204)
    await unconfirm(owner.user)
    expect(told(await give(project, owner.token, second.user))).toEqual([403, 'confirmation_required'])
    const log = await call(`/platform/v1/audit-log?object_id=${second.user}`, { project, token: owner.token })
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
      'member.break_glass_taken',
      'member.break_glass_given',
    ])
  })

  it('is named on the page that enforces: of this project’s owners alone', async () => {
    const [of, other] = [await team(), await team()]
    const sso = await ssoOwner(of)
    for (const { project, owner } of [of, other]) await give(project, owner.token, owner.user)
    const { text } = await visit(`/console/p/${of.project}/platform/settings/sso/${of.connection}/enforce`, sso.token)
    expect([of, other].map(({ owner }) => text.includes(owner.email))).toEqual([true, false])
  })

  it('goes with the role of an owner, where nothing is enforced', async () => {
    const { project, owner } = await freshProject()
    const second = await addMember(project, 'owner')
    await give(project, owner.token, second.user)
    const path = `${MEMBERS}/${second.user}`
    const { body } = await call(path, { method: 'PATCH', project, token: owner.token, json: { role: 'admin' } })
    expect(body).toMatchObject({ role: 'admin', break_glass: false })
  })

  it.each([
    ['taken', (project: string, token: string, user: string) => take(project, token, user)],
    [
      'demoted',
      (project: string, token: string, user: string) =>
        call(`${MEMBERS}/${user}`, { method: 'PATCH', project, token, json: { role: 'admin' } }),
    ],
    [
      'removed',
      (project: string, token: string, user: string) =>
        call(`${MEMBERS}/${user}`, { method: 'DELETE', project, token }),
    ],
    [
      'removed with keys',
      (project: string, token: string, user: string) =>
        call(`${MEMBERS}/${user}?revoke_keys=true`, { method: 'DELETE', project, token }),
    ],
    ['erased', (_: string, token: string) => call('/auth/user', { method: 'DELETE', token })],
  ])('of the last one who has it stays while single sign-on is enforced: not %s', async (_, change) => {
    const { project, owner } = await enforced()
    const second = await addMember(project, 'owner')
    expect(told(await change(project, owner.token, owner.user))).toEqual([409, 'break_glass_missing'])
    await give(project, owner.token, second.user)
    expect((await change(project, owner.token, owner.user)).status).toBeLessThan(300)
  })

  it('of a deleted project ends with the account of the last one who has it, and so does enforcing: others can restore it', async () => {
    const { project, owner, connection, sso } = await enforced()
    const second = await addMember(project, 'owner')
    const deleted = await end({ project, owner })
    expect(deleted.status).toBe(200)
    expect(told(await restore({ project, owner: second }))).toEqual([403, 'sso_required'])
    expect((await call('/auth/user', { method: 'DELETE', token: owner.token })).status).toBe(204)
    expect((await restore({ project, owner: second })).status).toBe(200)
    const { body } = await call(`${CONNECTIONS}/${connection}`, { project, token: second.token })
    expect(body).toMatchObject({ enforce: false, state: 'active' })
    expect((await call(`${CONNECTIONS}/${connection}`, { project, token: sso.token })).status).toBe(200)
    const log = await call(`/platform/v1/audit-log?object_id=${connection}`, { project, token: second.token })
    expect(log.body.data[0]).toMatchObject({
      action: 'sso_connection.updated',
      actor: { type: 'user', id: owner.user },
      details: { enforce: false },
    })
  })

  it('of a deleted project restores it, whatever became of the domain, and single sign-on stays enforced', async () => {
    const { project, owner, domainId } = await enforced()
    const second = await addMember(project, 'owner')
    await give(project, owner.token, second.user)
    await end({ project, owner })
    await DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE id = ?")
      .bind(domainId)
      .run()
    expect((await call('/auth/user', { method: 'DELETE', token: owner.token })).status).toBe(204)
    expect((await restore({ project, owner: second })).status).toBe(200)
    expect(told(await call(MEMBERS, { project, token: (await addMember(project, 'owner')).token }))).toEqual([
      403,
      'sso_required',
    ])
  })

  /** Each way to sign in without single sign-on. @returns the token of the session */
  const WAYS = {
    'a code': async ({ email }: Owner, bindings: object) => (await byCode(email, { bindings })).token,
    'a passkey': async ({ token }: Owner, bindings: object) => {
      const { authenticator } = await register(token)
      return (await signInBy(await authenticator.get(await requestOptions()), { bindings })).body.token
    },
  }
  it.each(Object.entries(WAYS))(
    'used in a sign-in by %s is in the audit log, and the owners get an email',
    async (_, way) => {
      const { project, owner, sso } = await enforced()
      const second = await addMember(project, 'owner')
      await addMember(project, 'admin') // who is told nothing
      const mail = mailbox()
      const token = await way(owner, { EMAIL: mail.EMAIL })
      const log = await call('/platform/v1/audit-log?action=sso.bypassed', { project, token })
      expect(log.body.data).toMatchObject([{ actor: { type: 'user', id: owner.user } }])
      const told = mail.mails.filter(({ subject }) => subject === 'A sign-in without single sign-on')
      expect(told.map(({ to }) => to).sort()).toEqual([owner.email, second.email, sso.email].sort())
    },
  )

  it('passes nothing by where nothing is enforced: a sign-in by code is in no audit log, and no owner is told', async () => {
    const { project, owner } = await team()
    const path = `/platform/v1/members/${owner.user}/break-glass`
    expect((await call(path, { method: 'PUT', project, token: owner.token })).status).toBe(204)
    const mail = mailbox()
    const { token } = await byCode(owner.email, { bindings: { EMAIL: mail.EMAIL } })
    const log = await call('/platform/v1/audit-log?action=sso.bypassed', { project, token })
    expect(log.body.data).toEqual([])
    expect(mail.mails.filter(({ subject }) => subject === 'A sign-in without single sign-on')).toEqual([])
  })

  it('is in the audit log of a deleted project too, which the session can restore', async () => {
    const { project, owner } = await enforced()
    expect((await end({ project, owner })).status).toBe(200)
    const { token, user } = await byCode(owner.email)
    expect((await restore({ project, owner: { token } })).status).toBe(200)
    const log = await call('/platform/v1/audit-log?action=sso.bypassed', { project, token })
    expect(log.body.data).toMatchObject([{ actor: { type: 'user', id: user.id } }])
  })
})
