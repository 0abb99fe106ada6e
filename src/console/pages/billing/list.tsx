import { NAMES } from '../../../billing/names'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { changed, sortedBy } from '../../list'
import { can, pathsOf, type Visit } from '../../page'
import { withoutColumns } from '../../ui/columns'
import { CsvLink } from '../../ui/csv-link'
import { show } from '../../ui/layout'
import { OnlyMode } from '../../ui/only-mode'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { VENDORS_WITH_STATE } from '../../ui/vendor-titles'
import { commonColumns, opening } from './columns'
import type { Asked, Listed } from './find'
import { Narrow } from './narrow'
import type { ObjectList } from './object-list'

/** The filters of a list, and the address that has them. */
type Search = { asked: Asked; query: URLSearchParams }

/** A list of billing objects with its search. */
export function listPage<K extends ObjectKind>(
  c: Visit,
  list: ObjectList<K>,
  { asked, query }: Search,
  found: Listed<K>,
) {
  const { path, title } = list
  const { billing } = pathsOf(c)
  const shown = { c, list: path, columns: opening(c, path, list.columns(commonColumns(c, path, found.namesOf))) }
  const { order: _, livemode, ...filters } = asked
  const searched = Object.values(filters).some((one) => one !== undefined)
  const isRest = found.truncated || query.has('cursor')
  const isPart = searched || livemode !== undefined || isRest
  if (found.data.length === 0 && !isPart) return emptyPage(c, list)
  return show(
    c,
    { title, section: path },
    <>
      <Head title={title}>{found.data.length > 0 && <CsvLink c={c} at={`${billing}/${path}`} query={query} />}</Head>
      <Narrow
        c={c}
        list={list}
        address={query}
        columns={found.data.length > 0 ? shown.columns : null}
        name={nameIn(found)}
        plans={found.plans}
      />
      <OnlyMode livemode={livemode} all={changed(query, { livemode: 'all', cursor: null })} />
      <Total n={found.total} one={NAMES[list.kind].noun} />
      {found.data.length > 0 ? (
        <Table
          label={title}
          rows={found.data}
          columns={shown.columns}
          sorted={sortedBy('Updated', asked.order, query)}
          without={withoutColumns(shown)}
        />
      ) : (
        <Nothing c={c} title={title} asked={asked} inMode={!searched && !isRest} />
      )}
      {found.truncated && <p>There may be more matches. Continue on the next page.</p>}
      <Pager c={c} cursor={found.next_cursor} query={query} />
    </>,
  )
}

type NothingProps = { c: Visit; title: string; asked: Asked; inMode: boolean }

/** Instead of an empty list. @param props.inMode whether the mode alone leaves it empty */
function Nothing({ c, title, asked: { livemode, customer }, inMode }: NothingProps) {
  return (
    <section class="empty">
      <p>
        No {title.toLowerCase()} {inMode ? `in ${livemode ? 'live' : 'test'} mode` : 'match this search'}.
        {customer !== undefined && (
          <>
            {' '}
            <a href={`${pathsOf(c).search}?${new URLSearchParams({ q: customer })}`}>
              Search the whole project for “{customer}”
            </a>
          </>
        )}
      </p>
    </section>
  )
}

/** Without any objects, there is nothing to search. */
function emptyPage<K extends ObjectKind>(c: Visit, { title, path }: ObjectList<K>) {
  return show(
    c,
    { title, section: path },
    <>
      <Head title={title} />
      <section class="empty">
        <h2>No {title.toLowerCase()} yet</h2>
        <p>They appear here when events from {VENDORS_WITH_STATE} are processed.</p>
        {can(c, 'connections:read') && (
          <a class="button" href={pathsOf(c).connections}>
            Connections
          </a>
        )}
      </section>
    </>,
  )
}

/** What the owner of the first object is called: of all objects, if the list is that of one customer or consumer. */
function nameIn<K extends ObjectKind>({ data: [first], namesOf }: Listed<K>): string | undefined {
  const named = first && namesOf(first)
  return named?.consumer?.title ?? named?.customer ?? undefined
}
