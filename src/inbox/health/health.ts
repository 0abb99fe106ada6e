import * as z from 'zod'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { count, timestamp } from '../../http/fields'
import { idTime } from '../../lib/ids'
import { iso, isoOrNull, MINUTE } from '../../lib/time'
import { sealingKey } from '../connections/seal'
import { countSealedOtherwise } from '../connections/secrets-store'
import { lagPercentiles } from '../histogram'
import { STATUSES, type Status } from '../lifecycle'
import { MAX_OPEN_COUNTED, type MinuteRow, readSnapshot, type Snapshot } from './store'

/** From where on the pipeline counts as degraded, or failing. */
const THRESHOLDS = {
  degraded: { oldest_pending_age_ms: 2 * MINUTE, sweep_age_ms: 5 * MINUTE, failed_last_60m: 1, expired_leases: 1 },
  failing: { oldest_pending_age_ms: 15 * MINUTE, sweep_age_ms: 30 * MINUTE, failed_share_last_60m: 0.5 },
}

const ms = z.number().nullable()
const Window = z.object({
  received: count,
  processed: count.describe('Without ignored events.'),
  ignored: count,
  failed: count,
  duplicates: count,
  refused: z.record(z.string(), count).describe('Refused deliveries by cause.'),
  p50_ms: ms,
  p95_ms: ms,
  p99_ms: ms,
})

export const Health = z
  .object({
    status: z.enum(['ok', 'degraded', 'failing']),
    reasons: z.array(z.string()),
    thresholds: z.record(z.string(), z.record(z.string(), z.number())),
    as_of: timestamp,
    counts: z
      .object(Object.fromEntries(STATUSES.map((status) => [status, count])) as Record<Status, z.ZodInt>)
      .describe(`Open ones are counted up to ${MAX_OPEN_COUNTED}.`),
    oldest_pending_age_ms: count.nullable().describe('Failed events are not pending.'),
    expired_leases: count,
    last_5m: Window.describe('By time of receipt.'),
    last_60m: Window.describe('By time of receipt.'),
    connections: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        vendor: z.string(),
        status: z.string(),
        last_received_at: timestamp.nullable(),
      }),
    ),
    last_sweep_at: timestamp.nullable(),
    queue_backlog: count.nullable().describe('Messages waiting, of all projects; null where the Queue does not say.'),
    ambiguous_objects: count.describe('Objects of the billing state that events of one instant leave undecided.'),
    secrets_to_reseal: count.describe(
      'Signing secrets not yet under the newest encryption key: 0 before an old one may go.',
    ),
  })
  .meta({ id: 'WebhookHealth' })

/** The pipeline of a project as it stands. */
export async function readHealth(rt: Runtime, projectId: string): Promise<z.infer<typeof Health>> {
  const { now, db, settings } = rt
  const thisMinute = Math.floor(now / MINUTE)
  const [snapshot, queue_backlog, [sealedOtherwise]] = await Promise.all([
    readSnapshot(db, projectId, thisMinute - 59, now),
    backlog(rt),
    run(db, countSealedOtherwise(db, projectId, sealingKey(settings.encryptionKeys))),
  ])
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>
  for (const { status, n } of [...snapshot.finals, ...snapshot.open]) counts[status] += n
  const oldest = snapshot.open.map((row) => idTime(row.oldest)).sort((a, b) => a - b)[0]
  const facts = {
    oldest_pending_age_ms: oldest === undefined ? null : Math.max(0, now - oldest),
    expired_leases: snapshot.open.reduce((sum, { expired }) => sum + expired, 0),
    last_60m: windowOf(snapshot.minutes),
  }
  return {
    ...verdictOf(snapshot, facts, now),
    thresholds: THRESHOLDS,
    as_of: iso(now),
    counts,
    ...facts,
    last_5m: windowOf(snapshot.minutes.filter(({ minute }) => minute > thisMinute - 5)),
    connections: snapshot.connections.map(({ secrets, last_event_id, ...connection }) => ({
      ...connection,
      last_received_at: last_event_id === null ? null : iso(idTime(last_event_id)),
    })),
    last_sweep_at: isoOrNull(snapshot.last_sweep_at),
    queue_backlog,
    ambiguous_objects: snapshot.ambiguous,
    secrets_to_reseal: sealedOtherwise?.n ?? 0,
  }
}

type Facts = { oldest_pending_age_ms: number | null; expired_leases: number; last_60m: z.infer<typeof Window> }

function verdictOf(
  snapshot: Snapshot,
  facts: Facts,
  now: number,
): { status: 'ok' | 'degraded' | 'failing'; reasons: string[] } {
  const { degraded, failing } = THRESHOLDS
  const { failed, received } = facts.last_60m
  const age = facts.oldest_pending_age_ms ?? 0
  const sweepAge = snapshot.last_sweep_at === null ? 0 : now - snapshot.last_sweep_at
  const bad = [
    age > failing.oldest_pending_age_ms && `the oldest open event has waited for ${Math.round(age / 1000)} s`,
    sweepAge > failing.sweep_age_ms && `the sweep last ran ${Math.round(sweepAge / 1000)} s ago`,
    received > 0 &&
      failed / received >= failing.failed_share_last_60m &&
      `${failed} of ${received} events of the last hour failed`,
  ].filter((reason) => reason !== false)
  const poor = [
    age > degraded.oldest_pending_age_ms && `the oldest open event has waited for ${Math.round(age / 1000)} s`,
    sweepAge > degraded.sweep_age_ms && `the sweep last ran ${Math.round(sweepAge / 1000)} s ago`,
    snapshot.last_sweep_at === null && 'the sweep has not run yet',
    failed >= degraded.failed_last_60m && `${failed} of ${received} events of the last hour failed`,
    facts.expired_leases >= degraded.expired_leases && `events whose worker died: ${facts.expired_leases}`,
    ...snapshot.connections.map(
      ({ name, status, secrets }) =>
        status === 'active' && secrets === 0 && `the connection ${name} refuses every delivery: add a signing secret`,
    ),
  ].filter((reason) => reason !== false)
  if (bad.length > 0) return { status: 'failing', reasons: bad }
  return poor.length > 0 ? { status: 'degraded', reasons: poor } : { status: 'ok', reasons: [] }
}

function windowOf(rows: readonly MinuteRow[]): z.infer<typeof Window> {
  const sum = (pick: (row: MinuteRow) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const refused: Record<string, number> = {}
  for (const row of rows) {
    for (const [cause, n] of Object.entries(JSON.parse(row.refused) as Record<string, number>)) {
      refused[cause] = (refused[cause] ?? 0) + n
    }
  }
  return {
    received: sum((row) => row.received),
    processed: sum((row) => row.processed),
    ignored: sum((row) => row.ignored),
    failed: sum((row) => row.failed),
    duplicates: sum((row) => row.duplicates),
    refused,
    ...lagPercentiles(rows),
  }
}

async function backlog({ events }: Runtime): Promise<number | null> {
  try {
    return (await events.metrics()).backlogCount
  } catch {
    return null // the local Queue has no metrics
  }
}
