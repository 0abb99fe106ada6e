import { beforeAll, describe, expect, it } from 'vitest'
import { addMember, call, DIRECTORY, mint } from '../harness'
import {
  actionsOf,
  as,
  DOMAINS,
  forgetCheck,
  newApi,
  newName,
  publish,
  queriesOf,
  texts,
  verified,
  zone,
} from './domains'
import { enforceDomain, failDomain } from './rows'

let project: string
let owner: { token: string }
let api: ReturnType<typeof as>
beforeAll(async () => {
  ;({ project, owner, api } = await newApi())
})

it('a domain is added, looked up, found, listed and deleted', async () => {
  const name = newName()
  const added = await api.add(name)
  expect(added.status, added.text).toBe(201)
  const { id, records } = added.body
  expect(added.body).toMatchObject({
    id: expect.stringMatching(/^dom_[0-9a-z]{26}$/),
    hostname: name,
    display: name,
    purpose: 'sso',
    state: 'pending',
    target: null,
    serving: null,
    verified_at: null,
    checked_at: null,
    grace_until: null,
  })
  expect(records).toEqual([
    {
      type: 'TXT',
      name: `_platform-challenge.${name}`,
      value: expect.stringMatching(/^platform-verify=[0-9a-hjkmnp-tv-z]{32}$/),
      status: null,
      seen: [],
      resolvers: [],
    },
  ])
  const missing = await api.verify(id)
  expect(missing.status, missing.text).toBe(200)
  expect(missing.body).toMatchObject({ state: 'pending', records: [{ status: 'missing' }] })
  await publish(added.body)
  await forgetCheck(id)
  const found = await api.verify(id)
  expect(found.body).toMatchObject({
    state: 'verified',
    records: [{ status: 'found', seen: [records[0]?.value] }],
    verified_at: expect.any(String),
  })
  expect(found.body.records[0]?.resolvers.map(({ name }) => name)).toEqual(['cloudflare-dns.com', 'dns.google'])
  expect((await api.get(id)).body).toEqual(found.body)
  expect((await api.list('?purpose=sso&state=verified')).body.data).toContainEqual(found.body)
  expect((await api.list('?purpose=surface')).body.data).toEqual([])
  for (let twice = 0; twice < 2; twice++) expect((await api.remove(id)).status).toBe(204)
  expect((await api.get(id)).body).toMatchObject({ state: 'released', next_check_at: null })
  expect((await api.list()).body.data.map((one) => one.id)).not.toContain(id)
  expect((await api.list('?state=released')).body.data.map((one) => one.id)).toContain(id)
  expect(await api.verify(id)).toMatchObject({ status: 409, body: { code: 'domain_released' } })
  expect(await actionsOf(id)).toEqual(['domain.added', 'domain.deleted', 'domain.verified'])
})

it('the query is what RFC 8484 and DNSSEC ask for', async () => {
  const { body } = await api.add(newName())
  await zone(body.hostname, texts())
  await api.verify(body.id)
  const asked = await queriesOf(body.hostname)
  expect(asked.map((query) => query.body).sort()).toEqual(['cloudflare-dns.com', 'dns.google'])
  for (const { method, headers } of asked) {
    expect(method).toBe('GET')
    expect(headers).toEqual({ id: '0', type: 'TXT', recursion: 'true', authenticated: 'true', dnssec_ok: 'true' })
  }
})

describe('names', () => {
  it.each([
    ['EXAMPLE-company.COM', 'example-company.com', 'example-company.com'],
    ['bücher.de', 'xn--bcher-kva.de', 'bücher.de'],
    ['例え.テスト.jp', 'xn--r8jz45g.xn--zckzah.jp', '例え.テスト.jp'],
    ['ｆｕｌｌ。com', 'full.com', 'full.com'],
    ['mine.github.io', 'mine.github.io', 'mine.github.io'],
  ])('%s is kept as %s', async (sent, hostname, display) => {
    const { status, body } = await api.add(sent)
    expect({ status, hostname: body.hostname, display: body.display }).toEqual({ status: 201, hostname, display })
  })

  it.each([
    ['127.0.0.1', 'malformed'],
    ['0x7f.1', 'malformed'],
    ['2130706433', 'malformed'],
    ['１２７.0.0.1', 'malformed'],
    ['[::1]', 'malformed'],
    ['company', 'malformed'],
    ['exa%6dple.com', 'malformed'],
    ['a_b.com', 'malformed'],
    ['*.company.com', 'malformed'],
    ['-a.company.com', 'malformed'],
    ['a-.company.com', 'malformed'],
    ['company.com/path', 'malformed'],
    ['company.com:443', 'malformed'],
    ['me@company.com', 'malformed'],
    ['company.com.', 'malformed'],
    ['company..com', 'malformed'],
    [' company.com', 'malformed'],
    ['xn--a.com', 'malformed'],
    ['xn--.com', 'malformed'],
    ['xn--company-.com', 'malformed'],
    [`${'a'.repeat(64)}.com`, 'malformed'],
    [`${'a.'.repeat(116)}com`, 'malformed'],
    ['company.test', 'reserved'],
    ['shop.localhost', 'reserved'],
    ['a.b.internal', 'reserved'],
    ['router.lan', 'reserved'],
    ['shop.10.0.0.1.nip.io', 'reserved'],
    ['1.0.0.127.in-addr.arpa', 'reserved'],
    ['hidden.onion', 'reserved'],
    ['platform.acme.workers.dev', 'reserved'],
    ['co.uk', 'public_suffix'],
    ['github.io', 'public_suffix'],
    ['workers.dev', 'reserved'],
  ])('%s is refused as %s', async (sent, code) => {
    const { status, body } = await api.add(sent)
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ pointer: '/hostname', code }])
  })

  it('of this service are refused, and all below them', async () => {
    const bindings = {
      PUBLIC_ORIGIN: 'https://api.service.dev',
      SURFACE_TARGET: 'surfaces.other.dev',
      OTHER_HOSTS: 'old.service.dev,platform.test',
    }
    for (const name of ['api.service.dev', 'a.api.service.dev', 'surfaces.other.dev', 'old.service.dev']) {
      expect((await api.add(name, 'surface', { bindings })).body.errors).toMatchObject([{ code: 'reserved' }])
    }
  })
})

it('a project has a name once for a purpose, and fifty domains', async () => {
  const { api, project } = await newApi()
  const name = newName()
  const { body } = await api.add(name)
  expect(await api.add(name)).toMatchObject({ status: 409, body: { code: 'domain_exists' } })
  expect((await api.add(name, 'surface')).status).toBe(201)
  await api.remove(body.id)
  const again = await api.add(name)
  expect(again.status).toBe(201)
  expect(again.body.records[0]?.value).not.toBe(body.records[0]?.value)
  await DIRECTORY.prepare(
    `INSERT INTO domains (project_id, id, hostname, purpose, state, state_since, token, created_by, created_at, version)
     SELECT ?1, 'dom_' || value, value || '.dev', 'sso', 'failed', 0, '', '', 0, 1 FROM json_each(?2)`,
  )
    .bind(project, JSON.stringify(Array.from({ length: 48 }, (_, n) => n)))
    .run()
  expect(await api.add(newName())).toMatchObject({ status: 409, body: { code: 'domain_limit_reached' } })
})

it('a domain is checked at most once in ten seconds', async () => {
  const { body } = await api.add(newName())
  expect((await api.verify(body.id)).status).toBe(200)
  const soon = await api.verify(body.id)
  expect(soon).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(Number(soon.headers.get('Retry-After'))).toBeLessThanOrEqual(10)
})

it('a failed domain is tried again with a new record', async () => {
  const done = await verified(api)
  await failDomain(done.id)
  const { body } = await api.verify(done.id)
  expect(body).toMatchObject({ state: 'pending', verified_at: null, records: [{ status: null }] })
  expect(body.records[0]?.value).not.toBe(done.records[0]?.value)
  expect((await api.verify(done.id)).body).toMatchObject({ state: 'pending', records: [{ status: 'wrong' }] })
})

it('another project neither sees nor changes a domain', async () => {
  const { body } = await api.add(newName())
  const other = (await newApi()).api
  for (const answer of [other.get(body.id), other.verify(body.id), other.remove(body.id)]) {
    expect(await answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
  expect((await api.get(body.id)).body.state).toBe('pending')
})

it('a developer changes surfaces; a domain for single sign-on needs an admin', async () => {
  const developer = as(project, (await addMember(project, 'developer')).token)
  const key = as(project, (await mint(owner.token, project, { scopes: ['domains:read', 'domains:write'] })).secret)
  const { body: sso } = await api.add(newName())
  for (const [caller, code] of [
    [developer, 'insufficient_role'],
    [key, 'insufficient_scope'],
  ] as const) {
    const surface = await caller.add(newName(), 'surface')
    expect(surface.status).toBe(201)
    expect((await caller.verify(surface.body.id)).status).toBe(200)
    expect((await caller.remove(surface.body.id)).status).toBe(204)
    for (const answer of [caller.add(newName()), caller.verify(sso.id), caller.remove(sso.id)]) {
      expect(await answer).toMatchObject({ status: 403, body: { code } })
    }
  }
  expect((await api.get(sso.id)).body).toMatchObject({ state: 'pending', checked_at: null })
})

it('a domain stays while the connection that the team must use needs it', async () => {
  const { api, project, owner } = await newApi()
  const domain = await verified(api)
  await enforceDomain(project, domain.id)
  const refused = await api.remove(domain.id)
  expect(refused).toMatchObject({ status: 409, body: { code: 'domain_enforced' } })
  expect(refused.body.detail).toContain('sso_1')
  const another = await verified(api)
  await DIRECTORY.prepare("INSERT INTO sso_connection_domains VALUES (?, ?, 'team', 'sso_2')")
    .bind(project, another.id)
    .run()
  expect((await api.remove(another.id)).status).toBe(204)
  await DIRECTORY.prepare('UPDATE projects SET sso_enforced_by = NULL WHERE id = ?').bind(project).run()
  expect((await api.remove(domain.id)).status).toBe(204)
  expect((await call(DOMAINS, { project, token: owner.token })).status).toBe(200)
})
