import * as z from 'zod'
import { Effect } from '../../billing/effect'
import { count, timestamp } from '../../http/fields'
import { idTime } from '../../lib/ids'
import { iso, isoOrNull } from '../../lib/time'
import { STATUSES } from '../lifecycle'
import { base64 } from '../payload'
import type { DecodedSummary } from '../process/decide'
import type { AttemptRow, EventRow } from './store'

const nullable = z.string().nullable()
const Summary = z
  .object({
    vendor: z.string(),
    object: z.object({ type: nullable, id: nullable, status: nullable }),
    customer: nullable,
    subscription: nullable,
    invoice: nullable,
    amount: z.object({ value: z.int().describe('Minor units.'), currency: z.string() }).nullable(),
    occurred_at: nullable,
    livemode: z.boolean().nullable(),
    api_version: nullable,
    refs: z.array(z.string()).describe('The event’s object, then what it refers to directly.'),
    effects: z.array(Effect).describe('What it did to the billing state.'),
  })
  .meta({ id: 'DecodedSummary' })

export const BillingEvent = z
  .object({
    id: z.string(),
    event_type: z.string().describe('The vendor’s own name.'),
    status: z.enum(STATUSES),
    processing_attempts: count,
    received_at: timestamp,
    processed_at: timestamp.nullable().describe('The first completion.'),
    last_error: nullable.describe('Set exactly when the last attempt did not succeed.'),
    raw_payload_b64: nullable.describe(
      'The bytes as they came, base64; null in `view=summary` and past their retention.',
    ),
    decoded_summary: Summary.nullable().describe('Null until it is processed.'),
    vendor: z.string(),
    connection_id: z.string(),
    vendor_event_id: z.string().describe('The vendor’s id, or the SHA-256 of the bytes where it has none.'),
    occurred_at: nullable.describe('The vendor’s time, in the vendor’s own precision.'),
    livemode: z.boolean().describe("The connection's; the event's is in `decoded_summary`."),
    deliveries: count.describe('How often the vendor has sent it.'),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: 'BillingWebhookEvent' })

export const Attempt = z
  .object({
    number: count,
    trigger: z.enum(['ingest', 'retry', 'sweep', 'replay']),
    actor: nullable.describe('Who asked for the replay: the id of a user or a key.'),
    started_at: timestamp,
    finished_at: timestamp,
    outcome: z.string().describe('The status it ended in, or `died`.'),
    error: nullable,
  })
  .meta({ id: 'Attempt' })

/** Whether events are shown with their payloads. */
export const view = z
  .enum(['full', 'summary'])
  .default('full')
  .describe('`summary` leaves the payload out (`raw_payload_b64: null`).')

export function presentEvent(row: EventRow, withBody: boolean) {
  return {
    id: row.id,
    event_type: row.event_type,
    status: row.status,
    processing_attempts: row.attempts,
    received_at: iso(idTime(row.id)),
    processed_at: isoOrNull(row.processed_at),
    last_error: row.last_error,
    raw_payload_b64: withBody && row.body !== null ? base64(row.body) : null,
    decoded_summary: row.summary === null ? null : (JSON.parse(row.summary) as DecodedSummary),
    vendor: row.vendor,
    connection_id: row.connection_id,
    vendor_event_id: row.vendor_event_id,
    occurred_at: row.occurred_at,
    livemode: row.livemode === 1,
    deliveries: row.deliveries,
    next_attempt_at: isoOrNull(row.next_attempt_at),
  }
}

export function presentAttempt(row: AttemptRow) {
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
