import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/lib/time'
import { advance, stopClock } from '../../clock'
import { submit, visit } from '../../console/visit'
import { addMember, browse, call, countingD1, DIRECTORY, freshKey, newHost, setHost, signedIn } from '../../harness'
import { keepHouse } from '../../inbox/pipeline'
import type { Faults } from '../../outside/faulty'
import { newDomain, open, verifiedDomain } from '../customers'
import { insertConnection } from '../rows'

beforeEach(() => {
  stopClock()
})

type Fields = { faults?: Faults; domain?: string; connection?: object }

/** A project with a connection to a provider of its own, and what a browser does in a test run. */
async function world({ faults = {}, domain, connection = {} }: Fields = {}) {
  const { project, secret, owner } = await freshKey()
  const host = newHost('faulty.dev')
  await setHost(host, { now: Date.now(), ...faults })
  const ask = (path: string, method = 'GET', json?: object, options = {}) =>
    call(`/platform/v1/sso/connections${path}`, { method, project, token: secret, ...options, ...(json && { json }) })
  const domain_ids = domain === undefined ? [] : [await verifiedDomain(project, domain)]
  const client = { issuer: `https://${host}`, client_id: 'rp', client_secret: 's3cret', domain_ids }
  const created = await ask('', 'POST', { audience: 'team', name: 'Acme', ...client, ...connection })
  expect(created.status, created.text).toBe(201)
  const { id } = created.body
  const start = async () => (await ask(`/${id}/test`, 'POST')).body
  /** Opens the link, signs in at the provider, and comes back. @returns what the browser is shown */
  const run = async (url: string, options = {}) => {
    const { provider, cookie } = await open(url)
    const back = await browse(provider.href, 'platform.test')
    return { back, shown: await call(back.href, { headers: { Cookie: cookie }, ...options }) }
  }
  /** A whole test run: what the API says of it. */
  const tested = async () => {
    const { test_id, url } = await start()
    await run(url)
    return (await ask(`/${id}/tests/${test_id}`)).body
  }
  return { project, secret, owner, host, id, ask, start, run, tested }
}

describe('a test run', () => {
  it('records each step, signs nobody in, and lets the connection be activated', async () => {
    const domain = newDomain()
    const { id, ask, start, run, owner } = await world({
      domain,
      faults: { claims: { email: `ada@${domain}` }, userinfo: { email: null, email_verified: null } },
    })
    expect(await ask(`/${id}/activate`, 'POST')).toMatchObject({ status: 409, body: { code: 'connection_untested' } })

    const { test_id, url, expires_at } = await start()
    expect(Date.parse(expires_at) - Date.now()).toBe(10 * MINUTE)
    const before = await ask(`/${id}/tests/${test_id}`)
    expect(before.body).toMatchObject({ state: 'waiting', steps: [], would: null, current: true })

    const { shown } = await run(url)
    expect(shown.status).toBe(200)
    // The steps passed, but the person would not get in.
    expect(shown.text).toContain('<p class="warning">The test run passed. A real sign-in of')
    expect(shown.headers.get('Set-Cookie') ?? '').not.toContain('session')

    const { body } = await ask(`/${id}/tests/${test_id}`)
    expect(body).toMatchObject({ id: test_id, connection_id: id, state: 'passed', current: true })
    expect(body.would).toBe(
      `A real sign-in of ada@${domain} would be refused. They are not a member of this project, and must be invited.`,
    )
    expect(body.steps.map(({ name }: { name: string }) => name)).toEqual([
      'Discovery',
      'Response',
      'Token endpoint',
      ...['alg', 'kid', 'iss', 'aud', 'exp', 'nonce', 'azp', 'iat', 'sub'].map((claim) => `ID token: ${claim}`),
      'ID token',
      'Signature',
      'UserInfo',
      'Email address',
      'Email address verified',
      'Name',
    ])
    // Whoever signs in with it acts as a user, so a key does not open that door.
    const refused = { status: 403, body: { code: 'console_session_required' } }
    expect(await ask(`/${id}/activate`, 'POST')).toMatchObject(refused)
    const bySession = await ask(`/${id}/activate`, 'POST', undefined, { token: owner.token })
    expect(bySession).toMatchObject({ status: 200, body: { state: 'active' } })
  })

  it.each<[string, Fields, string]>([
    [
      'whose domain the connection has not',
      { domain: 'elsewhere.dev' },
      'acme.dev is not a verified domain of this connection',
    ],
    [
      'whose address is not verified',
      { domain: 'acme.dev', faults: { claims: { email_verified: false }, userinfo: { email_verified: false } } },
      'does not say that ada@acme.dev is verified',
    ],
    [
      'without an address',
      { domain: 'acme.dev', faults: { claims: { email: null }, userinfo: { email: null } } },
      'did not send an email address',
    ],
    [
      'who is new, to a team that takes people',
      { domain: 'acme.dev', connection: { default_role: 'developer' } },
      'ada@acme.dev would be signed in, and become a member of the project with the role developer',
    ],
    [
      'who is new, to customers',
      { connection: { audience: 'customers', create_consumers: true } },
      'A new consumer would be created',
    ],
    [
      'whom no consumer is',
      { domain: 'acme.dev', connection: { audience: 'customers', create_consumers: false } },
      'This person has no consumer',
    ],
  ])('tells what a sign-in would do for somebody %s', async (_, fields, would) => {
    const { tested } = await world(fields)
    expect((await tested()).would).toContain(would)
  })

  it('tells that a member would be signed in, and the consumer with the address', async () => {
    const domain = newDomain()
    const team = await world({ domain })
    const { user } = await addMember(team.project, 'viewer')
    const email =
      (await DIRECTORY.prepare('SELECT email FROM users WHERE id = ?').bind(user).first<string>('email')) ?? ''
    const own = await verifiedDomain(team.project, email.split('@')[1] ?? '')
    await team.ask(`/${team.id}`, 'PATCH', { domain_ids: [own] })
    await setHost(team.host, { now: Date.now(), claims: { email: email.toUpperCase() }, userinfo: { email: null } })
    expect((await team.tested()).would).toContain(`${email} would be signed in. They are already a member: viewer`)

    const customers = await world({
      domain,
      connection: { audience: 'customers' },
      faults: { claims: { email: `ada@${domain}` } },
    })
    const json = { external_id: 'ada', email: `ada@${domain}` }
    const { project, secret: token } = customers
    const { body } = await call('/platform/v1/consumers', { method: 'POST', project, token, json })
    expect((await customers.tested()).would).toContain(body.id)
  })

  it.each<[string, Faults, string]>([
    ['with every wrong claim', { claims: { aud: 'another', nonce: 'another', azp: 'x' } }, 'ID token: nonce'],
    [
      'at the token endpoint',
      { pages: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } },
      'Token endpoint',
    ],
    ['at the provider', { response: { code: null, error: 'access_denied' } }, 'Response'],
    ['at the signature', { signed_by: 'another key' }, 'Signature'],
    ['before the browser leaves', { discovery: { token_endpoint: null } }, 'Discovery'],
  ])('fails %s, and the connection stays untested', async (_, faults, step) => {
    const { id, ask, start, run } = await world()
    const { test_id, url } = await start()
    // It breaks after the connection was made. The clock moves past what the isolate remembers.
    const { host, now } = { host: new URL((await ask(`/${id}`)).body.issuer).hostname, now: Date.now() }
    await setHost(host, { now, ...faults })
    if (step === 'Discovery') {
      await ask(`/${id}`, 'PATCH', { client_id: 'rp' })
      stopClock(now + 601_000)
      const again = await start()
      expect((await call(`${again.url}?continue`)).text).toContain('The test run failed')
      expect((await ask(`/${id}/tests/${again.test_id}`)).body).toMatchObject({
        state: 'failed',
        steps: [{ name: 'Discovery', ok: false }],
      })
      return
    }
    expect((await run(url)).shown.text).toContain('The test run failed')
    const { body } = await ask(`/${id}/tests/${test_id}`)
    expect(body).toMatchObject({ state: 'failed', would: expect.stringContaining('Nobody would be signed in') })
    expect(body.steps.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toContain(
      step,
    )
    expect(await ask(`/${id}/activate`, 'POST')).toMatchObject({ status: 409 })
  })

  it('passes without an address for customers, unless a domain is to say who somebody is', async () => {
    const nobody = { faults: { claims: { email: null }, userinfo: { email: null } } }
    const connection = { audience: 'customers', create_consumers: true }
    expect((await (await world({ connection, ...nobody })).tested()).state).toBe('passed')
    expect((await (await world({ connection, ...nobody, domain: newDomain() })).tested()).state).toBe('failed')
    const { project, id, ask, tested } = await world({ connection, ...nobody })
    await tested()
    await ask(`/${id}`, 'PATCH', { domain_ids: [await verifiedDomain(project, newDomain())] })
    expect(await ask(`/${id}/activate`, 'POST')).toMatchObject({ body: { code: 'connection_untested' } })
  })

  it('notes what the discovery document is like then', async () => {
    const { id, ask, start, run, host } = await world()
    const now = stopClock()
    const discovery = async () => (await ask(`/${id}`)).body.discovery
    await setHost(host, { discovery: { token_endpoint: null } })
    stopClock(now + 601_000)
    await call(`${(await start()).url}?continue`)
    expect(await discovery()).toEqual({
      ok: false,
      detail: expect.stringContaining('token_endpoint'),
      checked_at: new Date(now + 601_000).toISOString(),
    })
    await setHost(host, { now: now + 601_000 })
    await run((await start()).url)
    expect(await discovery()).toMatchObject({ ok: true, detail: null })
  })

  it('counts for the client that it tested, and for no other', async () => {
    const { id, ask, start, run } = await world({ connection: { audience: 'customers' } })
    const { test_id, url } = await start()
    await ask(`/${id}`, 'PATCH', { scopes: ['openid', 'email'] })
    await run(url)
    expect((await ask(`/${id}/tests/${test_id}`)).body).toMatchObject({ state: 'passed', current: false })
    expect(await ask(`/${id}/activate`, 'POST')).toMatchObject({ body: { code: 'connection_untested' } })
  })

  it('begins with a click: programs that look at its link use nothing up', async () => {
    const { start } = await world()
    const { url } = await start()
    for (const method of ['HEAD', 'GET', 'GET']) {
      const { status, headers } = await call(url, { method })
      expect([status, headers.get('Location')]).toEqual([200, null])
    }
    expect((await call(`${url}?continue`, { method: 'HEAD' })).status).toBe(200)
    const { provider, cookie } = await open(url)
    const back = await browse(provider.href, 'platform.test')
    expect((await call(back.href, { method: 'HEAD', headers: { Cookie: cookie } })).headers.get('Location')).toBeNull()
    expect((await call(back.href, { headers: { Cookie: cookie } })).text).toContain('The test run passed')
  })

  it('works once, and only in the browser that has opened its link', async () => {
    const { start, run, id, ask } = await world()
    const { test_id, url } = await start()
    const { provider } = await open(url)
    expect((await call(url)).status).toBe(400)
    const back = await browse(provider.href, 'platform.test')
    expect((await call(back.href)).status).toBe(400)
    expect((await ask(`/${id}/tests/${test_id}`)).body.state).toBe('waiting')
    const again = await run((await start()).url)
    expect((await call(again.back.href)).status).toBe(400)
  })

  it('that newer ones have replaced says so', async () => {
    const { start, run, ask, id } = await world()
    const { url } = await start()
    for (let n = 0; n < 10; n++) {
      advance(1)
      await start()
    }
    const { shown } = await run(url)
    expect([shown.status, shown.text.includes('no longer kept')]).toEqual([400, true])
    expect((await ask(`/${id}`)).body.tested_at).toBeNull()
  })

  it('is one of the last ten of its connection', async () => {
    const { id, ask, start, project } = await world()
    const other = await insertConnection(project)
    const ids: string[] = []
    for (let i = 0; i < 12; i++) {
      stopClock(Date.now() + 1)
      ids.push((await start()).test_id)
    }
    const statuses = await Promise.all(ids.map(async (test) => (await ask(`/${id}/tests/${test}`)).status))
    expect(statuses).toEqual([404, 404, ...Array(10).fill(200)])
    expect((await ask(`/${other.id}/tests/${other.test}`)).status).toBe(200)
  })

  it('expires once no browser can come back to it, and is deleted after 30 days', async () => {
    const { id, ask, start, project, owner } = await world()
    const { test_id, url } = await start()
    const stateAfter = async (ms: number) => {
      advance(ms)
      return (await ask(`/${id}/tests/${test_id}`)).body.state
    }
    expect(await stateAfter(10 * MINUTE - SECOND)).toBe('waiting')
    const { provider, cookie } = await open(url)
    expect(await stateAfter(10 * MINUTE)).toBe('waiting')
    expect(await stateAfter(SECOND)).toBe('expired')
    const back = await browse(provider.href, 'platform.test')
    expect((await call(back.href, { headers: { Cookie: cookie } })).status).toBe(400)
    const path = `/console/p/${project}/platform/settings/sso/${id}/tests/${test_id}`
    const { text } = await visit(path, owner.token)
    expect(text).toContain('This test run has expired')
    expect(text).toContain('Test again')
    const later = (await start()).test_id
    advance(30 * DAY - 20 * MINUTE - SECOND)
    await keepHouse()
    expect((await ask(`/${id}/tests/${test_id}`)).status).toBe(200)
    advance(HOUR)
    await keepHouse()
    expect((await ask(`/${id}/tests/${test_id}`)).status).toBe(404)
    expect((await ask(`/${id}/tests/${later}`)).status).toBe(404)
    // A link that nobody has opened in its time opens nothing.
    const unopened = (await start()).url
    advance(10 * MINUTE)
    expect((await call(`${unopened}?continue`)).status).toBe(400)
  })

  it('is found in its own project and at its own connection alone', async () => {
    const [one, other] = [await world(), await world()]
    const { test_id } = await one.start()
    await other.start()
    expect((await one.ask(`/${one.id}/tests/${test_id}`)).status).toBe(200)
    expect((await other.ask(`/${other.id}/tests/${test_id}`)).status).toBe(404)
    expect((await other.ask(`/${one.id}/tests/${test_id}`)).status).toBe(404)
    expect((await other.ask(`/${one.id}/test`, 'POST')).status).toBe(404)
  })

  it('has a report of at most 16 KB', async () => {
    const long = '文'.repeat(2000)
    const { tested } = await world({ faults: { claims: { aud: long, iss: long, azp: long, name: long }, kid: long } })
    const { steps, would } = await tested()
    expect(new TextEncoder().encode(JSON.stringify({ steps, would })).length).toBeLessThanOrEqual(16_384)
  })

  it('begins in two round trips, or three with a key, and ends in three', async () => {
    const { id, ask, start, run } = await world()
    await start()
    const { DB, count } = countingD1()
    const { body } = await ask(`/${id}/test`, 'POST', undefined, { bindings: { DB } })
    expect(count).toMatchObject({ trips: 4, rows_written: 5 }) // the credential, its minter, the connection, the run
    Object.assign(count, { trips: 0, rows_written: 0 })
    await run(body.url, { bindings: { DB } })
    expect(count.trips).toBe(3)
  })
})

describe('the page of a test run', () => {
  it('begins it with a link, and shows what it found to members and to nobody else', async () => {
    const { project, owner, id } = await world()
    const settings = `/console/p/${project}/platform/settings/sso`
    const started = await submit(`${settings}/${id}/test`, owner.token)
    const location = started.headers.get('Location') ?? ''
    const { text } = await visit(location, owner.token)
    const url = /href="([^"]*\/sso\/login\/slg_[^"]*)"/.exec(text)?.[1] ?? ''
    const asks = /hx-get="([^"]*)"[^>]*hx-trigger="every 3s"/.exec(text)?.[1] ?? ''
    expect((await visit(asks, owner.token)).status).toBe(204)
    const { provider, cookie } = await open(url)
    const back = await browse(provider.href, 'platform.test')
    const shown = await call(back.href, { headers: { Cookie: `${cookie}; __Host-session=${owner.token}` } })
    const page = location.split('?')[0] ?? ''
    expect([shown.status, shown.headers.get('Location')]).toEqual([303, page])
    const found = await visit(page, owner.token)
    expect(found.text).toContain('The test run passed')
    expect(found.text).toContain('ID token: nonce')
    const part = await visit(asks, owner.token)
    expect(part.text).toContain('The test run passed')
    expect(part.text).not.toContain('hx-get')
    expect((await visit(page, (await signedIn()).token)).status).toBe(404)
  })

  it('stops waiting once nobody can come back any more', async () => {
    const { project, owner, id } = await world()
    const started = await submit(`/console/p/${project}/platform/settings/sso/${id}/test`, owner.token)
    const page = started.headers.get('Location') ?? ''
    advance(20 * MINUTE - 1)
    expect((await visit(page, owner.token)).text).toContain('Continue to Acme')
    advance(1)
    const { text } = await visit(page, owner.token)
    expect(text).toContain('This test run has expired')
    expect(text).not.toContain('every 3s')
  })
})
