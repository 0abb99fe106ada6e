import type { Feature } from '../../../catalog/features'
import type { NamedPlan, PlanName } from '../../../catalog/plans'
import type { Page } from '../../../http/page'
import { can, pathsOf, type Visit } from '../../page'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { COMBINED, TYPES } from './form'

/** How many plans of a feature the list names. */
const NAMED = 3

/** The features of the catalog, each with the plans that give it. */
export function listPage(c: Visit, page: Page<Feature>, plans: readonly NamedPlan[]) {
  const { features } = pathsOf(c)
  const empty = page.data.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Features', section: 'features' },
    <>
      <Head title="Features">
        {can(c, 'catalog:write') && (
          <a class="button primary" href={`${features}/new`}>
            New feature
          </a>
        )}
      </Head>
      {empty ? (
        <section class="empty">
          <h2>No features yet</h2>
          <p>
            A feature is something that a consumer can do or have in your product, such as single sign-on or a number of
            seats. Your code checks it by its key. Consumers get it through plans and grants.
          </p>
        </section>
      ) : (
        <Table label="Features" rows={page.data} columns={columnsOf(c, plans)} class="consumers" />
      )}
      <Pager c={c} cursor={page.next_cursor} />
    </>,
  )
}

function columnsOf(c: Visit, plans: readonly NamedPlan[]): Column<Feature>[] {
  const { features } = pathsOf(c)
  const columns: Column<Feature>[] = [
    [
      'Feature',
      ({ key, name }) => (
        <>
          {can(c, 'catalog:write') ? (
            <a class="name" href={`${features}/${key}/edit`}>
              {name}
            </a>
          ) : (
            <span class="name">{name}</span>
          )}
          <code class="line quiet">{key}</code>
        </>
      ),
    ],
    [
      'Type',
      ({ type, combine }) => (
        <>
          {TYPES[type]}
          {combine && <span class="line quiet">If several: {COMBINED[combine]}</span>}
        </>
      ),
    ],
    ['In plans', ({ key }) => <In c={c} plans={plans.filter(({ given }) => given.includes(key))} />],
    ['Created', ({ created_at }) => <Time at={created_at} now={c.get('rt').now} />],
  ]
  const actions: Column<Feature> = [
    '',
    ({ key }) => (
      <>
        <a class="button" href={`${features}/${key}/edit`}>
          Edit<span class="unseen"> {key}</span>
        </a>
        <a class="button" href={`${features}/${key}/delete`} data-dialog>
          Delete<span class="unseen"> {key}</span>
        </a>
      </>
    ),
  ]
  return can(c, 'catalog:write') ? [...columns, actions] : columns
}

/** The first plans of some, each a link; how many more. */
export function In({ c, plans }: { c: Visit; plans: readonly PlanName[] }) {
  if (plans.length === 0) return <span class="quiet">None</span>
  const more = plans.length - NAMED
  return (
    <>
      {plans.slice(0, NAMED).map(({ id, name }, n) => (
        <>
          {n > 0 && ', '}
          <a href={`${pathsOf(c).plans}/${id}`}>{name}</a>
        </>
      ))}
      {more > 0 && <span class="quiet"> and {more} more</span>}
    </>
  )
}
