import * as z from 'zod'
import { featureValue } from '../catalog/fields'
import { consumerName } from '../consumers/customer-fields'
import { EFFECTS } from '../consumers/schema'
import { catalogKey, named, timestamp, visibleText } from '../http/fields'
import { pageFields } from '../http/page'
import { SAMPLE } from '../http/samples'
import { invalidField } from '../http/validate'
import { idTime } from '../lib/ids'
import { iso, isoOrNull } from '../lib/time'
import type { Grant, NewGrant } from './grants'
import { MAX_GRANT_REASON } from './limits'

const EffectName = named('GrantEffect', z.enum(EFFECTS))
const time = z.iso.datetime({ offset: true })
const refused = (path: string, error: string) => ({ path: [path], error, params: { code: 'not_one_of' } })

export const GrantBody = named(
  'CreateGrant',
  z
    .strictObject({
      consumer: consumerName.describe('The consumer: its id, or `ext:` and its external id.'),
      feature: catalogKey.optional().describe('The key of a feature. Either this or `plan`.'),
      plan: catalogKey.optional().describe('The key of a plan, which counts as one seat. Either this or `feature`.'),
      value: featureValue.optional().describe('What the feature gets. A boolean needs none.'),
      effect: EffectName.default('allow').describe(
        '`deny` takes a feature away, even if a plan or another grant includes it. It has no value.',
      ),
      starts_at: time.optional().describe('Without it, the grant applies immediately.'),
      expires_at: time.optional().describe('From this time on, the grant no longer applies. It must be in the future.'),
      reason: visibleText(MAX_GRANT_REASON).optional().describe('For people.'),
    })
    .refine(({ feature, plan }) => (feature === undefined) !== (plan === undefined), {
      error: 'must have either feature or plan',
      params: { code: 'required' },
    })
    .refine(
      ({ effect, plan }) => effect === 'allow' || plan === undefined,
      refused('plan', 'cannot be denied; deny a feature'),
    )
    .refine(
      ({ effect, plan, value }) => value === undefined || (effect === 'allow' && plan === undefined),
      refused('value', 'can only be set for a feature that is allowed'),
    )
    .refine(
      ({ starts_at, expires_at }) =>
        starts_at === undefined || expires_at === undefined || Date.parse(starts_at) < Date.parse(expires_at),
      { path: ['expires_at'], error: 'must be after starts_at', params: { code: 'out_of_range' } },
    ),
  { consumer: `ext:${SAMPLE.externalId}`, feature: 'seats', value: 10, expires_at: SAMPLE.end, reason: 'pilot' },
)

/** What a body grants. @throws {Fault} `validation_failed` for a grant that has ended */
export function grantOf(body: z.infer<typeof GrantBody>, now: number): NewGrant {
  const { feature, plan, value, effect, starts_at, expires_at, reason = null } = body
  const ms = (at: string | undefined) => (at === undefined ? null : Date.parse(at))
  const when = { effect, starts_at: ms(starts_at), expires_at: ms(expires_at), reason }
  if (when.expires_at !== null && when.expires_at <= now) {
    throw invalidField('/expires_at', 'out_of_range', 'must be in the future')
  }
  return plan === undefined ? { ...when, feature: feature ?? '', value } : { ...when, plan }
}

export const GrantQuery = z.strictObject({
  ...pageFields,
  consumer: consumerName.optional().describe('A consumer: its id, or `ext:` and its external id.'),
})

export const GrantShown = named(
  'Grant',
  z.object({
    id: z.string(),
    consumer_id: z.string(),
    feature: z.string().nullable().describe('The key of the feature; null if a plan is granted.'),
    plan: z.string().nullable().describe('The key of the plan; null if a feature is granted or denied.'),
    effect: EffectName,
    value: z.unknown().describe('What the feature gets; null for a plan and for `deny`.'),
    starts_at: timestamp,
    expires_at: timestamp.nullable(),
    reason: z.string().nullable(),
    created_at: timestamp,
    created_by: z.string().describe('The user or the API key that made it.'),
    revoked_at: timestamp.nullable(),
    revoked_by: z.string().nullable(),
  }),
  {
    id: SAMPLE.grant,
    consumer_id: SAMPLE.consumer,
    feature: 'seats',
    plan: null,
    effect: 'allow',
    value: 10,
    starts_at: SAMPLE.time,
    expires_at: SAMPLE.end,
    reason: 'pilot',
    created_at: SAMPLE.time,
    created_by: SAMPLE.key,
    revoked_at: null,
    revoked_by: null,
  },
)

/** A grant as the API shows it. */
export function presentGrant({
  starts_at,
  expires_at,
  actor,
  revoked_at,
  revoked_by,
  reason,
  named: _,
  ...row
}: Grant): z.infer<typeof GrantShown> {
  const created = idTime(row.id)
  return {
    ...row,
    starts_at: iso(starts_at ?? created),
    expires_at: isoOrNull(expires_at),
    reason,
    created_at: iso(created),
    created_by: actor,
    revoked_at: isoOrNull(revoked_at),
    revoked_by,
  }
}
