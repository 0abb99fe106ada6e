import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { binOf, lagOf } from '../../src/inbox/histogram'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { stopClock } from '../clock'
import { happen, lagSeries, type Story } from '../inbox/history'
import { expectConsistent } from '../inbox/pipeline'
import { freshReader, insertConnection } from '../inbox/seeding'

const NOON = Date.parse('2026-06-10T12:00:00.000Z')

beforeEach(() => {
  stopClock(NOON)
})

const EMPTY = {
  received: 0,
  processed: 0,
  failed: 0,
  pending: 0,
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
  max_ms: null,
  avg_ms: null,
}

const exact = (sorted: readonly number[], p: number) =>
  sorted[Math.max(1, Math.ceil((p / 100) * sorted.length)) - 1] ?? Number.NaN

describe('percentiles', () => {
  it('stand for every lag from 0 ms to a year within 1 %', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 365 * DAY })), (lag) => {
        expect(Math.abs(lagOf(binOf(lag)) - lag)).toBeLessThanOrEqual(lag / 100)
      }),
      { numRuns: 5000 },
    )
  })

  const ms = (min: number, max: number) => fc.integer({ min, max })
  const DISTRIBUTIONS: Record<string, fc.Arbitrary<number>> = {
    'at once': fc.constant(0),
    'below ten milliseconds': ms(0, 9),
    'a tenth of a second, about': ms(80, 140),
    'up to three hours': ms(0, 3 * HOUR),
    'two humps': fc.oneof(ms(20, 60), ms(30 * MINUTE, 2 * HOUR)),
    'a long tail': fc.integer({ min: 0, max: 16 }).map((n) => 2 ** n),
  }
  it.each(Object.keys(DISTRIBUTIONS))(
    'are within a hundredth of the exact ones, and none is above the greatest: %s',
    async (name) => {
      const lags = DISTRIBUTIONS[name] as fc.Arbitrary<number>
      await fc.assert(
        fc.asyncProperty(fc.array(lags, { minLength: 1, maxLength: 60 }), async (list) => {
          const { project, read } = await freshReader()
          const connection = await insertConnection(project, 'stripe')
          await happen(
            project,
            connection,
            list.map((lag, i) => ({ received_at: NOON - 4 * HOUR + i * 1234, lag })),
          )
          const [point] = (await lagSeries(read, { from: NOON - 12 * HOUR, to: NOON, bucket: '1d' })).data
          const sorted = list.toSorted((a, b) => a - b)
          for (const p of [50, 95, 99] as const) {
            const is = exact(sorted, p)
            // To two decimals, as it is shown.
            expect(Math.abs(point[`p${p}_ms`] - is)).toBeLessThanOrEqual(is / 100 + 0.005)
            expect(point[`p${p}_ms`]).toBeLessThanOrEqual(point.max_ms)
          }
          expect(point).toMatchObject({
            received: list.length,
            processed: list.length,
            failed: 0,
            pending: 0,
            max_ms: sorted.at(-1),
          })
          expect(point.avg_ms).toBeCloseTo(sorted.reduce((a, b) => a + b, 0) / list.length, 2)
          await expectConsistent(project)
        }),
        { numRuns: 4, seed: 7 },
      )
    },
  )
})

describe('a bucket', () => {
  it.each<[string, Story[], Record<string, number | null>]>([
    ['without events', [], EMPTY],
    [
      'of one',
      [{ received_at: 1, lag: 500 }],
      { ...EMPTY, received: 1, processed: 1, p50_ms: 496.77, p95_ms: 496.77, p99_ms: 496.77, max_ms: 500, avg_ms: 500 },
    ],
    [
      'of one done at once',
      [{ received_at: 1, lag: 0 }],
      { ...EMPTY, received: 1, processed: 1, p50_ms: 0, p95_ms: 0, p99_ms: 0, max_ms: 0, avg_ms: 0 },
    ],
    ['of pending ones', [{ received_at: 1 }, { received_at: 2 }], { ...EMPTY, received: 2, pending: 2 }],
    ['of failed ones', [{ received_at: 1, lag: 9, status: 'failed' }], { ...EMPTY, received: 1, failed: 1 }],
    [
      'of all kinds',
      [
        { received_at: 1, lag: 7, status: 'failed' },
        { received_at: 2 },
        { received_at: 3, lag: 1, status: 'ignored' },
        { received_at: 4, lag: 1 },
      ],
      {
        ...EMPTY,
        received: 4,
        processed: 2,
        failed: 1,
        pending: 1,
        p50_ms: 0.99,
        p95_ms: 0.99,
        p99_ms: 0.99,
        max_ms: 1,
        avg_ms: 1,
      },
    ],
  ])('%s', async (_, stories, wanted) => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const start = NOON - HOUR
    // The millisecond before and the one after belong to the buckets beside it.
    const around = [start - 1, start + MINUTE].map((received_at) => ({ received_at, lag: 3000 }))
    await happen(project, connection, [
      ...stories.map((story) => ({ ...story, received_at: start + story.received_at })),
      ...around,
    ])
    const { data } = await lagSeries(read, { from: start - MINUTE, to: start + 2 * MINUTE, bucket: '1m' })
    expect(data[1]).toEqual({ bucket_start: iso(start), ...wanted })
    expect(data.map(({ received }) => received)).toEqual([1, wanted.received, 1])
  })

  it('holds received = processed + failed + pending, whatever happens, and is of one connection where asked', async () => {
    const { project, read } = await freshReader()
    const connections = [await insertConnection(project, 'stripe'), await insertConnection(project, 'paddle')]
    const story = fc.record(
      {
        received_at: fc.integer({ min: NOON - 5 * HOUR, max: NOON - HOUR }),
        lag: fc.integer({ min: 0, max: HOUR }),
        status: fc.constantFrom('processed', 'ignored', 'failed'),
      },
      { requiredKeys: ['received_at'] },
    ) as fc.Arbitrary<Story>
    const [first = [], second = []] = fc.sample(fc.array(story, { minLength: 60, maxLength: 60 }), {
      numRuns: 2,
      seed: 11,
    })
    for (const [i, stories] of [first, second].entries()) await happen(project, connections[i] as string, stories)
    const count = (stories: readonly Story[], from: number, size: number) => {
      const own = stories.filter(({ received_at }) => received_at >= from && received_at < from + size)
      const done = own.filter(({ lag }) => lag !== undefined)
      const failed = done.filter(({ status }) => status === 'failed').length
      return { received: own.length, processed: done.length - failed, failed, pending: own.length - done.length }
    }
    const quiet = await insertConnection(project, 'stripe')
    for (const [bucket, size] of [
      ['1m', MINUTE],
      ['5m', 5 * MINUTE],
      ['1h', HOUR],
      ['1d', DAY],
    ] as const) {
      for (const [connection_id, stories] of [
        [undefined, [...first, ...second]],
        [connections[0], first],
        [connections[1], second],
        [quiet, []],
      ] as const) {
        const { data } = await lagSeries(read, {
          from: NOON - 6 * HOUR,
          to: NOON,
          bucket,
          ...(connection_id && { connection_id }),
        })
        const seen = data.map(({ received, processed, failed, pending }) => ({
          received,
          processed,
          failed,
          pending,
        }))
        expect(seen).toEqual(data.map(({ bucket_start }) => count(stories, Date.parse(bucket_start), size)))
        expect(seen.reduce((sum, point) => sum + point.received, 0)).toBe(stories.length)
      }
    }
    await expectConsistent(project)
  })

  it('is not of another project', async () => {
    const mine = await freshReader()
    const theirs = await freshReader()
    const connection = await insertConnection(theirs.project, 'stripe')
    await happen(theirs.project, connection, [{ received_at: NOON - HOUR, lag: 5 }])
    const { data } = await lagSeries(mine.read)
    expect(data.every(({ received }) => received === 0)).toBe(true)
    expect((await mine.read(`/lag-timeseries?connection_id=${connection}`)).status).toBe(404)
  })
})
