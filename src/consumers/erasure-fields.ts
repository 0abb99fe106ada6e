import * as z from 'zod'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import type { Erasure } from './erase'

/** What an erasure leaves, and why. */
export const KEPT = [
  {
    what: 'Subscriptions, invoices and payment methods of the customers at your vendors: amounts, dates, statuses and the vendors’ IDs. Of a card: brand, last four digits, expiry and country.',
    why: 'You must keep accounts: GDPR Art. 17(3)(b).',
  },
  {
    what: 'The records of billing events, without their payloads: IDs, types, times, amounts and results.',
    why: 'They show where the state of a kept object comes from. They are deleted when the retention period of records ends.',
  },
  {
    what: 'The vendors’ IDs of the customers.',
    why: 'Without them, later events of the customers could not be recognized and emptied.',
  },
  {
    what: 'Grants, without their reasons: features, plans, values and times.',
    why: 'They show what was given, and when.',
  },
  {
    what: 'Entries of the audit log, which name the consumer by its ID (csm_…).',
    why: 'They show who changed what, and when.',
  },
] as const

export const ErasureShown = named(
  'Erasure',
  z.object({
    id: z.string(),
    consumer_id: z
      .string()
      .describe(
        'The consumer that was erased. Another one, if the consumer that you asked for had been merged into it.',
      ),
    state: named('ErasureState', z.enum(['running', 'done'])).describe(
      '`running`: the fields of the consumer are gone, and what vendors have sent about its customers is being deleted.',
    ),
    requested_at: timestamp,
    finished_at: timestamp.nullable(),
    payloads_removed: z
      .int()
      .describe('How many payloads of events have been deleted so far. Payloads of later events are deleted daily.'),
    kept: z.array(z.object({ what: z.string(), why: z.string() })).describe('What stays, and why.'),
  }),
  {
    id: SAMPLE.erasure,
    consumer_id: SAMPLE.consumer,
    state: 'done',
    requested_at: SAMPLE.time,
    finished_at: SAMPLE.later,
    payloads_removed: 12,
    kept: [...KEPT],
  },
)

/** An erasure as the API shows it. */
export function presentErasure({ removed, requested_at, finished_at, ...ids }: Erasure): z.infer<typeof ErasureShown> {
  return {
    ...ids,
    state: finished_at === null ? ('running' as const) : ('done' as const),
    requested_at: iso(requested_at),
    finished_at: finished_at === null ? null : iso(finished_at),
    payloads_removed: removed,
    kept: [...KEPT],
  }
}

export function notErased(): Fault {
  return new Fault('not_found', 'This consumer was not erased.')
}
