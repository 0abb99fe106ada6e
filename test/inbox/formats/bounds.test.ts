import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_FORMAT_COUNTS_OF_A_PROJECT, MAX_VERSIONS, WEEK } from '../../../src/inbox/formats/limits'
import { weekOf } from '../../../src/inbox/formats/weeks'
import { HOUR, MINUTE } from '../../../src/lib/time'
import {
  type Fields,
  paddleEventOf,
  paddleSubscription,
  stripeEventOf,
  stripeInvoice,
  stripeSubscription,
} from '../../billing/payloads'
import { stopClock } from '../../clock'
import { call, countingD1, failingD1, stripeConnection } from '../../harness'
import { advance, captureLog, deliverBatch, keepHouse, LOST, rows } from '../pipeline'
import { formatWorld, written } from './world'

beforeEach(() => {
  stopClock()
})

const NEW = '2026-03-25.dahlia'
const subscription = (fields: Fields = {}, version: string = NEW) => ({
  ...stripeEventOf('customer.subscription.updated', stripeSubscription(fields)),
  api_version: version,
})
const invoice = (fields: Fields = {}) => stripeEventOf('invoice.updated', stripeInvoice(fields))
const paddle = () => paddleEventOf('subscription.updated', paddleSubscription())
const times = <T>(n: number, make: (at: number) => T) => Array.from({ length: n }, (_, at) => make(at))

describe('what counting costs', () => {
  it('is a row for each kind and version, a minute at most, whatever a batch has: events cost what they did', async () => {
    const world = await formatWorld()
    await world.counted(subscription()) // with the rows of the first batch
    await world.deliverTogether([subscription()]) // which is the first one of its minute
    for (const event of times(100, (at) => (at % 2 === 0 ? subscription() : invoice()))) await world.send(event)
    const batch = countingD1()
    await world.queue.pump({ DB: batch.DB })
    expect(batch.count.trips).toBe(3)
    await world.deliverTogether([subscription(), subscription()])
    const write = countingD1()
    await written({ DB: write.DB })
    // Two rows, one of which is new with its entry in the index by week. Nothing was found, so nothing is noted.
    expect(write.count).toMatchObject({ trips: 1, rows_written: 3 })
    // Mostly the names of fields: SQLite counts each of them as a row.
    expect(write.count.rows_read).toBeLessThan(200)
    const again = countingD1()
    for (let i = 0; i < 5; i++) await deliverBatch([null], { DB: again.DB })
    expect(again.count.trips).toBe(0)
    expect((await world.stored()).map(({ kind, events }) => [kind, events])).toEqual([
      ['invoice', 50],
      ['subscription', 54],
    ])
  })

  it('is bounded if every event names another version: a project has fifty counts a minute, and ten versions are kept', async () => {
    const world = await formatWorld()
    await written()
    const make = (at: number) => subscription({}, `2026-01-01.v${String(at).padStart(3, '0')}`)
    await world.deliverTogether(times(70, make))
    const write = countingD1()
    await written({ DB: write.DB })
    // Each with its entry in the index: written, and all but ten deleted again.
    expect(write.count.rows_written).toBeLessThanOrEqual(4 * MAX_FORMAT_COUNTS_OF_A_PROJECT)
    expect(await world.stored()).toHaveLength(MAX_VERSIONS)
    expect((await world.formats()).versions).toHaveLength(MAX_VERSIONS)
  })

  it('leaves room for another project', async () => {
    const [world, other] = [await formatWorld(), await formatWorld()]
    await world.deliverTogether(times(70, (at) => subscription({}, `v${at}`)))
    await other.counted(subscription())
    expect(await other.stored()).toMatchObject([{ kind: 'subscription', events: 1 }])
  })
})

describe('what is kept', () => {
  it('of ten versions are those that sent something last, and an earlier one that goes on stays', async () => {
    const world = await formatWorld()
    for (const at of [...times(MAX_VERSIONS, (n) => n), 0, MAX_VERSIONS]) {
      await world.counted(subscription({}, `v${at}`))
    }
    const { versions } = await world.formats()
    // The newest first: v1 has sent nothing for longest.
    expect(versions.map(({ api_version }: { api_version: string }) => api_version)).toEqual(
      [10, 9, 8, 7, 6, 5, 4, 3, 2, 0].map((n) => `v${n}`),
    )
    expect(versions.at(-1)).toMatchObject({ api_version: 'v0', states: 2 })
  })

  it('are forty characters of a version', async () => {
    const world = await formatWorld()
    await world.counted(subscription({}, 'x'.repeat(41)), subscription({}, 'x'.repeat(250)))
    expect(await world.stored()).toMatchObject([{ api_version: 'x'.repeat(40), events: 2 }])
  })

  it('are eight weeks: a finding ends when the week that had the field is gone, with its notice and the finding of health', async () => {
    const world = await formatWorld()
    stopClock(Date.parse('2026-11-02T12:00:00Z'))
    await keepHouse()
    await world.counted(...times(50, () => subscription({ description: 'Chat' }, 'old')))
    await world.counted(...times(20, () => subscription({ description: null }, 'new')))
    expect(await world.found('field_vanished')).toEqual(['subscription.description'])
    expect(await world.reasons()).toEqual([
      'events of the connection Stripe no longer set fields that they used to set (subscription.description): see Format on the page of the connection',
    ])
    const first = weekOf(Date.now())
    advance(8 * WEEK - 36 * HOUR) // a Sunday, in the eighth week
    await keepHouse()
    expect((await world.stored()).map(({ week }) => week)).toEqual([first, first])
    expect(await world.notices()).toMatchObject([{ object_id: world.connection.id, closed_at: null }])
    advance(36 * HOUR)
    await keepHouse()
    await keepHouse()
    expect(await world.stored()).toEqual([])
    expect(await world.found('field_vanished')).toEqual([])
    expect(await world.reasons()).toEqual([])
    expect((await world.notices())[0]?.closed_at).toBe(Date.now())
  })

  it('is the order of two versions, also once the week in which the newer one came is gone', async () => {
    const world = await formatWorld()
    stopClock(Date.parse('2026-08-03T12:00:00Z'))
    await world.counted(subscription({ description: null }, 'old'))
    await world.counted(subscription({ description: 'Chat' }, 'new'))
    // Both go on. The earlier one never had the field.
    for (let week = 1; week <= 9; week++) {
      stopClock(Date.parse('2026-08-03T12:00:00Z') + week * WEEK)
      await world.counted(
        ...times(8, () => subscription({ description: 'Chat' }, 'new')),
        ...times(8, () => subscription({ description: null }, 'old')),
      )
    }
    await keepHouse()
    expect(new Set((await world.stored()).map(({ week }) => week)).size).toBe(8)
    const { versions } = await world.formats()
    expect(versions).toMatchObject([
      { api_version: 'new', states: 64 },
      { api_version: 'old', states: 64, first_seen_at: '2026-08-03T12:00:00.000Z' },
    ])
    expect(await world.found('field_vanished')).toEqual([])
  })

  it('ends with the connection, and with its project', async () => {
    const world = await formatWorld()
    await world.counted(...times(50, () => subscription({ description: 'Chat' }, 'old')), paddle())
    await world.counted(...times(20, () => subscription({ description: null }, 'new')))
    const tables = async () => [
      await rows('SELECT kind FROM formats WHERE project_id = ?', world.project),
      await rows('SELECT vanished FROM format_findings WHERE project_id = ?', world.project),
    ]
    expect((await tables()).map(({ length }) => length)).toEqual([3, 1])
    await world.deliverTogether([subscription()])
    expect((await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    await written() // what was counted before is not written any more
    expect((await tables()).map(({ length }) => length)).toEqual([1, 0])
    expect((await world.api(`/connections/${world.connection.id}/formats`)).status).toBe(404)
    await keepHouse()
    expect(await world.notices()).toMatchObject([{ closed_at: Date.now() }])
  })
})

describe('what does not count', () => {
  it('is a replay, a repeat, and an event of nothing that is kept', async () => {
    const world = await formatWorld()
    const event = subscription()
    const [id = ''] = await world.counted(event)
    expect((await world.replay(id)).status).toBe(202)
    await world.queue.pump()
    await world.send(event)
    await world.counted(stripeEventOf('product.created', { id: 'prod_1', object: 'product' }))
    expect(await world.stored()).toMatchObject([{ kind: 'subscription', events: 1 }])
  })

  it('is an event without an object, or with one of junk: neither throws', async () => {
    const world = await formatWorld()
    const junk = [null, 7, 'x', [], {}, { items: 7 }, { items: { data: [null, 7, 'x', []] } }, { status: {} }]
    const events = junk.map((one) => ({
      ...stripeEventOf('customer.subscription.updated', {}),
      data: {
        object:
          one !== null && typeof one === 'object' && !Array.isArray(one)
            ? { ...subscription().data.object, ...one }
            : one,
      },
    }))
    await world.counted(...events, subscription({}, { evil: true } as never), subscription({}, '\u0000\u202e'))
    const counted = await world.stored()
    expect(counted.map(({ api_version }) => api_version)).toEqual(['', NEW])
    expect(counted[1]?.events).toBeGreaterThanOrEqual(3)
  })

  it('is what the database refuses: that is logged, and the next counts are written', async () => {
    const world = await formatWorld()
    await world.counted(subscription())
    for (let i = 0; i < 2; i++) await world.deliverTogether([subscription()]) // the first is written, the second waits
    advance(MINUTE)
    const log = captureLog()
    await deliverBatch([null], { DB: failingD1(LOST) })
    vi.restoreAllMocks()
    expect(log.of('formats_not_counted')).toHaveLength(1)
    await world.counted(subscription())
    expect(await world.stored()).toMatchObject([{ events: 3 }])
  })
})

it('connections are apart: each has the counts and findings of its own events', async () => {
  const world = await formatWorld()
  const other = await stripeConnection(world.token, world.project)
  await world.counted(...times(50, () => subscription({ description: 'Chat' }, 'old')), paddle())
  const to = async (event: object) => (await world.sendTo(other.id, event)).status
  for (let i = 0; i < 20; i++) expect(await to(subscription({ description: null }, 'new'))).toBe(200)
  await world.counted()
  expect((await world.stored(other.id)).map(({ events }) => events)).toEqual([20])
  expect((await world.stored(world.paddle)).map(({ events }) => events)).toEqual([1])
  expect(await world.notices()).toEqual([])
  const { project, token } = await formatWorld()
  const path = `/platform/v1/billing/connections/${other.id}/formats`
  expect((await call(path, { project, token })).status).toBe(404)
})

it('a notice opens once, not for a disabled connection, and again if a field vanishes again', async () => {
  const world = await formatWorld()
  const at = `/connections/${world.connection.id}`
  await keepHouse()
  await world.counted(...times(50, () => subscription({ description: 'Chat', latest_invoice: 'in_1' }, 'old')))
  await world.counted(...times(20, () => subscription({ description: null, latest_invoice: 'in_1' }, 'new')))
  const [notice] = await world.notices()
  expect(JSON.parse(notice?.facts ?? '{}')).toEqual({
    ...{ name: 'Stripe', version: 'new', fields: 'subscription.description', vanished: 1, words: '', unknown: 0 },
  })
  await world.counted(subscription({ status: 'hibernating', description: null, latest_invoice: 'in_1' }, 'new'))
  expect(await world.notices()).toEqual([notice])
  await world.api(at, { method: 'PATCH', json: { status: 'disabled' } })
  expect(await world.reasons()).toEqual([])
  advance(HOUR)
  await keepHouse()
  expect((await world.notices())[0]?.closed_at).toBe(Date.now())
  await world.api(at, { method: 'PATCH', json: { status: 'active' } })
  advance(HOUR)
  await keepHouse()
  expect(await world.notices()).toMatchObject([{ closed_at: null }])
  expect(await world.reasons()).toHaveLength(1)
})
