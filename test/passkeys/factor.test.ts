import { beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/lib/access'
import { hashCode } from '../../src/sessions/secret'
import { DEFAULTS } from '../../src/tenancy/settings'
import { submit } from '../console/visit'
import {
  addMember,
  bound,
  call,
  countingD1,
  DIRECTORY,
  freshProject,
  mint,
  type RequestOptions,
  signedIn,
  storedText,
  unconfirm,
} from '../harness'
import { current } from '../sessions/signing-in'
import { newAuthenticator } from './authenticator'
import { byCode, prove, register, withPasskey } from './people'

const told = ({ status, body }: { status: number; body: { code?: string } | null }) => [status, body?.code]
const factorAt = async (token: string) => (await current(token)).body.session.second_factor_at
const recover = (token: string, code: string, options: RequestOptions = {}) =>
  call('/auth/session/recovery-code', { method: 'POST', token, json: { code }, ...options })
const renew = (token: string) => call('/auth/recovery-codes', { method: 'POST', token })
const left = async (token: string) => (await call('/auth/recovery-codes', { token })).body.left

describe('the second factor of a session', () => {
  it('is absent after signing in by code, and there once a passkey was used, which confirms the session too', async () => {
    const person = await withPasskey()
    const other = await byCode(person)
    await unconfirm(person.user)
    expect(await factorAt(other.token)).toBeNull()
    expect((await prove(other.token, person.authenticator)).status).toBe(204)
    expect(await factorAt(other.token)).not.toBeNull()
    expect((await call('/auth/passkeys/options', { method: 'POST', token: other.token })).status).toBe(200)
    // The first session was not confirmed by it.
    expect(told(await renew(person.token))).toEqual([403, 'confirmation_required'])
  })

  it("is not another user's passkey", async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const session = await byCode(mine)
    expect(told(await prove(session.token, theirs.authenticator))).toEqual([401, 'invalid_passkey'])
    expect(await factorAt(session.token)).toBeNull()
  })

  it('is needed to change passkeys and recovery codes, once there is a passkey: access to the mail is not enough', async () => {
    const person = await withPasskey()
    const { token } = await byCode(person)
    const path = `/auth/passkeys/${person.passkey.id}`
    const refused = [403, 'passkey_required']
    expect(told(await call('/auth/passkeys/options', { method: 'POST', token }))).toEqual(refused)
    expect(told(await call(path, { method: 'DELETE', token }))).toEqual(refused)
    expect(told(await renew(token))).toEqual(refused)
    expect((await call('/auth/passkeys', { token })).body.data).toHaveLength(1)
  })

  it('is checked in the statement: options of before the first passkey add no second one', async () => {
    const person = await signedIn()
    const other = await byCode(person)
    const { body } = await call('/auth/passkeys/options', { method: 'POST', token: other.token })
    expect((await register(person.token)).answer.status).toBe(201)
    const credential = await (await newAuthenticator()).create(body.options as never)
    const late = await call('/auth/passkeys', { method: 'POST', token: other.token, json: { credential } })
    expect(told(late)).toEqual([403, 'passkey_required'])
    expect((await call('/auth/passkeys', { token: person.token })).body.data).toHaveLength(1)
  })
})

describe('what a thief has gained in a session of their own', () => {
  /** Whether a session has its second factor, and is confirmed. */
  const gained = async (token: string) => {
    const { session } = (await current(token)).body
    return [session.second_factor_at !== null, Date.parse(session.confirmed_until) > Date.now()]
  }
  const remove = (token: string, id: string) => call(`/auth/passkeys/${id}`, { method: 'DELETE', token })

  it.each<[string, (person: Awaited<ReturnType<typeof withPasskey>>) => Promise<{ status: number }>]>([
    ['deleting a passkey', ({ token, passkey }) => remove(token, passkey.id)],
    ['making new recovery codes', ({ token }) => renew(token)],
  ])('ends with %s, and nobody else loses anything', async (_, change) => {
    const [person, bystander] = [await withPasskey(), await withPasskey()]
    const [thief, weak] = [await byCode(person), await byCode(person)]
    expect((await prove(thief.token, person.authenticator)).status).toBe(204)
    // A refused change takes nothing from anybody.
    await remove(weak.token, person.passkey.id)
    await renew(weak.token)
    const both = async () => [await gained(thief.token), await gained(weak.token)]
    expect(await both()).toEqual([
      [true, true],
      [false, true],
    ])
    expect((await change(person)).status).toBeLessThan(300)
    expect(await both()).toEqual([
      [false, false],
      [false, false],
    ])
    expect(await gained(person.token)).toEqual([true, true])
    expect(await gained(bystander.token)).toEqual([true, true])
    expect(told(await call('/auth/passkeys/options', { method: 'POST', token: thief.token }))).toEqual([
      403,
      'confirmation_required',
    ])
  })

  it('costs what docs/guides/passkeys.md says: a row for each other session, and no trip', async () => {
    const person = await withPasskey()
    const { passkey } = await register(person.token)
    const costOf = async (path: string, options: RequestOptions) => {
      await byCode(person)
      const { DB, count } = countingD1()
      expect((await call(path, { token: person.token, bindings: { DB }, ...options })).status).toBeLessThan(300)
      return [count.trips, count.rows_written]
    }
    const path = `/auth/passkeys/${passkey.id}`
    expect(await costOf(path, { method: 'PATCH', json: { name: 'Phone' } })).toEqual([2, 3])
    expect(await costOf('/auth/recovery-codes', { method: 'POST' })).toEqual([2, 25]) // two other sessions
    expect(await costOf(path, { method: 'DELETE' })).toEqual([2, 5])
  })
})

describe('recovery codes', () => {
  it('come with the first passkey: ten, each of which works once, however it is typed', async () => {
    const person = await withPasskey()
    const { codes, token } = person
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{6}-){3}[0-9A-HJKMNP-TV-Z]{6}$/)
    expect((await register(token)).recovery_codes).toBeNull()
    const used = (at: number | null) =>
      DIRECTORY.prepare('UPDATE recovery_codes SET used_at = ? WHERE user_id = ?').bind(at, person.user).run()
    await used(1)
    expect((await register(token)).recovery_codes).toBeNull()
    await used(null)
    const [one = '', two = ''] = codes
    for (const typed of [one, ` ${two.toLowerCase().replaceAll('-', ' ')} `]) {
      const session = await byCode(person)
      expect((await recover(session.token, typed)).status).toBe(204)
      expect(await factorAt(session.token)).not.toBeNull()
      expect(told(await recover(session.token, typed))).toEqual([401, 'invalid_recovery_code'])
    }
    expect(await left(token)).toBe(8)
  })

  it('are used once by two calls at the same time', async () => {
    const person = await withPasskey()
    const sessions = await Promise.all([1, 2, 3].map(() => byCode(person)))
    const answers = await Promise.all(sessions.map(({ token }) => recover(token, person.codes[0] ?? '')))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401])
    const factors = await Promise.all(sessions.map(({ token }) => factorAt(token)))
    expect(factors.filter((at) => at !== null)).toHaveLength(1)
  })

  it('cost a trip and five rows: the code, the session, the event with its index, the count of emails', async () => {
    const person = await withPasskey()
    const { token } = await byCode(person)
    const { DB, count } = countingD1()
    expect((await recover(token, person.codes[0] ?? '', { bindings: { DB } })).status).toBe(204)
    expect(count).toMatchObject({ trips: 2, rows_written: 5 })
  })

  it('are of one user', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()]
    const session = await byCode(mine)
    expect(told(await recover(session.token, theirs.codes[0] ?? ''))).toEqual([401, 'invalid_recovery_code'])
    expect(await factorAt(session.token)).toBeNull()
    expect(await left(theirs.token)).toBe(10)
  })

  it('of ten characters, from before they had 24, still work', async () => {
    const person = await withPasskey()
    const hash = await hashCode(bound.CODE_PEPPER as string, `recovery:${person.user}`, 'V3K8Q0ZT5M')
    await DIRECTORY.prepare('INSERT INTO recovery_codes (user_id, hash, created_at) VALUES (?, ?, 1)')
      .bind(person.user, hash)
      .run()
    const { token } = await byCode(person)
    expect((await recover(token, 'V3K8Q-0ZT5M')).status).toBe(204)
  })

  it('do not confirm a session', async () => {
    const person = await withPasskey()
    const { token } = await byCode(person)
    await unconfirm(person.user)
    expect((await recover(token, person.codes[0] ?? '')).status).toBe(204)
    expect(told(await renew(token))).toEqual([403, 'confirmation_required'])
  })

  it('are replaced by new ones', async () => {
    const person = await withPasskey()
    const { status, body } = await renew(person.token)
    expect([status, body.recovery_codes.length]).toEqual([201, 10])
    const { token } = await byCode(person)
    expect(told(await recover(token, person.codes[0] ?? ''))).toEqual([401, 'invalid_recovery_code'])
    expect((await recover(token, body.recovery_codes[0] ?? '')).status).toBe(204)
    const stored = await storedText()
    for (const code of body.recovery_codes) expect(stored).not.toContain(code)
  })

  it('end with the last passkey, and are not made without one', async () => {
    const { token, passkey } = await withPasskey()
    const remove = (id: string) => call(`/auth/passkeys/${id}`, { method: 'DELETE', token })
    const second = await register(token)
    expect((await remove(passkey.id)).status).toBe(204)
    expect(await left(token)).toBe(10)
    expect((await remove(second.passkey.id)).status).toBe(204)
    expect(await left(token)).toBe(0)
    expect(told(await renew(token))).toEqual([404, 'not_found'])
    expect((await register(token)).recovery_codes).toHaveLength(10)
  })

  it('bring back the owner of a lost device: a code by mail, a recovery code, and another passkey', async () => {
    const person = await withPasskey()
    const { token } = await byCode(person)
    expect((await recover(token, person.codes[9] ?? '')).status).toBe(204)
    expect((await call(`/auth/passkeys/${person.passkey.id}`, { method: 'DELETE', token })).status).toBe(204)
    const { answer, authenticator } = await register(token)
    expect(answer.status).toBe(201)
    expect((await prove((await byCode(person)).token, authenticator)).status).toBe(204)
  })
})

describe('a project that requires a passkey', () => {
  /** What a new project has. */
  const setting = (project: string, token: string, require_passkey: unknown, more = {}) =>
    call(`/platform/v1/projects/${project}`, {
      method: 'PATCH',
      token,
      project,
      json: { settings: { require_passkey }, ...more },
    })
  const read = (project: string, token: string, path = '/platform/v1/members') => call(path, { project, token })

  /** A project with this setting, whose owner has a passkey and used it. */
  async function requiring() {
    const { project, owner } = await freshProject()
    const { authenticator } = await register(owner.token)
    expect((await setting(project, owner.token, true)).body.settings).toEqual({ ...DEFAULTS, require_passkey: true })
    return { project, owner, authenticator }
  }

  let world: Awaited<ReturnType<typeof requiring>>
  beforeAll(async () => {
    world = await requiring()
  })

  it.each<[Role, number]>([
    ['viewer', 200],
    ['developer', 200],
    ['admin', 403],
    ['owner', 403],
  ])('answers a session of a %s without a second factor with %i', async (role, status) => {
    const { project } = world
    const member = await addMember(project, role)
    const answer = await read(project, member.token)
    expect(told(answer)).toEqual([status, status === 403 ? 'passkey_required' : undefined])
    expect((await read(project, member.token, `/platform/v1/projects/${project}`)).status).toBe(status)
    // Outside of the project nothing changes, and a passkey opens it.
    expect((await read(project, member.token, '/platform/v1/projects')).status).toBe(200)
    expect((await register(member.token)).answer.status).toBe(201)
    expect((await read(project, member.token)).status).toBe(200)
  })

  it('admits another session by passkey or by recovery code, and no key is affected', async () => {
    const { project, owner, authenticator } = world
    const { secret } = await mint(owner.token, project)
    const other = await byCode(owner)
    expect(told(await read(project, other.token))).toEqual([403, 'passkey_required'])
    expect((await read(project, secret)).status).toBe(200)
    expect((await prove(other.token, authenticator)).status).toBe(204)
    expect((await read(project, other.token)).status).toBe(200)
  })

  it('is not set by a session without its second factor, by an admin or by a key', async () => {
    const { project, owner } = await freshProject()
    expect(told(await setting(project, owner.token, true))).toEqual([403, 'passkey_required'])
    expect((await register(owner.token)).answer.status).toBe(201)
    const other = await byCode(owner)
    expect(told(await setting(project, other.token, true))).toEqual([403, 'passkey_required'])
    const admin = await addMember(project, 'admin')
    await register(admin.token)
    expect(told(await setting(project, admin.token, true))).toEqual([403, 'insufficient_role'])
    const { secret } = await mint(owner.token, project)
    expect(told(await setting(project, secret, true))).toEqual([403, 'console_session_required'])
    expect((await read(project, owner.token, `/platform/v1/projects/${project}`)).body.settings).toEqual(DEFAULTS)
    const { results } = await DIRECTORY.prepare(
      "SELECT id FROM audit_log WHERE project_id = ? AND action LIKE 'project.settings%'",
    )
      .bind(project)
      .all()
    expect(results).toEqual([])
  })

  it('shows its settings, with a new name too, and audits each change once', async () => {
    const { project, owner } = await freshProject()
    await register(owner.token)
    const path = `/platform/v1/projects/${project}`
    const { name, settings } = (await setting(project, owner.token, true, { name: 'Safe' })).body
    expect([name, settings]).toEqual(['Safe', { ...DEFAULTS, require_passkey: true }])
    expect((await setting(project, owner.token, true)).status).toBe(200)
    const { secret } = await mint(owner.token, project)
    for (const token of [owner.token, secret]) {
      expect((await read(project, token, path)).body.settings).toEqual({ ...DEFAULTS, require_passkey: true })
    }
    expect((await setting(project, owner.token, false)).body.settings).toEqual(DEFAULTS)
    const { body } = await read(project, owner.token, '/platform/v1/audit-log?action=project.settings_changed')
    expect(body.data.map(({ details }) => details)).toEqual([
      { require_passkey: false, before: { require_passkey: true } },
      { require_passkey: true, before: { require_passkey: false } },
    ])
    expect((await read(project, (await addMember(project, 'admin')).token)).status).toBe(200)
  })

  it('is ended only by a confirmed session', async () => {
    const { project, owner } = await requiring()
    await unconfirm(owner.user)
    expect(told(await setting(project, owner.token, false))).toEqual([403, 'confirmation_required'])
    const page = `/console/p/${project}/platform/settings/general`
    const saved = await submit(`${page}/settings`, owner.token, { require_passkey: 'false' })
    expect(saved.headers.get('Location')).toMatch(/^\/console\/confirm/)
    expect((await read(project, owner.token, `/platform/v1/projects/${project}`)).body.settings).toEqual({
      ...DEFAULTS,
      require_passkey: true,
    })
    await unconfirm(owner.user, 0)
    expect((await setting(project, owner.token, false)).status).toBe(200)
  })

  it.each([
    [{}],
    [{ settings: { require_passkeys: true } }],
    [{ settings: { require_passkey: 'yes' } }],
    [{ settings: null }],
  ])('refuses %j', async (json) => {
    const { project, owner } = world
    const answer = await call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, json })
    expect(told(answer)).toEqual([422, 'validation_failed'])
  })

  it('is read with the membership: no call makes another trip', async () => {
    const trips = async (project: string, token: string) => {
      const { DB, count } = countingD1()
      expect((await call('/platform/v1/members', { project, token, bindings: { DB } })).status).toBe(200)
      return count.trips
    }
    const { project, owner } = await freshProject()
    expect(await trips(world.project, world.owner.token)).toBe(await trips(project, owner.token))
  })
})
