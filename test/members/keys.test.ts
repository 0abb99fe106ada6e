import { beforeAll, describe, expect, it } from 'vitest'
import { visit } from '../console/visit'
import { addMember, call, DIRECTORY, freshKey, freshProject, invite, mint, signedIn, tamperedD1 } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute } from '../routes/walk'
import { newWorld } from '../routes/world'
import { insertDomain } from '../sso/rows'
import { as, logged, losing, rolesIn, told } from './members'

const KEYS = '/platform/v1/api-keys'
/** The scopes that decide who gets in. Stated by hand: one that the code forgets must be missed here. */
const ADMINISTRATIVE = ['members:write', 'sso:write']

describe('a key whose minter has left, or lost the role', () => {
  /** The routes that a key may call. */
  const open = ROUTES.filter(({ meta }) => meta.operation?.policy?.actors.includes('api_key'))
  const endings = {
    left: (project: string, user: string, _: string) =>
      DIRECTORY.prepare('DELETE FROM members WHERE project_id = ? AND user_id = ?').bind(project, user).run(),
    demoted: (project: string, user: string, owner: string) => as(project, owner).give(user, 'developer'),
  }
  let world: Awaited<ReturnType<typeof newWorld>>
  const secrets: Record<string, string> = {}
  beforeAll(async () => {
    world = await newWorld()
    for (const [how, end] of Object.entries(endings)) {
      const admin = await addMember(world.project, 'admin')
      secrets[how] = (await mint(admin.token, world.project)).secret
      await end(world.project, admin.user, world.owner.token)
    }
  })

  const table = open.flatMap((route) => Object.keys(endings).map((how) => [nameOf(route), how, route] as const))
  it.each(table)('%s: %s', async (name, how, route) => {
    const answer = await callRoute(world, route, { token: secrets[how] as string })
    const scope = route.meta.operation?.policy?.scope
    if (scope && ADMINISTRATIVE.includes(scope)) {
      expect(told(answer)).toEqual([403, 'insufficient_scope'])
      expect(answer.headers.get('WWW-Authenticate')).toContain(`scope="${scope}"`)
    } else if (name === 'POST /platform/v1/projects' && how === 'left') {
      expect(told(answer)).toEqual([403, 'not_a_member'])
    } else expect([401, 403]).not.toContain(answer.status)
  })

  it.each(ADMINISTRATIVE)('has %s on some route of its own', (scope) => {
    expect(open.filter(({ meta }) => meta.operation?.policy?.scope === scope)).not.toEqual([])
  })

  it.each(Object.keys(endings))('changes no domain for single sign-on: %s', async (how) => {
    const { project } = world
    const token = secrets[how] as string
    const id = await insertDomain(project, `${how}.acme.com`)
    const json = { hostname: `more.${how}.acme.com`, purpose: 'sso' }
    for (const [method, path, sent] of [
      ['POST', '', json],
      ['POST', `/${id}/verify`, undefined],
      ['DELETE', `/${id}`, undefined],
    ] as const) {
      const answer = await call(`/platform/v1/domains${path}`, { method, token, project, json: sent })
      expect(told(answer), `${method} ${path}`).toEqual([403, 'insufficient_scope'])
    }
    const host = { hostname: `host.${how}.acme.com`, purpose: 'surface' }
    expect((await call('/platform/v1/domains', { method: 'POST', token, project, json: host })).status).toBe(201)
  })

  it('has its administrative scopes listed as dormant, and awake again with the role', async () => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    const { key, secret } = await mint(admin.token, project)
    expect(key.dormant_scopes).toEqual([])
    const dormant = async () => (await call(`${KEYS}/${key.id}`, { token: owner.token, project })).body.dormant_scopes
    const { give, remove } = as(project, owner.token)
    expect(await dormant()).toEqual([])
    await give(admin.user, 'developer')
    expect(await dormant()).toEqual(ADMINISTRATIVE)
    await give(admin.user, 'owner')
    expect(await dormant()).toEqual([])
    expect((await invite(project, secret)).status).toBe(201)
    await remove(admin.user)
    const list = await call(KEYS, { token: owner.token, project })
    expect(list.body.data[0]).toMatchObject({ dormant_scopes: ADMINISTRATIVE, created_by: { is_member: false } })
    expect((await call(`${KEYS}/self`, { token: secret, project })).body.key.dormant_scopes).toBeNull()
  })
})

describe('a key of a colleague whose secret a member was handed', () => {
  const turn = async (project: string, token: string, id: string) =>
    (await call(`${KEYS}/${id}/rotate`, { method: 'POST', token, project })).body.secret as string
  const ENDS = {
    removed: (project: string, owner: string, user: string) => as(project, owner).remove(user),
    demoted: (project: string, owner: string, user: string) => as(project, owner).give(user, 'developer'),
  }
  const HANDED = ['by a rotation', 'by a rotation, and then the key rotated itself'] as const

  it.each(HANDED.flatMap((handed) => Object.entries(ENDS).map(([how, end]) => [how, handed, end] as const)))(
    'brings nobody back who was %s: %s',
    async (_, handed, end) => {
      const { project, owner, key } = await freshKey()
      const admin = await addMember(project, 'admin')
      let secret = await turn(project, admin.token, key.id)
      if (handed !== HANDED[0]) secret = await turn(project, secret, key.id)
      const sent = await invite(project, secret, { role: 'admin' })
      expect(sent.status).toBe(201)
      expect(told(await end(project, owner.token, admin.user))[1]).toBeNull()
      expect(told(await invite(project, secret, { role: 'admin' }))).toEqual([403, 'insufficient_scope'])
      const json = { hostname: `${key.id.slice(-8)}.acme.com`, purpose: 'sso' }
      const domain = await call('/platform/v1/domains', { method: 'POST', token: secret, project, json })
      expect(told(domain)).toEqual([403, 'insufficient_scope'])
      const shown = () => call(`${KEYS}/${key.id}`, { token: owner.token, project })
      expect((await shown()).body.dormant_scopes).toEqual(ADMINISTRATIVE)
      const page = await visit(`/console/p/${project}/platform/settings/api-keys/${key.id}`, owner.token)
      expect(page.text).toContain(`<code>${ADMINISTRATIVE.join(', ')}</code> has no effect now`)
      // What they had sent with it ends with them, as what they had sent themselves.
      expect((await as(project, owner.token).invitation(sent.body.id)).body.state).toBe('revoked')
      const fresh = await turn(project, owner.token, key.id)
      expect((await shown()).body.dormant_scopes).toEqual([])
      expect((await invite(project, fresh, { role: 'admin' })).status).toBe(201)
    },
  )

  it('writes nothing for one who is demoted while the call is under way', async () => {
    const { project, owner, key } = await freshKey()
    const admin = await addMember(project, 'admin')
    const member = await addMember(project, 'viewer')
    const secret = await turn(project, admin.token, key.id)
    // After the call has read whether the scope is dormant, and before its statement.
    const DB = tamperedD1(async ({ sql, run }) => {
      if (sql.includes('update "members"')) await as(project, owner.token).give(admin.user, 'developer')
      return run()
    })
    const answer = await as(project, secret).give(member.user, 'developer', { bindings: { DB } })
    expect(told(answer)).toEqual([403, 'insufficient_scope'])
    expect((await rolesIn(project))[member.user]).toBe('viewer')
  })
})

describe('a key with an administrative scope', () => {
  const rotate = (project: string, token: string, id: string) =>
    call(`${KEYS}/${id}/rotate`, { method: 'POST', token, project })

  it('is rotated by sessions and by itself, and by no other key: its secret would bring back who was removed', async () => {
    const { project, owner, key: target, secret: kept } = await freshKey()
    const admin = await addMember(project, 'admin')
    const own = await mint(admin.token, project)
    await as(project, owner.token).remove(admin.user)
    const refused = await rotate(project, own.secret, target.id)
    expect([...told(refused), refused.body.detail]).toEqual([
      403,
      'insufficient_scope',
      'Rotate this key with a session: it has members:write, which an API key cannot hand on.',
    ])
    expect((await call(`${KEYS}/self`, { token: kept, project })).status).toBe(200)
    const itself = await rotate(project, own.secret, own.key.id)
    expect(itself.status).toBe(200)
    expect(told(await invite(project, itself.body.secret))).toEqual([403, 'insufficient_scope'])
    expect((await rotate(project, owner.token, target.id)).status).toBe(200)
  })

  it('rotates keys without one', async () => {
    const { project, owner, secret } = await freshKey()
    const plain = await mint(owner.token, project, { scopes: ['billing:read', 'members:read'] })
    expect((await rotate(project, secret, plain.key.id)).status).toBe(200)
  })
})

describe('revoke_keys', () => {
  it('revokes the keys of others too of which the member was handed a secret that works or waits', async () => {
    const { project, owner } = await freshProject()
    const admin = await addMember(project, 'admin')
    const rotate = async (by: { token: string }, { key }: Awaited<ReturnType<typeof mint>>, json = {}) =>
      (await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: by.token, project, json })).body.secret
    const [handed, taken] = [await mint(owner.token, project), await mint(owner.token, project)]
    const first = await rotate(admin, handed)
    const known = await rotate({ token: first }, handed) // by itself: the admin knows this one too
    await rotate(admin, taken)
    const unknown = await rotate(owner, taken) // so the admin does not know it any more
    const [waits, replaced] = [await mint(owner.token, project), await mint(owner.token, project)]
    await rotate(admin, waits, { when: 'first_use' })
    await rotate(admin, replaced)
    const current = await rotate(owner, replaced, { grace_s: 3600 })
    expect((await as(project, owner.token).remove(admin.user, '?revoke_keys=true')).status).toBe(204)
    expect(told(await invite(project, known))).toEqual([401, 'key_revoked'])
    expect((await logged(project, handed.key.id)).slice(-1)).toEqual([['api_key.revoked', { with_member: admin.user }]])
    expect((await call(`${KEYS}/self`, { token: unknown, project })).status).toBe(200)
    for (const token of [waits.secret, current]) {
      expect(told(await call(`${KEYS}/self`, { token, project }))).toEqual([401, 'key_revoked'])
    }
  })

  it('revokes the keys that the member minted in the project, and no others', async () => {
    const { project, owner, secret } = await freshKey()
    const admin = await addMember(project, 'admin')
    const other = await freshProject()
    await DIRECTORY.prepare("INSERT INTO members VALUES (?, ?, 'admin', 0, 'invitation', NULL, 0, 'all')")
      .bind(other.project, admin.user)
      .run()
    const minted = [await mint(admin.token, project), await mint(admin.token, project)]
    const elsewhere = await mint(admin.token, other.project)
    expect((await as(project, owner.token).remove(admin.user, '?revoke_keys=true')).status).toBe(204)
    for (const key of minted) {
      expect(told(await call(KEYS, { token: key.secret, project }))).toEqual([401, 'key_revoked'])
      expect((await logged(project, key.key.id)).slice(-1)).toEqual([['api_key.revoked', { with_member: admin.user }]])
    }
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
    expect((await call(KEYS, { token: elsewhere.secret, project: other.project })).status).toBe(200)
  })

  it('is refused before any key is revoked', async () => {
    const { project, owner, secret } = await freshKey()
    const admin = await addMember(project, 'admin')
    const stranger = await signedIn()
    const refused = [
      [admin, owner.user, 403, 'role_escalation'],
      [owner, owner.user, 409, 'last_owner'],
      [owner, stranger.user, 404, 'not_found'],
      [await addMember(project, 'developer'), owner.user, 403, 'insufficient_role'],
    ] as const
    for (const [actor, target, ...why] of refused) {
      expect(told(await as(project, actor.token).remove(target, '?revoke_keys=true'))).toEqual(why)
    }
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
  })

  it('requires api_keys:write, of who leaves too', async () => {
    const { project, owner } = await freshKey()
    const viewer = await addMember(project, 'viewer')
    expect(told(await as(project, viewer.token).remove(viewer.user, '?revoke_keys=true'))).toEqual([
      403,
      'insufficient_role',
    ])
    const { secret } = await mint(owner.token, project, { scopes: ['members:write', 'members:read'] })
    expect(told(await as(project, secret).remove(viewer.user, '?revoke_keys=true'))).toEqual([
      403,
      'insufficient_scope',
    ])
    expect(await rolesIn(project)).toHaveProperty(viewer.user)
  })

  it('that broke off after the keys is finished by repeating it', async () => {
    const { project, owner } = await freshKey()
    const admin = await addMember(project, 'admin')
    const { secret } = await mint(admin.token, project)
    const bindings = { DB: losing(/delete from "members"/) }
    const { remove } = as(project, owner.token)
    expect(told(await remove(admin.user, '?revoke_keys=true', { bindings }))).toEqual([503, 'database_unavailable'])
    expect(told(await call(KEYS, { token: secret, project }))).toEqual([401, 'key_revoked'])
    expect(await rolesIn(project)).toHaveProperty(admin.user)
    expect((await remove(admin.user, '?revoke_keys=true')).status).toBe(204)
    expect(await rolesIn(project)).not.toHaveProperty(admin.user)
  })

  it('removes nobody while the store of the keys does not answer', async () => {
    const { project, owner } = await freshKey()
    const admin = await addMember(project, 'admin')
    const bindings = { DB: losing(/update "api_keys"/) }
    expect(told(await as(project, owner.token).remove(admin.user, '?revoke_keys=true', { bindings }))).toEqual([
      503,
      'database_unavailable',
    ])
    expect(await rolesIn(project)).toHaveProperty(admin.user)
  })
})
