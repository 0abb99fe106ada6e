import * as z from 'zod'
import { linkFields } from '../billing/customers/customer'
import { count, named, timestamp, visibleText } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { iso } from '../lib/time'
import { consumerName } from './customer-fields'
import {
  MAX_BLOCK_REASON,
  MAX_CONSUMER_EMAIL,
  MAX_CONSUMER_NAME,
  MAX_CUSTOMERS,
  MAX_EXTERNAL_ID,
  MAX_METADATA,
  MAX_METADATA_KEY,
  MAX_METADATA_VALUE,
} from './limits'
import type { Consumer } from './read'
import { EXTERNAL_ID, EXTERNAL_ID_RULE } from './ref'
import { CONSUMER_STATES, type ConsumerMetadata } from './schema'

export const ConsumerStateName = named('ConsumerState', z.enum(CONSUMER_STATES))

const metadata = z
  .record(z.string().min(1).max(MAX_METADATA_KEY), z.string().max(MAX_METADATA_VALUE))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA, {
    error: `must have at most ${MAX_METADATA} entries`,
    params: { code: 'out_of_range' },
  })
  .overwrite(sortedMetadata)

/** An email address, in a body or as a filter, in lower case. */
export const email = z.email().max(MAX_CONSUMER_EMAIL).toLowerCase()

/** What a body sets, as it is stored. */
const fields = {
  email: email
    .nullable()
    .exactOptional()
    .describe('Kept in lower case. Null removes it. Several consumers can have the same.'),
  name: visibleText(MAX_CONSUMER_NAME).nullable().exactOptional().describe('Null removes it.'),
  metadata: metadata
    .exactOptional()
    .describe(
      `Your own key-value pairs: at most ${MAX_METADATA} entries, with keys of up to ${MAX_METADATA_KEY} characters. Replaces all metadata that the consumer has.`,
    ),
}
const external_id = z
  .string()
  .min(1)
  .max(MAX_EXTERNAL_ID)
  .regex(EXTERNAL_ID, EXTERNAL_ID_RULE)
  .describe('Your own id of the consumer.')

export const PutBody = named('PutConsumer', z.strictObject(fields), {
  email: SAMPLE.email,
  name: 'Ada Lovelace',
  metadata: { team: 'engines' },
})
export const CreateConsumerBody = named(
  'CreateConsumer',
  z.strictObject({ ...fields, external_id: external_id.exactOptional() }),
  {
    external_id: SAMPLE.externalId,
    email: SAMPLE.email,
  },
)
export const UpdateConsumerBody = named(
  'UpdateConsumer',
  z
    .strictObject({
      ...fields,
      external_id: external_id
        .exactOptional()
        .describe('Another id of your own. The consumer keeps the ids that it has.'),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one field to change',
      params: { code: 'required' },
    }),
  { name: 'Ada King' },
)
export const BlockBody = named(
  'BlockConsumer',
  z.strictObject({
    reason: visibleText(MAX_BLOCK_REASON)
      .optional()
      .describe('Kept with the consumer while it is blocked, and in the audit log.'),
  }),
  { reason: 'chargeback' },
)
export const UnblockBody = named(
  'UnblockConsumer',
  z.strictObject({ reason: visibleText(MAX_BLOCK_REASON).optional().describe('Kept in the audit log.') }),
  { reason: 'paid' },
)
export const MergeBody = named(
  'MergeConsumer',
  z.strictObject({
    into: consumerName.describe('The consumer that stays: its id, or `ext:` and its external id.'),
  }),
  { into: SAMPLE.survivor },
)

export const ConsumerShown = named(
  'Consumer',
  z.object({
    id: z.string(),
    external_id: z.string().nullable().describe('The first of `external_ids`; null if there is none.'),
    external_ids: z.array(z.string()).describe('Your own ids of the consumer.'),
    email: z.string().nullable().describe('In lower case.'),
    name: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    state: ConsumerStateName,
    blocked_reason: z.string().nullable(),
    merged_into: z.string().nullable().describe('The consumer that this one was merged into.'),
    customers: z
      .array(z.object({ vendor: z.string(), id: z.string(), linked_by: linkFields.linked_by }))
      .optional()
      .describe(
        `Only in the response of a read of one consumer: its customers at your vendors, up to ${MAX_CUSTOMERS}. \`GET /billing/customers?consumer=\` lists all.`,
      ),
    devices: z
      .object({ active: count, limit: count })
      .optional()
      .describe(
        'Only in the response of a read of one consumer: how many active devices it has, and how many the project allows.',
      ),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  {
    id: SAMPLE.consumer,
    external_id: SAMPLE.externalId,
    external_ids: [SAMPLE.externalId],
    email: SAMPLE.email,
    name: 'Ada Lovelace',
    metadata: { team: 'engines' },
    state: 'active',
    blocked_reason: null,
    merged_into: null,
    created_at: SAMPLE.time,
    updated_at: SAMPLE.later,
  },
)

/** A consumer as the API shows it. */
export function presentConsumer({
  external_ids,
  revision: _,
  created_at,
  updated_at,
  ...row
}: Consumer): z.infer<typeof ConsumerShown> {
  const { id, ...rest } = row
  return {
    id,
    external_id: external_ids[0] ?? null,
    external_ids,
    ...rest,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  }
}

/** Metadata with its keys in order, so that equal metadata is stored as the same text. */
export function sortedMetadata(metadata: ConsumerMetadata): ConsumerMetadata {
  return Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)))
}
