import { type Runtime, versionId } from '../env'
import { writeLog } from './log'

/**
 * Every metric, with what its data points hold: `labels` are blobs from the second on (the first is the version),
 * `values` are doubles from the first on. Columns have positions, so add new ones at the end.
 */
export const METRICS = {
  request: { labels: ['route', 'status', 'caller'], values: ['ms', 'd1_trips', 'd1_ms', 'rows_read', 'rows_written'] },
  d1_error: { labels: ['class', 'work'], values: ['errors'] },
  spool: { labels: ['outcome'], values: ['events', 'bytes'] },
  batch: {
    labels: ['outcome'],
    values: ['messages', 'finished', 'ms', 'd1_trips', 'd1_ms', 'lag_ms_sum', 'lag_ms_max', 'dropped'],
  },
  dead_letters: { labels: [], values: ['messages'] },
  state: {
    labels: ['store'],
    values: ['open', 'oldest_pending_ms', 'expired_leases', 'queue_backlog', 'database_bytes'],
  },
} as const

type Metrics = typeof METRICS
export type MetricName = keyof Metrics
/** A data point: text by label, numbers by value. */
export type DataPoint<M extends MetricName> = Record<Metrics[M]['labels'][number], string> &
  Record<Metrics[M]['values'][number], number>

/** An isolate logs this once: a dataset that refuses one data point refuses the others too. */
let refused = false

/**
 * Writes one data point to Workers Analytics Engine. The call returns immediately, and it never throws: the work that
 * it measures continues. The name of the metric is the sampling key, so rare metrics are not thinned out with frequent
 * ones.
 */
export function measure<M extends MetricName>({ metrics }: Runtime, name: M, point: DataPoint<M>): void {
  const { labels, values } = METRICS[name]
  const columns = point as Record<string, string | number>
  try {
    metrics?.writeDataPoint({
      indexes: [name],
      blobs: [versionId() ?? '', ...labels.map((label) => String(columns[label]))],
      doubles: values.map((value) => Number(columns[value])),
    })
  } catch (error) {
    if (!refused) writeLog('warn', 'metric_not_written', { metric: name, error: String(error) })
    refused = true
  }
}

/** Writes the D1 errors of one piece of work, by class. */
export function measureErrors(rt: Runtime, work: 'request' | 'batch' | 'cron'): void {
  for (const [name, errors] of Object.entries(rt.cost().failures)) {
    measure(rt, 'd1_error', { class: name, work, errors })
  }
}
