import * as z from 'zod'
import { invalidField } from '../http/validate'
import { idRange } from '../lib/ids'

/** Entries that one page of a filtered audit log looks at before it ends, full or not. */
export const MAX_ENTRIES_LOOKED_AT = 5000

/** Characters of an id, or of an action, to filter by. */
export const MAX_FILTER_LENGTH = 100

const word = z.string().min(1).max(MAX_FILTER_LENGTH)

const when = z.iso.datetime({ offset: true })

/** The filters of the audit log. An entry must match all of them. */
export const auditFilters = {
  actor_id: word.optional().describe('The user or API key that made the change.'),
  action: word
    .refine((text) => !text.slice(0, -1).includes('*'), 'may contain * only as its last character')
    .optional()
    .describe('An exact action, or a prefix such as `api_key.*`.'),
  object_type: word.optional().describe('For example `api_key` or `connection`.'),
  object_id: word
    .optional()
    .describe(
      'What was changed. Of a consumer, also the merges of other consumers into it, and the entries that name it: of its grants, its devices and the customers pinned to it.',
    ),
  created_after: when.optional().describe('Inclusive.'),
  created_before: when.optional().describe('Exclusive.'),
}

export const AuditFilters = z.strictObject(auditFilters)

export type AuditFilters = z.infer<typeof AuditFilters>

/** The time range as a range of ids, exclusive at both ends: ids begin with the time. @throws {Fault} `validation_failed` */
export function auditRange({ created_after, created_before }: AuditFilters): { above: string; below: string } {
  const after = created_after === undefined ? null : Date.parse(created_after)
  const before = created_before === undefined ? null : Date.parse(created_before)
  if (after !== null && before !== null && after >= before) {
    throw invalidField('/created_before', 'out_of_range', 'must be later than created_after')
  }
  return idRange('aud', after, before)
}
