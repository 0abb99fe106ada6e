import * as z from 'zod'
import { named, visibleText } from '../http/fields'
import { MAX_CONSUMER_KEY, MAX_CONSUMER_KEYS, MAX_DEVICES, MAX_NAME } from './limits'

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
    max_devices: z.int().min(1).max(MAX_DEVICES).describe('How many active devices each consumer can have.'),
  }),
  { require_passkey: false, link_hints: true, consumer_keys: ['consumer_external_id'], max_devices: 100 },
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
