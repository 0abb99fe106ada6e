import type { Context } from 'hono'
import * as z from 'zod'
import type { HttpEnv } from '../../http/context'
import { named, timestamp } from '../../http/fields'
import { publicUrl } from '../../http/origin'
import { SAMPLE } from '../../http/samples'
import { idTime } from '../../lib/ids'
import { iso, isoOrNull } from '../../lib/time'
import { Holder, holderOf } from '../../tenancy/holder'
import type { VendorName } from '../../vendors'
import { VendorField } from '../../vendors/field'
import { VerificationShown } from '../../vendors/verification-fields'
import type { ConnectionRow } from './connection'
import { ConnectionStatus, customer_is_external_id, livemode } from './fields'
import { HINT_SHOWS, MAX_SECRETS } from './limits'

const Secret = z.object({
  id: z.string(),
  hint: z.string().describe(`At most the last ${HINT_SHOWS} characters.`),
  created_at: timestamp,
  added_by: Holder.nullable().describe('Who added it. Null for a secret that was added before this was recorded.'),
  last_used_at: timestamp.nullable().describe('When it last verified a delivery. Written at most once a minute.'),
})

export const ConnectionShown = named(
  'Connection',
  z.object({
    id: z.string(),
    vendor: VendorField,
    name: z.string(),
    livemode,
    customer_is_external_id,
    status: ConnectionStatus.describe(
      '`paused`: deliveries are recorded, and their events are held. `disabled`: deliveries are refused.',
    ),
    paused_at: timestamp.nullable().describe('When the connection was paused. Null if it is not paused.'),
    releasing: z.boolean().describe('Whether a connection that was paused still has held events to release.'),
    ingest_url: z
      .string()
      .meta({ format: 'uri-reference' })
      .describe('The address to give the vendor. Only its path if the deployment has no `PUBLIC_ORIGIN`.'),
    secrets: z
      .array(Secret)
      .describe(`The live signing secrets, at most ${MAX_SECRETS}. A delivery may be signed with any of them.`),
    verification: VerificationShown.nullable().describe(
      'How deliveries are verified and read, on a connection of the vendor `hmac`. Null until it is set, and for other vendors.',
    ),
    last_received_at: timestamp.nullable(),
    created_at: timestamp,
  }),
  {
    id: SAMPLE.connection,
    vendor: 'stripe',
    name: 'Stripe',
    livemode: true,
    customer_is_external_id: false,
    status: 'active',
    paused_at: null,
    releasing: false,
    ingest_url: `https://api.example.com/ingest/${SAMPLE.connection}`,
    secrets: [
      {
        id: SAMPLE.secret,
        hint: '…Xy7Q',
        created_at: SAMPLE.time,
        added_by: { type: 'user', id: SAMPLE.user },
        last_used_at: SAMPLE.time,
      },
    ],
    verification: null,
    last_received_at: SAMPLE.time,
    created_at: SAMPLE.time,
  },
)

/** Whether events that a connection held are still to be released. */
export function isReleasing({ status, held_as }: Pick<ConnectionRow, 'status' | 'held_as'>): boolean {
  return held_as !== null && status !== 'paused'
}

/** The address to give the vendor. */
export function ingestUrl(c: Context<HttpEnv>, connectionId: string): string {
  return publicUrl(c, `/ingest/${connectionId}`)
}

/** A connection as the API shows it: only the hints of its secrets. */
export function presentConnection(c: Context<HttpEnv>, row: ConnectionRow): z.infer<typeof ConnectionShown> {
  return {
    id: row.id,
    vendor: row.vendor as VendorName,
    name: row.name,
    livemode: row.livemode,
    customer_is_external_id: row.customer_is_external_id,
    status: row.status,
    paused_at: isoOrNull(row.paused_at),
    releasing: isReleasing(row),
    ingest_url: ingestUrl(c, row.id),
    secrets: row.secrets.map(({ id, hint, created_at, added_by }) => ({
      id,
      hint,
      created_at: iso(created_at),
      added_by: added_by === undefined ? null : holderOf(added_by),
      last_used_at: row.secrets_used[id] === undefined ? null : iso(row.secrets_used[id]),
    })),
    verification: row.verification,
    last_received_at: row.last_event_id === null ? null : iso(idTime(row.last_event_id)),
    created_at: iso(row.created_at),
  }
}
