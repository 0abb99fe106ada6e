import * as z from 'zod'
import { Effect } from '../../billing/effect'
import { count, exampleOf, named, timestamp } from '../../http/fields'
import { pageFields } from '../../http/page'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { iso } from '../../lib/time'
import { BillingEvent } from '../events/present'
import { FINAL_STATUSES } from '../lifecycle'
import { searchFields } from '../search/filters'
import { MAX_MIN_ATTEMPTS } from '../search/limits'
import { MAX_REPLAYED } from './limits'
import type { Preview } from './preview'
import { openOf, type ReplayRow } from './replays'

export const Replayed = named(
  'Replayed',
  z.object({
    replay: z.object({
      id: z.string().nullable().describe('Null if the run already on its way is not a replay.'),
      event_id: z.string(),
      requested_at: timestamp,
      deduplicated: z.boolean().describe('True if a run was already on its way.'),
    }),
    event: BillingEvent,
  }),
  {
    replay: { id: SAMPLE.replay, event_id: SAMPLE.event, requested_at: SAMPLE.later, deduplicated: false },
    event: { ...exampleOf(BillingEvent), status: 'queued' },
  },
)

export const ReplayPreview = named(
  'ReplayPreview',
  z.object({
    dry_run: z.literal(true),
    event_id: z.string(),
    status: named('FinalEventStatus', z.enum(FINAL_STATUSES)).describe('The status the event would end in.'),
    error: z.string().nullable(),
    effects: z.array(Effect).describe('What the replay would do. If `change` is null, it would change nothing.'),
  }),
  { dry_run: true, event_id: SAMPLE.event, status: 'processed', error: null, effects: [] },
)

export const BulkReplayBody = named(
  'BulkReplayRequest',
  z.strictObject({
    filter: z
      .strictObject({
        ...searchFields,
        min_attempts: z.int().min(1).max(MAX_MIN_ATTEMPTS).optional(),
        livemode: z.boolean().optional(),
      })
      .describe('The same filters as in a search.'),
    limit: z.int().min(1).max(MAX_REPLAYED).default(MAX_REPLAYED),
    cursor: pageFields.cursor.describe('`next_cursor` of the previous replay, to continue with the remaining events.'),
    dry_run: z.boolean().default(false).describe('Counts the matching events and changes nothing.'),
  }),
  { filter: { status: ['failed'], vendor: 'stripe' }, limit: 100 },
)

export const BulkReplay = named(
  'BulkReplay',
  z.object({
    replay_id: z.string().nullable().describe('Null for a dry run, and if no event was reopened.'),
    matched: count.describe('Matching events, up to `limit`.'),
    queued: count.describe(
      'Events that were reopened, or that would be, in a dry run. The others are already open, have no payload any more, or are of a paused connection.',
    ),
    has_more: z.boolean().describe('Whether more events may match.'),
    next_cursor: z
      .string()
      .nullable()
      .describe('Pass it as `cursor`, with the same filter, to replay the next events.'),
  }),
  { replay_id: SAMPLE.replay, matched: 12, queued: 11, has_more: false, next_cursor: null },
)

export const ReplayProgress = named(
  'ReplayProgress',
  z.object({
    id: z.string(),
    requested_at: timestamp,
    requested_by: z.string(),
    event_id: z.string().nullable().describe('Null for a bulk replay.'),
    filter: z.record(z.string(), z.unknown()).nullable().describe('Null for the replay of one event.'),
    queued: count.describe('Events that the replay reopened.'),
    open: count.nullable().describe('Events still to be processed: 0 when the replay is done.'),
    processed: count.nullable(),
    ignored: count.nullable(),
    failed: count.nullable().describe('These counts are null for a replay from before they were kept.'),
  }),
  {
    id: SAMPLE.replay,
    requested_at: SAMPLE.later,
    requested_by: SAMPLE.user,
    event_id: null,
    filter: { status: ['failed'], vendor: 'stripe' },
    queued: 11,
    open: 3,
    processed: 7,
    ignored: 0,
    failed: 1,
  },
)

export function presentPreview({ event_id, status, error, effects }: Preview): z.infer<typeof ReplayPreview> {
  return { dry_run: true, event_id, status, error: error?.message ?? null, effects }
}

export function presentReplay({
  id,
  actor,
  event_id,
  filter,
  queued,
  ...ended
}: ReplayRow): z.infer<typeof ReplayProgress> {
  const { processed, ignored, failed } = ended
  const counts = { queued, open: openOf({ queued, ...ended }), processed, ignored, failed }
  return { id, requested_at: iso(idTime(id)), requested_by: actor, event_id, filter, ...counts }
}
