import * as z from 'zod'
import { type ConsumerRef, refToRead } from '../../consumers/ref'
import { flagField, several, wholeNumber } from '../../http/fields'
import { type Order, OrderName } from '../../http/page'
import { invalidField } from '../../http/validate'
import { VendorField } from '../../vendors/field'
import { EventErrorCode, EventSource, EventStatus } from '../events/present'
import type { ShownStatus } from '../lifecycle'
import type { Source } from '../sources'
import {
  ERROR_LENGTH,
  MAX_CONNECTION_ID_LENGTH,
  MAX_EVENT_ID_LENGTH,
  MAX_IDS,
  MAX_MIN_ATTEMPTS,
  MAX_REPLAY_ID_LENGTH,
  MAX_TYPE_LENGTH,
  MAX_VALUES,
  MAX_VENDOR_ID_LENGTH,
} from './limits'

const when = z.iso.datetime({ offset: true })
const vendorId = z.string().min(1).max(MAX_VENDOR_ID_LENGTH)
/** A vendor's type of event, or how several begin: `customer.*`. */
export const eventType = z
  .string()
  .min(1)
  .max(MAX_TYPE_LENGTH)
  .refine((text) => !text.slice(0, -1).includes('*'), 'may contain * only as its last character')

/** The filters of a search. An event must match all of them. */
export const searchFields = {
  id: several(z.string().min(1).max(MAX_EVENT_ID_LENGTH), MAX_IDS)
    .optional()
    .describe(`These events only. Repeatable, up to ${MAX_IDS} times.`),
  event_type: several(eventType, MAX_VALUES)
    .optional()
    .describe(
      'An exact type, or a prefix such as `customer.*`, which also finds thin events such as `v1.customer.updated`. Repeatable.',
    ),
  status: several(EventStatus, MAX_VALUES).optional().describe('Repeatable.'),
  vendor: VendorField.optional(),
  connection_id: z.string().max(MAX_CONNECTION_ID_LENGTH).optional(),
  vendor_event_id: vendorId.optional().describe("The vendor's event id."),
  ref: vendorId
    .optional()
    .describe("A vendor's object id: the event's own object, or an object that the event refers to directly."),
  received_after: when.optional().describe('Inclusive.'),
  received_before: when.optional().describe('Exclusive.'),
  min_attempts: wholeNumber(z.int().min(1).max(MAX_MIN_ATTEMPTS)).optional(),
  error: z
    .string()
    .min(ERROR_LENGTH.min)
    .max(ERROR_LENGTH.max)
    .optional()
    .describe('Text contained in `last_error`. ASCII letters match in either case.'),
  error_code: EventErrorCode.optional().describe('The `last_error_code`.'),
  replay_id: z
    .string()
    .min(1)
    .max(MAX_REPLAY_ID_LENGTH)
    .optional()
    .describe('Events whose latest replay is this one. No index covers this filter: combine it with `status`.'),
  livemode: flagField.optional(),
  source: EventSource.optional().describe(
    '`delivery`: what vendors delivered, which is the default. `fetch`: objects that were fetched from the vendor’s API.',
  ),
  order: OrderName.default('desc').describe('By time of receipt.'),
}

export const SearchQuery = z.strictObject(searchFields)
/** `consumer` is not among {@link searchFields}: a replay stores those, and would still name a consumer after its erasure. */
export type SearchFields = z.infer<typeof SearchQuery> & { consumer?: string | undefined }

/** The filters as the statements use them; null if nothing was asked. */
export type Filters = {
  ids: string[] | null
  /** Exact types, and prefixes that end in `*`. */
  types: string[] | null
  statuses: ShownStatus[] | null
  vendor: string | null
  connection_id: string | null
  livemode: boolean | null
  vendor_event_id: string | null
  ref: string | null
  /** Milliseconds, inclusive. */
  after: number | null
  /** Milliseconds, exclusive. */
  before: number | null
  min_attempts: number | null
  error: string | null
  error_code: z.infer<typeof EventErrorCode> | null
  replay_id: string | null
  consumer: ConsumerRef | null
  source: Source
  order: Order
}

/** @throws {Fault} `validation_failed` if the time range is empty */
export function toFilters(fields: SearchFields): Filters {
  const after = fields.received_after === undefined ? null : Date.parse(fields.received_after)
  const before = fields.received_before === undefined ? null : Date.parse(fields.received_before)
  if (after !== null && before !== null && after >= before) {
    throw invalidField('/received_before', 'out_of_range', 'must be later than received_after')
  }
  return {
    ids: fields.id ?? null,
    types: fields.event_type?.includes('*') ? null : (fields.event_type?.flatMap(withThin) ?? null), // a lone `*` is every type
    statuses: (fields.status as ShownStatus[] | undefined) ?? null,
    vendor: fields.vendor ?? null,
    connection_id: fields.connection_id ?? null,
    livemode: fields.livemode ?? null,
    vendor_event_id: fields.vendor_event_id ?? null,
    ref: fields.ref ?? null,
    after,
    before,
    min_attempts: fields.min_attempts ?? null,
    error: fields.error ?? null,
    error_code: fields.error_code ?? null,
    replay_id: fields.replay_id ?? null,
    consumer: fields.consumer === undefined ? null : refToRead(fields.consumer),
    source: fields.source ?? 'delivery',
    order: fields.order,
  }
}

/** A prefix such as `customer.*` also finds the thin events about the same objects, whose names begin with the version of the API. */
export function withThin(type: string): string[] {
  return type.endsWith('.*') && !/^v\d/.test(type) ? [type, `v1.${type}`] : [type]
}

/** What the database says of the filters, as far as the choice of an index depends on it. */
export type SearchFacts = {
  /** The project's connections that match, deleted ones too; null if connections need not be known. */
  connections: string[] | null
  /** Whether these have few events in all. */
  fewOfConnections: boolean
  /** Whether the project has few open events of the kind that the statuses ask for. */
  fewOpen: boolean
  /** The ids of the consumer's customers; null if no consumer is asked for, or if refs do not lead to all of their events. */
  customers: string[] | null
  /** The types that match, with prefixes spelled out; null if every type does, or too many. */
  types: string[] | null
}
