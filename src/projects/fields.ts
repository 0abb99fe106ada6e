import * as z from 'zod'
import { catalogKey } from '../catalog/fields'
import { named, visibleText } from '../http/fields'
import { idPattern } from '../lib/ids'
import { MAX_DEVICES } from '../tenancy/limits'
import { DEFAULTS } from '../tenancy/settings'
import {
  MAX_CONSUMER_KEY,
  MAX_CONSUMER_KEYS,
  MAX_GRACE_DAYS,
  MAX_NAME,
  MAX_RENEWAL_SLACK_HOURS,
  MAX_TRUSTED_CONNECTIONS,
} from './limits'

const name = visibleText(MAX_NAME)
/** Stripe allows no square brackets. */
const consumerKey = z
  .string()
  .min(1)
  .max(MAX_CONSUMER_KEY)
  .regex(/^[A-Za-z0-9._:-]+$/, 'must have only letters, digits and characters of . _ : -')

export const ProjectBody = named('ProjectName', z.strictObject({ name }), { name: 'Acme' })

export const ProjectSettings = named(
  'ProjectSettings',
  z.object({
    require_passkey: z
      .boolean()
      .describe('Whether admins and owners must have used a passkey or a recovery code in their session.'),
    trusted_connections: z
      .array(z.string().regex(idPattern('sso'), 'must be the id of a single sign-on connection'))
      .max(MAX_TRUSTED_CONNECTIONS)
      .describe(
        'Single sign-on connections of other projects. Whoever signs in with one of them can act in this project too, in the role that they have here. Empty: only those of this project.',
      ),
    link_hints: z
      .boolean()
      .describe(
        'Whether a checkout, a subscription or a transaction can link a customer to a consumer. A change applies to events that are processed from then on.',
      ),
    consumer_keys: z
      .array(consumerKey)
      .min(1)
      .max(MAX_CONSUMER_KEYS)
      .refine((keys) => new Set(keys).size === keys.length, 'must not name a key twice')
      .describe(
        'The keys of metadata or custom data that hold the external id of a consumer, the most important one first. A change applies to events that are processed from then on.',
      ),
    max_devices: z
      .int()
      .min(1)
      .max(MAX_DEVICES)
      .describe(
        'How many active devices each consumer can have, unless `devices_feature` is set and can be read for the consumer.',
      ),
    devices_feature: catalogKey
      .nullable()
      .describe(
        `The key of a quantity feature that says how many active devices a consumer can have, instead of \`max_devices\`. \`"unlimited"\` and more than ${MAX_DEVICES} count as ${MAX_DEVICES}.`,
      ),
    grace_days: z
      .int()
      .min(0)
      .max(MAX_GRACE_DAYS)
      .nullable()
      .describe(
        'How many days a subscription that is past due still gives access. Null: for as long as the vendor says that it is past due.',
      ),
    renewal_slack_hours: z
      .int()
      .min(0)
      .max(MAX_RENEWAL_SLACK_HOURS)
      .describe(
        'How many hours a subscription gives access after its period, until the event about its renewal is here.',
      ),
    test_mode_counts: z.boolean().describe("Whether subscriptions in a vendor's test mode give access."),
  }),
  DEFAULTS,
)

export const ChangeProjectBody = named(
  'ChangeProject',
  z
    .strictObject({
      name: name.optional(),
      settings: named('ChangeProjectSettings', z.strictObject(ProjectSettings.shape).partial(), {
        require_passkey: true,
      }).optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one of name and settings',
      params: { code: 'required' },
    }),
  { name: 'Acme' },
)
