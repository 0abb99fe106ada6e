import * as z from 'zod'
import { DELIVERY_STATES, type KeptAttempt } from '../followers/schema'
import { exampleOf, named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { idTime } from '../lib/ids'
import { iso, isoOrNull } from '../lib/time'
import { isTaken } from './attempt'
import type { DeliveryRow, ResendRow, RunRow } from './deliveries'
import { typeList } from './fields'

const number = z.int().nullable().describe('The number of the change; null for a test and `feed.gap`.')

const Attempt = named(
  'WebhookAttempt',
  z.object({
    webhook_id: z
      .string()
      .describe(
        'The header `webhook-id`: the id of the change, or of the test or gap. It is the same in each attempt.',
      ),
    number,
    type: z.string(),
    at: timestamp,
    ms: z.int().describe('How long it took, including the beginning of the response body.'),
    try: z.int().describe('The number of the attempt: 1 is the first one.'),
    outcome: named('WebhookOutcome', z.enum(['taken', 'failed'])),
    http_status: z.int().nullable().describe('The status of the response; null if there was none.'),
    error: z
      .string()
      .nullable()
      .describe(
        'Why there was no response: `time`, `unreachable`, or a rule that the address breaks. `slow`: it took longer than a second, and is made again with more time. `payload_gone`: nothing was sent, because the payload of the event is no longer kept.',
      ),
    answer: z.string().describe('The beginning of the response body: 1 KB of a failure, 128 bytes of a success.'),
  }),
  {
    webhook_id: SAMPLE.change,
    number: 4711,
    type: 'subscription.changed',
    at: SAMPLE.time,
    ms: 87,
    try: 1,
    outcome: 'failed',
    http_status: 500,
    error: null,
    answer: 'Internal Server Error',
  },
)

export const AttemptRun = named(
  'WebhookRun',
  z.object({
    id: z.string(),
    at: timestamp,
    attempts: z.array(Attempt).describe('The attempts of this run, in order.'),
  }),
  { id: SAMPLE.run, at: SAMPLE.time, attempts: [exampleOf(Attempt)] },
)

export const Delivery = named(
  'WebhookDelivery',
  z.object({
    number: z.int().describe('The number of the change.'),
    type: z.string(),
    state: named('WebhookDeliveryState', z.enum(DELIVERY_STATES)).describe(
      '`pending`: it will be sent again. `failed`: all attempts have failed.',
    ),
    tries: z.int().describe('How many attempts have failed.'),
    due_at: timestamp.nullable().describe('When it will be sent again; null if it will not.'),
    attempted_at: timestamp.nullable(),
    http_status: z.int().nullable().describe('The status of the last response; null if there was none.'),
    error: z.string().nullable().describe('Why there was no response.'),
  }),
  {
    number: 4711,
    type: 'subscription.changed',
    state: 'pending',
    tries: 1,
    due_at: SAMPLE.later,
    attempted_at: SAMPLE.time,
    http_status: 500,
    error: null,
  },
)

export const ResendBody = named(
  'ResendChanges',
  z.strictObject({
    after: z.int().min(0).describe('The number of the change before the first one.'),
    until: z.int().min(1).describe('The number of the last one.'),
    types: typeList.optional().describe('Only these of the endpoint’s types.'),
    failed_only: z
      .boolean()
      .default(false)
      .describe('Only changes whose attempts have all failed: those that are `failed` in the list of deliveries.'),
  }),
  { after: 4700, until: 4711 },
)

export const Resend = named(
  'WebhookResend',
  z.object({
    id: z.string(),
    after: z.int().describe('The number of the change before the first one.'),
    until: z.int().describe('The number of the last one.'),
    types: z.array(z.string()).nullable(),
    failed_only: z.boolean(),
    reached: z.int().describe('The number of the last change that was handled.'),
    created_at: timestamp,
    finished_at: timestamp.nullable().describe('When every change had been sent, or was waiting for a retry.'),
  }),
  {
    id: SAMPLE.resend,
    after: 4700,
    until: 4711,
    types: null,
    failed_only: false,
    reached: 4700,
    created_at: SAMPLE.time,
    finished_at: null,
  },
)

export function presentAttempt({ n, e, type, at, ms, try: tries, s, x, a }: KeptAttempt): z.infer<typeof Attempt> {
  return {
    webhook_id: e,
    number: n === 0 ? null : n,
    type,
    at: iso(at),
    ms,
    try: tries,
    outcome: isTaken(s) ? 'taken' : 'failed',
    http_status: s,
    error: x,
    answer: a,
  }
}

export function presentRun({ id, log }: RunRow): z.infer<typeof AttemptRun> {
  return { id, at: iso(idTime(id)), attempts: log.map(presentAttempt) }
}

export function presentDelivery(row: DeliveryRow): z.infer<typeof Delivery> {
  const { seq, type, state, tries, due_at, attempted_at, status, error } = row
  return {
    number: seq,
    type,
    state,
    tries,
    due_at: isoOrNull(due_at),
    attempted_at: isoOrNull(attempted_at),
    http_status: status,
    error,
  }
}

export function presentResend({
  id,
  after,
  until,
  position,
  types,
  failed_only,
  ...row
}: ResendRow): z.infer<typeof Resend> {
  return {
    ...{ id, after, until, types, failed_only, reached: position },
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
  }
}
