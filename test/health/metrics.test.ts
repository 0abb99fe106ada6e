import { beforeEach, describe, expect, it } from 'vitest'
import alerts from '../../docs/operate/alerts.yml?raw'
import dashboard from '../../docs/operate/grafana.json'
import operations from '../../docs/operate/operations.md?raw'
import { METRICS } from '../../src/http/measure'
import { MINUTE, SECOND } from '../../src/lib/time'
import {
  type bound,
  call,
  countingD1,
  D1_LOST,
  DIRECTORY,
  dataset,
  drain,
  failingD1,
  STORE_NUMBER,
  STORES,
  stripeEvent,
} from '../harness'
import { advance, captureLog, cron, D1_OUT, newWorld, QUEUE_OUT, rowsOfAll, stopClock } from '../inbox/pipeline'

const TOKEN = 'a token of an operator, of 32 characters or more'
const DEAD = 'platform-api-events-dead'

beforeEach(() => {
  stopClock()
})

const scrape = (bindings: Partial<typeof bound> = {}, header = `Bearer ${TOKEN}`) =>
  call('/metrics', {
    headers: header === '' ? {} : { Authorization: header },
    bindings: { METRICS_TOKEN: TOKEN, ...bindings },
  })

/** The samples of an exposition, by name and labels. */
function samplesOf(text: string): Record<string, number> {
  const lines = text.trimEnd().split('\n')
  const samples = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(' '))
  return Object.fromEntries(samples.map(([name, value]) => [name, Number(value)]))
}

/** The data points of one metric, each as its doubles by name. */
function valuesOf(points: AnalyticsEngineDataPoint[], name: keyof typeof METRICS) {
  const own = points.filter(({ indexes }) => indexes?.[0] === name)
  const byName = (doubles: number[] = []): Record<string, number> =>
    Object.fromEntries(METRICS[name].values.map((value, i) => [value, doubles[i] ?? Number.NaN]))
  return own.map(({ doubles, blobs }) => ({ labels: blobs?.slice(1), values: byName(doubles) }))
}

/** The label of the tests' projects' store. */
const OURS = `{store="${STORE_NUMBER}"}`

describe('/metrics', () => {
  it.each([
    ['without the setting', { METRICS_TOKEN: '' }, `Bearer ${TOKEN}`, 404, 'not_found'],
    ['with a setting that is too short', { METRICS_TOKEN: 'short' }, 'Bearer short', 404, 'not_found'],
    ['without a token', {}, '', 401, 'missing_credentials'],
    ['with another token', {}, `Bearer ${TOKEN.replace('a', 'b')}`, 401, 'malformed_credentials'],
    ['with a part of the token', {}, `Bearer ${TOKEN.slice(0, -1)}`, 401, 'malformed_credentials'],
    ['with the token under another scheme', {}, `Basic ${TOKEN}`, 401, 'malformed_credentials'],
  ])('is refused %s, and the database is not asked', async (_, setting, header, status, code) => {
    const { DB, count } = countingD1()
    const answer = await scrape({ DB, ...setting }, header)
    expect([answer.status, answer.body.code, count.trips]).toEqual([status, code, 0])
    expect(answer.text).not.toContain(TOKEN)
  })

  it('says how the deployment stands, in one trip to each store and in the format of Prometheus', async () => {
    const world = await newWorld()
    await DIRECTORY.prepare("DELETE FROM state WHERE name = 'dead_letters'").run()
    const before = samplesOf((await scrape()).text)
    await world.send(stripeEvent())
    await world.queue.pump()
    await cron({ EVENTS: world.queue.EVENTS })
    await world.send(stripeEvent())
    advance(3 * MINUTE)
    await drain([{ project_id: world.project, event_id: 'evt_1' }], { EVENTS: world.queue.EVENTS }, DEAD)
    const { DB, count } = countingD1()
    const answer = await scrape({ DB })
    expect([answer.status, count.trips]).toEqual([200, STORES.length])
    expect(answer.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    const after = samplesOf(answer.text)
    const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0)
    expect(grown(`platform_events{store="${STORE_NUMBER}",status="processed"}`)).toBe(1)
    expect(grown(`platform_events{store="${STORE_NUMBER}",status="received"}`)).toBe(1)
    expect(after).toMatchObject({
      [`platform_oldest_pending_age_seconds${OURS}`]: (3 * MINUTE) / SECOND,
      [`platform_expired_leases${OURS}`]: 0,
      platform_dead_letters_total: 1,
      [`platform_last_sweep_timestamp_seconds${OURS}`]: (Date.now() - 3 * MINUTE) / SECOND,
      [`platform_store_up${OURS}`]: 1,
      [`platform_database_size_bytes${OURS}`]: expect.any(Number),
    })
    expect(after[`platform_database_size_bytes${OURS}`]).toBeGreaterThan(10_000)
    expect(answer.text).toMatch(/^# HELP platform_\w+ .+\n# TYPE platform_\w+ (gauge|counter)\n/)
    expect(answer.text).toMatch(/^([^\n]+\n)+$/)
    const names = [...answer.text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !operations.includes(`\`${name}\``))).toEqual([])
    const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n')
    for (const queries of [alerts, shown]) {
      const asked = new Set([...queries.matchAll(/\bplatform_\w+/g)].map(([name]) => name))
      expect(asked.size).toBeGreaterThan(5)
      expect([...asked].filter((name) => !names.includes(name))).toEqual([])
    }
  })

  it('leaves out what nothing tells', async () => {
    await rowsOfAll('DELETE FROM state')
    const { text } = await scrape({ EVENTS: QUEUE_OUT })
    expect(text).not.toMatch(/last_sweep|backlog|null|NaN|undefined/)
    expect(samplesOf(text)).toMatchObject({ platform_dead_letters_total: 0 })
  })

  it('is 503 while the database is out', async () => {
    const answer = await scrape({ DB: D1_OUT })
    expect([answer.status, answer.body.code]).toEqual([503, 'database_unavailable'])
  })
})

describe('Analytics Engine gets', () => {
  it('each batch, with how many events it finished and how long they took', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    await world.queue.pump() // the first batch in a minute also writes counts of formats
    const ids = [await world.send(stripeEvent()), await world.send(stripeEvent())].map(({ body }) => body.event_ids[0])
    advance(2 * SECOND)
    const { METRICS: METRICS_, points } = dataset()
    const messages = [...ids, ids[0]].map((event_id) => ({ project_id: world.project, event_id }))
    await drain(messages, { METRICS: METRICS_ })
    expect(valuesOf(points, 'batch')).toMatchObject([
      {
        labels: ['done'],
        values: { messages: 3, finished: 2, d1_trips: 3, lag_ms_sum: 4 * SECOND, lag_ms_max: 2 * SECOND },
      },
    ])
  })

  it('no lag of an event that is replayed', async () => {
    const world = await newWorld()
    const id = (await world.send(stripeEvent())).body.event_ids[0]
    await world.queue.pump()
    advance(10 * MINUTE)
    expect((await world.replay(id)).status).toBe(202)
    const { METRICS: METRICS_, points } = dataset()
    await world.queue.pump({ METRICS: METRICS_ })
    expect(valuesOf(points, 'batch')).toMatchObject([{ values: { finished: 1, lag_ms_sum: 0, lag_ms_max: 0 } }])
  })

  it('a batch that failed, and its errors of D1', async () => {
    captureLog()
    const { METRICS: METRICS_, points } = dataset()
    const body = { project_id: 'prj_1', event_id: 'evt_1' }
    await drain([body], { METRICS: METRICS_, DB: failingD1(D1_LOST) })
    expect(valuesOf(points, 'batch')).toMatchObject([{ labels: ['failed'], values: { messages: 1, finished: 0 } }])
    expect(valuesOf(points, 'd1_error')).toMatchObject([
      { labels: ['database_unavailable', 'batch'], values: { errors: 1 } },
    ])
  })

  it.each([
    ['sent', 200, 'x', false],
    ['too_large', 503, 'x'.repeat(120_000), false],
    ['queue_out', 503, 'x', true],
  ])('what became of a delivery while the database is out: %s', async (outcome, status, pad, queueOut) => {
    const world = await newWorld()
    await world.send(stripeEvent())
    captureLog()
    const { METRICS: METRICS_, points } = dataset()
    const EVENTS = queueOut ? QUEUE_OUT : world.queue.EVENTS
    const answer = await world.send({ ...stripeEvent(), pad }, { bindings: { DB: D1_OUT, EVENTS, METRICS: METRICS_ } })
    expect(answer.status).toBe(status)
    const [spooled] = valuesOf(points, 'spool')
    expect(spooled).toMatchObject({ labels: [outcome], values: { events: 1 } })
    expect(spooled?.values.bytes).toBeGreaterThan(pad.length)
  })

  it('dead letters, which are counted in the database too, unless it is out', async () => {
    const world = await newWorld()
    captureLog()
    const { METRICS: METRICS_, points } = dataset()
    const dead = (DB: D1Database) =>
      drain([{ n: 1 }, { n: 2 }], { METRICS: METRICS_, EVENTS: world.queue.EVENTS, DB }, DEAD)
    const counted = async () => samplesOf((await scrape()).text).platform_dead_letters_total ?? 0
    const before = await counted()
    for (const DB of [DIRECTORY, D1_OUT, DIRECTORY]) {
      expect((await dead(DB)).explicitAcks).toHaveLength(2)
    }
    expect((await counted()) - before).toBe(4)
    expect(valuesOf(points, 'dead_letters')).toMatchObject(
      Array.from({ length: 3 }, () => ({ values: { messages: 2 } })),
    )
  })

  it('the state of each store from each run of the cron', async () => {
    const world = await newWorld()
    await world.send(stripeEvent())
    advance(10 * SECOND)
    const { METRICS: METRICS_, points } = dataset()
    await cron({ EVENTS: world.queue.EVENTS, METRICS: METRICS_ })
    const states = valuesOf(points, 'state')
    expect(states.map(({ labels }) => labels?.[0]).sort()).toEqual(STORES.map(String))
    const state = states.find(({ labels }) => labels?.[0] === String(STORE_NUMBER))
    expect(state?.values.open).toBeGreaterThan(0)
    expect(state?.values.oldest_pending_ms).toBeGreaterThanOrEqual(10 * SECOND)
    expect(state).toMatchObject({ values: { expired_leases: 0, queue_backlog: -1 } })
    expect(state?.values.database_bytes).toBeGreaterThan(10_000)
  })
})
