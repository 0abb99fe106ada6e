import * as z from 'zod'
import { batch, type Query, type Send } from '../db/client'
import type { Runtime } from '../env'
import { count, named, timestamp } from '../http/fields'
import { invalidField } from '../http/validate'
import { lagPercentiles } from '../inbox/histogram'
import { MINUTES_KEPT_MS } from '../inbox/limits'
import { notFound } from '../lib/fault'
import { DAY, HOUR, iso, MINUTE } from '../lib/time'
import { DEFAULT_POINTS, MAX_POINTS } from './limits'
import { connectionExists, type MinuteRow, readMinutes } from './read'
import { sum } from './window'

const bucket = named('LagBucket', z.enum(['1m', '5m', '1h', '1d']))
const when = z.iso.datetime({ offset: true })
export const LagQuery = z.strictObject({
  from: when.optional().describe('Inclusive. Default: a day before `to`.'),
  to: when.optional().describe('Exclusive. Default: now.'),
  bucket: bucket.optional().describe(`Default: the smallest that gives at most ${DEFAULT_POINTS} points.`),
  connection_id: z.string().max(100).optional(),
})

const ms = z.number().nullable()
export const LagSeries = named(
  'LagSeries',
  z.object({
    from: timestamp,
    to: timestamp,
    bucket,
    data: z.array(
      z.object({
        bucket_start: timestamp,
        received: count,
        processed: count.describe('Includes ignored events, which have a `processed_at` too.'),
        failed: count,
        pending: count.describe('Includes held events.'),
        p50_ms: ms,
        p95_ms: ms,
        p99_ms: ms,
        max_ms: ms,
        avg_ms: ms,
      }),
    ),
  }),
  {
    from: '2026-11-21T08:00:00.000Z',
    to: '2026-11-21T09:00:00.000Z',
    bucket: '1h',
    data: [
      {
        bucket_start: '2026-11-21T08:00:00.000Z',
        received: 120,
        processed: 118,
        failed: 1,
        pending: 1,
        p50_ms: 310,
        p95_ms: 640,
        p99_ms: 1180,
        max_ms: 1420,
        avg_ms: 352,
      },
    ],
  },
)

/**
 * The lag of a project's events by time of receipt.
 *
 * @param ask sends the statements: one round trip
 * @throws {Fault} `validation_failed` for a range that is empty or too long, or a bucket too small for it; `not_found`
 *   for a connection that the project never had
 */
export async function readLag(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  projectId: string,
  query: z.infer<typeof LagQuery>,
  ask: Send = (queries) => batch(db, queries),
): Promise<z.infer<typeof LagSeries>> {
  const { bucket, size, start, points } = lagRange(query, now)
  const end = start + points * size
  const { connection_id = null } = query
  const minutes = readMinutes(db, projectId, { from: start / MINUTE, to: end / MINUTE }, connection_id)
  const connection = connection_id === null ? null : connectionExists(db, projectId, connection_id)
  const rows = await readRows(ask, minutes, connection)
  const byBucket = Map.groupBy(rows, ({ minute }) => Math.floor((minute * MINUTE - start) / size))
  const data = Array.from({ length: points }, (_, index) => pointOf(start + index * size, byBucket.get(index) ?? []))
  return { from: iso(start), to: iso(end), bucket, data }
}

/** @throws {Fault} `not_found` if there is a connection to look for, and it is not found */
async function readRows(
  ask: Send,
  rows: Query<MinuteRow[]>,
  connection: Query<unknown[]> | null,
): Promise<MinuteRow[]> {
  if (connection === null) return (await ask({ rows })).rows
  const found = await ask({ rows, connection })
  if (found.connection.length === 0) throw notFound('Connection')
  return found.rows
}

function pointOf(start: number, rows: readonly MinuteRow[]) {
  const received = sum(rows, 'received')
  const processed = sum(rows, 'processed') + sum(rows, 'ignored')
  const failed = sum(rows, 'failed')
  return {
    bucket_start: iso(start),
    received,
    processed,
    failed,
    pending: received - processed - failed,
    ...lagPercentiles(rows),
    max_ms: processed === 0 ? null : Math.max(...rows.map((row) => row.lag_max)),
    avg_ms: processed === 0 ? null : Math.round((sum(rows, 'lag_sum') / processed) * 100) / 100,
  }
}

/** The sizes of a bucket (ms), smallest first. */
export const BUCKETS = { '1m': MINUTE, '5m': 5 * MINUTE, '1h': HOUR, '1d': DAY } as const
export type Bucket = keyof typeof BUCKETS

type Asked = { from?: string | undefined; to?: string | undefined; bucket?: Bucket | undefined }

/**
 * The buckets that a series has: how many of which size (ms), from which time on (ms).
 *
 * @throws {Fault} `validation_failed` if the range is empty or has too many points, or the bucket is too small for it
 */
export function lagRange(asked: Asked, now: number): { bucket: Bucket; size: number; start: number; points: number } {
  const to = asked.to === undefined ? now : Date.parse(asked.to)
  const from = asked.from === undefined ? to - DAY : Date.parse(asked.from)
  if (from >= to) throw invalidField('/from', 'out_of_range', 'must be earlier than to')
  const smallest = from < now - MINUTES_KEPT_MS ? HOUR : MINUTE
  const bucket = asked.bucket ?? defaultBucket(from, to, smallest)
  const size = BUCKETS[bucket]
  if (size < smallest) {
    throw invalidField('/bucket', 'out_of_range', 'must be 1h or 1d for a range that starts more than two days ago')
  }
  const points = pointsOf(from, to, size)
  if (points > MAX_POINTS) {
    const advice = `${bucket === '1d' ? 'use' : 'use a larger bucket or'} a shorter range`
    throw invalidField('/bucket', 'out_of_range', `would give ${points} points; the limit is ${MAX_POINTS}: ${advice}`)
  }
  return { bucket, size, start: Math.floor(from / size) * size, points }
}

/** The smallest bucket that gives few enough points. */
function defaultBucket(from: number, to: number, smallest: number): Bucket {
  const fits = (Object.keys(BUCKETS) as Bucket[]).find(
    (name) => BUCKETS[name] >= smallest && pointsOf(from, to, BUCKETS[name]) <= DEFAULT_POINTS,
  )
  return fits ?? '1d'
}

/** How many buckets of this size (ms) a range touches. */
function pointsOf(from: number, to: number, size: number): number {
  return Math.ceil(to / size) - Math.floor(from / size)
}
