import * as z from 'zod'
import { Effect } from '../../billing/effect'
import { count, exampleOf, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { iso, isoOrNull } from '../../lib/time'
import { EVENT_ERROR_CODES } from '../../vendors/event-errors'
import type { AttemptRow } from '../attempts'
import { SHOWN_STATUSES } from '../lifecycle'
import { bytesOf, isKept } from '../payload'
import { SOURCES, sourceOfId } from '../sources'
import type { EventRow } from './events'

const nullable = z.string().nullable()
export const EventStatus = named('EventStatus', z.enum(SHOWN_STATUSES))
export const EventSource = named('EventSource', z.enum(SOURCES))
export const EventErrorCode = named('EventErrorCode', z.enum(EVENT_ERROR_CODES))

const Summary = named(
  'DecodedSummary',
  z.object({
    vendor: z.string(),
    object: z.object({ type: nullable, id: nullable, status: nullable }),
    customer: nullable,
    subscription: nullable,
    invoice: nullable,
    amount: z
      .object({ value: z.int().describe('In minor units, for example cents.'), currency: z.string() })
      .nullable(),
    occurred_at: nullable,
    livemode: z.boolean().nullable(),
    api_version: nullable,
    refs: z.array(z.string()).describe('The ids of the event’s own object and of those it refers to directly.'),
    effects: z.array(Effect).describe('What the event changed in the billing state.'),
  }),
  {
    vendor: 'stripe',
    object: { type: 'subscription', id: SAMPLE.subscription, status: 'active' },
    customer: SAMPLE.customer,
    subscription: SAMPLE.subscription,
    invoice: null,
    amount: null,
    occurred_at: '2026-11-21T08:46:58Z',
    livemode: true,
    api_version: '2026-10-28.basil',
    refs: [SAMPLE.subscription, SAMPLE.customer],
    effects: [
      {
        kind: 'subscription',
        id: SAMPLE.subscription,
        result: 'applied',
        change: { status: { from: 'trialing', to: 'active' } },
      },
    ],
  },
)

export const BillingEvent = named(
  'BillingWebhookEvent',
  z.object({
    id: z.string(),
    source: EventSource.describe(
      '`delivery`: the vendor sent it. `fetch`: an object that was fetched from the vendor’s API.',
    ),
    event_type: z.string().describe('The vendor’s name for it. For a fetch, `fetch.` and the kind of object.'),
    status: EventStatus.describe('`held`: its connection is paused, or has not released it yet.'),
    processing_attempts: count,
    received_at: timestamp,
    processed_at: timestamp.nullable().describe('When processing first completed.'),
    last_error: nullable.describe('Why the last attempt failed; null after a successful one.'),
    last_error_code: EventErrorCode.nullable().describe(
      'The kind of `last_error`. Null also for an error from before codes were recorded.',
    ),
    raw_payload_b64: nullable.describe(
      'The payload as received, base64-encoded; null in `view=summary`, after its retention period, and if its consumer was erased.',
    ),
    decoded_summary: Summary.nullable().describe('Null until the event is processed.'),
    consumer_id: nullable.describe(
      'The consumer that the `customer` of the `decoded_summary` is linked to now; null if there is none.',
    ),
    vendor: z.string(),
    connection_id: z.string(),
    vendor_event_id: z
      .string()
      .describe(
        'The vendor’s event id, or the SHA-256 of the payload if the vendor sends none. For a fetch, the same as `id`.',
      ),
    occurred_at: nullable.describe('The vendor’s timestamp, in the vendor’s precision.'),
    livemode: z.boolean().describe("The connection's mode. The event's own is in `decoded_summary`."),
    deliveries: count.describe(
      'How many times the vendor delivered it. 0: no delivery arrived, so the service read it from the vendor’s list of events.',
    ),
    differing_deliveries: count.describe(
      'How many later deliveries had other content than the first one. The first one is stored and processed.',
    ),
    last_differing_at: timestamp.nullable().describe('When the last of them arrived; null if there was none.'),
    next_attempt_at: timestamp.nullable().describe('Null while the event is held.'),
  }),
  {
    id: SAMPLE.event,
    source: 'delivery',
    event_type: 'customer.subscription.updated',
    status: 'processed',
    processing_attempts: 1,
    received_at: SAMPLE.time,
    processed_at: SAMPLE.later,
    last_error: null,
    last_error_code: null,
    raw_payload_b64: 'eyJpZCI6ImV2dF8xUVo0a05KMmVadktZbG8yIn0=',
    decoded_summary: exampleOf(Summary),
    consumer_id: SAMPLE.consumer,
    vendor: 'stripe',
    connection_id: SAMPLE.connection,
    vendor_event_id: SAMPLE.vendorEvent,
    occurred_at: '2026-11-21T08:46:58Z',
    livemode: true,
    deliveries: 1,
    differing_deliveries: 0,
    last_differing_at: null,
    next_attempt_at: null,
  },
)

/** What a list of events says of those that it leaves out. */
export const Beyond = z
  .object({
    archived_before: timestamp
      .nullable()
      .describe(
        'Events from before this time that were processed or ignored may be archived: the list leaves them out, and they can still be read by their ids. Null if no event of the project is archived.',
      ),
  })
  .meta({ examples: [{ archived_before: null }] })

export const Attempt = named(
  'Attempt',
  z.object({
    number: count,
    trigger: named('AttemptTrigger', z.enum(['ingest', 'retry', 'sweep', 'replay'])),
    actor: nullable.describe('The id of the user or API key that requested the replay.'),
    started_at: timestamp,
    finished_at: timestamp,
    outcome: z.string().describe('The status after the attempt, or `died` if its worker did.'),
    error: nullable,
  }),
  {
    number: 1,
    trigger: 'ingest',
    actor: null,
    started_at: SAMPLE.time,
    finished_at: SAMPLE.later,
    outcome: 'processed',
    error: null,
  },
)

/** Whether events are returned with their payloads. */
export const view = named('EventView', z.enum(['full', 'summary']))
  .default('full')
  .describe('`summary` omits the payload: `raw_payload_b64` is null.')

export function presentEvent(row: EventRow): z.infer<typeof BillingEvent> {
  return {
    id: row.id,
    source: sourceOfId(row.id),
    event_type: row.event_type,
    status: row.status,
    processing_attempts: row.attempts,
    received_at: iso(idTime(row.id)),
    processed_at: isoOrNull(row.processed_at),
    last_error: row.last_error,
    // A version from before codes clears the error alone.
    last_error_code: row.last_error === null ? null : row.last_error_code,
    raw_payload_b64: isKept(row) ? bytesOf(row).toBase64() : null,
    decoded_summary: row.summary,
    consumer_id: row.consumer_id,
    vendor: row.vendor,
    connection_id: row.connection_id,
    vendor_event_id: row.vendor_event_id,
    occurred_at: row.occurred_at,
    livemode: row.livemode,
    deliveries: row.deliveries,
    differing_deliveries: row.differing,
    last_differing_at: isoOrNull(row.last_differing_at),
    next_attempt_at: isoOrNull(row.next_attempt_at),
  }
}

export function presentAttempt(row: AttemptRow): z.infer<typeof Attempt> {
  return {
    number: row.number,
    trigger: row.trigger,
    actor: row.actor,
    started_at: iso(row.started_at),
    finished_at: iso(row.finished_at),
    outcome: row.outcome,
    error: row.error,
  }
}
