import * as z from 'zod'
import type { Db } from '../../db/client'
import { count, timestamp } from '../../http/fields'
import { invalidField } from '../../http/validate'
import { Fault } from '../../lib/fault'
import { DAY, HOUR, iso, MINUTE } from '../../lib/time'
import { lagPercentiles } from '../histogram'
import { MINUTES_KEPT_MS } from '../upkeep/limits'
import { hasConnection, type MinuteRow, readMinutes } from './store'

const BUCKETS = { '1m': MINUTE, '5m': 5 * MINUTE, '1h': HOUR, '1d': DAY } as const
type Bucket = keyof typeof BUCKETS
/** Points that the default bucket keeps to, and that any bucket may make. */
const DEFAULT_POINTS = 300
const MAX_POINTS = 1500

const when = z.iso.datetime({ offset: true })
export const LagQuery = z.strictObject({
  from: when.optional().describe('Default: a day before `to`.'),
  to: when.optional().describe('Exclusive. Default: now.'),
  bucket: z
    .enum(['1m', '5m', '1h', '1d'])
    .optional()
    .describe(`Default: the finest with at most ${DEFAULT_POINTS} points.`),
  connection_id: z.string().max(100).optional(),
})

const ms = z.number().nullable()
export const LagSeries = z
  .object({
    from: timestamp,
    to: timestamp,
    bucket: z.enum(['1m', '5m', '1h', '1d']),
    data: z.array(
      z.object({
        bucket_start: timestamp,
        received: count,
        processed: count.describe('Ignored events count as processed: they have a processed_at.'),
        failed: count,
        pending: count,
        p50_ms: ms,
        p95_ms: ms,
        p99_ms: ms,
        max_ms: ms,
        avg_ms: ms,
      }),
    ),
  })
  .meta({ id: 'LagSeries' })

/** @throws {Fault} `validation_failed` where the range is empty, or has more points than one answer takes; `not_found` */
export async function readLag(
  db: Db,
  projectId: string,
  query: z.infer<typeof LagQuery>,
  now: number,
): Promise<z.infer<typeof LagSeries>> {
  const to = query.to === undefined ? now : Date.parse(query.to)
  const from = query.from === undefined ? to - DAY : Date.parse(query.from)
  if (from >= to) throw invalidField('/from', 'out_of_range', 'must be earlier than to')
  const kept = from < now - MINUTES_KEPT_MS ? HOUR : MINUTE
  const bucket = query.bucket ?? defaultBucket(from, to, kept)
  const size = BUCKETS[bucket]
  if (size < kept) {
    throw invalidField('/bucket', 'out_of_range', 'must be 1h or 1d for a range that starts more than two days ago')
  }
  const start = Math.floor(from / size) * size
  const points = pointsOf(from, to, size)
  if (points > MAX_POINTS) {
    const advice = `${bucket === '1d' ? 'use' : 'use a larger bucket or'} a shorter range`
    throw invalidField('/bucket', 'out_of_range', `would give ${points} points; the limit is ${MAX_POINTS}: ${advice}`)
  }
  const end = start + points * size
  const { connection_id = null } = query
  const rows = await readMinutes(db, projectId, start / MINUTE, end / MINUTE, connection_id)
  // Asked where there is nothing to show: whatever has rows is one.
  if (connection_id !== null && rows.length === 0 && !(await hasConnection(db, projectId, connection_id))) {
    throw new Fault('not_found', 'This project has, and had, no connection with this id.')
  }
  const byBucket = Map.groupBy(rows, ({ minute }) => Math.floor((minute * MINUTE - start) / size))
  const data = Array.from({ length: points }, (_, index) => pointOf(start + index * size, byBucket.get(index) ?? []))
  return { from: iso(start), to: iso(end), bucket, data }
}

/** The buckets of this size (ms) that a range touches. */
function pointsOf(from: number, to: number, size: number): number {
  return Math.ceil(to / size) - Math.floor(from / size)
}

function defaultBucket(from: number, to: number, kept: number): Bucket {
  const fits = (Object.keys(BUCKETS) as Bucket[]).find(
    (name) => BUCKETS[name] >= kept && pointsOf(from, to, BUCKETS[name]) <= DEFAULT_POINTS,
  )
  return fits ?? '1d'
}

function pointOf(start: number, rows: readonly MinuteRow[]) {
  const sum = (pick: (row: MinuteRow) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const received = sum((row) => row.received)
  const processed = sum((row) => row.processed + row.ignored)
  const failed = sum((row) => row.failed)
  return {
    bucket_start: iso(start),
    received,
    processed,
    failed,
    pending: received - processed - failed,
    ...lagPercentiles(rows),
    max_ms: processed === 0 ? null : Math.max(...rows.map((row) => row.lag_max)),
    avg_ms: processed === 0 ? null : Math.round((sum((row) => row.lag_sum) / processed) * 100) / 100,
  }
}
