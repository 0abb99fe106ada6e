import * as z from 'zod'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { iso } from '../../lib/time'
import { Holder, holderOf } from '../../tenancy/holder'
import { HINT_SHOWS } from '../connections/limits'
import type { VendorKeyRow } from './keys'
import { MAX_API_KEY_LENGTH } from './limits'
import { VENDOR_KEY_STATES } from './schema'

/** A key of a vendor's API, as somebody enters it. @param most characters */
export const enteredKey = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\x21-\x7e]+$/, 'must have no space, line break or letter outside ASCII')

export const ApiKeyBody = named(
  'SetVendorApiKey',
  z.strictObject({
    api_key: enteredKey(MAX_API_KEY_LENGTH).describe(
      "A read-only key of the vendor's API, as the vendor shows it. It is never returned.",
    ),
  }),
  { api_key: 'rk_live_as_stripe_shows_it' },
)

export const ApiKeyShown = named(
  'VendorApiKey',
  z.object({
    hint: z.string().describe(`The last ${HINT_SHOWS} characters.`),
    livemode: z.boolean().describe('Whether it is a live key. The connection has the same mode.'),
    account: z
      .literal('same')
      .nullable()
      .describe(
        "`same`: the key's account has one of the newest events of the connection. Null: the connection had no recent events to compare, or the key cannot read them.",
      ),
    permissions: z
      .record(z.string(), named('VendorPermission', z.enum(['ok', 'refused'])))
      .describe('What the key may read, by the kind of object, as it was at `checked_at`.'),
    state: named('VendorApiKeyState', z.enum(VENDOR_KEY_STATES)).describe(
      '`refused`: the vendor no longer accepts the key. Set another one, or set the same one again once it works.',
    ),
    added_by: Holder,
    checked_at: timestamp.describe('When the key was last checked. It is checked each time it is set.'),
  }),
  {
    hint: '4f7Q',
    livemode: true,
    account: 'same',
    permissions: { customers: 'ok', subscriptions: 'ok', invoices: 'refused' },
    state: 'ok',
    added_by: { type: 'user', id: SAMPLE.user },
    checked_at: SAMPLE.time,
  },
)

/** A key as the API shows it: never the key itself. */
export function presentVendorKey(row: VendorKeyRow): z.infer<typeof ApiKeyShown> {
  const { hint, livemode, account, permissions, state, added_by, checked_at } = row
  return { hint, livemode, account, permissions, state, added_by: holderOf(added_by), checked_at: iso(checked_at) }
}
