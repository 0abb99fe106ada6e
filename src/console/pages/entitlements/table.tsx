import type { PlanName } from '../../../catalog/plans'
import type { Reason } from '../../../entitlements/resolve'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { exact, plural, timeOf } from '../../ui/format'
import { Id, NamedId } from '../../ui/id'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { In } from '../features/list'
import { addPath } from '../plans/unmapped'
import { shownValue } from '../plans/values'
import { type Entitled, type Entitlements, priceKey, SHOWN_SOURCES, type Source } from './read'

/** Why a feature is allowed, or why it is not, in words. */
const WHY: Record<Reason, string> = {
  plan: 'Included in a subscription or a purchase',
  default: 'Included in the default plan',
  grant: 'Included in a grant',
  not_included: 'None of the consumer’s plans includes it',
  no_subscription: 'No subscription or purchase grants access',
  past_due: 'The subscription is not paid',
  refunded: 'The purchase was refunded',
  disputed: 'The payment of the purchase is disputed',
  expired: 'Nothing that includes it is still active',
  denied: 'A grant denies it',
  test_mode: 'Only a test-mode subscription or purchase includes it',
  unknown_status: 'The vendor reports an unknown status',
  unknown_consumer: 'There is no such consumer',
  unknown_feature: 'There is no such feature',
  consumer_blocked: 'The consumer is blocked',
  consumer_erased: 'The consumer was erased',
  consumer_merged: 'The consumer was merged',
}

type Type = Source['type']

/** The same where all that could give the feature is of one type. */
const WHY_OF: Partial<Record<Reason, Partial<Record<Type, string>>>> = {
  refunded: { subscription: 'The last payment of the subscription was refunded' },
  disputed: { subscription: 'The dispute over the last payment of the subscription was lost' },
}

/** Why a feature is allowed or not, in words. */
function whyIn({ reason, from }: Entitled): string {
  // A denial gives nothing, nor does an item without a plan.
  const giving = from.filter(({ type, plan, value }) => type !== 'default' && (plan !== null || value !== null))
  if (reason === 'expired') {
    const [said, ...others] = new Set(giving.map(({ why_not }) => why_not))
    return said && others.length === 0 ? said.replace(/\.$/, '') : WHY.expired
  }
  const types = new Set(giving.map(({ type }) => type))
  const [type] = types
  if (type === undefined || types.size > 1) return WHY[reason]
  return WHY_OF[reason]?.[type] ?? WHY[reason]
}

type Props = { c: Visit; consumer: string; of: Entitlements; rows: readonly Entitled[] }

/** What a consumer may do, why, and until when; each feature with what could give it. */
export function EntitlementsTable({ c, consumer, of, rows }: Props) {
  const { now } = c.get('rt')
  const columns: Column<Entitled>[] = [
    [
      'Feature',
      ({ key, name }) => (
        <>
          <span class="name">{name}</span>
          <code class="line quiet">{key}</code>
        </>
      ),
    ],
    ['Access', ({ allowed }) => <Badge of={allowed ? 'allowed' : 'not allowed'} />],
    ['Value', ({ allowed, value }) => allowed && <Value of={value} />],
    [
      'Why',
      (row) => (
        <div class="text">
          <Why c={c} said={whyIn(row)} plans={row.reason === 'plan' ? givenBy(of, row.from) : []} />
          <SoldIn c={c} of={of} feature={row.key} reason={row.reason} />
          {row.from.length > 0 && <Sources c={c} consumer={consumer} of={of} row={row} />}
        </div>
      ),
    ],
    ['Until', (row) => <Time at={timeOf(endOf(row))} now={now} none="" />],
  ]
  const renews = rows.some(({ from }) =>
    from.some(({ type, counted, until }) => counted && until && type === 'subscription'),
  )
  return (
    <>
      <Table label="Entitlements" rows={rows} columns={columns} class="consumers" />
      {renews && of.slack > 0 && (
        <p class="quiet">
          Where a subscription renews, <q>Until</q> is {plural(of.slack, 'hour')} after its period ends, so that the
          renewal event can arrive.
        </p>
      )}
    </>
  )
}

/** Until when a feature keeps its value. One that is on stays on as long as one of its sources lasts. */
function endOf({ isOnOff, from, valid_until }: Entitled): string | null {
  const ends = from.filter(({ counted }) => counted).map(({ until }) => until)
  if (!isOnOff || ends.length === 0) return valid_until
  return ends.reduce((last, end) => (last === null || end === null ? null : last > end ? last : end))
}

/** The plans of some sources, whether or not they give anything. */
export function plansOf({ plans }: Entitlements, from: readonly Source[]): PlanName[] {
  const keys = new Set(from.flatMap(({ plan }) => plan ?? []))
  return [...keys].flatMap((key) => plans.get(key) ?? [])
}

/** The plans that some sources give something by. */
export function givenBy(of: Entitlements, from: readonly Source[]): PlanName[] {
  return plansOf(
    of,
    from.filter(({ counted }) => counted),
  )
}

function Why({ c, said, plans }: { c: Visit; said: string; plans: readonly PlanName[] }) {
  if (plans.length === 0) return <>{said}</>
  return (
    <>
      Included in <PlanLinks c={c} plans={plans} />
    </>
  )
}

/** Why a feature is not allowed, if the consumer has no plan that includes it. */
const WITHOUT_PLAN: readonly Reason[] = ['not_included', 'no_subscription']

type SoldInProps = { c: Visit; of: Entitlements; feature: string; reason: Reason }

/** The plans that would give a consumer a feature. Renders nothing if there are none, or if the consumer lacks it for another reason. */
export function SoldIn({ c, of, feature, reason }: SoldInProps) {
  const plans = WITHOUT_PLAN.includes(reason) ? of.includedIn(feature) : []
  if (plans.length === 0) return null
  return (
    <span class="line quiet">
      Plans that include it: <In c={c} plans={plans} />
    </span>
  )
}

/** Plans in one line, each a link. */
export function PlanLinks({ c, plans }: { c: Visit; plans: readonly PlanName[] }) {
  return (
    <>
      {plans.map(({ id, name }, n) => (
        <>
          {n > 0 && ', '}
          <a href={`${pathsOf(c).plans}/${id}`}>{name}</a>
        </>
      ))}
    </>
  )
}

function Value({ of }: { of: unknown }) {
  const text = shownValue(of)
  return typeof of === 'object' ? <code>{text}</code> : <span class="value">{text}</span>
}

type SourcesProps = Omit<Props, 'rows'> & { row: Entitled }

function Sources({ c, consumer, of, row: { allowed, from } }: SourcesProps) {
  const more = from.length - SHOWN_SOURCES
  return (
    <details>
      <summary>{plural(from.length, 'source')}</summary>
      <ul class="sources">
        {from.slice(0, SHOWN_SOURCES).map((source) => (
          <li>
            <Named c={c} consumer={consumer} of={of} source={source} />
            <span class="line quiet">
              <Facts c={c} of={of} source={source} />
            </span>
            <span class="line">{source.counted ? 'Applies.' : whyNotIn(source, allowed)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="quiet">And {more} more.</p>}
    </details>
  )
}

/** Words that a reason begins with. Others are ids, which stay as they are. */
const BEGINS = /^(The|An|Another|Refunded|Access|No)\b/

/** Why a source gives nothing of a feature. @param allowed whether others give it */
function whyNotIn({ why_not }: Source, allowed: boolean): string {
  const told = allowed ? 'Does not apply' : 'No access'
  return why_not ? `${told}: ${why_not.replace(BEGINS, (word) => word.toLowerCase())}` : `${told}.`
}

/** A subscription, a purchase or a grant by what it is for, with a link to it, and its id quietly beside; or the default plan. */
function Named({ c, consumer, of: { plans, called }, source }: Omit<Props, 'rows'> & { source: Source }) {
  const { type, id, vendor, plan, price } = source
  const { billing, consumers } = pathsOf(c)
  const name = plan === null ? called?.prices.get(priceKey(vendor, price)) : (plans.get(plan)?.name ?? plan)
  if (type === 'default') {
    return (
      <>
        {name} <span class="aside quiet">Default plan</span>
      </>
    )
  }
  const kind = type === 'grant' ? 'Grant' : `${vendorTitle(vendor ?? '')} ${type}`
  const to =
    type === 'grant'
      ? `${consumers}/${consumer}/grants`
      : `${billing}/${type}s/${encodeURIComponent(id)}?vendor=${vendor}`
  return (
    <>
      <a href={to}>{name ?? kind}</a>{' '}
      <span class="aside quiet">
        {name !== undefined && kind} <Id>{id}</Id>
      </span>
    </>
  )
}

/** What is known of a source, in one line. */
function Facts({ c, of: { called }, source: of }: { c: Visit; of: Entitlements; source: Source }) {
  const { events } = pathsOf(c)
  const time = (text: string | null) => {
    const at = timeOf(text)
    return at === null ? null : exact(at)
  }
  const until = time(of.until)
  const event = called?.events.get(of.event_id ?? '')
  const parts = [
    of.price !== null && <NamedId id={of.price} title={called?.prices.get(priceKey(of.vendor, of.price))} />,
    of.seats !== null && plural(of.seats, 'seat'),
    of.value !== null && (of.value === true ? 'turned on' : `value ${shownValue(of.value)}`),
    until !== null && <>until {until}</>,
    of.event_id !== null && (
      <>
        from {event === undefined && 'event '}
        <NamedId id={of.event_id} title={event} to={`${events}/${of.event_id}`} />
      </>
    ),
    of.ambiguous && 'conflicting events',
  ].filter((part) => part !== false)
  return (
    <>
      {parts.map((part, n) => (
        <>
          {n > 0 && ', '}
          {part}
        </>
      ))}
    </>
  )
}

/** What the consumer pays for and no plan has. Renders nothing without such items. */
export function UnmappedItems({ c, of: { items }, add }: { c: Visit; of: Entitlements; add: boolean }) {
  if (items.length === 0) return null
  return (
    <div class="warning" role="note">
      {items.slice(0, SHOWN_SOURCES).map(({ id, vendor, price, why_not }) => (
        <p>
          Subscription {id}: {why_not}{' '}
          {add && vendor && price && <a href={addPath(c, { vendor, ref: price })}>Add it to a plan</a>}
        </p>
      ))}
    </div>
  )
}
