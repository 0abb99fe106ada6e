import { describe, expect, it } from 'vitest'
import { PAGES, visit } from '../../console/visit'
import { type Answer, addMember, call, DIRECTORY, freshProject, invited, mint } from '../../harness'
import { end, restore } from '../../projects/ending'
import { signIn as byCode } from '../../sessions/signing-in'
import { CONNECTIONS, enforced, signIn, ssoMember, ssoOwner, team } from './team'

const told = ({ status, body }: Answer) => [status, body?.code]
const keysOf = (project: string, token: string) => call('/platform/v1/api-keys', { project, token })

/** The pages of a user that name nothing. */
const OF_USER = PAGES.filter(({ method, path }) => method === 'GET' && !path.includes(':')).map(({ path }) => path)

/** A member who has signed in with single sign-on, and owns another project too. */
async function world() {
  const of = await team()
  const ada = await ssoMember(of)
  const { project: other } = await freshProject('Other')
  await DIRECTORY.prepare("INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, 'owner', 1)")
    .bind(other, ada.user)
    .run()
  return { ...of, ada, other }
}

describe('a session from single sign-on', () => {
  it('acts in its own project alone, whatever its user is a member of', async () => {
    const { project, other, ada } = await world()
    const { token } = ada
    expect((await keysOf(project, token)).status).toBe(200)
    expect(told(await keysOf(other, token))).toEqual([403, 'not_a_member'])
    expect(told(await call(`/platform/v1/projects/${other}`, { token }))).toEqual([404, 'not_found'])
    const { body } = await call('/platform/v1/projects', { token })
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([project])
    const path = `/platform/v1/projects/${other}`
    expect(told(await call(`${path}?name=Other`, { method: 'DELETE', token }))).toEqual([403, 'not_a_member'])
    expect(told(await call(`${path}/restore`, { method: 'POST', token }))).toEqual([403, 'not_a_member'])
  })

  it('acts in a project that trusts its connection, as its owner has decided there', async () => {
    const { connection, other, ada } = await world()
    const boss = await addMember(other, 'owner')
    const path = `/platform/v1/projects/${other}`
    const json = { settings: { trusted_connections: [connection] } }
    const admin = await addMember(other, 'admin')
    expect(told(await call(path, { method: 'PATCH', token: admin.token, json }))).toEqual([403, 'insufficient_role'])
    const { secret } = await mint(boss.token, other)
    expect(told(await call(path, { method: 'PATCH', project: other, token: secret, json }))).toEqual([
      403,
      'console_session_required',
    ])
    const changed = await call(path, { method: 'PATCH', token: boss.token, json })
    expect([changed.status, changed.body.settings.trusted_connections]).toEqual([200, [connection]])
    expect((await keysOf(other, ada.token)).status).toBe(200)
    expect((await call('/platform/v1/projects', { token: ada.token })).body.data).toHaveLength(2)
    await call(path, { method: 'PATCH', token: boss.token, json: { settings: { trusted_connections: [] } } })
    expect(told(await keysOf(other, ada.token))).toEqual([403, 'not_a_member'])
  })

  it('sees and answers invitations of its project alone', async () => {
    const { project, ada } = await world()
    const foreign = await freshProject()
    const there = await invited(foreign.project, { email: ada.email })
    const here = await invited(project, { email: ada.email })
    const { token } = ada
    const { body } = await call('/auth/invitations', { token })
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([here.id])
    for (const answer of ['accept', 'decline']) {
      expect(told(await call(`/auth/invitations/${there.id}/${answer}`, { method: 'POST', token }))).toEqual([
        404,
        'not_found',
      ])
    }
    expect((await call(`/auth/invitations/${here.id}/decline`, { method: 'POST', token })).status).toBe(204)
  })

  it('sees and ends sessions of its connection alone', async () => {
    const { host, connection, ada } = await world()
    const { token } = ada
    const [own] = (
      await DIRECTORY.prepare(
        `INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at)
         VALUES ('ses_' || ?1, ?1, ?1, 1, 9e15, 1) RETURNING id`,
      )
        .bind(ada.user)
        .all<{ id: string }>()
    ).results
    const second = await signIn({ host, connection }, { sub: 'ada', email: ada.email })
    const { body } = await call('/auth/sessions', { token })
    expect(body.data).toHaveLength(2)
    expect(told(await call(`/auth/sessions/${own?.id}`, { method: 'DELETE', token }))).toEqual([404, 'not_found'])
    expect((await call('/auth/sessions?keep_current=true', { method: 'DELETE', token })).status).toBe(204)
    expect((await call('/auth/sessions/current', { token: second.token })).status).toBe(401)
    const left = await DIRECTORY.prepare('SELECT id FROM sessions WHERE user_id = ?').bind(ada.user).all()
    expect(left.results).toHaveLength(2)
  })

  it.each([
    ['DELETE', '/auth/user'],
    ['PATCH', '/auth/user', { notices: false }],
    ['GET', '/auth/events'],
    ['GET', '/auth/passkeys'],
    ['POST', '/auth/passkeys/options'],
    ['POST', '/auth/recovery-codes'],
    ['POST', '/platform/v1/projects', { name: 'Mine' }],
  ])('does not manage the account: %s %s', async (method, path, json?: object) => {
    const of = await team()
    const { token } = await ssoMember(of)
    expect(told(await call(path, { method, token, json }))).toEqual([403, 'sso_session_limited'])
  })

  it('shows on no page what the account did without it', async () => {
    const ada = await ssoMember(await team())
    const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
    const own = await byCode(ada.email, { headers })
    const shown = async ({ token }: { token: string }) => {
      const found: string[] = []
      for (const path of OF_USER) if ((await visit(path, token)).text.includes('Firefox on Linux')) found.push(path)
      return found
    }
    expect(await shown(own)).toContain('/console/sessions')
    expect(await shown(ada)).toEqual([])
  })

  it.each([
    ['is disabled', (id: string, o: object) => call(`${CONNECTIONS}/${id}/disable`, { method: 'POST', ...o })],
    ['is deleted', (id: string, o: object) => call(`${CONNECTIONS}/${id}`, { method: 'DELETE', ...o })],
  ])('ends when its connection %s', async (_, change) => {
    const { project, owner, connection, ada } = await world()
    await change(connection, { project, token: owner.token })
    expect(told(await keysOf(project, ada.token))).toEqual([401, 'session_expired'])
    expect(told(await call('/auth/sessions/current', { token: ada.token }))).toEqual([401, 'session_expired'])
  })

  it('is refused while its project is deleted: nobody restores the project with it', async () => {
    const of = await team()
    const { token } = await ssoOwner(of)
    expect((await end({ project: of.project, owner: { token } })).status).toBe(200)
    const paths = ['/auth/sessions/current', '/auth/invitations', '/platform/v1/projects']
    for (const path of paths)
      expect([path, ...told(await call(path, { token }))]).toEqual([path, 401, 'session_expired'])
    expect(told(await keysOf(of.project, token))).toEqual([401, 'session_expired'])
    expect(told(await restore({ project: of.project, owner: { token } }))).toEqual([401, 'session_expired'])
    expect((await restore(of)).status).toBe(200)
    for (const path of paths) expect([path, (await call(path, { token })).status]).toEqual([path, 200])
  })

  it('ends with the identity that opened it', async () => {
    const { project, owner, ada } = await world()
    const options = { project, token: owner.token }
    const { body } = await call(`/platform/v1/sso/identities?user_id=${ada.user}`, options)
    expect(body.data).toMatchObject([{ user_id: ada.user, consumer_id: null, subject: 'ada', email: ada.email }])
    const path = `/platform/v1/sso/identities/${body.data[0].id}`
    expect((await call(path, { method: 'DELETE', ...options })).status).toBe(204)
    expect(told(await call(path, { method: 'DELETE', ...options }))).toEqual([404, 'not_found'])
    expect(told(await keysOf(project, ada.token))).toEqual([401, 'unknown_session'])
  })
})

describe('a project that enforces its single sign-on', () => {
  it('takes its own sessions and those of break-glass owners; keys stay as they are', async () => {
    const { project, owner, connection, sso } = await enforced()
    const viewer = await addMember(project, 'owner')
    const refused = await keysOf(project, viewer.token)
    expect(told(refused)).toEqual([403, 'sso_required'])
    expect(refused.body.detail).toContain(`https://platform.test/auth/sso/start?connection=${connection}`)
    expect((await keysOf(project, sso.token)).status).toBe(200)
    expect((await keysOf(project, owner.token)).status).toBe(200)
    const { secret } = await mint(owner.token, project)
    expect((await keysOf(project, secret)).status).toBe(200)
  })

  it('tells a session that must sign in elsewhere its name alone', async () => {
    const { project, owner, connection, sso } = await enforced()
    const { token } = await addMember(project, 'owner')
    const listed = async (by: string) => (await call('/platform/v1/projects', { token: by })).body.data[0]
    expect(await listed(token)).toMatchObject({
      id: project,
      name: 'Test',
      settings: null,
      role: null,
      sso_required: connection,
    })
    expect(await listed(owner.token)).toMatchObject({ role: 'owner', settings: {}, sso_required: null })
    expect(await listed(sso.token)).toMatchObject({ role: 'owner', settings: {}, sso_required: null })
    const { secret } = await mint(owner.token, project)
    const { body } = await call('/platform/v1/projects', { project, token: secret })
    expect(body.data).toMatchObject([{ role: null, settings: {}, sso_required: null }])
  })

  it('stops at once when a confirmed session says so', async () => {
    const { project, sso, connection } = await enforced()
    const { token } = await addMember(project, 'viewer')
    const off = { method: 'PATCH', project, json: { enforce: false } }
    const { secret } = await mint(sso.token, project)
    expect(told(await call(`${CONNECTIONS}/${connection}`, { ...off, token: secret }))).toEqual([
      403,
      'console_session_required',
    ])
    const { body } = await call(`${CONNECTIONS}/${connection}`, { ...off, token: sso.token })
    expect(body.enforce).toBe(false)
    expect((await keysOf(project, token)).status).toBe(200)
  })
})
