import type { Plan } from '../../../catalog/plans'
import type { Unmapped } from '../../../catalog/sold'
import type { Page } from '../../../http/page'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import type { Amounts, Subscriptions } from './read'
import { COUNTED, SubscriptionCount } from './subscribed'
import { UnmappedPrices } from './unmapped'

type Sold = { defaultPlan: string | null; amounts: Amounts; subscriptions: Subscriptions | null }
type Beside = Sold & { unmapped: readonly Unmapped[] | null }

/** The plans of the catalog, and the prices that belong to none of them. */
export function listPage(c: Visit, page: Page<Plan>, { unmapped, ...sold }: Beside) {
  const { plans } = pathsOf(c)
  const empty = page.data.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Plans', section: 'plans' },
    <>
      <Head title="Plans">
        {can(c, 'catalog:write') && (
          <a class="button primary" href={`${plans}/new`}>
            New plan
          </a>
        )}
      </Head>
      <BothModes c={c}>Subscriptions</BothModes>
      {empty ? (
        <NoPlans c={c} />
      ) : (
        <Table label="Plans" rows={page.data} columns={columnsOf(c, sold)} class="consumers" />
      )}
      {sold.subscriptions && !empty && <p class="quiet">Subscriptions: {COUNTED}</p>}
      <Pager c={c} cursor={page.next_cursor} />
      {unmapped && !(empty && unmapped.length === 0) && <UnmappedPrices c={c} rows={unmapped} amounts={sold.amounts} />}
    </>,
  )
}

function columnsOf(c: Visit, { defaultPlan, amounts, subscriptions }: Sold): Column<Plan>[] {
  return [
    [
      'Plan',
      ({ id, key, name }) => (
        <>
          <a class="name" href={`${pathsOf(c).plans}/${id}`}>
            {name}
          </a>
          <code class="line quiet">{key}</code>
        </>
      ),
    ],
    [
      'State',
      ({ id, state }) => (
        <>
          <Badge of={state} />
          {id === defaultPlan && <span class="line quiet">default plan</span>}
        </>
      ),
    ],
    ['Features', ({ features }) => Object.keys(features).length, 'number'],
    ['Prices', ({ prices }) => prices.length > 0 && <Prices of={prices} amounts={amounts} />],
    ...(subscriptions
      ? [
          [
            'Subscriptions',
            ({ id }: Plan) => <SubscriptionCount c={c} plan={id} of={subscriptions(id)} />,
            'number',
          ] as const,
        ]
      : []),
    ['Rank', ({ rank }) => rank, 'number spare'],
    ['Changed', ({ updated_at }) => <Time at={updated_at} now={c.get('rt').now} />],
  ]
}

/** Prices that a row names. */
const PRICES_SHOWN = 2

/** What the first prices cost, and their ids where that is not known; the number of the others. */
function Prices({ of, amounts }: { of: Plan['prices']; amounts: Amounts }) {
  const more = of.length - PRICES_SHOWN
  return (
    <>
      {of.slice(0, PRICES_SHOWN).map((price) => {
        const amount = amounts(price)
        return amount === null ? <code class="line">{price.ref}</code> : <span class="line">{amount}</span>
      })}
      {more > 0 && <span class="quiet">and {more} more</span>}
    </>
  )
}

function NoPlans({ c }: { c: Visit }) {
  return (
    <section class="empty">
      <h2>No plans yet</h2>
      <p>
        A plan is what you sell. Everyone who pays for one of its prices, through any vendor, gets its{' '}
        <a href={pathsOf(c).features}>features</a>. Then ask what a consumer may do with{' '}
        <code>POST /billing/entitlements/check</code>.
      </p>
    </section>
  )
}
