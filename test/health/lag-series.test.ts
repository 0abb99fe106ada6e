import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE, SECOND } from '../../src/lib/time'
import { stopClock } from '../clock'
import { happen, lagSeries, type Story } from '../inbox/history'
import { keepHouse, only, type Rows, rows } from '../inbox/pipeline'
import { freshReader, insertConnection } from '../inbox/seeding'

const SIZES = { '1m': MINUTE, '5m': 5 * MINUTE, '1h': HOUR, '1d': DAY } as const
const BUCKETS = Object.keys(SIZES) as (keyof typeof SIZES)[]
const NOON = Date.parse('2026-06-10T12:00:00.000Z')

beforeEach(() => {
  stopClock(NOON)
})

describe('buckets', () => {
  /** Nights in which clocks are moved, somewhere. */
  it.each(['2026-03-08T07:00:00Z', '2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2026-11-01T06:00:00Z'])(
    'lie on the clock of UTC, also when other clocks are moved: %s',
    async (moved) => {
      const turn = Date.parse(moved)
      stopClock(turn + 9 * HOUR + 12_345)
      const { project, read } = await freshReader()
      const connection = await insertConnection(project, 'stripe')
      const times = [-2 * HOUR, -1, 0, 1, HOUR - 1, HOUR, 3 * HOUR + 7 * MINUTE].map((ms) => turn + ms)
      await happen(
        project,
        connection,
        times.map((received_at) => ({ received_at, lag: 10 })),
      )
      for (const bucket of BUCKETS) {
        const size = SIZES[bucket]
        const [from, to] = [turn - 3 * HOUR - 4321, turn + 5 * HOUR + 1]
        const body = await lagSeries(read, { from, to, bucket })
        const starts: number[] = body.data.map((point) => Date.parse(point.bucket_start))
        // From the bucket that `from` is in to the one that the last millisecond before `to` is in, none left out.
        expect(starts[0]).toBe(Math.floor(from / size) * size)
        expect(starts.at(-1)).toBe(Math.floor((to - 1) / size) * size)
        expect(starts.every((start, i) => start === (starts[0] as number) + i * size)).toBe(true)
        expect([body.from, body.to]).toEqual([iso(starts[0] as number), iso((starts.at(-1) as number) + size)])
        expect(body.data.map((point) => point.received)).toEqual(
          starts.map((start) => times.filter((time) => time >= start && time < start + size).length),
        )
      }
    },
  )

  it('are those of the day up to now when nothing is asked', async () => {
    const { read } = await freshReader()
    const body = await lagSeries(read)
    expect(body).toMatchObject({ from: iso(NOON - DAY), to: iso(NOON), bucket: '5m' })
    expect(body.data).toHaveLength(288)
    expect((await lagSeries(read, { from: NOON - HOUR })).to).toBe(iso(NOON))
    expect((await lagSeries(read, { to: NOON - HOUR })).from).toBe(iso(NOON - DAY - HOUR))
    // Offsets are taken, and answered in UTC.
    expect((await lagSeries(read, { from: '2026-06-10T13:00:00+02:00' })).from).toBe(iso(NOON - HOUR))
  })

  it.each<[string, number, string]>([
    ['a millisecond', 1, '1m'],
    ['five hours', 5 * HOUR, '1m'],
    ['more', 5 * HOUR + MINUTE, '5m'],
    ['25 hours', 25 * HOUR, '5m'],
    ['more', 25 * HOUR + MINUTE, '1h'],
    ['two days', 2 * DAY, '1h'],
    ['three days', 3 * DAY, '1h'],
    ['12 days and a half', 300 * HOUR, '1h'],
    ['more', 301 * HOUR, '1d'],
    ['ten months', 300 * DAY, '1d'],
    ['four years', 1460 * DAY, '1d'],
  ])('are the finest that keep to 300 points: %s (%i ms)', async (_, range, bucket) => {
    const { read } = await freshReader()
    for (const to of [NOON, NOON - 30 * SECOND]) {
      const body = await lagSeries(read, { from: to - range, to })
      const points = body.data.length
      expect(points).toBeLessThanOrEqual(range > 299 * DAY ? 1500 : 300)
      // An end that lies within a bucket is a point more: then five hours by the minute no longer fit.
      if (to === NOON) expect(body.bucket).toBe(bucket)
    }
  })
})

describe('compaction', () => {
  /** Whole hours before two days ago become one row each; a day of it here, and an hour of what is kept by the minute. */
  const start = NOON - 3 * DAY
  const story = fc.record({
    received_at: fc.integer({ min: start, max: start + DAY + HOUR - 1 }),
    lag: fc.option(fc.integer({ min: 0, max: HOUR }), { nil: undefined }),
    status: fc.constantFrom('processed', 'ignored', 'failed'),
  }) as fc.Arbitrary<Story>
  const sample = (seed: number) =>
    fc.sample(fc.array(story, { minLength: 80, maxLength: 80 }), { numRuns: 1, seed })[0] ?? []

  it('changes no point of an hour or a day, of all connections or of one, and no minute that is kept', async () => {
    const { project, read } = await freshReader()
    const connections = [await insertConnection(project, 'stripe'), await insertConnection(project, 'paddle')]
    for (const [i, connection] of connections.entries()) await happen(project, connection, sample(i))
    const count = async () =>
      (await only(rows<{ n: number }>('SELECT count(*) AS n FROM minutes WHERE project_id = ?', project))).n
    const seen = async () => {
      const of = [undefined, ...connections].map((id) => id && { connection_id: id })
      const series = []
      for (const one of of) {
        for (const bucket of ['1h', '1d'] as const)
          series.push(await lagSeries(read, { from: NOON - 4 * DAY, bucket, ...one }))
        series.push(await lagSeries(read, { from: NOON - 2 * DAY, to: NOON - 2 * DAY + HOUR, bucket: '1m', ...one }))
      }
      return series
    }
    const before = await seen()
    expect(before[0]?.data.reduce((sum, point) => sum + point.received, 0)).toBe(160)
    const unfolded = () =>
      rows(
        'SELECT * FROM minutes WHERE project_id = ? AND minute < ? AND minute % 60 <> 0',
        project,
        (NOON - 2 * DAY) / MINUTE,
      )
    expect((await unfolded()).length).toBeGreaterThan(50)
    await keepHouse()
    expect(await seen()).toEqual(before)
    const hours = await count()
    expect(await unfolded()).toEqual([])
    // Once more: nothing.
    await keepHouse()
    expect([await count(), await seen()]).toEqual([hours, before])
  })

  it('takes in what comes late, and keeps refusals and repeats', async () => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const hour = NOON - 3 * DAY
    const late = [
      { received_at: hour + 9 * MINUTE, lag: 4 },
      { received_at: hour, lag: 2 * HOUR },
    ]
    await happen(project, connection, [{ received_at: hour + 5 * MINUTE, lag: 3 }])
    await rows(`UPDATE minutes SET refused = '{"signature_missing":2}', duplicates = 3 WHERE project_id = ?`, project)
    for (const stories of [[], late]) {
      await happen(project, connection, stories)
      await rows(
        `UPDATE minutes SET refused = '{"signature_missing":1,"signature_mismatch":4}' WHERE project_id = ? AND minute = ?`,
        project,
        (hour + 9 * MINUTE) / MINUTE,
      )
      await keepHouse()
    }
    const row = await only(rows<Rows['minutes']>('SELECT * FROM minutes WHERE project_id = ?', project))
    expect(row).toMatchObject({
      minute: hour / MINUTE,
      received: 3,
      processed: 3,
      duplicates: 3,
      lag_sum: 2 * HOUR + 7,
      lag_max: 2 * HOUR,
    })
    expect(JSON.parse(row.refused)).toEqual({ signature_missing: 3, signature_mismatch: 4 })
    const [point] = (await lagSeries(read, { from: hour, to: hour + HOUR, bucket: '1h' })).data
    expect(point).toMatchObject({ received: 3, processed: 3, pending: 0, max_ms: 2 * HOUR })
  })

  it('leaves every other project as it is', async () => {
    const mine = await freshReader()
    const theirs = await freshReader()
    for (const { project } of [mine, theirs]) {
      await happen(project, await insertConnection(project, 'stripe'), [
        { received_at: NOON - 4 * DAY + MINUTE, lag: 3 },
      ])
    }
    const before = await lagSeries(theirs.read, { from: NOON - 5 * DAY })
    await keepHouse()
    const left = await rows('SELECT minute FROM minutes WHERE project_id IN (?, ?)', mine.project, theirs.project)
    expect(left).toEqual(Array(2).fill({ minute: (NOON - 4 * DAY) / MINUTE }))
    expect(await lagSeries(theirs.read, { from: NOON - 5 * DAY })).toEqual(before)
  })
})

describe('refused', () => {
  it.each([
    ['from=2026-06-10T12:00:00Z', '/from', 'out_of_range', 'now, to which it is'],
    ['from=2026-06-10T13:00:00Z', '/from', 'out_of_range', 'later than now'],
    ['from=2026-06-10T10:00:00Z&to=2026-06-10T10:00:00Z', '/from', 'out_of_range', 'no range'],
    ['from=2026-06-10T10:00:00Z&to=2026-06-10T09:00:00Z', '/from', 'out_of_range', 'back to front'],
    ['from=2026-06-08T11:59:59.999Z&bucket=1m', '/bucket', 'out_of_range', 'minutes past two days'],
    ['from=2026-06-08T11:59:59.999Z&bucket=5m', '/bucket', 'out_of_range', 'five minutes past two days'],
    ['from=2026-06-09T10:00:00Z&bucket=1m', '/bucket', 'out_of_range', '1,560 points'],
    ['from=2020-01-01T00:00:00Z', '/bucket', 'out_of_range', 'more days than one answer takes'],
    ['from=0001-01-01T00:00:00Z&bucket=1h', '/bucket', 'out_of_range', 'a beginning of time'],
    ['from=yesterday', '/from', 'malformed', 'no time'],
    ['to=2026-06-10', '/to', 'malformed', 'a day'],
    ['to=2026-06-10T10:00:00', '/to', 'malformed', 'no offset'],
    ['bucket=2h', '/bucket', 'not_one_of', 'no bucket'],
    ['bucket=1h&bucket=1d', '/bucket', 'wrong_type', 'two'],
    ['limit=5', '/limit', 'unknown_field', 'a parameter of lists'],
  ])('%s (%s, %s): %s', async (query, pointer, code) => {
    const { read } = await freshReader()
    const { status, body } = await read(`/lag-timeseries?${query}`)
    expect([status, body.code, body.errors.map((error) => [error.pointer, error.code])]).toEqual([
      422,
      'validation_failed',
      [[pointer, code]],
    ])
  })

  it('a connection that the project never had: 404; not one it has deleted, nor one that nothing came from', async () => {
    const { project, read } = await freshReader()
    const other = await freshReader()
    const theirs = await insertConnection(other.project, 'stripe')
    const quiet = await insertConnection(project, 'stripe')
    const gone = await insertConnection(project, 'stripe')
    await happen(project, gone, [{ received_at: NOON - MINUTE, lag: 3 }])
    await rows('UPDATE connections SET deleted_at = 1 WHERE id = ?', gone)
    const ask = async (id: string) => {
      const { status, body } = await read(`/lag-timeseries?connection_id=${id}`)
      return [status, body.code]
    }
    expect(await ask('nope')).toEqual([404, 'not_found'])
    expect(await ask('')).toEqual([404, 'not_found'])
    expect(await ask(theirs)).toEqual([404, 'not_found'])
    expect(await ask(quiet)).toEqual([200, undefined])
    expect(await ask(gone)).toEqual([200, undefined])
    // Before its first event too.
    expect((await read(`/lag-timeseries?connection_id=${gone}&to=2026-06-01T00:00:00Z`)).status).toBe(200)
  })

  it('not: exactly two days by five minutes, 1,500 points, a future end', async () => {
    const { read } = await freshReader()
    expect((await lagSeries(read, { from: NOON - 2 * DAY, bucket: '5m' })).data).toHaveLength(576)
    expect((await lagSeries(read, { from: NOON - 25 * HOUR, bucket: '1m' })).data).toHaveLength(1500)
    expect((await lagSeries(read, { from: NOON, to: NOON + HOUR })).data).toHaveLength(60)
  })
})
