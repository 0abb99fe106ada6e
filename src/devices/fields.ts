import * as z from 'zod'
import type { Device } from '../consumers/devices'
import { ConsumerShown } from '../consumers/fields'
import { DEVICE_STATES, PLATFORMS } from '../consumers/schema'
import { askedFeatures, EntitlementShown, SAMPLE_ENTITLEMENT } from '../entitlements/fields'
import { exampleOf, named, timestamp, visibleText } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { iso, isoOrNull } from '../lib/time'
import { MAX_DEVICE_TEXT, MAX_TOKEN } from './limits'
import { INVALID_REASONS } from './verify'

export const DeviceStateName = named('DeviceState', z.enum(DEVICE_STATES))
const Platform = named('DevicePlatform', z.enum(PLATFORMS))

const WhenFull = named('WhenFull', z.enum(['refuse', 'replace_oldest']))
const Reason = named('InvalidTokenReason', z.enum(INVALID_REASONS))

const text = visibleText(MAX_DEVICE_TEXT).nullable().optional()

export const RegisterDeviceBody = named(
  'RegisterDevice',
  z.strictObject({
    platform: Platform,
    name: text.describe('What its owner calls it. Null removes it.'),
    model: text.describe('Null removes it.'),
    os_version: text.describe('Null removes it.'),
    app_version: text.describe('Null removes it.'),
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
    state: DeviceStateName,
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

export const VerifyBody = named(
  'VerifyDevice',
  z.strictObject({
    token: z.string().max(MAX_TOKEN).describe('What the app has sent as its token.'),
    features: askedFeatures.optional().describe('Keys of features: what may the consumer do with them?'),
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
    device: exampleOf(DeviceShown),
    consumer: exampleOf(VerifiedConsumer),
    features: { seats: SAMPLE_ENTITLEMENT },
  },
)

/** A device as the API shows it. */
export function presentDevice({ last_seen_at, created_at, revoked_at, ...row }: Device): z.infer<typeof DeviceShown> {
  return {
    ...row,
    last_seen_at: iso(last_seen_at),
    created_at: iso(created_at),
    revoked_at: isoOrNull(revoked_at),
  }
}
