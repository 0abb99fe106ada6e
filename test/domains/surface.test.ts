import { beforeAll, describe, expect, it } from 'vitest'
import { app } from '../../src/app'
import { routeTable } from '../../src/http/openapi'
import { advance, stopClock } from '../clock'
import { call, countingD1, DIRECTORY, deliver, signStripe, stripeConnection, stripeEvent } from '../harness'
import { nameOf } from '../routes/of-app'
import { MARK, newApi, newName, verified } from './domains'

/* A project's own host: what it serves, and above all what it does not. */

let project: string
let secret: string
let owner: { token: string }
let host: string
let id: string
beforeAll(async () => {
  const made = await newApi()
  ;({ project, secret, owner } = made)
  const domain = await verified(made.api, 'surface')
  ;[host, id] = [`https://${domain.hostname}`, domain.id]
})

it('shows which domain it is', async () => {
  const { status, body, headers } = await call(host + MARK)
  expect({ status, body }).toEqual({ status: 200, body: { id } })
  // Names below the host are the customer's.
  expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  expect((await call(MARK)).status).toBe(404)
  expect((await call(`${host.replace('https', 'http')}${MARK}`)).status).toBe(403)
})

/** What a project's own host serves, each with the status for something that is not there. */
const SERVED: Record<string, number> = {
  'GET /sso/login/:login_id': 400,
  'GET /sso/callback/:connection_id': 400,
  'POST /ingest/:connection_id': 404,
  'GET /p/:project/jwks.json': 200,
}
const OTHERS = [
  'HEAD /healthz',
  'GET /unknown',
  `POST ${MARK}`,
  'GET /sso/login/x/y',
  'GET /ingest//x',
  'GET /p/x/jwks',
]

/** A path of the table, in the project whose host it is. */
const at = (path: string, of = project) => path.replace(':project', of).replaceAll(/:\w+(\{[^}]*\})?/g, 'x')

it('serves no other route of the table, pages among them, to nobody', async () => {
  const table = routeTable(app).map(nameOf)
  expect(table).toEqual(
    expect.arrayContaining([...Object.keys(SERVED), 'GET /', 'GET /console/p/:project', 'GET /auth/sso/start']),
  )
  const credentials = [{ token: secret, project }, { headers: { Cookie: `__Host-session=${owner.token}` } }]
  const found: unknown[] = []
  for (const one of [...table.filter((name) => !(name in SERVED)), ...OTHERS]) {
    const [method = '', path = ''] = one.split(' ')
    for (const options of credentials) {
      const { status, body, headers } = await call(host + at(path), { method, ...options })
      if (
        status !== 404 ||
        (method !== 'HEAD' && body?.detail !== 'This host has no such page.') ||
        headers.has('Set-Cookie')
      )
        found.push([one, status, body])
    }
  }
  expect(found).toEqual([])
})

it.each(Object.entries(SERVED))('serves %s, as far as it is of its own project', async (name, status) => {
  const [method = '', path = ''] = name.split(' ')
  const answer = await call(host + at(path), { method })
  expect([answer.status, answer.text.includes('This host has no such page')]).toEqual([status, false])
  if (path.includes(':project')) expect((await call(host + at(path, (await newApi()).project))).status).toBe(404)
})
it('is the host of the address, whatever headers say', async () => {
  const headers = { 'X-Forwarded-Host': 'platform.test', Forwarded: 'host=platform.test', Host: 'platform.test' }
  expect((await call(`${host}/console`, { headers })).status).toBe(404)
  const { hostname } = new URL(host)
  expect((await call('/healthz', { headers: { 'X-Forwarded-Host': hostname } })).status).toBe(200)
  for (const same of [`${hostname}.`, `${hostname}:8443`, hostname.toUpperCase()]) {
    expect((await call(`https://${same}/console`)).status).toBe(404)
    expect((await call(`https://${same}${MARK}`)).status).toBe(200)
  }
})

it('takes deliveries to the connections of its project, and to no other', async () => {
  const send = async (connection: { id: string }) => {
    const body = JSON.stringify(stripeEvent())
    const headers = { 'Stripe-Signature': await signStripe(body) }
    return call(`${host}/ingest/${connection.id}`, { method: 'POST', body, headers })
  }
  expect((await send(await stripeConnection(secret, project))).status).toBe(200)
  const other = await newApi()
  const theirs = await stripeConnection(other.secret, other.project)
  expect(await send(theirs)).toMatchObject({ status: 404, body: { code: 'unknown_connection' } })
  expect((await deliver(theirs.id, stripeEvent())).status).toBe(200)
})

describe('a host that nobody holds', () => {
  const PATHS = [
    '/',
    '/healthz',
    '/console',
    '/openapi.json',
    '/platform/v1/projects',
    '/ingest/con_1',
    '/sso/login/slg_1',
    MARK,
  ]
  const answers = async (at: string, bindings = {}) =>
    Promise.all(PATHS.map(async (path) => (await call(at + path, { bindings })).status))
  const none = PATHS.map(() => 404)

  it.each([
    `https://${newName()}`,
    `https://${newName()}:8443`,
    'https://platform.test.evil.dev',
    'https://sub.platform.test',
    'https://localhost.evil.dev',
    'https://evil-workers.dev',
    'https://workers.dev',
    'https://192.0.2.1',
    'https://[2001:db8::1]',
    'https://platform.test..',
  ])('serves nothing, where projects have hosts of their own: %s', async (at) => {
    expect(await answers(at)).toEqual(none)
    // Names below it are not ours to decide about.
    expect((await call(at)).headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
    const { body } = await call(`${at}/console`)
    expect(body).toMatchObject({ code: 'not_found', detail: 'Nothing is served on this host.' })
  })

  it.each([
    'https://PLATFORM.test',
    'https://platform.test.',
    'https://platform.test:8443',
    'https://surfaces.platform.test',
    'https://platform-api.example.workers.dev',
    'http://localhost:8787',
    'http://127.0.0.1',
    'http://[::1]:8787',
  ])('is not one of the deployment itself: %s', async (at) => {
    expect((await call(`${at}/healthz`)).status).toBe(200)
    expect((await call(`${at}/openapi.json`)).status).toBe(200)
  })

  it('is the deployment’s if the operator lists it', async () => {
    const [one, two] = [newName(), newName()]
    const bindings = { OTHER_HOSTS: `${one.toUpperCase()}, ${two}` }
    for (const name of [one, two]) expect((await call(`https://${name}/healthz`, { bindings })).status).toBe(200)
    expect(await answers(`https://${newName()}`, bindings)).toEqual(none)
  })

  it.each([{ SURFACE_TARGET: '' }, { PUBLIC_ORIGIN: '' }])(
    'is the deployment’s where it lacks %o',
    async (bindings) => {
      expect((await call(`https://${newName()}/openapi.json`, { bindings })).status).toBe(200)
    },
  )

  it.each(['released', 'failed'])('includes one whose surface is %s', async (state) => {
    stopClock()
    const { api } = await newApi()
    const surface = await verified(api, 'surface')
    const at = `https://${surface.hostname}`
    expect((await call(at + MARK)).status).toBe(200)
    await DIRECTORY.prepare('UPDATE domains SET state = ?, next_check_at = NULL WHERE id = ?')
      .bind(state, surface.id)
      .run()
    advance(60_000)
    expect(await answers(at)).toEqual(none)
  })
})

describe('the memory of an isolate', () => {
  it('asks once a minute, also for a host that is nobody’s', async () => {
    stopClock()
    for (const [address, status] of [
      [`https://${newName()}/openapi.json`, 404],
      [host + MARK, 200],
    ] as const) {
      advance(60_000)
      const { DB, count } = countingD1()
      for (let n = 0; n < 3; n++) expect((await call(address, { bindings: { DB } })).status).toBe(status)
      expect(count).toMatchObject({ trips: 1, rows_written: 0 })
      advance(60_000)
      await call(address, { bindings: { DB } })
      expect(count.trips).toBe(2)
    }
  })

  it('sees the end of a surface, and of a project, within a minute', async () => {
    stopClock()
    const { api, project } = await newApi()
    const [one, two] = [await verified(api, 'surface'), await verified(api, 'surface')]
    const marks = () => Promise.all([one, two].map(async (of) => (await call(`https://${of.hostname}${MARK}`)).status))
    expect(await marks()).toEqual([200, 200])
    await api.remove(one.id)
    advance(60_000)
    expect(await marks()).toEqual([404, 200])
    await DIRECTORY.prepare('UPDATE projects SET deleted_at = 1 WHERE id = ?').bind(project).run()
    advance(60_000)
    expect(await marks()).toEqual([404, 404])
  })
})
