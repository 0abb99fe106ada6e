import type { ShownObjects } from '../../../billing/read/present'
import { isOver } from '../../../entitlements/subscribed'
import { can, pathsOf, type Visit } from '../../page'
import { Badge, TestBadge } from '../../ui/badge'
import { amountIn, plural, timeOf } from '../../ui/format'
import { Fact, None, Time } from '../../ui/parts'
import { invoiceStanding } from '../billing/invoices'
import { endOf } from '../billing/subscriptions'
import { givenBy, PlanLinks, plansOf } from '../entitlements/table'
import type { ShownConsumer } from './read'

type Props = { c: Visit; of: ShownConsumer }

/** What whoever answers the consumer wants to know first: the plan, until when, what was paid, and what it may do. */
export function ConsumerGlance({ c, of }: Props) {
  return (
    <dl class="facts glance">
      {can(c, 'entitlements:read') && <Access c={c} of={of} />}
      {can(c, 'billing:read') && <Paying c={c} of={of} />}
      <Fact name="Devices">
        {of.devices.active.toLocaleString('en')} of {of.devices.limit.toLocaleString('en')}
      </Fact>
    </dl>
  )
}

function Access({ c, of: { entitlements } }: Props) {
  if (entitlements === null) return null
  const { all } = entitlements
  const from = all.flatMap((feature) => feature.from)
  const giving = givenBy(entitlements, from)
  const plans = giving.length > 0 ? giving : plansOf(entitlements, from)
  return (
    <>
      <Fact name={plans.length > 1 ? 'Plans' : 'Plan'}>
        {plans.length === 0 ? <None /> : <PlanLinks c={c} plans={plans} />}
        {giving.length < plans.length && <span class="line quiet">No access</span>}
      </Fact>
      <Fact name="Access">
        {all.filter(({ allowed }) => allowed).length} of {plural(all.length, 'feature')}
      </Fact>
    </>
  )
}

/** The subscription that is not over, one in live mode before one in test mode, or else the last one; and the last invoice. */
function Paying({ c, of: { latest } }: Props) {
  const { now } = c.get('rt')
  const { billing } = pathsOf(c)
  const subscriptions = latest.subscription.data
  const going = subscriptions.filter(({ status }) => !isOver(status))
  const subscription = going.find(({ livemode }) => livemode !== false) ?? going[0] ?? subscriptions[0]
  const invoice = latest.invoice.data[0]
  if (!subscription && !invoice) return null
  return (
    <>
      {subscription && (
        <>
          <Fact name="Subscription">
            <a href={`${billing}/subscriptions/${encodeURIComponent(subscription.id)}?vendor=${subscription.vendor}`}>
              <Badge of={subscription.status} />
            </a>{' '}
            <TestBadge of={subscription.livemode} />
          </Fact>
          <Ends of={subscription} now={now} />
        </>
      )}
      {invoice && (
        <Fact name="Last invoice">
          <a href={`${billing}/invoices/${encodeURIComponent(invoice.id)}?vendor=${invoice.vendor}`}>
            {amountIn('total', invoice.total, invoice.currency) ?? invoice.id}
          </a>{' '}
          <Badge of={invoiceStanding(invoice, now) ?? invoice.status} /> <TestBadge of={invoice.livemode} />
        </Fact>
      )}
    </>
  )
}

function Ends({ of, now }: { of: ShownObjects['subscription']; now: number }) {
  const [label, name] = endOf(of)
  const at = of[name]
  return at === null ? null : (
    <Fact name={label}>
      <Time at={timeOf(at)} now={now} />
    </Fact>
  )
}
