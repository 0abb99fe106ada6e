import { expect, it } from 'vitest'
import { CHUNK_ROWS } from '../../src/db/limits'
import { DAY, HOUR } from '../../src/lib/time'
import { MAX_SSO_CONNECTIONS } from '../../src/sso/limits'
import { advance, stopClock } from '../clock'
import { call, captureConsole, countingD1, DIRECTORY, tamperedD1 } from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { customersWorld, newDomain, SSO, verifiedDomain } from './customers'
import { insertConnection, insertDomain, insertIdentity } from './rows'

const ANOTHER = { audience: 'team', name: 'another', issuer: 'https://another.plain.dev', client_id: 'rp' }

async function world(fields: Parameters<typeof customersWorld>[0] = {}) {
  const made = await customersWorld(fields)
  const { project, owner, connection } = made
  const path = `${SSO}/connections/${connection.id}`
  const ask = (method: string, json?: object, bindings = {}) =>
    call(path, { method, project, token: owner.token, bindings, ...(json && { json }) })
  return { ...made, ask, change: (json: object, bindings?: object) => ask('PATCH', json, bindings) }
}

it('a project at its limit can add one for each that it deletes', async () => {
  const { project, owner, connection, ask } = await world()
  const add = () => call(`${SSO}/connections`, { method: 'POST', project, token: owner.token, json: ANOTHER })
  for (let n = 1; n < MAX_SSO_CONNECTIONS; n++) await insertConnection(project, { name: `${n}` })
  expect(await add()).toMatchObject({ status: 409, body: { code: 'connection_limit_reached' } })
  expect((await ask('DELETE')).status).toBe(204)
  expect((await add()).status).toBe(201)
  expect(await add()).toMatchObject({ status: 409, body: { code: 'connection_limit_reached' } })
  // What was deleted is still there.
  const rows = DIRECTORY.prepare('SELECT deleted_at FROM sso_connections WHERE id = ?').bind(connection.id)
  expect(await rows.first('deleted_at')).toBeGreaterThan(0)
})

it('two changes at once both count: what one has removed does not come back with the other', async () => {
  const { ask, change } = await world()
  let other = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes('update "sso_connections"') && other === 0) {
      other = -1
      other = (await change({ redirect_uris: [], create_consumers: false })).status
    }
    return run()
  })
  expect((await change({ name: 'Renamed' }, { DB })).status).toBe(200)
  expect(other).toBe(200)
  expect((await ask('GET')).body).toMatchObject({ name: 'Renamed', redirect_uris: [], create_consumers: false })
})

it.each([
  ['the name', {}, { name: 'read' }],
  ['the client', {}, { client_id: 'read', auth_method: 'read', scopes: 'read', claims: 'read' }],
  ['settings', {}, { create_consumers: 'read', redirect_uris: 'read', surface_id: 'read' }],
  ['domains', {}, { domain_ids: [] }],
  ['no secret', { client_secret: null, auth_method: 'none' }, { client_secret: null }],
  ['enforcement that is off', { audience: 'team', state: 'draft' }, { enforce: false }],
  ['all of these', {}, { name: 'read', client_id: 'read', scopes: 'read', redirect_uris: 'read', domain_ids: [] }],
])('the same again changes nothing: %s', async (_, first, same: Record<string, unknown>) => {
  const { project, owner } = await world()
  const { body: made } = await call(`${SSO}/connections`, {
    method: 'POST',
    project,
    token: owner.token,
    json: { ...ANOTHER, audience: 'customers', client_secret: 's3cret', ...first, state: undefined },
  })
  const rows = () =>
    DIRECTORY.prepare(
      'SELECT c.*, (SELECT count(*) FROM audit_log WHERE object_id = c.id) AS entries FROM sso_connections c WHERE id = ?',
    )
      .bind(made.id)
      .first()
  const before = await rows()
  const read: Record<string, unknown> = made
  const json = Object.fromEntries(
    Object.entries(same).map(([name, value]) => [name, value === 'read' ? read[name] : value]),
  )
  const path = `${SSO}/connections/${made.id}`
  const again = await call(path, { method: 'PATCH', project, token: owner.token, json })
  expect([again.status, again.body]).toEqual([200, made])
  expect(await rows()).toEqual(before)
})

it.each([
  ['redirect_uris', 'https:app.acme.dev/back'],
  ['redirect_uris', 'https:/app.acme.dev/back'],
  ['redirect_uris', 'https:///app.acme.dev/back'],
  ['redirect_uris', 'https://app.acme.dev\\@evil.com'],
  ['redirect_uris', 'https:\\\\app.acme.dev'],
  ['redirect_uris', 'https://app.acme.dev/a\\b'],
  ['redirect_uris', 'http:localhost/back'],
  ['issuer', 'https://login.acme.dev\\@evil.com'],
  ['issuer', 'https://login.acme.dev/a\\b'],
  ['issuer', 'https://login%2eacme.dev'],
  ['issuer', 'https:login.acme.dev'],
  ['issuer', 'https:///login.acme.dev'],
  ['issuer', 'https://login.acme.dev:8443'],
])('an address that browsers read as another one is refused: %s %s', async (field, address) => {
  const { project, owner } = await world()
  const json = { ...ANOTHER, audience: 'customers', [field]: field === 'issuer' ? address : [address] }
  const { status, body } = await call(`${SSO}/connections`, { method: 'POST', project, token: owner.token, json })
  expect([status, body.errors?.[0]?.pointer]).toEqual([422, field === 'issuer' ? '/issuer' : `/${field}/0`])
})

it.each([
  ['redirect_uris', ['https://APP.acme.dev:8443/back?x=/', 'http://localhost:3000/', 'HTTPS://app.acme.dev']],
  ['issuer', 'https://Login.plain.dev/tenant'],
  ['issuer', 'https://xn--bcher-kva.plain.dev'],
  ['issuer', 'https://login.plain.dev:443/tenant'],
])('an address with a plain host is kept as it is: %s %s', async (field, value) => {
  const { project, owner } = await world()
  const json = { ...ANOTHER, audience: 'customers', [field]: value }
  const { status, body } = await call(`${SSO}/connections`, { method: 'POST', project, token: owner.token, json })
  expect([status, body]).toMatchObject([201, { [field]: value }])
})

it('a call that other calls always outrun gets a 409, and no line that looks like a failure of ours', async () => {
  const { change } = await world()
  let others = 0
  const DB = tamperedD1(async ({ sql, run }) => {
    if (sql.includes('update "sso_connections"')) await change({ create_consumers: others++ % 2 === 1 })
    return run()
  })
  const logged = captureConsole()
  const { status, body } = await change({ name: 'Renamed' }, { DB })
  expect([status, body.code]).toEqual([409, 'connection_changed'])
  expect(logged.join('\n')).not.toContain('"level":"error"')
})

it('a surface must be verified, and another one asks for a new test, as the provider must know its address', async () => {
  const { project, owner, change } = await world()
  const pending = await insertDomain(project, 'pending.acme.dev', { state: 'pending', purpose: 'surface' })
  const refused = await change({ surface_id: pending })
  expect([refused.status, refused.body.errors?.[0]?.pointer]).toEqual([422, '/surface_id'])
  const surface = await verifiedDomain(project, `auth-${project.slice(-8)}.acme.dev`, 'surface')
  const { body } = await change({ surface_id: surface })
  expect(body.callback_url).toContain('https://auth-')
  const post = (what: string) =>
    call(`${SSO}/connections/${body.id}/${what}`, { method: 'POST', project, token: owner.token })
  expect((await post('disable')).status).toBe(200)
  expect(await post('activate')).toMatchObject({ status: 409, body: { code: 'connection_untested' } })
})

it('what was read can be sent back after a domain is lost or deleted', async () => {
  const { project, ask, change } = await world()
  const surface = await verifiedDomain(project, `auth2-${project.slice(-8)}.acme.dev`, 'surface')
  const email = await verifiedDomain(project, 'acme.dev')
  expect((await change({ surface_id: surface, domain_ids: [email] })).status).toBe(200)
  await DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE id = ?").bind(surface).run()
  await DIRECTORY.prepare("UPDATE domains SET state = 'released', next_check_at = NULL WHERE id = ?").bind(email).run()
  const { body } = await ask('GET')
  expect(body.domains).toEqual([])
  const same = { surface_id: body.surface_id, domain_ids: body.domains.map(({ id }: { id: string }) => id) }
  const sent = await change(same)
  expect([sent.status, sent.body.surface_id]).toEqual([200, surface])
})

it.each<[Record<string, unknown>, boolean]>([
  [{ client_id: 'other' }, true],
  [{ client_secret: 'other' }, true],
  [{ auth_method: 'client_secret_post' }, true],
  [{ scopes: ['openid'] }, true],
  [{ claims: { email: 'mail', name: 'name' } }, true],
  [{ name: 'Other' }, false],
  [{ redirect_uris: [] }, false],
  [{ create_consumers: false }, false],
])('a change to %j asks for another test: %s', async (json, asks) => {
  const { ask, change } = await world()
  expect((await ask('GET')).body.tested_at).not.toBeNull()
  const { status, body } = await change(json)
  expect([status, body.tested_at === null]).toEqual([200, asks])
})

it('a connection that was deleted keeps no secret and no address, and its domain is free at once', async () => {
  const domain = newDomain()
  const { project, connection, owner, ask } = await world({ domains: [domain] })
  const stored = () =>
    DIRECTORY.prepare('SELECT secret, settings, state FROM sso_connections WHERE id = ?')
      .bind(connection.id)
      .first<{ secret: string | null; settings: string; state: string }>()
  expect([(await stored())?.secret === null, (await stored())?.settings.includes('app.acme.dev')]).toEqual([
    false,
    true,
  ])
  const [held] = (await ask('GET')).body.domains
  expect((await ask('DELETE')).status).toBe(204)
  expect(await stored()).toMatchObject({ secret: null, state: 'disabled' })
  expect((await stored())?.settings).not.toContain('app.acme.dev')
  const json = { ...ANOTHER, audience: 'customers', domain_ids: [held.id] }
  expect((await call(`${SSO}/connections`, { method: 'POST', project, token: owner.token, json })).status).toBe(201)
})

it('a connection that was deleted keeps no identity, and is gone after thirty days', async () => {
  stopClock()
  const { connection, ask, signIn } = await world()
  await signIn({ subject: 'ada' })
  const left = async (table: string, column: string) =>
    DIRECTORY.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(connection.id).first('n')
  expect((await ask('DELETE')).status).toBe(204)
  advance(HOUR)
  await keepHouse()
  expect([await left('sso_identities', 'connection_id'), await left('sso_connections', 'id')]).toEqual([0, 1])
  expect((await ask('DELETE')).status).toBe(204)
  advance(31 * DAY)
  await keepHouse()
  expect(await left('sso_connections', 'id')).toBe(0)
})

it('all identities of a connection are deleted with it, of which one step deletes a part', async () => {
  stopClock()
  const { project, connection, ask } = await world()
  await DIRECTORY.prepare(
    `INSERT INTO sso_identities (id, project_id, connection_id, issuer, subject, consumer_id, created_at, last_used_at)
      WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v <= ${CHUNK_ROWS})
      SELECT 'idn_' || v, ?1, ?2, 'https://idp.dev', 'sub_' || v, 'csm_' || v, 1, 1 FROM n`,
  )
    .bind(project, connection.id)
    .run()
  await ask('DELETE')
  advance(31 * DAY) // as if no run had reached it before
  await keepHouse()
  const left = async (table: string, column: string) =>
    DIRECTORY.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(connection.id).first('n')
  expect([await left('sso_identities', 'connection_id'), await left('sso_connections', 'id')]).toEqual([0, 0])
})

it('the identities of one person are found without reading those of others', async () => {
  const { project, secret, connection, signIn } = await world()
  const { consumer } = await signIn({ subject: 'ada' })
  for (let n = 0; n < 60; n++) await insertIdentity(project, connection.id, `csm_${n}`)
  const { DB, count } = countingD1()
  const options = { project, token: secret, bindings: { DB } }
  const found = await call(`${SSO}/identities?consumer=${consumer.id}`, options)
  expect(found.body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['ada'])
  expect(count.rows_read).toBeLessThan(30)
})
