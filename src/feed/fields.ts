import * as z from 'zod'
import type { StoredCause } from '../changes/schema'
import { exampleOf, named, timestamp, wholeNumber } from '../http/fields'
import { SAMPLE } from '../http/samples'
import type { Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { Holder, holderOf } from '../tenancy/holder'
import { withoutGuest } from '../vendors/guest'
import { DEFAULT_PAGE, MAX_NAMED_TYPE_LENGTH, MAX_NAMED_TYPES, MAX_PAGE, POLL_AFTER_S } from './limits'
import type { AskedChanges, ChangesRead, FeedPosition, NumberedChange } from './read'
import { CHANGE_OBJECTS, CHANGE_TYPES, type ChangeType, typesNamed } from './types'

const id = z.string().nullable()

const Cause = named(
  'ChangeCause',
  z.object({ type: named('ChangeCauseType', z.enum(['webhook_event', 'fetch', 'audit_entry'])), id: z.string() }),
)

const FeatureChange = named(
  'FeatureChange',
  z.object({
    key: z.string(),
    before: z.unknown().describe('The value that the consumer had; null if it did not have the feature.'),
    after: z.unknown().describe('The value that the consumer has now; null if it does not have the feature.'),
    reason: z.string().describe('Why the value is what it is now: the `reason` of a check.'),
  }),
)

const EntitlementCause = named(
  'EntitlementCause',
  z.object({
    type: z
      .string()
      .describe(
        'The type of a change. Or `time`: something has begun or ended. Or `gap`: changes that were deleted before they were processed.',
      ),
    change: id.describe('The id of the change.'),
    cause: Cause.nullable().describe('What made that change; null if it is not reported.'),
  }),
)

export const ChangeSchema = named(
  'Change',
  z.object({
    id: z.string().describe('Pass it as `after` to continue after this change.'),
    number: z
      .int()
      .describe(
        'Its place among the changes of the project. Numbers are consecutive, but you see gaps if you filter by type or your key lacks a scope.',
      ),
    type: named('ChangeType', z.enum(Object.keys(CHANGE_TYPES) as [ChangeType, ...ChangeType[]])).describe(
      'New types may be added. Ignore any that you do not know.',
    ),
    at: timestamp,
    object: z.object({
      type: named('ChangeObjectType', z.enum(CHANGE_OBJECTS as [string, ...string[]])),
      id: z.string(),
      vendor: id.describe('The vendor, if the id is a vendor’s.'),
    }),
    revision: z.int().nullable().describe('The revision of the object after the change; null if the object has none.'),
    fields: z
      .array(z.string())
      .nullable()
      .describe('The names of the fields that changed; null if they are not reported.'),
    customer: id.describe("The vendor's id of the customer that the object belongs to."),
    consumer_id: id.describe('The consumer that the object belongs to, when it changed.'),
    former: z
      .object({ customer: id, consumer_id: id })
      .nullable()
      .describe('The previous owner, if the change moved the object; else null.'),
    cause: Cause.nullable().describe(
      'What made the change: a webhook event, a fetch from the vendor, or the entry of a call in the audit log. Null if it is not reported.',
    ),
    begun_by: Holder.optional().describe(
      'Only in `api_key.rotation_pending` and `api_key.rotation_completed`: who began the rotation.',
    ),
    features: z
      .array(FeatureChange)
      .optional()
      .describe('Only in `entitlements.changed`: the features whose values have changed, by their keys.'),
    causes: z
      .array(EntitlementCause)
      .optional()
      .describe(
        'Only in `entitlements.changed`: what may have caused the difference, in order: up to 20 changes, and `time`. Not every entry necessarily contributed.',
      ),
  }),
  {
    id: SAMPLE.change,
    number: 4711,
    type: 'subscription.changed',
    at: SAMPLE.time,
    object: { type: 'subscription', id: SAMPLE.subscription, vendor: 'stripe' },
    revision: 7,
    fields: ['status', 'current_period_end'],
    customer: SAMPLE.customer,
    consumer_id: SAMPLE.consumer,
    former: null,
    cause: { type: 'webhook_event', id: SAMPLE.event },
  },
)

export type Change = z.infer<typeof ChangeSchema>

export const ChangesPage = named(
  'ChangesPage',
  z.object({
    data: z.array(ChangeSchema),
    next: z.string().describe('Pass it as `after` in the next call, even if `data` is empty.'),
    has_more: z.boolean().describe('Whether there are more changes now.'),
    poll_after_s: z.int().describe('How many seconds to wait before the next call; 0 if there are more changes now.'),
  }),
  { data: [exampleOf(ChangeSchema)], next: SAMPLE.change, has_more: true, poll_after_s: 0 },
)

export const limitField = wholeNumber(z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE)).describe('Changes on a page.')

export const afterField = z
  .string()
  .min(1)
  .max(60)
  .optional()
  .describe(
    'The `id` of the last change that you have read, or `next` of the last page. `latest` returns only the position of the newest change. Without `after`, the oldest change that is kept comes first.',
  )

/** `subscription.changed,grant.*` as the types that it names. */
export const typesField = z
  .string()
  .max(MAX_NAMED_TYPES * (MAX_NAMED_TYPE_LENGTH + 1))
  .transform((text, { issues }) => {
    const words = text.split(',').map((word) => word.trim())
    const types = words.map(typesNamed)
    const unknown = words.find((_, i) => types[i]?.length === 0)
    if (words.length > MAX_NAMED_TYPES) {
      issues.push({ code: 'too_big', maximum: MAX_NAMED_TYPES, origin: 'array', input: text })
    } else if (unknown !== undefined) {
      const message = `is not a type of change: ${unknown.slice(0, MAX_NAMED_TYPE_LENGTH)}`
      issues.push({ code: 'custom', message, input: text })
    }
    return new Set<string>(types.flat()) as Set<ChangeType>
  })
  .optional()
  .describe(
    'Only these types, separated by commas. `subscription.*` stands for all types that begin with `subscription.`.',
  )

const POSITION = /^chg_([0-9a-f]{8})_(0|[1-9]\d{0,14})$/

/** The position that `after` names. @throws {Fault} `invalid_cursor` */
export function readAfter(after: string | undefined): AskedChanges['after'] {
  if (after === undefined) return null
  if (after === 'latest') return after
  const [, epoch, number] = POSITION.exec(after) ?? []
  if (epoch && number) return { epoch, number: Number(number) }
  throw new Fault('invalid_cursor', 'Pass the id of a change as after, or the next of a page, or latest.')
}

/** Whether somebody with these scopes is told of changes of a type. Nobody is told of a type that is unknown here. */
export function mayRead(scopes: readonly Scope[], type: string): boolean {
  const known = CHANGE_TYPES[type as ChangeType]
  return known !== undefined && scopes.includes(known.scope)
}

/** Whether somebody with these scopes is told of every change. */
export function mayReadAll(scopes: readonly Scope[]): boolean {
  return Object.values(CHANGE_TYPES).every(({ scope }) => scopes.includes(scope))
}

export function presentChanges({ data, next, has_more }: ChangesRead): z.infer<typeof ChangesPage> {
  return {
    data: data.map((change) => presentChange(change, next.epoch)),
    next: changeId(next),
    has_more,
    poll_after_s: has_more ? 0 : POLL_AFTER_S,
  }
}

/** A change as callers see it. */
export function presentChange(change: NumberedChange, epoch: string): Change {
  const {
    number,
    type,
    at,
    vendor = null,
    revision = null,
    fields = null,
    customer = null,
    consumer_id = null,
  } = change
  const { former, cause, begun_by, features, causes } = change
  const isOfCustomer = CHANGE_TYPES[type as ChangeType].object === 'customer'
  return {
    id: changeId({ epoch, number }),
    number,
    type: type as ChangeType,
    at: iso(at),
    object: { type: CHANGE_TYPES[type as ChangeType].object, id: change.id, vendor },
    revision,
    fields: fields && [...fields],
    customer: isOfCustomer ? customer : withoutGuest(vendor, customer),
    consumer_id,
    former: former
      ? { customer: withoutGuest(vendor, former.customer ?? null), consumer_id: former.consumer_id ?? null }
      : null,
    cause: presentCause(cause),
    ...(begun_by !== undefined && { begun_by: holderOf(begun_by) }),
    ...(features && { features: features.map((one) => ({ ...one })) }),
    ...(causes && { causes: causes.map((one) => presentReason(one, epoch)) }),
  }
}

/** What may have changed entitlements, as callers see it. */
function presentReason({ type, number, cause }: StoredCause, epoch: string): z.infer<typeof EntitlementCause> {
  return { type, change: number === undefined ? null : changeId({ epoch, number }), cause: presentCause(cause) }
}

function presentCause(cause: string | undefined): z.infer<typeof Cause> | null {
  return cause === undefined ? null : { type: causeOf(cause), id: cause }
}

/** The id of the change with this number. */
export function changeId({ epoch, number }: FeedPosition): string {
  return `chg_${epoch}_${number}`
}

/** What an id names, by its prefix. */
function causeOf(cause: string) {
  if (cause.startsWith('aud_')) return 'audit_entry'
  return cause.startsWith('ftc_') ? 'fetch' : 'webhook_event'
}
