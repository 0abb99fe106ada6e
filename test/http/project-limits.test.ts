import { describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { BLOCK_MS, COSTLY_ROWS } from '../../src/http/limits'
import { DAY, iso, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { formToken, PAGES, pageIn, visit } from '../console/visit'
import {
  type Answer,
  addMember,
  call,
  countingD1,
  freshKey,
  LIMIT_REACHED,
  mint,
  ORDINARY,
  type RequestOptions,
  STORE,
  tamperedD1,
} from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { PAGE_ROWS, ROWS } from '../routes/table'
import { callRoute } from '../routes/walk'
import { newWorld, worldsByRoute } from '../routes/world'

const KEYS = '/platform/v1/api-keys'
const CONSUMER = '/platform/v1/consumers/ext:nobody'
const SEARCH = '/platform/v1/billing/webhooks/search'
const PREVIEWED = '/platform/v1/billing/plans/pln_x/preview'

/** Limiters of projects that note what they are asked to count. */
function noting() {
  const noted: string[] = []
  const limiter = (name: string): RateLimit => ({
    limit: async ({ key }) => {
      noted.push(`${name} ${key}`)
      return { success: true }
    },
  })
  const bindings = {
    LIMIT_PROJECT_READS: limiter('reads'),
    LIMIT_PROJECT_WRITES: limiter('writes'),
    LIMIT_PROJECT_COSTLY: limiter('costly'),
  }
  return { bindings, noted }
}

const FULL = {
  LIMIT_PROJECT_READS: LIMIT_REACHED,
  LIMIT_PROJECT_WRITES: LIMIT_REACHED,
  LIMIT_PROJECT_COSTLY: LIMIT_REACHED,
}

const limitOf = ({ status, headers }: Answer) => [status, headers.get('RateLimit-Policy')]
const costly = [429, '"project_costly";q=60;w=60']
const reads = [429, '"project_reads";q=6000;w=60']
const writes = [429, '"project_writes";q=1200;w=60']

describe('which limit of its project a call counts against', () => {
  it.each([
    ['GET', KEYS, 'reads'],
    ['GET', SEARCH, 'reads'],
    ['GET', `${SEARCH}?status=failed`, 'reads'],
    ['GET', `${CONSUMER}/entitlements`, 'reads'],
    ['GET', `${CONSUMER}/entitlements?explain=false`, 'reads'],
    ['GET', `${CONSUMER}/entitlements?explain=true`, 'costly'],
    ['GET', `${CONSUMER}/entitlements?at=2026-01-01T00:00:00Z`, 'costly'],
    ['POST', '/platform/v1/billing/entitlements/check', 'reads'],
    ['POST', '/platform/v1/billing/plans/pln_x/preview', 'costly'],
    ['GET', '/platform/v1/billing/catalog', 'costly'],
    ['PUT', '/platform/v1/billing/catalog', 'costly'],
    ['POST', '/platform/v1/billing/catalog/preview', 'costly'],
    ['POST', '/platform/v1/billing/webhooks/replay', 'costly'],
    ['POST', '/platform/v1/billing/webhooks/replay?dry_run=true', 'costly'],
    ['POST', '/platform/v1/billing/webhooks/evt_x/replay', 'writes'],
    ['PUT', CONSUMER, 'writes'],
    ['DELETE', `${KEYS}/key_x`, 'writes'],
  ])('%s %s: %s', async (method, path, name) => {
    const { project, owner } = await freshKey()
    const { secret } = await mint(owner.token, project, { scopes: ORDINARY })
    const json = method === 'GET' || method === 'DELETE' ? undefined : {}
    const { bindings, noted } = noting()
    // Known to the isolate or not: once each.
    await call(path, { method, json, project, token: secret, bindings })
    await call(path, { method, json, project, token: secret, bindings })
    const counted = `${name} ${project}:api_key`
    expect(noted).toEqual([counted, counted])
  })

  it('is none for who has no good credentials, and for a call without a project', async () => {
    const { project, owner, secret } = await freshKey()
    const other = await freshKey()
    const { bindings, noted } = noting()
    const unknown = (await newSecret(0)).secret
    const answers = [
      await call(KEYS, { project, token: unknown, bindings }),
      await call(KEYS, { project, token: other.secret, bindings }),
      await call(KEYS, { project, token: other.owner.token, bindings }),
      await call('/platform/v1/projects', { token: owner.token, bindings }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 200])
    expect(noted).toEqual([])
    // A known key whose project is not the one that is named.
    expect((await call(KEYS, { project: other.project, token: secret, bindings })).status).toBe(401)
    expect(noted).toEqual([])
  })

  it('is none for a call that lacks a permission, so that nobody uses up what those who have it need', async () => {
    const { project, owner } = await freshKey()
    const { secret } = await mint(owner.token, project, { scopes: ['audit_log:read'] })
    const viewer = (await addMember(project, 'viewer')).token
    const admin = await addMember(project, 'admin')
    const dormant = await mint(admin.token, project, { scopes: ['members:write'] })
    await call(`/platform/v1/members/${admin.user}`, { method: 'DELETE', project, token: owner.token })
    const { bindings, noted } = noting()
    const refused: [string, RequestOptions][] = [
      [KEYS, { token: secret }],
      [KEYS, { token: viewer, method: 'POST', json: { name: 'x' } }],
      ['/platform/v1/invitations', { token: dormant.secret, method: 'POST', json: {} }],
    ]
    // Known to the isolate or not, and whether or not the project has room: the same answer.
    for (const limits of [bindings, bindings, FULL]) {
      for (const [path, options] of refused) {
        expect((await call(path, { project, ...options, bindings: limits })).status, path).toBe(403)
      }
      const form = `/console/p/${project}/platform/settings/api-keys`
      expect((await visit(form, viewer, { form: {}, bindings: limits })).status).toBe(403)
    }
    expect(noted).toEqual([])
  })
})

describe('a project over its limits', () => {
  it.each([
    ['GET', KEYS, reads],
    ['POST', CONSUMER.replace('ext:nobody', 'ext:nobody/block'), writes],
    ['GET', `${CONSUMER}/entitlements?explain=true`, costly],
    ['POST', '/platform/v1/billing/plans/pln_x/preview', costly],
    ['POST', '/platform/v1/billing/webhooks/replay', costly],
  ])('%s %s: a 429 names the limit, also for a key that the isolate knows', async (method, path, policy) => {
    stopClock()
    const { project, secret } = await freshKey()
    const other = await freshKey()
    const json = method === 'GET' ? undefined : {}
    const ask = (token: string, of: string, bindings: object) =>
      call(path, { method, json, project: of, token, bindings })
    expect(limitOf(await ask(secret, project, FULL))).toEqual(policy)
    // For a moment the isolate does not even ask: neither the limiter nor a database.
    const { DB, count } = countingD1()
    expect(limitOf(await ask(secret, project, { DB }))).toEqual(policy)
    expect(count.trips).toBe(0)
    expect((await ask(other.secret, other.project, {})).status).not.toBe(429)
    advance(SECOND)
    expect((await ask(secret, project, {})).status).not.toBe(429)
  })

  it('counts keys and people apart', async () => {
    const { project, owner, secret } = await freshKey()
    const { bindings, noted } = noting()
    await call(KEYS, { project, token: secret, bindings })
    await call(KEYS, { project, token: owner.token, bindings })
    expect(noted).toEqual([`reads ${project}:api_key`, `reads ${project}:session`])
  })

  it('tells a revoked key that it was revoked once the limit has room', async () => {
    stopClock()
    const { project, owner, key, secret } = await freshKey()
    await call(KEYS, { project, token: secret })
    await call(`${KEYS}/${key.id}`, { method: 'DELETE', project, token: owner.token })
    expect((await call(KEYS, { project, token: secret, bindings: FULL })).status).toBe(429)
    advance(SECOND)
    expect((await call(KEYS, { project, token: secret })).body.code).toBe('key_revoked')
  })
})

describe('a call that reads many rows', () => {
  const LOG = '/platform/v1/audit-log'
  const largeLog = async (rows = COSTLY_ROWS + 1, prefix = 'aud_0') => {
    const world = await freshKey()
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${rows})
       INSERT INTO audit_log (project_id, id, actor_type, actor_id, action, object_type, object_id, request_id)
       SELECT ?1, printf('%s0000000000000000000%06d', ?2, v), 'user', 'usr_1', 'none', 'none', 'none', 'req_1' FROM n`,
    )
      .bind(world.project, prefix)
      .run()
    return world
  }

  it('counts as a costly one once it is answered, whoever it is', async () => {
    const { project, owner, secret } = await largeLog(3_000) // which a filter walks twice
    const { bindings, noted } = noting()
    expect((await call(`${LOG}?action=other`, { project, token: secret, bindings })).status).toBe(200)
    expect((await call(LOG, { project, token: secret, bindings })).status).toBe(200)
    await call(`${LOG}?action=other`, { project, token: owner.token, bindings })
    const of = (limit: string, type: string) => `${limit} ${project}:${type}`
    expect(noted).toEqual([
      of('reads', 'api_key'),
      of('costly', 'api_key'),
      of('reads', 'api_key'),
      of('reads', 'session'),
      of('costly', 'session'),
    ])
  })

  it('counts once, if it is a costly one in any case', async () => {
    const { project, secret } = await largeLog(800, 'aud_z') // later than the time that is asked about, and walked some times
    const { bindings, noted } = noting()
    const { DB, count } = countingD1()
    const path = `${CONSUMER}/entitlements?at=${iso(Date.now() - DAY)}`
    await call(path, { project, token: secret, bindings: { ...bindings, DB } })
    expect(count.rows_read).toBeGreaterThan(COSTLY_ROWS)
    expect(noted).toEqual([`costly ${project}:api_key`])
  })

  it('counts once for each five thousand', async () => {
    const { project, secret } = await largeLog(COSTLY_ROWS)
    await call(PREVIEWED, { method: 'POST', json: { rank: 1 }, project, token: secret }) // the isolate knows the key then
    const { bindings, noted } = noting()
    const DB = tamperedD1(async ({ run }) => {
      const results = await run()
      return results.map((result) => ({ ...result, meta: { ...result.meta, rows_read: 7_000 } }))
    })
    await call(`${LOG}?action=other`, { project, token: secret, bindings: { DB, ...bindings } })
    await call(PREVIEWED, { method: 'POST', json: { rank: 1 }, project, token: secret, bindings: { DB, ...bindings } })
    const [reads, ...costly] = noted
    expect(reads).toBe(`reads ${project}:api_key`)
    // A log that is read in one trip of two statements: 14,000 rows. The preview counts as it begins, and no less in all.
    expect(costly).toEqual(costly.map(() => `costly ${project}:api_key`))
    expect(costly.length).toBeGreaterThanOrEqual(4)
  })

  it('is refused for a while when there were too many, before any read; other routes and projects are not', async () => {
    stopClock()
    const { project, secret } = await largeLog()
    const other = await largeLog()
    const bindings = { LIMIT_PROJECT_COSTLY: LIMIT_REACHED }
    const ask = (bindings: object = {}) => call(`${LOG}?action=other`, { project, token: secret, bindings })
    expect((await ask(bindings)).status).toBe(200)
    const { DB, count } = countingD1()
    expect(limitOf(await ask({ DB }))).toEqual(costly)
    expect(count.trips).toBe(0)
    expect((await call(KEYS, { project, token: secret })).status).toBe(200)
    expect((await call(LOG, { project: other.project, token: other.secret })).status).toBe(200)
    advance(BLOCK_MS)
    expect((await ask()).status).toBe(200)
  })
})

describe('costly calls of one project', () => {
  /** A database whose statements wait until they are let through. */
  function held() {
    const gate = Promise.withResolvers<void>()
    let trips = 0
    const DB = tamperedD1(async ({ run }) => {
      trips += 1
      await gate.promise
      return run()
    })
    return { DB, trips: () => trips, open: gate.resolve }
  }
  const until = async (condition: () => boolean) => {
    while (!condition()) await scheduler.wait(5)
  }

  it('run one at a time; those of others, and its other calls, do not wait', async () => {
    const { project, secret } = await freshKey()
    const other = await freshKey()
    const ask = (of: { project: string; secret: string }, path: string, DB?: D1Database) =>
      call(path, {
        method: path === KEYS ? 'GET' : 'POST',
        project: of.project,
        token: of.secret,
        ...(path !== KEYS && { json: { rank: 1 } }),
        bindings: DB ? { DB } : {},
      })
    await ask({ project, secret }, PREVIEWED) // the isolate knows the key then
    const [one, two] = [held(), held()]
    const first = ask({ project, secret }, PREVIEWED, one.DB)
    await until(() => one.trips() > 0)
    const second = ask({ project, secret }, PREVIEWED, two.DB)
    expect((await ask({ project, secret }, KEYS)).status).toBe(200)
    expect((await ask(other, PREVIEWED)).status).toBe(404)
    expect(two.trips()).toBe(0)
    one.open()
    expect((await first).status).toBe(404)
    await until(() => two.trips() > 0)
    two.open()
    expect((await second).status).toBe(404)
  })
})

describe('a session in a project over its limits', () => {
  const worldOf = worldsByRoute()
  const inProjects = ROUTES.filter(({ meta }) => {
    const policy = meta.operation?.policy
    return policy?.project === true && policy.actors.includes('session')
  })
  it.each(inProjects.map((route) => [nameOf(route), route] as const))('%s', async (_, route) => {
    const ends = route.meta.operation?.policy?.ends === true
    const world = await worldOf(ends ? route : { method: 'GET' }) // what is refused changes nothing
    const { status, body } = await callRoute(world, route, { token: world.owner.token, bindings: FULL })
    expect([ends, body?.code === 'rate_limited', status === 429]).toEqual([ends, !ends, !ends])
  })
})

/** The operations that end an access. Each is needed against somebody who uses up the limits of the project. */
const ENDING = [
  'cancelImport',
  'deleteConnection',
  'deleteSsoConnection',
  'deleteSsoIdentity',
  'deleteWebhookEndpoint',
  'disableSsoConnection',
  'endPendingSecret',
  'endPendingToken',
  'endPreviousSecret',
  'endPreviousToken',
  'removeMember',
  'removeSigningSecret',
  'removeVendorApiKey',
  'removeWebhookSecret',
  'revokeApiKey',
  'revokeDevice',
  'revokeInvitation',
  'rotateApiKey',
  'rotateDevice',
]
const ending = ROUTES.filter(({ meta }) => meta.operation?.policy?.ends === true)

it('the operations that always work are those that end an access', () => {
  expect(ending.map(({ meta }) => meta.operation?.id).sort()).toEqual(ENDING)
})

describe('a form whose call always works', () => {
  const forms = ending.flatMap((route) => Object.keys(ROWS[nameOf(route)]?.console ?? {}))
  it.each(forms.filter((name) => name.startsWith('POST ')))('%s works beyond the limits too', async (name) => {
    const { owner, ...world } = await newWorld()
    const page = PAGES.find((one) => nameOf(one) === name)
    if (!page) throw new Error(`there is no ${name}`)
    const form = { form_token: await formToken(owner.token), ...PAGE_ROWS[name]?.fields }
    const { status } = await visit(pageIn({ owner, ...world }, page), owner.token, { form, bindings: FULL })
    expect([status, status === 429]).toEqual([status, false])
  })
})

describe('the console counts against the same limits', () => {
  it.each([
    ['GET', '/platform/settings/api-keys', 'reads'],
    ['GET', '/platform/billing/webhooks', 'reads'],
    ['GET', '/platform/billing/webhooks?status=failed', 'reads'],
    ['GET', '/platform/billing/webhooks/replay?status=failed', 'costly'],
    ['POST', '/platform/billing/webhooks/replay', 'costly'],
    ['GET', '/platform/consumers/ext:nobody', 'costly'],
    ['GET', '/platform/consumers/ext:nobody/entitlements', 'costly'],
    ['POST', '/platform/billing/plans/pln_x/edit', 'costly'],
    ['POST', '/platform/settings/general', 'writes'],
    ['POST', '/platform/settings/api-keys/key_x/revoke', null],
    ['POST', '/platform/settings/members/usr_x/remove', null],
    ['POST', '/platform/settings/sso/sso_x/disable', null],
  ])('%s %s: %s', async (method, path, name) => {
    const { project, owner } = await freshKey()
    const { bindings, noted } = noting()
    const form = method === 'POST' ? {} : undefined
    await visit(`/console/p/${project}${path}`, owner.token, { form, bindings })
    expect(noted).toEqual(name === null ? [] : [`${name} ${project}:session`])
    if (name === null) return
    const refused = await visit(`/console/p/${project}${path}`, owner.token, { form, bindings: FULL })
    expect([refused.status, refused.headers.get('RateLimit')]).toEqual([429, `"project_${name}";r=0;t=10`])
  })
})
