import * as z from 'zod'
import { named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { dormantScopes } from '../lib/access'
import { ADMINISTRATIVE_NAMES } from '../lib/access-words'
import { NEW_SECRET_WAITS } from '../lib/rotation'
import { DAY, iso, isoOrNull } from '../lib/time'
import { Holder, holderOf } from '../tenancy/holder'
import { lowestRole, type Roles } from '../tenancy/people'
import { RateLimit } from './bounds'
import { type KeyRow, usersOf } from './key'
import { ScopeName } from './mint'
import { pendingOf, previousOf } from './secrets'

/** An API key, as the API shows it. */
export const ApiKey = named(
  'ApiKey',
  z.object({
    id: z.string(),
    name: z.string(),
    key_prefix: z.string().describe('`svc_v1_`, the first four characters of the body, `…`, the last four.'),
    created_at: timestamp,
    last_used_at: timestamp.nullable().describe('Updated at most once a minute. Null if the key was never used.'),
    last_used: z
      .object({
        at: timestamp,
        address: z.object({
          hash: z.string().describe('A keyed hash: the same address always has the same one in this deployment.'),
          country: z.string().nullable(),
        }),
        user_agent: z.string().nullable().describe('Its family, such as `curl`.'),
        operation: z.string().describe('The `operationId` of the call.'),
      })
      .nullable()
      .describe('The use that `last_used_at` is about. Null if the key was never used, or not since this is recorded.'),
    scopes: z.array(ScopeName).describe('The permissions of the key in its project.'),
    expires_at: timestamp.nullable(),
    created_by: z
      .object({
        user_id: z.string(),
        email: z.string().nullable(),
        is_member: z.boolean().nullable().describe('Null from `GET /self`, and while it cannot be determined.'),
      })
      .describe(
        'The user who minted the key. If they leave the project, the key keeps working and `is_member` is false.',
      ),
    secret_issued_to: Holder.describe(
      'Who received the current secret: the user or API key that minted or last rotated the key.',
    ),
    dormant_scopes: z
      .array(ScopeName)
      .nullable()
      .describe(
        `The administrative scopes of the key (${ADMINISTRATIVE_NAMES}) that do not count now, because the user who minted it, or the one who was handed its secret, no longer has the role for them. Null from \`GET /self\`, and while it cannot be determined.`,
      ),
    allowed_networks: z
      .array(z.string())
      .nullable()
      .describe('The only blocks of addresses that the key may be used from. Null: it may be used from anywhere.'),
    rate_limit: RateLimit.nullable().describe('The limit of this key alone. Null: it has none of its own.'),
    pending: z
      .object({
        key_prefix: z.string(),
        created_at: timestamp,
        expires_at: timestamp.describe(
          `${NEW_SECRET_WAITS / DAY} days later. If the secret is not used by then, it ends.`,
        ),
        issued_to: Holder.describe('Who began the rotation and received the secret.'),
      })
      .nullable()
      .describe(
        'The secret that a rotation with `when: first_use` returned, until its first use, which makes it the current secret.',
      ),
    previous: z
      .object({
        key_prefix: z.string(),
        valid_until: timestamp,
        last_used_at: timestamp.nullable().describe('Null if it was never used.'),
      })
      .nullable()
      .describe('The secret before the current one, as long as it still works: see `grace_s` of a rotation.'),
  }),
  {
    id: SAMPLE.key,
    name: 'billing worker',
    key_prefix: 'svc_v1_9f3a…c41d',
    created_at: SAMPLE.time,
    last_used_at: null,
    last_used: null,
    scopes: ['billing:read'],
    expires_at: SAMPLE.end,
    created_by: { user_id: SAMPLE.user, email: SAMPLE.email, is_member: true },
    secret_issued_to: { type: 'user', id: SAMPLE.user },
    dormant_scopes: [],
    allowed_networks: ['192.0.2.0/24', '2001:db8::/48'],
    rate_limit: { per_minute: 60 },
    pending: null,
    previous: null,
  },
)
/**
 * The key without its secret. The fields of the specification come first.
 *
 * @param people the members of its project; null if they are not known
 * @param now the time (ms)
 */
export function presentKey(row: KeyRow, people: Roles | null, now: number): z.infer<typeof ApiKey> {
  const minter = people?.get(row.created_by)
  const pending = pendingOf(row, now)
  const previous = previousOf(row, now)
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.key_prefix,
    created_at: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    last_used: lastUsed(row),
    scopes: row.scopes,
    expires_at: isoOrNull(row.expires_at),
    created_by: {
      user_id: row.created_by,
      email: row.minter_email ?? minter?.email ?? null,
      is_member: people === null ? null : people.has(row.created_by),
    },
    secret_issued_to: holderOf(row.issued_to),
    dormant_scopes: people === null ? null : dormantScopes(row.scopes, lowestRole(usersOf(row), people)),
    allowed_networks: row.allowed_networks,
    rate_limit: row.rate_limit === null ? null : { per_minute: row.rate_limit },
    pending: pending && {
      key_prefix: pending.key_prefix,
      created_at: iso(pending.created_at),
      expires_at: iso(pending.expires_at),
      issued_to: holderOf(pending.issued_to),
    },
    previous: previous && {
      key_prefix: previous.key_prefix,
      valid_until: iso(previous.valid_until),
      last_used_at: isoOrNull(previous.last_used_at),
    },
  }
}

function lastUsed({ last_used_at: at, last_use: last }: KeyRow): z.infer<typeof ApiKey>['last_used'] {
  if (at === null || last === null) return null
  const { address: hash, country, user_agent, operation } = last
  return { at: iso(at), address: { hash, country }, user_agent, operation }
}
