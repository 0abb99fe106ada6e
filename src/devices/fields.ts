import * as z from 'zod'
import type { Device } from '../consumers/devices'
import { ConsumerShown, sortedMetadata } from '../consumers/fields'
import { DEVICE_STATES, PLATFORMS } from '../consumers/schema'
import { askedFeatures, EntitlementShown, SAMPLE_ENTITLEMENT } from '../entitlements/fields'
import { exampleOf, named, timestamp, visibleText } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { utf8 } from '../lib/crypto'
import { MAX_GRACE_S, NEW_SECRET_WAITS } from '../lib/rotation'
import { DAY, iso, isoOrNull } from '../lib/time'
import { MAX_DEVICE_METADATA_BYTES, MAX_DEVICE_SCOPE, MAX_DEVICE_SCOPES, MAX_DEVICE_TEXT, MAX_TOKEN } from './limits'
import { INVALID_REASONS, pendingToken, previousToken } from './verify'

export const DeviceStateName = named('DeviceState', z.enum(DEVICE_STATES))
const Platform = named('DevicePlatform', z.enum(PLATFORMS))

const TokenRotationTime = named('TokenRotationTime', z.enum(['now', 'first_use']))
const WhenFull = named('WhenFull', z.enum(['refuse', 'replace_oldest']))
const Reason = named('InvalidTokenReason', z.enum(INVALID_REASONS))

const text = visibleText(MAX_DEVICE_TEXT).nullable().optional()

const SCOPE = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,${MAX_DEVICE_SCOPE - 1}}$`)
const scope = z
  .string()
  .regex(
    SCOPE,
    `must have 1 to ${MAX_DEVICE_SCOPE} letters, digits or characters of . _ : / - and begin with a letter or a digit`,
  )
const scopes = z
  .array(scope)
  .max(MAX_DEVICE_SCOPES)
  .overwrite((words) => [...new Set(words)].sort())
const metadata = z
  .record(z.string().min(1), z.string())
  .refine((pairs) => utf8(JSON.stringify(pairs)).length <= MAX_DEVICE_METADATA_BYTES, {
    error: `must have at most ${MAX_DEVICE_METADATA_BYTES} bytes as JSON`,
    params: { code: 'out_of_range' },
  })
  .overwrite(sortedMetadata)

/** What registering and changing a device set. */
const described = {
  name: text.describe('What its owner calls it. Null removes it.'),
  model: text.describe('Null removes it.'),
  os_version: text.describe('Null removes it.'),
  app_version: text.describe('Null removes it.'),
  scopes: scopes
    .optional()
    .describe(
      'What the token may be used for, in words of your own. A verification can require some of them. Replaces the scopes that the device has.',
    ),
  metadata: metadata
    .optional()
    .describe(
      `Your own key-value pairs, at most ${MAX_DEVICE_METADATA_BYTES} bytes as JSON. Replaces the metadata that the device has.`,
    ),
  expires_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe('From when on the token is not valid: in the future, and at most ten years from now. Null: never.'),
}

export const RegisterDeviceBody = named(
  'RegisterDevice',
  z.strictObject({
    platform: Platform,
    ...described,
    new_token: z
      .boolean()
      .default(false)
      .describe('Whether a registered device gets a new token. The old token is no longer valid.'),
    when_full: WhenFull.default('refuse').describe(
      'What happens if the consumer has as many active devices as the project allows: a 409, or the device that was seen least recently is revoked.',
    ),
  }),
  { platform: 'ios', name: 'Ada’s phone', app_version: '2.4.0' },
)

export const UpdateDeviceBody = named(
  'UpdateDevice',
  z.strictObject(described).refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: 'must have at least one field to change',
    params: { code: 'required' },
  }),
  { name: 'nightly export', scopes: ['reports:read'] },
)

export const RotateDeviceBody = named(
  'RotateDevice',
  z.strictObject({
    when: TokenRotationTime.default('now').describe(
      `When the new token replaces the current one. \`now\`: immediately. \`first_use\`: when it is verified for the first time. Until then, the current token stays valid. A new token that is not verified within ${NEW_SECRET_WAITS / DAY} days ends, and the current one stays.`,
    ),
    grace_s: z
      .int()
      .min(0)
      .max(MAX_GRACE_S)
      .default(0)
      .describe(
        'How many seconds the replaced token stays valid. A device has at most one such token: when another one is replaced, the older one ends.',
      ),
  }),
  { when: 'first_use', grace_s: 3600 },
)

export const DeviceShown = named(
  'Device',
  z.object({
    id: z.string(),
    installation_id: z.string().describe("The app's own id of this installation."),
    platform: Platform,
    name: z.string().nullable(),
    model: z.string().nullable(),
    os_version: z.string().nullable(),
    app_version: z.string().nullable(),
    scopes: z.array(z.string()).describe('Your own words, in alphabetical order.'),
    metadata: z.record(z.string(), z.string()),
    token_prefix: z
      .string()
      .nullable()
      .describe(
        '`svc_dv_`, the first four characters of the current token, `…`, the last four. Null for a token that was made before prefixes were kept.',
      ),
    expires_at: timestamp.nullable(),
    pending: z
      .object({
        token_prefix: z.string(),
        created_at: timestamp,
        expires_at: timestamp.describe(`${NEW_SECRET_WAITS / DAY} days later. If it is not verified by then, it ends.`),
      })
      .nullable()
      .describe(
        'The token that a rotation with `when: first_use` returned, until it is verified for the first time, which makes it the current token.',
      ),
    previous: z
      .object({
        token_prefix: z.string().nullable(),
        valid_until: timestamp,
        last_used_at: timestamp
          .nullable()
          .describe('When it was last verified since it was replaced, to the hour. Null: not since then.'),
      })
      .nullable()
      .describe('The token before the current one, as long as it is valid: see `grace_s` of a rotation.'),
    state: DeviceStateName.describe('A device that has expired stays `active` until it is revoked.'),
    last_seen_at: timestamp.describe('When the device was last registered or verified, to the hour.'),
    created_at: timestamp,
    revoked_at: timestamp.nullable(),
  }),
  {
    id: SAMPLE.device,
    installation_id: SAMPLE.installation,
    platform: 'ios',
    name: 'Ada’s phone',
    model: null,
    os_version: null,
    app_version: '2.4.0',
    scopes: [],
    metadata: {},
    token_prefix: 'svc_dv_3f9a…5e6f',
    expires_at: null,
    pending: null,
    previous: null,
    state: 'active',
    last_seen_at: SAMPLE.later,
    created_at: SAMPLE.time,
    revoked_at: null,
  },
)

export const RegisteredDevice = named(
  'RegisteredDevice',
  z.object({
    device: DeviceShown,
    token: z
      .string()
      .nullable()
      .describe('The secret of the device, shown only this once. Null if the device keeps the token that it has.'),
  }),
  { device: exampleOf(DeviceShown), token: SAMPLE.deviceToken },
)

export const RotatedDevice = named(
  'RotatedDevice',
  z.object({
    device: DeviceShown,
    token: z.string().describe('The new token, shown only this once.'),
  }),
  { device: exampleOf(DeviceShown), token: SAMPLE.deviceToken },
)

export const VerifyBody = named(
  'VerifyDevice',
  z.strictObject({
    token: z.string().max(MAX_TOKEN).describe('What the app has sent as its token.'),
    features: askedFeatures.optional().describe('Keys of features: what may the consumer do with them?'),
    require: z
      .array(scope)
      .max(MAX_DEVICE_SCOPES)
      .overwrite((words) => [...new Set(words)])
      .optional()
      .describe('Scopes that the device must have. If one is missing, the token is not valid for this request.'),
  }),
  { token: SAMPLE.deviceToken, features: ['seats'] },
)

/** Who the consumer is, without personal data: for keys that may not read consumers. */
const VerifiedConsumer = named(
  'VerifiedConsumer',
  ConsumerShown.pick({ id: true, external_id: true, external_ids: true, state: true }),
  { id: SAMPLE.consumer, external_id: SAMPLE.externalId, external_ids: [SAMPLE.externalId], state: 'active' },
)

export const VerificationShown = named(
  'DeviceVerification',
  z.object({
    valid: z.boolean(),
    reason: Reason.nullable().describe('Why the token is not valid; null if it is.'),
    missing_scopes: z
      .array(z.string())
      .describe('With the reason `missing_scope`: those of `require` that the device does not have. Otherwise empty.'),
    device: DeviceShown.nullable().describe('Null if the token is unknown.'),
    consumer: VerifiedConsumer.nullable().describe('Whose device it is. Null if the token is unknown.'),
    features: z
      .record(z.string(), EntitlementShown)
      .nullable()
      .describe(
        'What the consumer may do, for each of the `features`. Null if the token is not valid, or none were sent.',
      ),
  }),
  {
    valid: true,
    reason: null,
    missing_scopes: [],
    device: exampleOf(DeviceShown),
    consumer: exampleOf(VerifiedConsumer),
    features: { seats: SAMPLE_ENTITLEMENT },
  },
)

/** A device as the API shows it. @param now the time (ms) */
export function presentDevice(row: Device, now: number): z.infer<typeof DeviceShown> {
  const pending = pendingToken(row, now)
  const previous = previousToken(row, now)
  return {
    id: row.id,
    installation_id: row.installation_id,
    platform: row.platform,
    name: row.name,
    model: row.model,
    os_version: row.os_version,
    app_version: row.app_version,
    scopes: row.scopes ?? [],
    metadata: row.metadata ?? {},
    token_prefix: row.token_prefix,
    expires_at: isoOrNull(row.expires_at),
    pending: pending && {
      token_prefix: pending.token_prefix,
      created_at: iso(pending.created_at),
      expires_at: iso(pending.expires_at),
    },
    previous: previous && {
      token_prefix: previous.token_prefix,
      valid_until: iso(previous.valid_until),
      last_used_at: isoOrNull(previous.last_used_at),
    },
    state: row.state,
    last_seen_at: iso(row.last_seen_at),
    created_at: iso(row.created_at),
    revoked_at: isoOrNull(row.revoked_at),
  }
}
