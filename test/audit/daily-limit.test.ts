import { describe, expect, it } from 'vitest'
import { MAX_DETAILS } from '../../src/audit/store'
import { DAILY_BYTES, DAILY_ENTRIES, DAILY_KEY_BYTES, DAILY_KEY_ENTRIES } from '../../src/http/limits'
import { DAY, HOUR } from '../../src/lib/time'
import { MAX_REDIRECT_URI, MAX_REDIRECT_URIS } from '../../src/sso/limits'
import { advance, stopClock } from '../clock'
import { visit } from '../console/visit'
import { type Answer, addMember, call, DIRECTORY, freshProject, invited, mint } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute } from '../routes/walk'
import { newWorld } from '../routes/world'
import { newConnection } from '../sso/customers'
import { insertConnection, insertDomain } from '../sso/rows'

const EVENING = Date.parse('2026-06-10T18:00:00.000Z')
const SSO = '/platform/v1/sso/connections'

type Spent = { day: number; entries: number; bytes: number; key_entries: number; key_bytes: number }
const spentBy = (project: string) =>
  DIRECTORY.prepare('SELECT day, entries, bytes, key_entries, key_bytes FROM directory_changes WHERE project_id = ?')
    .bind(project)
    .first<Spent>()

/** Writes that a project has changed so much today. */
const spend = (project: string, { entries = 0, bytes = 0, key_entries = 0, key_bytes = 0 }: Partial<Spent>) =>
  DIRECTORY.prepare('INSERT OR REPLACE INTO directory_changes VALUES (?, ?, ?, ?, ?, ?)')
    .bind(project, Math.floor(Date.now() / DAY), entries, bytes, key_entries, key_bytes)
    .run()

/** Single sign-on connections of another project. */
const TRUSTED = ['1', '2'].map((end) => `sso_${end.padStart(26, '0')}`)
const NEW = `sso_${'3'.padStart(26, '0')}`

/** Gives the sessions of a user their second factor. */
const provenTwice = (user: string) =>
  DIRECTORY.prepare('UPDATE sessions SET second_factor_at = 1 WHERE user_id = ?').bind(user).run()

/** The bytes that a project has in the audit log of the directory. */
const loggedBy = (project: string) =>
  DIRECTORY.prepare(
    'SELECT count(*) AS n, sum(length(details)) AS bytes, max(length(details)) AS most FROM audit_log WHERE project_id = ?',
  )
    .bind(project)
    .first<{ n: number; bytes: number; most: number }>()

/** A project with a connection, of which the name changes: in the directory, whatever the project's store. */
async function newOwn() {
  const { project, owner } = await freshProject()
  const path = `${SSO}/${(await newConnection(project)).id}`
  const ask = (method: string, json?: object) => call(path, { method, project, token: owner.token, json })
  return { project, owner, path, ask, rename: (name: string) => ask('PATCH', { name }) }
}

const told = ({ status, body, headers }: Answer) => [
  status,
  body?.code,
  headers.get('Retry-After'),
  headers.get('RateLimit-Policy'),
]
const REFUSED = [429, 'daily_limit_reached', String((6 * HOUR) / 1000), `"daily_changes";q=${DAILY_ENTRIES};w=86400`]

describe('what a project may change in the directory on a day', () => {
  it('is what the trigger says', async () => {
    const sql = await DIRECTORY.prepare("SELECT sql FROM sqlite_master WHERE name = 'audit_log_counted'").first<string>(
      'sql',
    )
    const [entries, bytes] = [`\`key_entries\` - ${DAILY_KEY_ENTRIES}, 0)`, `\`key_bytes\` - ${DAILY_KEY_BYTES}, 0)`]
    expect(sql).toContain(`${entries} > ${DAILY_ENTRIES} OR `)
    expect(sql).toContain(`${bytes} > ${DAILY_BYTES}\n`)
    expect(sql).toContain(`\`key_entries\` > ${DAILY_KEY_ENTRIES} OR \`key_bytes\` > ${DAILY_KEY_BYTES})`)
  })

  it.each([
    ['entries', { entries: DAILY_ENTRIES - 1 }],
    ['bytes', { bytes: DAILY_BYTES - 400 }],
  ])(
    'is bounded in %s: the change beyond is refused whole, a neighbour goes on, and so does the next day',
    async (_, spent) => {
      stopClock(EVENING)
      const [own, other] = [await newOwn(), await newOwn()]
      await spend(own.project, spent)
      expect((await own.rename('The last one')).status).toBe(200)
      const before = await spentBy(own.project)
      expect(told(await own.rename('One too many'))).toEqual(REFUSED)
      expect(await spentBy(own.project)).toEqual(before)
      const { body } = await own.ask('GET')
      expect(body.name).toBe('The last one')
      expect((await other.rename('A neighbour')).status).toBe(200)
      advance(6 * HOUR)
      expect((await own.rename('The next day')).status).toBe(200)
      expect(await spentBy(own.project)).toMatchObject({ day: Math.floor(EVENING / DAY) + 1, entries: 1 })
    },
  )

  it.each([
    ['entries', { entries: DAILY_KEY_ENTRIES - 1, key_entries: DAILY_KEY_ENTRIES - 1 }],
    ['bytes', { bytes: DAILY_KEY_BYTES - 400, key_bytes: DAILY_KEY_BYTES - 400 }],
  ])('has a share for API keys in %s, and people go on when it is used up', async (_, spent) => {
    stopClock(EVENING)
    const { project, owner, path, rename } = await newOwn()
    const { secret } = await mint(owner.token, project)
    const byKey = (name: string) => call(path, { method: 'PATCH', project, token: secret, json: { name } })
    await spend(project, spent)
    expect((await byKey('The last of a key')).status).toBe(200)
    const before = await spentBy(project)
    expect(told(await byKey('One too many'))).toEqual(REFUSED)
    expect(await spentBy(project)).toEqual(before)
    expect((await rename('By a person')).status).toBe(200)
    expect(await spentBy(project)).toMatchObject({
      entries: (before?.entries ?? 0) + 1,
      key_entries: before?.key_entries,
      key_bytes: before?.key_bytes,
    })
    advance(6 * HOUR)
    expect((await byKey('The next day')).status).toBe(200)
    expect(await spentBy(project)).toMatchObject({ entries: 1, key_entries: 1 })
  })

  it('leaves people their share, whatever keys have ended beyond theirs', async () => {
    const { project, owner, path, rename } = await newOwn()
    const { secret } = await mint(owner.token, project)
    const most = { entries: DAILY_ENTRIES - 1, bytes: DAILY_BYTES - 400 }
    await spend(project, { ...most, key_entries: DAILY_KEY_ENTRIES, key_bytes: DAILY_KEY_BYTES })
    expect((await call(`${path}/disable`, { method: 'POST', project, token: secret })).status).toBe(200)
    expect((await rename('The last one')).status).toBe(200)
    expect((await rename('One too many')).body.code).toBe('daily_limit_reached')
  })

  it('counts the console too, and explains it there', async () => {
    stopClock(EVENING)
    const { project, owner } = await freshProject()
    await spend(project, { entries: DAILY_ENTRIES })
    const path = `/console/p/${project}/platform/settings/domains`
    const { text } = await visit(path, owner.token)
    const form_token = /name="form_token" value="([0-9a-f]{64})"/.exec(text)?.[1] ?? ''
    const refused = await visit(path, owner.token, { form: { form_token, hostname: 'mail.acme.dev', purpose: 'sso' } })
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '21600'])
    expect(refused.text).toContain('changed too often today')
  })
})

it('whoever writes too much of one connection leaves little, and nothing after its time', {
  timeout: 300_000,
}, async () => {
  stopClock(EVENING)
  const [own, other] = [await newOwn(), await newOwn()]
  const codes: number[] = []
  for (let n = 0; n < 300; n++) {
    const redirect_uris = Array.from({ length: MAX_REDIRECT_URIS }, (_, i) => {
      const address = `https://app.acme.dev/${n}/${i}/`
      return address + 'x'.repeat(MAX_REDIRECT_URI - address.length)
    })
    const json = { redirect_uris, name: `Acme ${n}` }
    codes.push((await own.ask('PATCH', json)).status)
  }
  expect(new Set(codes)).toEqual(new Set([200]))
  const logged = await loggedBy(own.project)
  expect(logged?.most).toBeLessThanOrEqual(MAX_DETAILS)
  expect(logged?.bytes).toBeLessThan(DAILY_BYTES / 4)
  expect((await spentBy(own.project))?.entries).toBeGreaterThanOrEqual(300)
  expect((await other.rename('A neighbour')).status).toBe(200)
  expect((await own.ask('DELETE')).status).toBe(204)
  const kept = await DIRECTORY.prepare('SELECT length(settings) AS n FROM sso_connections WHERE id = ?')
    .bind(own.path.split('/').at(-1))
    .first<number>('n')
  expect(kept).toBeLessThan(1000)
  advance(399 * DAY)
  await keepHouse()
  expect((await loggedBy(own.project))?.n).toBe((logged?.n ?? 0) + 1)
  advance(2 * DAY)
  await keepHouse()
  expect((await loggedBy(own.project))?.n).toBe(0)
})

describe('a project that has changed all it may', () => {
  it('can still end every access', async () => {
    stopClock(EVENING)
    const { project, owner } = await freshProject()
    const [gone, leaving, glass, lowered] = await Promise.all(
      ['viewer', 'viewer', 'owner', 'owner'].map((role) => addMember(project, role as 'viewer')),
    )
    const [disabled, removed, domain, invitation] = [
      await newConnection(project),
      await insertConnection(project),
      await insertDomain(project, `mail-${project.slice(-8)}.acme.dev`),
      await invited(project),
    ]
    const ask = (method: string, path: string, token = owner.token) => call(path, { method, project, token })
    const member = '/platform/v1/members'
    expect((await ask('PUT', `${member}/${glass?.user}/break-glass`)).status).toBeLessThan(300)
    await spend(project, { entries: DAILY_ENTRIES, bytes: DAILY_BYTES })
    expect((await ask('PUT', `${member}/${owner.user}/break-glass`)).body.code).toBe('daily_limit_reached')
    const give = (role: string) =>
      call(`${member}/${lowered?.user}`, { method: 'PATCH', project, token: owner.token, json: { role } })
    const lowerings = [await give('admin'), await give('developer'), await give('viewer')]
    expect((await give('developer')).body.code).toBe('daily_limit_reached')
    const answers = [
      ...lowerings,
      await ask('DELETE', `${member}/${glass?.user}/break-glass`),
      await ask('DELETE', `${member}/${gone?.user}`),
      await ask('DELETE', `${member}/${leaving?.user}`, leaving?.token),
      await ask('DELETE', `/platform/v1/invitations/${invitation.id}`),
      await ask('POST', `${SSO}/${disabled.id}/disable`),
      await ask('DELETE', `${SSO}/${removed.id}`),
      await ask('DELETE', `/platform/v1/domains/${domain}`),
      await ask('DELETE', '/auth/sessions/current'),
    ]
    expect(answers.map(({ status, text }) => [status < 300, text])).toEqual(answers.map(({ text }) => [true, text]))
  })

  it.each([
    [{ require_passkey: true }, 200],
    [{ require_passkey: false }, 429],
    [{ trusted_connections: [TRUSTED[1]] }, 200],
    [{ trusted_connections: [] }, 200],
    [{ trusted_connections: TRUSTED.toReversed() }, 429], // Otherwise it could be turned again and again.
    [{ trusted_connections: [TRUSTED[0], NEW] }, 429],
    [{ trusted_connections: [...TRUSTED, NEW] }, 429],
    [{ require_passkey: true, trusted_connections: [] }, 200],
    [{ require_passkey: true, trusted_connections: [NEW] }, 429],
    [{ require_passkey: false, trusted_connections: [] }, 429],
  ])('can still tighten who may come in, and no more: %j gets %i', async (settings, expected) => {
    const { project, owner } = await freshProject()
    const of = `/platform/v1/projects/${project}`
    const ask = (json: object) => call(of, { method: 'PATCH', token: owner.token, json: { settings: json } })
    await provenTwice(owner.user)
    const isLoosened = 'require_passkey' in settings && !settings.require_passkey
    expect((await ask({ trusted_connections: TRUSTED, require_passkey: isLoosened })).status).toBe(200)
    await spend(project, { entries: DAILY_ENTRIES, bytes: DAILY_BYTES })
    const before = (await call(of, { token: owner.token })).body.settings
    const { status, body } = await ask(settings)
    expect([status, body.code]).toEqual([expected, expected === 200 ? undefined : 'daily_limit_reached'])
    const after = (await call(of, { token: owner.token })).body.settings
    expect(after).toEqual(expected === 200 ? { ...before, ...settings } : before)
  })

  it('writes nothing for a change that changes nothing, even of enforcement', async () => {
    const { project, owner } = await freshProject()
    const path = `${SSO}/${(await newConnection(project, { audience: 'team', state: 'draft' })).id}`
    await spend(project, { entries: DAILY_ENTRIES })
    const before = [await spentBy(project), await loggedBy(project)]
    const { status } = await call(path, { method: 'PATCH', project, token: owner.token, json: { enforce: false } })
    expect([status, await spentBy(project), await loggedBy(project)]).toEqual([200, ...before])
  })

  it('can still be deleted, and its keys revoked', async () => {
    const world = await newWorld()
    await spend(world.project, { entries: DAILY_ENTRIES })
    const routes = ROUTES.filter((route) =>
      [
        'DELETE /platform/v1/api-keys/:id',
        'DELETE /platform/v1/billing/connections/:id',
        'DELETE /platform/v1/projects/:id',
      ].includes(nameOf(route)),
    )
    expect(routes).toHaveLength(3)
    for (const route of routes.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)))
      expect((await callRoute(world, route, { token: world.owner.token })).status, nameOf(route)).toBeLessThan(300)
  })
})

describe('a domain that was deleted', () => {
  it('stays a month for the audit log, and its name is free at once', async () => {
    stopClock(EVENING)
    const { project } = await freshProject()
    const id = await insertDomain(project, `gone-${project.slice(-8)}.acme.dev`, { state: 'released' })
    await DIRECTORY.prepare('UPDATE domains SET state_since = ? WHERE id = ?').bind(EVENING, id).run()
    const held = await insertDomain(project, `held-${project.slice(-8)}.acme.dev`)
    const failed = await insertDomain(project, `failed-${project.slice(-8)}.acme.dev`, { state: 'failed' })
    const left = async () =>
      (
        await DIRECTORY.prepare('SELECT id FROM domains WHERE project_id = ? ORDER BY id').bind(project).all()
      ).results.map((row) => row.id)
    advance(30 * DAY)
    await keepHouse()
    expect(await left()).toEqual([id, held, failed].sort())
    advance(HOUR)
    await keepHouse()
    expect(await left()).toEqual([held, failed].sort())
  })
})
