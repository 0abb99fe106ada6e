import * as z from 'zod'
import { wholeNumber } from '../../http/fields'
import { invalidField } from '../../http/validate'
import { VENDOR_NAMES } from '../../vendors'
import { STATUSES, type Status } from '../lifecycle'

/** A parameter that may be given several times. */
function several<T extends z.ZodType<string>>(one: T) {
  return z.union([one.transform((value) => [value]), z.array(one).min(1).max(20)])
}
const when = z.iso.datetime({ offset: true })
const eventType = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !text.slice(0, -1).includes('*'), 'may contain * only as its last character')

/** What a search filters by; all of them combine. */
export const searchFields = {
  event_type: several(eventType).optional().describe('Exact, or a prefix: `customer.*`. Repeatable.'),
  status: several(z.enum(STATUSES)).optional().describe('Repeatable.'),
  vendor: z.enum(VENDOR_NAMES).optional(),
  connection_id: z.string().max(100).optional(),
  vendor_event_id: z.string().min(1).max(300).optional(),
  ref: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("A vendor's object id: the event's own or one it refers to directly."),
  received_after: when.optional().describe('Inclusive.'),
  received_before: when.optional().describe('Exclusive.'),
  min_attempts: wholeNumber(z.int().min(1).max(1000)).optional(),
  error: z.string().min(3).max(200).optional().describe('A part of `last_error`, in any case.'),
  livemode: z.union([z.enum(['true', 'false']).transform((text) => text === 'true'), z.boolean()]).optional(),
  order: z.enum(['desc', 'asc']).default('desc').describe('By time of receipt.'),
}

export const SearchQuery = z.strictObject(searchFields)
export type SearchFields = z.infer<typeof SearchQuery>

/** The filters in the terms that the statements use. */
export type Filters = {
  types: string[] | null
  statuses: Status[] | null
  vendor: string | null
  connection_id: string | null
  vendor_event_id: string | null
  ref: string | null
  /** Milliseconds; inclusive and exclusive. */
  after: number | null
  before: number | null
  min_attempts: number
  error: string | null
  livemode: boolean | null
  order: 'asc' | 'desc'
}

/** @throws {Fault} `validation_failed` where the range is empty */
export function toFilters(fields: SearchFields): Filters {
  const after = fields.received_after === undefined ? null : Date.parse(fields.received_after)
  const before = fields.received_before === undefined ? null : Date.parse(fields.received_before)
  if (after !== null && before !== null && after >= before) {
    throw invalidField('/received_before', 'out_of_range', 'must be later than received_after')
  }
  return {
    types: fields.event_type?.includes('*') ? null : (fields.event_type ?? null), // `*` alone is every type
    statuses: (fields.status as Status[] | undefined) ?? null,
    vendor: fields.vendor ?? null,
    connection_id: fields.connection_id ?? null,
    vendor_event_id: fields.vendor_event_id ?? null,
    ref: fields.ref ?? null,
    after,
    before,
    min_attempts: fields.min_attempts ?? 0,
    error: fields.error ?? null,
    livemode: fields.livemode ?? null,
    order: fields.order,
  }
}
