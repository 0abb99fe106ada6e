import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MAX_GRACE_DAYS, MAX_RENEWAL_SLACK_HOURS } from '../../../tenancy/limits'
import type { Settings } from '../../../tenancy/settings'
import { can, pathsOf } from '../../page'
import type { Mistakes } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { plural } from '../../ui/format'
import { Fact } from '../../ui/parts'

/** What the form of the settings of entitlements was filled in with. `grace_days`: empty for no end. */
export type Entered = { grace_days: string; renewal_slack_hours: string; test_mode_counts: boolean }

/** The form as it is opened. */
export function enteredFrom({ grace_days, renewal_slack_hours, test_mode_counts }: Settings): Entered {
  return { grace_days: String(grace_days ?? ''), renewal_slack_hours: String(renewal_slack_hours), test_mode_counts }
}

export function enteredIn(form: URLSearchParams): Entered {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    grace_days: text('grace_days'),
    renewal_slack_hours: text('renewal_slack_hours'),
    test_mode_counts: form.get('test_mode_counts') === 'true',
  }
}

/** What a form sets, as the API takes it. */
export function settingsIn({ grace_days, renewal_slack_hours, test_mode_counts }: Entered) {
  return {
    grace_days: grace_days === '' ? null : Number(grace_days),
    renewal_slack_hours: Number(renewal_slack_hours || Number.NaN),
    test_mode_counts,
  }
}

type Props = { c: Context<HttpEnv>; entered: Entered; mistakes: Mistakes }

/** How long a subscription gives access when it is late, and whether test mode counts. */
export function EntitlementSettings({ c, entered, mistakes }: Props) {
  return (
    <section id="rules" aria-labelledby="rules-title">
      <h2 id="rules-title">Entitlements</h2>
      {can(c, 'projects:write') ? <Form c={c} entered={entered} mistakes={mistakes} /> : <Shown of={entered} />}
    </section>
  )
}

function Form({ c, entered: { grace_days, renewal_slack_hours, test_mode_counts }, mistakes }: Props) {
  return (
    <Post c={c} to={`${pathsOf(c).general}/entitlements`} class="form">
      <p class="quiet">A change counts at once, for all consumers.</p>
      <Wrong>{mistakes.form}</Wrong>
      <Field
        name="grace_days"
        label="Days of access while a subscription is past due"
        type="number"
        value={grace_days}
        hint={`From 0 to ${MAX_GRACE_DAYS}. If the field is empty, there is access for as long as the vendor says that the subscription is past due.`}
        mistakes={mistakes}
      />
      <Field
        name="renewal_slack_hours"
        label="Hours of access after a period"
        type="number"
        value={renewal_slack_hours}
        required
        hint={`From 0 to ${MAX_RENEWAL_SLACK_HOURS}. The event about the renewal can arrive after the period has ended.`}
        mistakes={mistakes}
      />
      <div class="field">
        <div class="checks one">
          <label>
            <input
              type="checkbox"
              name="test_mode_counts"
              value="true"
              checked={test_mode_counts}
              autocomplete="off"
              aria-describedby="test-mode-hint"
            />{' '}
            Subscriptions in test mode give access
          </label>
        </div>
        <p class="hint" id="test-mode-hint">
          For projects in which you try things out. Anybody can subscribe with a test card.
        </p>
      </div>
      <button type="submit">Save</button>
    </Post>
  )
}

function Shown({ of: { grace_days, renewal_slack_hours, test_mode_counts } }: { of: Entered }) {
  return (
    <dl class="facts">
      <Fact name="Access while a subscription is past due">
        {grace_days === '' ? 'as long as the vendor says so' : plural(Number(grace_days), 'day')}
      </Fact>
      <Fact name="Access after a period">{plural(Number(renewal_slack_hours), 'hour')}</Fact>
      <Fact name="Subscriptions in test mode">{test_mode_counts ? 'give access' : 'give no access'}</Fact>
    </dl>
  )
}
