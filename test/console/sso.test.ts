import { beforeAll, expect, it } from 'vitest'
import { call, DIRECTORY, freshKey, newHost, setHost } from '../harness'
import { insertDomain } from '../sso/rows'
import { submit, visit } from './visit'

let project: string
let owner: { token: string }
let pages: string
let host: string
beforeAll(async () => {
  ;({ project, owner } = await freshKey())
  pages = `/console/p/${project}/platform/settings/sso`
  host = newHost('faulty.dev')
  await setHost(host, {})
})

const shown = async (id: string) =>
  (await call(`/platform/v1/sso/connections/${id}`, { project, token: owner.token })).body
/** What the form of a page has as it is. */
const begun = {
  audience: 'customers',
  name: 'Acme',
  client_id: 'rp',
  client_secret: 's3cret',
  scopes: 'openid email profile',
  claim_email: 'email',
  claim_name: 'name',
}

it('a connection for customers is created and changed in every setting', async () => {
  const { text } = await visit(`${pages}/new?audience=customers`, owner.token)
  for (const words of ['value="openid email profile"', 'The host of this service', 'name="claim_email"']) {
    expect(text).toContain(words)
  }
  const issuer = `https://${host}`
  const created = await submit(pages, owner.token, { ...begun, issuer, redirect_uris: 'https://acme.dev/back' })
  const path = created.headers.get('Location')?.split('?')[0] as string
  const id = path.split('/').at(-1) as string
  const defaults = {
    auth_method: 'client_secret_basic',
    scopes: ['openid', 'email', 'profile'],
    claims: { email: 'email', name: 'name' },
    surface_id: null,
    redirect_uris: ['https://acme.dev/back'],
  }
  expect(await shown(id)).toMatchObject(defaults)

  const surface = await insertDomain(project, `auth.${host}`, { purpose: 'surface' })
  const lost = await insertDomain(project, `lost.${host}`, { purpose: 'surface', state: 'failed' })
  const email = await insertDomain(project, `mail.${host}`)
  const page = (await visit(path, owner.token)).text
  expect([surface, lost, email].map((one) => page.includes(`value="${one}"`))).toEqual([true, false, true])
  const changes = {
    ...begun,
    client_secret: '',
    auth_method: 'client_secret_post',
    scopes: 'openid  email groups',
    claim_email: 'upn',
    surface_id: surface,
    domain_ids: email,
    redirect_uris: 'https://acme.dev/back\nhttps://acme.dev/other',
    create_consumers: 'true',
  }
  expect((await submit(path, owner.token, changes)).headers.get('Location')).toBe(`${path}?done=sso_updated`)
  expect(await shown(id)).toMatchObject({
    has_secret: true,
    auth_method: 'client_secret_post',
    scopes: ['openid', 'email', 'groups'],
    claims: { email: 'upn', name: 'name' },
    surface_id: surface,
    callback_url: `https://auth.${host}/sso/callback/${id}`,
    redirect_uris: ['https://acme.dev/back', 'https://acme.dev/other'],
    create_consumers: true,
  })
})

it('a form sends what the user has changed: what somebody else has changed meanwhile stays', async () => {
  const json = {
    audience: 'customers',
    name: 'Acme',
    issuer: `https://${host}`,
    client_id: 'rp',
    client_secret: 'secret',
  }
  const { body } = await call('/platform/v1/sso/connections', { method: 'POST', project, token: owner.token, json })
  const path = `${pages}/${body.id}`
  const opened = (await visit(path, owner.token)).text
  const before = unescaped(/name="before" value="([^"]*)"/.exec(opened)?.[1] ?? '')
  const form = { ...Object.fromEntries(new URLSearchParams(before)), before, client_secret: '' }
  const meanwhile = { redirect_uris: ['https://acme.dev/new'], create_consumers: true }
  await call(`/platform/v1/sso/connections/${body.id}`, {
    method: 'PATCH',
    project,
    token: owner.token,
    json: meanwhile,
  })
  await submit(path, owner.token, { ...form, name: 'Renamed' })
  expect(await shown(body.id)).toMatchObject({ name: 'Renamed', has_secret: true, ...meanwhile })
  // A refusal of something else shows the settings as they are: whoever saves them then changes nothing.
  const refused = await submit(`${path}/activate`, owner.token)
  expect([refused.status, refused.text.includes('value="Renamed"')]).toEqual([409, true])
  const log = await call(`/platform/v1/audit-log?object_id=${body.id}`, { project, token: owner.token })
  expect(log.body.data[0].details).toEqual({ name: 'Renamed', before: { name: 'Acme' } })
  expect((await submit(path, owner.token, form)).headers.get('Location')).toBe(`${path}?done=sso_unchanged`)
  expect((await shown(body.id)).name).toBe('Renamed')
  await submit(path, owner.token, { ...form, auth_method: 'none' })
  expect(await shown(body.id)).toMatchObject({ auth_method: 'none', has_secret: false })
})

it('a connection of the team whose domain was lost is still changed: its secret, for example', async () => {
  const lost = await insertDomain(project, `team.${host}`)
  const json = { audience: 'team', name: 'Team', issuer: `https://${host}`, client_id: 'rp', domain_ids: [lost] }
  const { body } = await call('/platform/v1/sso/connections', { method: 'POST', project, token: owner.token, json })
  await DIRECTORY.prepare("UPDATE sso_connections SET state = 'active', tested_revision = 1 WHERE id = ?")
    .bind(body.id)
    .run()
  await DIRECTORY.prepare("UPDATE domains SET state = 'failed', next_check_at = NULL WHERE id = ?").bind(lost).run()
  const change = { domain_ids: [lost], auth_method: 'client_secret_post', client_secret: 'new' }
  const options = { method: 'PATCH', project, token: owner.token, json: change }
  expect((await call(`/platform/v1/sso/connections/${body.id}`, options)).body.has_secret).toBe(true)
  const path = `${pages}/${body.id}`
  const before = unescaped(/name="before" value="([^"]*)"/.exec((await visit(path, owner.token)).text)?.[1] ?? '')
  const form = { ...Object.fromEntries(new URLSearchParams(before)), before, client_secret: '', name: 'Mine' }
  expect((await submit(path, owner.token, form)).status).toBe(303)
  expect((await shown(body.id)).name).toBe('Mine')
})

const unescaped = (html: string) => html.replaceAll('&amp;', '&')

it.each([
  ['scopes', { scopes: 'email' }, 'must include openid'],
  ['redirect_uris', { redirect_uris: 'http://acme.dev' }, 'must begin with https://'],
  ['claims', { claim_email: '' }, ''],
  ['domain_ids', { domain_ids: 'dom_01kc5y2b4d6f8h0k2m4p6r8t0v' }, 'must be a domain of this project'],
])('a change that is refused says why, and keeps what was typed: %s', async (_, wrong, words) => {
  const fields = { audience: 'customers', name: 'Acme', issuer: `https://${host}`, client_id: 'rp' }
  const created = await call('/platform/v1/sso/connections', {
    method: 'POST',
    project,
    token: owner.token,
    json: fields,
  })
  const path = `${pages}/${created.body.id}`
  const { status, text } = await submit(path, owner.token, { ...begun, name: 'Typed', client_secret: '', ...wrong })
  expect([status, text.includes('value="Typed"'), text.includes('role="alert"')]).toEqual([422, true, true])
  expect(text.toLowerCase()).toContain(words)
  expect((await shown(created.body.id)).name).toBe('Acme')
})
