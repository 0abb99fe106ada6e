import type { Plan, Unmapped } from '../../../catalog/plans'
import type { Page } from '../../../http/page'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { UnmappedPrices } from './unmapped'

/** The plans of the catalog, and the prices that belong to none of them. */
export function listPage(
  c: Visit,
  page: Page<Plan>,
  { unmapped, defaultPlan }: { unmapped: readonly Unmapped[] | null; defaultPlan: string | null },
) {
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
      {empty ? (
        <NoPlans c={c} />
      ) : (
        <Table label="Plans" rows={page.data} columns={columnsOf(c, defaultPlan)} class="consumers" />
      )}
      <Pager c={c} cursor={page.next_cursor} />
      {unmapped && !(empty && unmapped.length === 0) && <UnmappedPrices c={c} rows={unmapped} />}
    </>,
  )
}

function columnsOf(c: Visit, defaultPlan: string | null): Column<Plan>[] {
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
    ['Prices', ({ prices }) => prices.length > 0 && <Prices of={prices} />],
    ['Rank', ({ rank }) => rank, 'number spare'],
    ['Changed', ({ updated_at }) => <Time at={updated_at} now={c.get('rt').now} />],
  ]
}

/** The first price; the number of the others. */
function Prices({ of: [first, ...others] }: { of: Plan['prices'] }) {
  return (
    <>
      <code class="line">{first?.ref}</code>
      {others.length > 0 && <span class="quiet">and {others.length} more</span>}
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
