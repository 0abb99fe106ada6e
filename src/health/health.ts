import * as z from 'zod'
import { batch, type Send } from '../db/client'
import type { Runtime } from '../env'
import { count, named, timestamp } from '../http/fields'
import { ifAnswered } from '../http/read'
import { SAMPLE } from '../http/samples'
import { Backfill, presentBackfill } from '../inbox/backfill/fields'
import type { Attention } from '../inbox/failures/attention'
import { SHOWN_STATUSES, type ShownStatus } from '../inbox/lifecycle'
import { idTime } from '../lib/ids'
import { sealingKey } from '../lib/seal'
import { iso, isoOrNull, MINUTE } from '../lib/time'
import { within } from '../lib/within'
import { MAX_STORE_BYTES } from '../stores/limits'
import { assess, countsOf, healthQueries } from './assess'
import { type Finding, findingsOf, verdictOf } from './findings'
import { BACKLOG_WITHIN_MS, MAX_COUNTED, MAX_ITEMS_MISSING, THRESHOLDS } from './limits'
import { countToReseal } from './read'
import { OF_DIRECTORY } from './sealed'
import { Traffic } from './traffic'
import { Window, windowOf } from './window'

const QUIET = {
  received: 0,
  processed: 0,
  ignored: 0,
  failed: 0,
  duplicates: 0,
  refused: {},
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
}

/** @see verdictOf */
export type PipelineStatus = z.infer<typeof Health>['status']

export const Health = named(
  'WebhookHealth',
  z.object({
    status: named('PipelineStatus', z.enum(['ok', 'degraded', 'failing'])),
    reasons: z.array(z.string()).describe('Why the status is not `ok`.'),
    thresholds: z.record(z.string(), z.record(z.string(), z.number())),
    as_of: timestamp,
    counts: z
      .object(Object.fromEntries(SHOWN_STATUSES.map((status) => [status, count])) as Record<ShownStatus, z.ZodInt>)
      .describe(
        `Events by status. Open events are counted up to ${MAX_COUNTED.toLocaleString('en')}, and so are held ones.`,
      ),
    oldest_pending_age_ms: count
      .nullable()
      .describe(
        'The age of the oldest open event: since its receipt, its last replay or its release. Failed and held events do not count.',
      ),
    expired_leases: count,
    last_5m: Window.describe('By time of receipt.'),
    last_60m: Window.describe('By time of receipt.'),
    connections: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        vendor: z.string(),
        livemode: z.boolean(),
        status: z.string(),
        held: count.describe(
          `Events that the connection holds. If \`counts.held\` is ${MAX_COUNTED.toLocaleString('en')}, there may be more.`,
        ),
        signing_secrets: count.describe('Without one, the connection refuses every delivery.'),
        last_received_at: timestamp.nullable(),
        backfill: Backfill.nullable().describe(
          'How far the vendor’s list of events has been compared with the delivered events. Null without an API key, or if the vendor does not list its events.',
        ),
        last_5m: Traffic,
        last_60m: Traffic,
      }),
    ),
    store: z
      .object({
        number: count.describe('The number of the database that holds the project.'),
        size_bytes: count.nullable().describe('The size of the database, with the data of all projects.'),
        limit_bytes: count,
      })
      .describe('The database that holds the project.'),
    last_sweep_at: timestamp.nullable(),
    queue_backlog: count.nullable().describe('Messages waiting in the Queue, for all projects; null if unknown.'),
    ambiguous_objects: count.describe('Billing objects whose latest state is undecided: several events tie for it.'),
    incomplete_objects: count.describe(
      'Billing objects with a list that was cut off. They have `incomplete: true`; the vendor has the whole list.',
    ),
    items_missing: count.describe(
      `Purchases of which no event says what was bought. They give nothing until an event says it. At most ${MAX_ITEMS_MISSING.toLocaleString('en')} are counted.`,
    ),
    unknown_statuses: count.describe(
      'Subscriptions whose vendor uses a status that this version does not know. They give no access.',
    ),
    secrets_to_reseal: count
      .nullable()
      .describe(
        'Signing secrets, client secrets of single sign-on and keys of entitlement tokens that are not yet encrypted with the newest key. Keep the older keys until this is 0. Null if a database did not answer in time.',
      ),
  }),
  {
    status: 'ok',
    reasons: [],
    thresholds: THRESHOLDS,
    as_of: SAMPLE.later,
    counts: { received: 0, processing: 0, retrying: 0, queued: 0, held: 0, processed: 118, ignored: 2, failed: 0 },
    oldest_pending_age_ms: null,
    expired_leases: 0,
    last_5m: QUIET,
    last_60m: { ...QUIET, received: 120, processed: 118, ignored: 2, p50_ms: 310, p95_ms: 640, p99_ms: 1180 },
    connections: [
      {
        id: SAMPLE.connection,
        name: 'Stripe',
        vendor: 'stripe',
        livemode: true,
        status: 'active',
        held: 0,
        signing_secrets: 1,
        last_received_at: SAMPLE.time,
        backfill: null,
        last_5m: { accepted: 0, refused: {} },
        last_60m: { accepted: 120, refused: { signature_mismatch: 1 } },
      },
    ],
    store: { number: 0, size_bytes: 151_552_000, limit_bytes: MAX_STORE_BYTES },
    last_sweep_at: SAMPLE.time,
    queue_backlog: 0,
    ambiguous_objects: 0,
    incomplete_objects: 0,
    items_missing: 0,
    unknown_statuses: 0,
    secrets_to_reseal: 0,
  },
)

type Found = {
  health: z.infer<typeof Health>
  findings: Finding[]
  failed: ReadonlyMap<string, number>
  attention: Attention
}

/** A snapshot of a project's pipeline: {@link readFound} without the findings. */
export async function readHealth(rt: Runtime, projectId: string, ask?: Send): Promise<z.infer<typeof Health>> {
  return (await readFound(rt, projectId, ask)).health
}

/**
 * A snapshot of a project's pipeline, in one round trip; outside store 0, the directory is asked at the same time. Beside it, everything
 * that is wrong, how many of the events of the last hour failed, by the ids of connections, and which failed events need attention.
 *
 * @param ask sends the statements
 */
export async function readFound(
  rt: Runtime,
  projectId: string,
  ask: Send = (queries) => batch(rt.db, queries),
): Promise<Found> {
  const { now } = rt
  const [found, queue_backlog, beside] = await Promise.all([
    ask(healthQueries(rt, projectId)),
    backlogOf(rt),
    toResealBeside(rt, projectId),
  ])
  const { connections, facts, attention } = await assess(rt, found)
  const thisMinute = Math.floor(now / MINUTE)
  const health: z.infer<typeof Health> = {
    ...verdictOf(facts),
    thresholds: THRESHOLDS,
    as_of: iso(now),
    counts: countsOf(found),
    oldest_pending_age_ms: facts.oldest_pending_age_ms,
    expired_leases: facts.expired_leases,
    last_60m: facts.last_60m,
    last_5m: windowOf(found.minutes.filter(({ minute }) => minute > thisMinute - 5)),
    connections: connections.map(
      ({ id, name, vendor, livemode, status, held, secrets, last_event_id, backfill, last_5m, last_60m }) => ({
        id,
        name,
        vendor,
        livemode,
        status,
        held,
        signing_secrets: secrets.length,
        last_received_at: last_event_id === null ? null : iso(idTime(last_event_id)),
        backfill: backfill && presentBackfill(backfill),
        last_5m,
        last_60m,
      }),
    ),
    store: { number: rt.store, size_bytes: facts.store.size_bytes, limit_bytes: facts.store.limit_bytes },
    last_sweep_at: isoOrNull(found.swept[0]?.at ?? null),
    queue_backlog,
    ambiguous_objects: found.ambiguous[0]?.n ?? 0,
    incomplete_objects: found.incomplete[0]?.n ?? 0,
    items_missing: found.items_missing[0]?.n ?? 0,
    unknown_statuses: found.unknown[0]?.n ?? 0,
    secrets_to_reseal: beside === null ? null : beside + (found.to_reseal[0]?.n ?? 0),
  }
  const failed = new Map(connections.map(({ id, failed_60m }) => [id, failed_60m]))
  return { health, findings: findingsOf(facts), failed, attention }
}

/** Secrets to reseal that are in the directory, if the project's store is another database; null if it does not answer. */
async function toResealBeside({ store, directory, settings }: Runtime, projectId: string): Promise<number | null> {
  if (store === 0) return 0
  const key = sealingKey(settings.encryptionKeys)
  const rows = await ifAnswered(directory, countToReseal(directory, OF_DIRECTORY, projectId, key))
  return rows && (rows[0]?.n ?? 0)
}

/** Messages in the Queue; null if it does not say. */
export async function backlogOf({ events }: Runtime): Promise<number | null> {
  try {
    return (await within(BACKLOG_WITHIN_MS, events.metrics())).backlogCount
  } catch {
    return null // the local Queue has no metrics
  }
}
