import type { Feature } from '../../../catalog/features'
import type { Plan } from '../../../catalog/plans'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { capital, words } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { ExactTime, Fact, Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import type { NamedEntry } from '../audit-log/entry'
import { History } from '../audit-log/history'
import { partPath } from '../general/tabs'
import { lastingOf } from './differences'
import type { Amounts, Subscriptions } from './read'
import { COUNTED, SubscriptionCount } from './subscribed'
import { shownValue } from './values'

type Shown = {
  plan: Plan
  catalog: readonly Feature[]
  history: readonly NamedEntry[] | null
  isDefault: boolean
  amounts: Amounts
  subscriptions: Subscriptions | null
}

/** The page of one plan. */
export function planPage(c: Visit, { plan, catalog, history, isDefault, amounts, subscriptions }: Shown) {
  const { plans } = pathsOf(c)
  const { id, key, name, rank, state, updated_at, revision, prices } = plan
  const features = catalog.filter((one) => Object.hasOwn(plan.features, one.key))
  const title = (
    <>
      {name} <Badge of={state} />
    </>
  )
  return show(
    c,
    { title: name, section: 'plans', above: ['Plans', plans] },
    <>
      <Head title={title}>
        {can(c, 'catalog:write') && (
          <a class="button primary" href={`${plans}/${id}/edit`}>
            Edit plan
          </a>
        )}
      </Head>
      <dl class="facts">
        <Fact name="Key">
          <code>{key}</code>
        </Fact>
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
        {isDefault && (
          <Fact name="Default plan">
            Consumers have this plan while they have no other. <a href={partPath(c, 'entitlements')}>Settings</a>
          </Fact>
        )}
        {subscriptions && (
          <Fact name="Subscriptions">
            <SubscriptionCount c={c} plan={id} of={subscriptions(id)} />
            <span class="hint">{capital(COUNTED)}</span>
          </Fact>
        )}
        <Fact name="Rank">{rank}</Fact>
        <Fact name="Revision">{revision}</Fact>
        <Fact name="Changed">
          <ExactTime at={updated_at} now={c.get('rt').now} />
        </Fact>
      </dl>
      <h2>Features</h2>
      {features.length > 0 ? (
        <Table
          label="Features"
          rows={features}
          class="consumers"
          columns={[
            ['Feature', (one) => <span class="name">{one.name}</span>],
            ['Key', (one) => <code>{one.key}</code>],
            ['Value', (one) => <Given of={plan.features[one.key]} />],
          ]}
        />
      ) : (
        <p class="quiet">The plan includes no features.</p>
      )}
      <h2>Prices</h2>
      {prices.length > 0 ? (
        <Table
          label="Prices"
          rows={prices}
          class="consumers"
          columns={[
            ['Price or product', ({ ref }) => <Id>{ref}</Id>],
            ...(prices.some(amounts) ? ([['Amount', amounts]] as const) : []),
            ['Vendor', ({ vendor }) => <VendorLabel name={vendor} />],
            ['One-time payments', (price) => (price.lasts ? lastingOf(price) : 'not included')],
          ]}
        />
      ) : (
        <p class="quiet">No price is mapped to the plan, so consumers can get it only through grants.</p>
      )}
      {history && (
        <History c={c} entries={history} none="The audit log has no entries about this plan." more={unknown} />
      )}
    </>,
  )
}

/** What is said of a change without the revisions before and after it: the entry's details only name the fields. */
function unknown({ action, details }: NamedEntry) {
  if (action !== 'plan.updated') return undefined
  return <span class="line quiet">{words(details?.fields)}. The values before and after are not stored.</span>
}

function Given({ of }: { of: Plan['features'][string] | undefined }) {
  const text = shownValue(of?.value)
  return (
    <>
      {typeof of?.value === 'object' ? <code>{text}</code> : text}
      {of?.per_seat && ' per seat'}
    </>
  )
}
