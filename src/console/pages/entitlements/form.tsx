import type { Feature } from '../../../catalog/features'
import type { NamedPlan } from '../../../catalog/plans'
import type { Consumer } from '../../../consumers/read'
import { GrantBody } from '../../../entitlements/grant-fields'
import { MAX_GRANT_REASON } from '../../../entitlements/limits'
import { invalidField } from '../../../http/validate'
import { DAY, iso } from '../../../lib/time'
import { choice, form, own, text } from '../../form'
import type { Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { placeOfConsumer, titleOf } from '../consumers/parts'
import { valueIn } from '../plans/values'

/** What a grant can do, as the form names it. */
const DOES = [
  ['feature', 'Grant a feature'],
  ['plan', 'Grant a plan'],
  ['deny', 'Deny a feature'],
] as const

/** When a grant ends: after so many days, or at a time that has a field of its own. */
const LASTS = [
  ['', 'Never'],
  ['7', '7 days after its start'],
  ['30', '30 days after its start'],
  ['90', '90 days after its start'],
  ['365', '1 year after its start'],
  ['date', 'At a time'],
] as const

const isPlan = (sent: URLSearchParams) => sent.get('does') === 'plan'
const isDenied = (sent: URLSearchParams) => sent.get('does') === 'deny'

const chosen: Parameters<typeof own>[0] = (text, _, name) => {
  if (text === '') throw invalidField(`/${name}`, 'required', 'must be selected')
  return text
}
const time = (text: string) => (text === '' ? undefined : utc(text))

/** Fields that the choice does not use are left out. The value of a feature is read by its type: see {@link givenValue}. */
export const GRANT = form(GrantBody, {
  does: { ...choice('What to do', DOES), read: () => undefined },
  feature: { ...choice('Feature', [], { when: (sent) => !isPlan(sent) }), read: chosen },
  effect: own(() => 'deny', isDenied),
  value: {
    ...text('Value', {
      hint: (
        <>
          <span class="of-quantity">A number, or “unlimited”.</span>
          <span class="of-config">JSON.</span>
        </>
      ),
    }),
    read: () => undefined,
  },
  plan: { ...choice('Plan', [], { hint: 'Per-seat features are granted for one seat.', when: isPlan }), read: chosen },
  lasts: { ...choice('Ends', LASTS), read: () => undefined },
  starts_at: {
    ...text('Starts (UTC, optional)', { type: 'datetime-local', hint: 'Leave it empty to start immediately.' }),
    read: time,
  },
  expires_at: {
    ...text('Ends at (UTC)', { type: 'datetime-local', when: (sent) => sent.get('lasts') === 'date' }),
    read: utc,
  },
  reason: text('Reason (optional)', {
    maxlength: 2 * MAX_GRANT_REASON,
    hint: 'For your team. It is deleted when the consumer is erased.',
  }),
})

/** The value that a form gives of a feature. @throws {Fault} `validation_failed` for a config that is not JSON */
export function givenValue(sent: URLSearchParams, catalog: readonly Feature[]): { value?: unknown } {
  const type = catalog.find(({ key }) => key === sent.get('feature')?.trim())?.type ?? 'boolean'
  const value = (sent.get('value') ?? '').trim()
  if (isPlan(sent) || isDenied(sent) || type === 'boolean' || value === '') return {}
  return { value: valueIn(type, value, '/value') }
}

/** When a grant ends that lasts for some days. */
export function lastingEnd(sent: URLSearchParams, now: number): { expires_at?: string } {
  const [days] = LASTS.find(([value]) => Number(value) > 0 && value === sent.get('lasts')) ?? []
  if (days === undefined) return {}
  const starts = Date.parse(utc(sent.get('starts_at') ?? ''))
  return { expires_at: iso((Number.isNaN(starts) ? now : starts) + Number(days) * DAY) }
}

/** The time of a browser's field, which has no zone, in UTC. */
export function utc(text: string): string {
  if (text.endsWith('Z')) return text
  return `${text.length === 16 ? `${text}:00` : text}Z`
}

type Form = { consumer: Consumer; catalog: readonly Feature[]; plans: readonly NamedPlan[] }

/** The form of a grant. The style sheet shows only the fields that the choice uses. */
export function grantPage(c: Visit, { consumer, catalog, plans }: Form, sent: Sent) {
  const { mistakes, status } = sent
  const { path, view } = placeOfConsumer(c, consumer)
  const optionOf = ({ key, name }: { key: string; name: string }) => [key, `${name} (${key})`] as const
  return show(
    c,
    { ...view, title: 'Grant or deny', status },
    <>
      <Head title={`Grant or deny access for ${titleOf(consumer)}`} />
      <p class="quiet">
        A grant adds access on top of what the consumer pays for. A denied feature is off, even if a plan or a grant
        includes it.
      </p>
      <Post c={c} to={`${path}/grants`} class="form once grant">
        <Wrong>{mistakes.form}</Wrong>
        {GRANT.field('does', sent)}
        <div class="of-feature">
          {GRANT.field('feature', sent, {
            options: [['', 'Choose a feature'], ...catalog.map((one) => [...optionOf(one), one.type] as const)],
          })}
          <div class="of-value">{GRANT.field('value', sent)}</div>
        </div>
        <div class="of-plan">
          {GRANT.field('plan', sent, { options: [['', 'Choose a plan'], ...plans.map(optionOf)] })}
        </div>
        {GRANT.field('starts_at', sent)}
        {GRANT.field('lasts', sent)}
        <div class="of-end">{GRANT.field('expires_at', sent)}</div>
        {GRANT.field('reason', sent)}
        <SubmitOrCancel label="Create grant" back={path} />
      </Post>
    </>,
  )
}
