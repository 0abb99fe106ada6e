import * as z from 'zod'
import { catalogKey, named } from '../http/fields'
import { idPattern } from '../lib/ids'
import { ITEM_KEYS } from '../vendors/purchase-parts'
import {
  MAX_CONSUMER_KEY,
  MAX_CONSUMER_KEYS,
  MAX_DEVICES,
  MAX_GRACE_DAYS,
  MAX_RENEWAL_SLACK_HOURS,
  MAX_TRUSTED_CONNECTIONS,
} from './limits'
import { purchaseRules, RULES_UNSET } from './purchase-rules'

type Setting<S extends z.ZodType> = {
  /** Its values, and what it means. */
  schema: S
  /** The value of a project that never set it. */
  default: z.output<S>
}

type OwnersSetting<S extends z.ZodType> = Setting<S> & {
  /** Whether a change to a value requires a confirmed session. */
  confirmed: (value: z.output<S>) => boolean
  /** Whether a change to a value requires the second factor of the session. */
  proved: (value: z.output<S>) => boolean
}

/** A setting that everyone with `projects:write` changes. The project's store decides, because it is read there. */
function inStore<S extends z.ZodType>(setting: Setting<S>) {
  return { ...setting, decides: 'store' as const, sold: false as const }
}

/** As {@link inStore}, of a setting that belongs to what the project sells, so that the document with the whole catalog has it too. */
function inCatalog<S extends z.ZodType>(setting: Setting<S>) {
  return { ...setting, decides: 'store' as const, sold: true as const }
}

/** A setting that only the session of an owner changes. The directory decides, because sessions are read there. */
function inDirectory<S extends z.ZodType>(setting: OwnersSetting<S>) {
  return { ...setting, decides: 'directory' as const, sold: false as const }
}

/** Stripe allows no square brackets. */
const consumerKey = z
  .string()
  .min(1)
  .max(MAX_CONSUMER_KEY)
  .regex(/^[A-Za-z0-9._:-]+$/, 'must have only letters, digits and characters of . _ : -')

/**
 * What can be set for a project. All that is known of a setting is said here: the API, the audit log and the rules of its
 * change are made from it.
 */
export const SETTINGS = {
  require_passkey: inDirectory({
    schema: z
      .boolean()
      .describe('Whether admins and owners must have used a passkey or a recovery code in their session.'),
    default: false,
    // Whoever requires a passkey must have used theirs: so nobody locks themselves out.
    proved: (required) => required,
    confirmed: (required) => !required,
  }),
  trusted_connections: inDirectory({
    schema: z
      .array(z.string().regex(idPattern('sso'), 'must be the id of a single sign-on connection'))
      .max(MAX_TRUSTED_CONNECTIONS)
      .describe(
        'Single sign-on connections of other projects. Whoever signs in with one of them can act in this project too, in the role that they have here. Empty: only those of this project.',
      ),
    default: [],
    proved: () => false,
    confirmed: () => true,
  }),
  link_hints: inStore({
    schema: z
      .boolean()
      .describe(
        'Whether a checkout, a subscription or a transaction can link a customer to a consumer. A change applies to events that are processed from then on.',
      ),
    default: true,
  }),
  consumer_keys: inStore({
    schema: z
      .array(consumerKey)
      .min(1)
      .max(MAX_CONSUMER_KEYS)
      .refine((keys) => new Set(keys).size === keys.length, 'must not name a key twice')
      .describe(
        'The keys of metadata or custom data that hold the external id of a consumer, the most important one first. A change applies to events that are processed from then on.',
      ),
    default: ['consumer_external_id'],
  }),
  max_devices: inCatalog({
    schema: z
      .int()
      .min(1)
      .max(MAX_DEVICES)
      .describe(
        'How many active devices each consumer can have, unless `devices_feature` is set and can be read for the consumer.',
      ),
    default: 100,
  }),
  devices_feature: inCatalog({
    schema: catalogKey
      .nullable()
      .describe(
        `The key of a quantity feature that says how many active devices a consumer can have, instead of \`max_devices\`. \`"unlimited"\` and more than ${MAX_DEVICES} count as ${MAX_DEVICES}.`,
      ),
    default: null,
  }),
  grace_days: inCatalog({
    schema: z
      .int()
      .min(0)
      .max(MAX_GRACE_DAYS)
      .nullable()
      .describe(
        'How many days a subscription that is past due still gives access. Null: for as long as the vendor says that it is past due.',
      ),
    default: 7,
  }),
  renewal_slack_hours: inCatalog({
    schema: z
      .int()
      .min(0)
      .max(MAX_RENEWAL_SLACK_HOURS)
      .describe(
        'How many hours a subscription gives access after its period, until the event about its renewal is here.',
      ),
    default: 48,
  }),
  test_mode_counts: inStore({
    schema: z.boolean().describe("Whether subscriptions and purchases in a vendor's test mode give access."),
    default: false,
  }),
  purchase_item_keys: inCatalog({
    schema: z
      .array(consumerKey)
      .min(1)
      .max(2)
      .refine((keys) => new Set(keys).size === keys.length, 'must not name a key twice')
      .refine((keys) => !keys.includes('quantity'), 'must not be quantity, which is the key of the quantity')
      .describe(
        'The metadata keys that say what was bought: first the key of the price, then the key of the product. They are used only if the event has no items. A change applies to events that are processed from then on.',
      ),
    default: [...ITEM_KEYS],
  }),
  purchase_rules: inCatalog({
    schema: purchaseRules.describe('What a one-time purchase gives after a refund or a dispute.'),
    default: RULES_UNSET,
  }),
  subscription_reversed: inCatalog({
    schema: named('SubscriptionReversed', z.enum(['keep', 'end'])).describe(
      'What a subscription gives after its last payment was refunded in full, or charged back. `keep`: what its status says, because vendors usually cancel it themselves. `end`: nothing, until a later invoice is paid, the refund fails or the dispute is won.',
    ),
    default: 'keep',
  }),
  default_plan: inCatalog({
    schema: z
      .string()
      .regex(idPattern('pln'), 'must be the id of a plan')
      .nullable()
      .describe(
        'The id of the active plan that consumers have while no subscription, purchase or grant gives them a plan. Null: none.',
      ),
    default: null,
  }),
  watch_entitlements: inStore({
    schema: z
      .boolean()
      .describe(
        'Whether the feed of changes tells what each consumer is allowed, whenever that changes: `entitlements.changed`. It begins to tell when `entitlements.watching` is in the feed.',
      ),
    default: false,
  }),
  on_exposure: inStore({
    schema: named('OnExposure', z.enum(['revoke', 'notify'])).describe(
      'What happens to an API key, or the token of a device, that is reported as exposed. `revoke`: it is revoked. `notify`: your team only gets a notice. An API key cannot change this setting.',
    ),
    default: 'revoke',
  }),
}

type Declared = typeof SETTINGS
type Name = keyof Declared
type DecidedBy<D> = { [N in Name]: Declared[N]['decides'] extends D ? N : never }[Name]

export type Settings = { [N in Name]: z.output<Declared[N]['schema']> }
/** The settings that say how events link a vendor's customers to consumers. */
export type LinkSettings = Pick<Settings, 'link_hints' | 'consumer_keys'>
/** The settings that decide how events are read. */
export type ReadingSettings = LinkSettings & Pick<Settings, 'purchase_item_keys'>
/** The settings to change; the others stay. */
export type SettingsChange = { [N in Name]?: Settings[N] | undefined }
export type DirectoryChange = Pick<SettingsChange, DecidedBy<'directory'>>
export type StoreChange = Pick<SettingsChange, DecidedBy<'store'>>

/** The settings that belong to what a project sells. */
export type CatalogSettings = Pick<Settings, { [N in Name]: Declared[N]['sold'] extends true ? N : never }[Name]>

export const DEFAULTS: Settings = all('default')
/** The settings that decide what consumers may do. */
export const ENTITLEMENT_SETTINGS = [
  'grace_days',
  'renewal_slack_hours',
  'test_mode_counts',
  'purchase_rules',
  'subscription_reversed',
  'default_plan',
] as const satisfies readonly Name[]
export const ProjectSettings = named('ProjectSettings', z.object(all('schema')), DEFAULTS)

/** The names of {@link CatalogSettings}. */
export const CATALOG_SETTINGS = (Object.keys(SETTINGS) as Name[]).filter(
  (name): name is keyof CatalogSettings => SETTINGS[name].sold,
)

/** One of the facts about every setting. */
function all<F extends 'schema' | 'default'>(fact: F) {
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, setting[fact]])) as {
    [N in Name]: Declared[N][F]
  }
}

/** The settings of a project, with the defaults of those that were never set. */
export function settingsOf(stored: Partial<Settings> | null): Settings {
  return { ...DEFAULTS, ...stored }
}

/** Only the settings that belong to what a project sells. */
export function ofCatalog(settings: Settings): CatalogSettings {
  return Object.fromEntries(CATALOG_SETTINGS.map((name) => [name, settings[name]])) as CatalogSettings
}

/** Only the settings that the store decides. */
export function ofStore(change: SettingsChange): StoreChange {
  return decidedBy('store', change)
}

/** Only the settings that the directory decides. */
export function ofDirectory(change: SettingsChange): DirectoryChange {
  return decidedBy('directory', change)
}

function decidedBy(database: 'store' | 'directory', change: SettingsChange): SettingsChange {
  const of = ([name, value]: [string, unknown]) => value !== undefined && SETTINGS[name as Name]?.decides === database
  return Object.fromEntries(Object.entries(change).filter(of))
}

/** Whether a change requires a confirmed session, or the second factor of the session. */
export function requires(rule: 'confirmed' | 'proved', change: DirectoryChange): boolean {
  return Object.entries(change).some(([name, value]) => SETTINGS[name as keyof DirectoryChange][rule](value as never))
}
