import type { ActivePlan } from '../../../catalog/plans'
import type { Role } from '../../../lib/access'
import { MAX_KEY } from '../../../lib/catalog-key'
import { MAX_CONSUMER_KEYS, MAX_DEVICES, MAX_GRACE_DAYS, MAX_RENEWAL_SLACK_HOURS } from '../../../tenancy/limits'
import { ProjectSettings, type Settings } from '../../../tenancy/settings'
import { choice, form, list, number, text, tick } from '../../form'
import { can, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { plural } from '../../ui/format'
import { Fact } from '../../ui/parts'
import { PURCHASES } from './purchase-rules'
import { SettingsForm } from './settings-form'
import type { TabName } from './tabs'

/** How events find the consumers of customers, and how many devices a consumer can have. */
const CONSUMERS = form(
  ProjectSettings.pick({ link_hints: true, consumer_keys: true, max_devices: true, devices_feature: true }).partial(),
  {
    link_hints: tick('Link customers from checkouts, subscriptions and transactions', {
      hint: 'A buyer can change which consumer a checkout is for, and so pay for someone else. A checkout never moves a customer that is already linked. If you turn this off, only the customer’s own metadata links it, which your server writes.',
    }),
    consumer_keys: list('Metadata keys that hold your ID', ', ', {
      required: true,
      hint: `Up to ${MAX_CONSUMER_KEYS}, separated by commas, the most important one first. Paddle calls metadata custom data. A change applies to events processed after it. To apply it to earlier events, replay them.`,
    }),
    max_devices: number('Active devices per consumer', {
      required: true,
      hint: `From 1 to ${MAX_DEVICES.toLocaleString('en')}. Lowering the limit revokes no devices, but a consumer over the limit cannot register another one.`,
    }),
    devices_feature: text('Feature that sets the device limit (optional)', {
      empty: null,
      maxlength: MAX_KEY,
      hint: 'The key of a quantity feature. Its value for a consumer is then the limit, instead of the number above. A consumer without the feature can have no devices. The number above still applies to a consumer with too many subscriptions and grants to evaluate.',
    }),
  },
)

/** What a subscription gives after its last payment was refunded or charged back. */
const REVERSED = {
  keep: 'Access follows the subscription’s status at the vendor',
  end: 'Access ends until a later invoice is paid',
}

/** How long a subscription that is past due gives access without `grace_days`. */
const NO_END = 'as long as the vendor reports it'

/** How long a subscription gives access when it is late, and whether test mode counts. */
const ENTITLEMENTS = form(
  ProjectSettings.pick({
    grace_days: true,
    renewal_slack_hours: true,
    test_mode_counts: true,
    subscription_reversed: true,
    default_plan: true,
    watch_entitlements: true,
  }).partial(),
  {
    grace_days: number('Days of access while a subscription is past due', {
      none: NO_END,
      hint: `From 0 to ${MAX_GRACE_DAYS}. If empty, access continues for as long as the vendor reports the subscription as past due.`,
    }),
    renewal_slack_hours: number('Hours of access after a period ends', {
      required: true,
      hint: `From 0 to ${MAX_RENEWAL_SLACK_HOURS}. This leaves time for the renewal event to arrive.`,
    }),
    test_mode_counts: tick('Test-mode subscriptions and purchases grant access', {
      hint: 'Use this only in a test project: anyone can pay with a test card.',
    }),
    subscription_reversed: choice(
      'When the last payment of a subscription was refunded in full or charged back',
      Object.entries(REVERSED),
      {
        required: true,
        hint: 'If the refund fails or you win the dispute, access returns.',
      },
    ),
    default_plan: choice('Default plan', [], {
      empty: null,
      none: 'none',
      hint: 'The plan of every consumer without a plan from a subscription, purchase or grant, such as a free plan.',
    }),
    watch_entitlements: tick('Publish entitlement changes to the feed', {
      hint: 'When a consumer’s entitlements change, the feed has the values before and after. This starts once every consumer has been checked.',
    }),
  },
)

const SECURITY = form(ProjectSettings.pick({ require_passkey: true }).partial(), {
  require_passkey: tick('Require a passkey for admins and owners', {
    hint: 'They must use a passkey or a recovery code in each session, or they cannot open the project. Viewers, developers and API keys are not affected.',
  }),
})

/** What happens to an exposed secret. */
const ACTIONS = { revoke: 'Revoke it', notify: 'Only notify the team' }
const EXPOSURE = form(ProjectSettings.pick({ on_exposure: true }).partial(), {
  on_exposure: choice('When an API key or a device token is reported as exposed', Object.entries(ACTIONS), {
    hint: 'Anyone who finds a secret can report it.',
  }),
})

/** The forms that change settings, by the ends of their paths, each with the part of the page that it is in. */
export const FORMS = {
  settings: { form: SECURITY, tab: 'project', role: 'owner' },
  consumers: { form: CONSUMERS, tab: 'consumers' },
  entitlements: { form: ENTITLEMENTS, tab: 'entitlements' },
  purchases: { form: PURCHASES, tab: 'purchases', setting: 'purchase_rules' },
  exposure: { form: EXPOSURE, tab: 'project' },
} as const satisfies Record<string, { form: object; tab: TabName; setting?: string; role?: Role }>

type Place = { field: string; label: string; tab: TabName; setting: string; role: Role | undefined }

/** What can be set on the page. `field`: the id of its field. `setting`: its name in the API. `role`: the only one that can set it. */
export const SETTING_PLACES = Object.values(FORMS).flatMap(({ form, tab, ...of }) =>
  form.labels.map(([field, label]): Place => {
    const setting = 'setting' in of ? of.setting : field
    return { field, label, tab, setting, role: 'role' in of ? of.role : undefined }
  }),
)

type Props = { c: Visit; settings: Settings; sent?: Sent | undefined }
type PlansProps = Props & { plans: readonly ActivePlan[] }

/** The setting that requires a passkey. Only owners change it. */
export function Security({ c, settings, sent = UNSENT }: Props) {
  const of = { ...sent, entered: sent.entered ?? SECURITY.opened(settings) }
  return (
    <>
      <h2>Sign-in</h2>
      {userOf(c).role === 'owner' ? (
        <SettingsForm c={c} to="settings" sent={of}>
          {SECURITY.field('require_passkey', of)}
        </SettingsForm>
      ) : (
        <p>{settings.require_passkey ? 'Admins and owners need a passkey.' : 'No passkey is required.'}</p>
      )}
    </>
  )
}

export function ConsumerSettings({ c, settings, sent = UNSENT }: Props) {
  const { settings: wrong, ...mistakes } = sent.mistakes
  // The call takes the settings in a field of its own, which is where a feature that is not there is refused.
  const of = {
    entered: sent.entered ?? CONSUMERS.opened(settings),
    mistakes: wrong === undefined ? mistakes : { devices_feature: wrong, ...mistakes },
  }
  return (
    <section aria-labelledby="consumers">
      <h2 id="consumers">Consumers</h2>
      {can(c, 'projects:write') ? (
        <SettingsForm c={c} to="consumers" sent={of}>
          {CONSUMERS.field('link_hints', of)}
          {CONSUMERS.field('consumer_keys', of)}
          {CONSUMERS.field('max_devices', of)}
          {CONSUMERS.field('devices_feature', of)}
        </SettingsForm>
      ) : (
        <dl class="facts">
          <Fact name="Customers are linked by">
            {settings.link_hints
              ? 'Their own metadata, checkouts, subscriptions and transactions'
              : 'Their own metadata only'}
          </Fact>
          <Fact name="Metadata keys that hold your ID">{settings.consumer_keys.join(', ')}</Fact>
          <Fact name="Active devices per consumer">
            {settings.devices_feature === null ? (
              `up to ${settings.max_devices}`
            ) : (
              <>
                set by the feature <code>{settings.devices_feature}</code>
              </>
            )}
          </Fact>
        </dl>
      )}
    </section>
  )
}

export function EntitlementSettings({ c, settings, plans, sent = UNSENT }: PlansProps) {
  const { grace_days, renewal_slack_hours, test_mode_counts, subscription_reversed, watch_entitlements } = settings
  const { settings: wrong, ...mistakes } = sent.mistakes
  const of = {
    entered: sent.entered ?? ENTITLEMENTS.opened(settings),
    mistakes: wrong === undefined ? mistakes : { default_plan: wrong, ...mistakes },
  }
  const options = plans.map(({ id, name }) => [id, name] as const)
  return (
    <section aria-labelledby="entitlements">
      <h2 id="entitlements">Entitlements</h2>
      {can(c, 'projects:write') ? (
        <SettingsForm c={c} to="entitlements" sent={of}>
          <p class="quiet">Changes apply immediately, to all consumers.</p>
          {ENTITLEMENTS.field('grace_days', of)}
          {ENTITLEMENTS.field('renewal_slack_hours', of)}
          {ENTITLEMENTS.field('test_mode_counts', of)}
          {ENTITLEMENTS.field('subscription_reversed', of)}
          {ENTITLEMENTS.field('default_plan', of, { options: [['', 'None'], ...options] })}
          {ENTITLEMENTS.field('watch_entitlements', of)}
        </SettingsForm>
      ) : (
        <dl class="facts">
          <Fact name="Access while a subscription is past due">
            {grace_days === null ? NO_END : grace_days === 0 ? 'no grace period' : plural(grace_days, 'day')}
          </Fact>
          <Fact name="Access after a period ends">{plural(renewal_slack_hours, 'hour')}</Fact>
          <Fact name="Test-mode subscriptions and purchases">
            {test_mode_counts ? 'grant access' : 'do not grant access'}
          </Fact>
          <Fact name="When the last payment was refunded or charged back">{REVERSED[subscription_reversed]}</Fact>
          <Fact name="Default plan">{plans.find(({ id }) => id === settings.default_plan)?.name ?? 'none'}</Fact>
          <Fact name="Entitlement changes">{watch_entitlements ? 'in the feed' : 'not in the feed'}</Fact>
        </dl>
      )}
    </section>
  )
}

export function ExposureSettings({ c, settings, sent = UNSENT }: Props) {
  const of = { ...sent, entered: sent.entered ?? EXPOSURE.opened(settings) }
  return (
    <section aria-labelledby="exposure">
      <h2 id="exposure">Exposed secrets</h2>
      {can(c, 'projects:write') ? (
        <SettingsForm c={c} to="exposure" sent={of}>
          {EXPOSURE.field('on_exposure', of)}
        </SettingsForm>
      ) : (
        <dl class="facts">
          <Fact name="A secret reported as exposed">
            {settings.on_exposure === 'revoke' ? 'is revoked' : 'is only reported to the team'}
          </Fact>
        </dl>
      )}
    </section>
  )
}
