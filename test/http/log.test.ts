import { describe, expect, it } from 'vitest'
import { MAX_STORE, newConnectionId, newId, newProjectId } from '../../src/lib/ids'
import { newSessionToken } from '../../src/sessions/secret'
import wrangler from '../../wrangler.toml?raw'
import { PAGES, submit, visit } from '../console/visit'
import {
  addMember,
  call,
  captureConsole,
  failingD1,
  freshProject,
  KEYS,
  OUR_MISTAKE,
  signedIn,
  tamperedD1,
} from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld } from '../routes/world'
import { redeem } from '../sessions/signing-in'

const SECRET = 'a-secret-in-a-query-string'

describe('a secret in the path', () => {
  it('is shown by its kind alone', async () => {
    const world = await newWorld()
    const logged = captureConsole()
    for (const secret of [world.secret, world.owner.token]) {
      for (const path of [`/${secret}`, `/platform/v1/api-keys/${secret}`, `/platform/v1/api-keys/${secret}/rotate`]) {
        await call(path, { token: world.secret, project: world.project })
        await call(path, { method: 'POST' })
      }
      expect(logged.filter((line) => line.includes(secret))).toEqual([])
    }
    expect(logged.filter((line) => line.includes('"path":"/platform/v1/api-keys/svc_v1_…"'))).toHaveLength(2)
  })

  it('is not shown of the link of a login', async () => {
    const logged = captureConsole()
    const id = newId('slg', Date.now())
    await call(`/sso/login/${id}`)
    await call(`/sso/login/${id}`, { method: 'HEAD' })
    expect(logged.filter((line) => line.includes(id))).toEqual([])
    expect(logged.filter((line) => line.includes('"path":"/sso/login/slg_…"'))).toHaveLength(2)
  })
})

describe('what callers choose in a path', () => {
  const PERSON = 'ada.lovelace@example.org'
  const KEY = newId('key', Date.now())
  const loggedPath = async (method: string, path: string) => {
    const logged = captureConsole()
    await call(path, { method })
    return JSON.parse(logged.find((line) => line.includes('"event":"request"')) ?? '{}').path
  }
  const named = [...ROUTES, ...PAGES].filter(({ path }) => path.includes(':'))

  it.each(named.map((route) => [nameOf(route), route] as const))('is not shown: %s', async (_, { method, path }) => {
    const filled = (show: (parameter: string) => string) => path.replaceAll(/:\w+/g, show)
    for (const sent of [PERSON, encodeURIComponent(PERSON), '+44%2020', 'Zo%C3%AB', `key_${PERSON}`]) {
      expect(
        await loggedPath(
          method,
          filled(() => sent),
        ),
      ).toBe(filled(() => '…'))
    }
    // Keys of features and names of vendors are no personal data.
    const word = (parameter: string) => ([':key', ':vendor'].includes(parameter) ? 'ada' : '…')
    expect(
      await loggedPath(
        method,
        filled(() => 'ada'),
      ),
    ).toBe(filled(word))
    expect(
      await loggedPath(
        method,
        filled(() => 'ext:ada'),
      ),
    ).toBe(filled(() => 'ext:…'))
    expect(
      await loggedPath(
        method,
        filled(() => KEY),
      ),
    ).toBe(filled(() => KEY))
  })

  it("shows every id of ours, also a project's and a connection's in another store", async () => {
    for (const id of [newProjectId(0, MAX_STORE), newConnectionId(0, 0), newConnectionId(0, MAX_STORE)]) {
      expect(await loggedPath('GET', `/platform/v1/projects/${id}`)).toBe(`/platform/v1/projects/${id}`)
    }
    // A vendor's id, of the same form.
    const customer = newId('usr', 0).replace('usr', 'ctm')
    expect(await loggedPath('GET', `/platform/v1/projects/${customer}`)).toBe('/platform/v1/projects/…')
  })

  it.each([
    ['POST', `/platform/v1/billing/customers/stripe/${PERSON}`, '/platform/v1/billing/customers/stripe/…'],
    ['GET', `/platform/v1/nothing/${encodeURIComponent(PERSON)}/x`, '/platform/v1/nothing/…/x'],
    ['GET', `/${KEY}/favicon.ico`, `/${KEY}/favicon.ico`],
  ])('is not shown if it is no plain word, where no route matches: %s %s', async (method, path, shown) => {
    expect(await loggedPath(method, path)).toBe(shown)
  })
})

describe('a query string', () => {
  it('reaches no log line, whatever route it is sent to and whatever is answered', async () => {
    const world = await newWorld()
    const logged = captureConsole()
    const query = `code=${SECRET}&cursor=${SECRET}&next=/console?code=${SECRET}`
    const good = { token: world.owner.token, project: world.project }
    for (const path of ['/', '/nothing', '/console', '/console/sign-in', '/auth/sign-in', '/errors', '/openapi.json']) {
      for (const method of ['GET', 'POST', 'PUT']) {
        for (const origin of ['https://platform.test', 'http://platform.test']) {
          await call(`${origin}${path}?${query}`, { method })
        }
      }
    }
    const failing = { DB: failingD1(OUR_MISTAKE) }
    for (const route of ROUTES) {
      await callRoute(world, route, { query, token: tokenFor(world, route) })
      await callRoute(world, route, { query, token: null })
      await callRoute(world, route, { query, token: tokenFor(world, route), bindings: failing })
    }
    await call(`/console/p/${world.project}/platform/billing/webhooks?${query}`, {
      ...good,
      headers: { Cookie: `__Host-session=${good.token}` },
      bindings: failing,
    })
    expect(logged.length).toBeGreaterThan(3 * ROUTES.length)
    expect(logged.filter((line) => line.includes(SECRET))).toEqual([])
    expect(logged.filter((line) => line.includes(OUR_MISTAKE)).length).toBeGreaterThan(0)
    expect(ROUTES.map(nameOf)).toContain('GET /platform/v1/audit-log')
  })

  it("is kept out of Cloudflare's own records of requests", () => {
    const [, observability = ''] = /^\[observability\]\n((?:[^[\n].*\n)*)/m.exec(wrangler) ?? []
    expect(observability.split('\n')).toEqual(expect.arrayContaining(['enabled = true', 'redact_query_string = true']))
  })
})

describe('a failure', () => {
  it.each<[string, unknown, RegExp]>([
    ['an Error, with its stack', new Error('out of order'), /Error: out of order\n +at /],
    ['anything else, as text', 'out of order', /^out of order$/],
  ])('of a request is in its log line: %s', async (_, thrown, expected) => {
    const { project, owner } = await freshProject()
    const logged = captureConsole()
    const DB = tamperedD1(() => Promise.reject(thrown))
    expect((await call('/platform/v1/projects', { token: owner.token, project, bindings: { DB } })).status).toBe(503)
    const lines = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
    expect(lines).toEqual([expect.objectContaining({ status: 503, error: expect.stringMatching(expected) })])
  })
})

describe('what was refused', () => {
  const peopleOf = async () => {
    const { project, owner } = await freshProject()
    const [viewer, stranger] = await Promise.all([addMember(project, 'viewer'), signedIn()])
    return { project, owner: owner.token, viewer: viewer.token, stranger: stranger.token }
  }
  type People = Awaited<ReturnType<typeof peopleOf>>
  const CODES: [string, number, string, (people: People) => Promise<unknown>][] = [
    ['no credential', 401, 'missing_credentials', () => call(KEYS)],
    ['an unknown session', 401, 'unknown_session', ({ project }) => call(KEYS, { token: newSessionToken(), project })],
    ['a wrong sign-in code', 401, 'invalid_code', () => redeem('chl_none', 'AAAAAAAA')],
    [
      'a role that is too low',
      403,
      'insufficient_role',
      ({ project, viewer }) => call(KEYS, { method: 'POST', token: viewer, project, json: { name: 'x' } }),
    ],
    ['another project', 403, 'not_a_member', ({ project, stranger }) => call(KEYS, { token: stranger, project })],
    [
      'an invalid body',
      422,
      'validation_failed',
      ({ project, owner }) => call(KEYS, { method: 'POST', token: owner, project, json: {} }),
    ],
    ['a page, without a session', 303, 'missing_credentials', () => call('/console')],
    [
      'a page of another project',
      404,
      'not_a_member',
      ({ project, stranger }) => visit(`/console/p/${project}`, stranger),
    ],
    [
      'a wrong code, on the page of a code',
      401,
      'invalid_code',
      () => visit('/console/sign-in/code', null, { form: { challenge: 'chl_none', code: 'AAAAAAAA' } }),
    ],
    [
      'a form of another session',
      403,
      'form_rejected',
      ({ owner }) => visit('/console/projects', owner, { form: { form_token: 'f'.repeat(64), name: 'x' } }),
    ],
    [
      'a form that is shown again',
      422,
      'validation_failed',
      ({ project, owner }) => submit(`/console/p/${project}/platform/settings/api-keys`, owner, { name: '' }),
    ],
  ]

  it.each(CODES)('has its code in the log line: %s', async (_, status, code, send) => {
    const people = await peopleOf()
    const logged = captureConsole()
    await send(people)
    const lines = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
    expect(lines.at(-1)).toMatchObject({
      request_id: expect.stringMatching(/^req_/),
      time: expect.any(String),
      status,
      code,
    })
  })
})

describe('an id that the caller gave its request', () => {
  const ID = 'req_01m7z1eqvv7fbcxatc4h3t83zr' // one that looks like ours
  const lastChange = async (token: string, project: string) =>
    (await call('/platform/v1/audit-log', { token, project })).body.data[0]

  it('is kept apart from ours, in the audit log and in the log', async () => {
    const { project, owner } = await freshProject()
    const rename = (name: string, headers = {}) =>
      call(`/platform/v1/projects/${project}`, {
        method: 'PATCH',
        token: owner.token,
        project,
        json: { name },
        headers,
      })
    const seen: string[] = []
    for (const name of ['one', 'two']) {
      const logged = captureConsole()
      const { headers } = await rename(name, { 'X-Request-Id': ID })
      expect(headers.get('X-Request-Id')).toBe(ID)
      const entry = await lastChange(owner.token, project)
      expect(entry).toMatchObject({ details: { name }, client_request_id: ID })
      expect(entry.request_id).toMatch(/^req_[0-9a-z]{26}$/)
      expect(JSON.parse(logged[0] ?? '')).toMatchObject({ request_id: entry.request_id, client_request_id: ID })
      seen.push(entry.request_id)
    }
    expect(new Set([...seen, ID]).size).toBe(3)
  })

  it('is null where the caller gave none, or none that is taken; ours is then what the response shows', async () => {
    const { project, owner } = await freshProject()
    for (const [name, headers] of [
      ['one', {}],
      ['two', { 'X-Request-Id': 'short' }],
    ] as const) {
      const path = `/platform/v1/projects/${project}`
      const answer = await call(path, { method: 'PATCH', token: owner.token, project, json: { name }, headers })
      const entry = await lastChange(owner.token, project)
      expect(entry).toMatchObject({ request_id: answer.headers.get('X-Request-Id'), client_request_id: null })
    }
  })

  it('is kept by changes that are made in the console', async () => {
    const { project, owner } = await freshProject()
    const token = owner.token
    const cookie = { Cookie: `__Host-session=${token}`, 'X-Request-Id': ID }
    const page = await call('/console/projects/new', { headers: cookie })
    const form_token = /name="form_token" value="([0-9a-f]{64})"/.exec(page.text)?.[1] ?? ''
    const made = await call('/console/projects', {
      method: 'POST',
      headers: { ...cookie, Origin: 'https://platform.test', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ form_token, name: 'By form' }).toString(),
    })
    const id = /\/p\/(prj_\w+)/.exec(made.headers.get('Location') ?? '')?.[1] ?? ''
    expect(id).not.toBe(project)
    expect(await lastChange(token, id)).toMatchObject({ action: 'project.created', client_request_id: ID })
  })
})
