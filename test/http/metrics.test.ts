import { describe, expect, it } from 'vitest'
import operations from '../../docs/operate/operations.md?raw'
import { METRICS, type MetricName } from '../../src/http/measure'
import wrangler from '../../wrangler.toml?raw'
import {
  BESIDE,
  bound,
  call,
  captureConsole,
  D1_FULL,
  D1_LOST,
  dataset,
  deliver,
  failingD1,
  freshKey,
  freshProject,
  mailbox,
  OUR_MISTAKE,
  stripeConnection,
  stripeEvent,
} from '../harness'

const KEYS = '/platform/v1/api-keys'
const VERSION = { id: '7b1d2c3e-0000-4000-8000-00000000abcd', tag: '', timestamp: '2026-11-22T06:00:00.000Z' }

/** A data point with its columns by name. */
function named(point: AnalyticsEngineDataPoint | undefined) {
  const name = point?.indexes?.[0] as MetricName
  const { labels, values } = METRICS[name]
  const [version, ...blobs] = point?.blobs ?? []
  expect([blobs.length, point?.doubles?.length]).toEqual([labels.length, values.length])
  return {
    name,
    version,
    ...Object.fromEntries(labels.map((label, i) => [label, blobs[i]])),
    ...Object.fromEntries(values.map((value, i) => [value, point?.doubles?.[i]])),
  }
}

/** What one request measured. */
async function measured(path: string, options: Parameters<typeof call>[1] = {}) {
  const { METRICS: METRICS_, points } = dataset()
  const answer = await call(path, {
    ...options,
    bindings: { METRICS: METRICS_, CF_VERSION_METADATA: VERSION, ...options.bindings },
  })
  return { answer, points: points.map(named) }
}

describe('a request', () => {
  it('is measured by route, status and caller, with its time and its cost', async () => {
    const { project, secret, owner } = await freshKey()
    await call(KEYS, { token: secret, project }) // known from here on
    const byKey = await measured(KEYS, { token: secret, project })
    expect(byKey.points).toEqual([
      {
        name: 'request',
        version: VERSION.id,
        route: `GET ${KEYS}`,
        status: '200',
        caller: 'api_key',
        ms: expect.any(Number),
        d1_trips: 1 + BESIDE,
        d1_ms: expect.any(Number),
        rows_read: expect.any(Number),
        rows_written: 0,
      },
    ])
    expect(byKey.points[0]).not.toMatchObject({ rows_read: 0 })
    const bySession = await measured(`/platform/v1/projects/${project}`, { token: owner.token })
    expect(bySession.points).toMatchObject([{ route: 'GET /platform/v1/projects/:id', caller: 'session' }])
  })

  it.each([
    ['/nothing/at/all?x=1', {}, 'none', '404', 'none'],
    ['/nothing', { method: 'PUT' }, 'none', '404', 'none'],
    [KEYS, {}, `GET ${KEYS}`, '401', 'none'],
    ['/platform/v1/billing/webhooks/search', {}, 'GET /platform/v1/billing/webhooks/search', '401', 'none'],
    ['/platform/v1/billing/webhooks/evt_1', {}, 'GET /platform/v1/billing/webhooks/:event_id', '401', 'none'],
    ['/console/p/prj_1/platform/billing/webhooks', {}, null, '303', 'none'],
  ])('has few series, whatever is asked for: %s', async (path, options, route, status, caller) => {
    const { points } = await measured(path, options)
    expect(points).toHaveLength(1)
    expect(points[0]).toMatchObject({ status, caller, ...(route !== null && { route }) })
    expect(JSON.stringify(points)).not.toMatch(/evt_1|prj_1|x=1|at\/all/)
  })

  it.each([
    ['database_unavailable', D1_LOST],
    ['database_full', D1_FULL],
    ['statement', OUR_MISTAKE],
  ])('measures the errors of D1 by class: %s', async (name, message) => {
    const { project, secret } = await freshKey()
    const { points } = await measured(KEYS, {
      method: 'POST',
      token: secret,
      project,
      json: { name: 'one' },
      bindings: { DB: failingD1(message) },
    })
    expect(points.filter((point) => point.name === 'd1_error')).toContainEqual({
      name: 'd1_error',
      version: VERSION.id,
      class: name,
      work: 'request',
      errors: 1,
    })
  })

  it('is answered as ever where nothing can be written', async () => {
    const { project, secret } = await freshKey()
    const logged = captureConsole()
    const METRICS_OUT: AnalyticsEngineDataset = {
      writeDataPoint: () => {
        throw new Error('too many data points')
      },
    }
    for (const bindings of [{ METRICS: METRICS_OUT }, { METRICS: undefined }] as unknown as Partial<typeof bound>[]) {
      for (let i = 0; i < 3; i++) {
        expect((await call(KEYS, { token: secret, project, bindings })).status).toBe(200)
      }
    }
    expect(logged.filter((line) => line.includes('metric_not_written')).length).toBeLessThanOrEqual(1)
  })

  it('is measured by the binding of wrangler.toml, which takes every metric', () => {
    for (const [name, { labels, values }] of Object.entries(METRICS)) {
      expect(labels.length + 1).toBeLessThanOrEqual(20)
      expect(values.length).toBeLessThanOrEqual(20)
      expect(bound.METRICS?.writeDataPoint({ indexes: [name], blobs: [''], doubles: [1] })).toBeUndefined()
    }
    expect(wrangler).toMatch(/\[observability\.traces\]\nenabled = true/)
  })
})

describe('Server-Timing', () => {
  it('is on answers to sessions, in the API and in the console', async () => {
    const { project, owner } = await freshProject()
    const timing = /^total;dur=\d+, d1;dur=\d+;desc="[1-9]\d* trips"$/
    const api = await call(KEYS, { token: owner.token, project })
    expect(api.headers.get('Server-Timing')).toMatch(timing)
    const page = await call('/console/projects/new', { headers: { Cookie: `__Host-session=${owner.token}` } })
    expect(page.headers.get('Server-Timing')).toMatch(timing)
  })

  it('is on no other answer: keys, vendors, strangers', async () => {
    const { project, secret, owner } = await freshKey()
    const connection = await stripeConnection(owner.token, project)
    const { EMAIL } = mailbox()
    const answers = [
      await call(KEYS, { token: secret, project }),
      await call(KEYS, { token: secret, project }), // known by now
      await call('/platform/v1/billing/webhooks/evt_00000000000000000000000000', { token: secret, project }),
      await deliver(connection.id, stripeEvent()),
      await call('/healthz'),
      await call('/nothing'),
      await call('/auth/codes', { method: 'POST', json: { email: 'a@example.com' }, bindings: { EMAIL } }),
      await call(KEYS, { token: `${owner.token.slice(0, -4)}0000`, project }),
    ]
    expect(answers.map(({ status }) => status).slice(0, 4)).toEqual([200, 200, 404, 200])
    expect(answers.map(({ headers }) => headers.get('Server-Timing'))).toEqual(answers.map(() => null))
  })
})

describe('the version that is deployed', () => {
  it('is in /healthz and in every log line', async () => {
    const logged = captureConsole()
    const bindings = { CF_VERSION_METADATA: VERSION }
    expect((await call('/healthz', { bindings })).body).toMatchObject({ status: 'ok', version: VERSION.id })
    await call('/nothing', { bindings })
    expect(logged.map((line) => JSON.parse(line).version)).toEqual([VERSION.id, VERSION.id])
  })

  it('is null where the platform gives none', async () => {
    const bindings = { CF_VERSION_METADATA: undefined } as unknown as Partial<typeof bound>
    expect((await call('/healthz', { bindings })).body).toMatchObject({ status: 'ok', version: null })
  })
})

describe('docs/operate/operations.md', () => {
  it.each(Object.entries(METRICS))('describes %s with every column in its place', (name, { labels, values }) => {
    const blobs = labels.map((label, i) => `\`blob${i + 2}\` ${label}`)
    const doubles = values.map((value, i) => `\`double${i + 1}\` ${value}`)
    const row = operations.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
    expect(row).toBeDefined()
    for (const column of [...blobs, ...doubles]) expect(row).toContain(column)
  })
})
