import type { Context } from 'hono'
import type { Feature } from '../../../catalog/features'
import type { Plan } from '../../../catalog/plans'
import type { Consumer } from '../../../consumers/read'
import { MAX_GRANT_REASON } from '../../../entitlements/limits'
import type { HttpEnv } from '../../../http/context'
import { invalidField } from '../../../http/validate'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Field, Post, Select, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { titleOf } from '../consumers/words'
import { valueIn } from '../plans/values'

/** What a form about a grant was filled in with. */
export type Entered = Record<'does' | 'feature' | 'value' | 'plan' | 'starts_at' | 'expires_at' | 'reason', string>

/** What a grant can do, as the form names it. */
const DOES = [
  ['feature', 'Give a feature'],
  ['plan', 'Give a plan'],
  ['deny', 'Deny a feature'],
] as const

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    does: text('does'),
    feature: text('feature'),
    value: text('value'),
    plan: text('plan'),
    starts_at: text('starts_at'),
    expires_at: text('expires_at'),
    reason: text('reason'),
  }
}

/**
 * What a form grants, as the API takes it. Fields that the choice does not use are left out.
 *
 * @throws {Fault} `validation_failed` if nothing is chosen, or for a config that is not JSON
 */
export function bodyIn(entered: Entered, consumer: string, catalog: readonly Feature[]) {
  const { does, feature, value, plan, starts_at, expires_at, reason } = entered
  const type = catalog.find(({ key }) => key === feature)?.type ?? 'boolean'
  if (does === 'plan' && plan === '') throw invalidField('/plan', 'required', 'must be chosen')
  if (does !== 'plan' && feature === '') throw invalidField('/feature', 'required', 'must be chosen')
  const isValued = does !== 'deny' && type !== 'boolean' && value !== ''
  return {
    consumer,
    ...(does === 'plan' ? { plan } : { feature }),
    ...(does === 'deny' && { effect: 'deny' }),
    ...(does !== 'plan' && isValued && { value: valueIn(type, value, '/value') }),
    ...(starts_at !== '' && { starts_at: utc(starts_at) }),
    ...(expires_at !== '' && { expires_at: utc(expires_at) }),
    ...(reason !== '' && { reason }),
  }
}

/** The time of a browser's field, which has no zone, in UTC. */
export function utc(text: string): string {
  if (text.endsWith('Z')) return text
  return `${text.length === 16 ? `${text}:00` : text}Z`
}

type Form = { catalog: readonly Feature[]; plans: readonly Plan[]; entered: Entered }

/** The form of a grant. The style sheet shows only the fields that the choice uses. */
export function grantPage(
  c: Context<HttpEnv>,
  consumer: Consumer,
  { catalog, plans, entered }: Form,
  { mistakes, status } = UNSENT,
) {
  const path = `${pathsOf(c).consumers}/${consumer.id}`
  const features = catalog.map(({ key, name }) => [key, `${name} (${key})`] as const)
  return show(
    c,
    { title: 'Grant or deny', section: 'consumers', above: [titleOf(consumer), path], status },
    <>
      <Head title={`Grant or deny something to ${titleOf(consumer)}`} />
      <p class="quiet">
        A grant counts in addition to what the consumer pays for. A denied feature is off, whatever else gives it.
      </p>
      <Post c={c} to={`${path}/grants`} class="form once grant">
        <Wrong>{mistakes.form}</Wrong>
        <Field name="does" label="What to do" mistakes={mistakes}>
          <Select name="does" value={entered.does} options={DOES} />
        </Field>
        <div class="of-feature">
          <Field name="feature" label="Feature" mistakes={mistakes}>
            <Select name="feature" value={entered.feature} options={[['', 'Choose a feature'], ...features]} />
          </Field>
          <div class="of-value">
            <Field
              name="value"
              label="Value"
              value={entered.value}
              hint="A number or “unlimited” for a quantity, JSON for a config. A feature that is on or off needs none."
              mistakes={mistakes}
            />
          </div>
        </div>
        <div class="of-plan">
          <Field name="plan" label="Plan" hint="It counts as one seat." mistakes={mistakes}>
            <Select
              name="plan"
              value={entered.plan}
              options={[['', 'Choose a plan'], ...plans.map(({ key, name }) => [key, `${name} (${key})`] as const)]}
            />
          </Field>
        </div>
        <div class="pair">
          <Field
            name="starts_at"
            label="From (UTC, optional)"
            type="datetime-local"
            value={entered.starts_at}
            hint="Without it, the grant counts at once."
            mistakes={mistakes}
          />
          <Field
            name="expires_at"
            label="Until (UTC, optional)"
            type="datetime-local"
            value={entered.expires_at}
            hint="Without it, the grant has no end."
            mistakes={mistakes}
          />
        </div>
        <Field
          name="reason"
          label="Reason (optional)"
          value={entered.reason}
          maxlength={2 * MAX_GRANT_REASON}
          hint="For your team. It is deleted when the consumer is erased."
          mistakes={mistakes}
        />
        <SubmitOrCancel label="Save" back={path} />
      </Post>
    </>,
  )
}
