import type { ObjectKind } from '../../../lib/billing-kinds'
import { changed, sortedBy } from '../../list'
import { pathsOf, type Visit } from '../../page'
import { ColumnsMenu, withoutColumns } from '../../ui/columns'
import { Field, Select } from '../../ui/controls'
import { CsvLink } from '../../ui/csv-link'
import { FilterActions, FilterField, MODE_OPTIONS } from '../../ui/filters'
import { asWords } from '../../ui/format'
import { show } from '../../ui/layout'
import { OnlyMode } from '../../ui/only-mode'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { VENDORS_WITH_STATE } from '../../ui/vendor-titles'
import { commonColumns, opening } from './columns'
import type { Asked, Listed } from './find'
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
  const { path, title, statuses } = list
  const { billing } = pathsOf(c)
  const shown = { c, list: path, columns: opening(c, path, list.columns(commonColumns(c, path, found.namesOf))) }
  const searched = Object.entries(asked).some(([name, one]) => name !== 'order' && one !== undefined)
  return show(
    c,
    { title, section: path },
    <>
      <Head title={title}>
        {found.data.length > 0 && (
          <>
            <CsvLink c={c} at={`${billing}/${path}`} query={query} />
            <ColumnsMenu {...shown} />
          </>
        )}
      </Head>
      <SearchForm
        action={`${billing}/${path}`}
        statuses={statuses}
        asked={asked}
        clear={searched}
        overdue={list.kind === 'subscription'}
      />
      <OnlyMode livemode={asked.livemode} all={changed(query, { livemode: 'all', cursor: null })} />
      {found.data.length > 0 ? (
        <Table
          label={title}
          rows={found.data}
          columns={shown.columns}
          sorted={sortedBy('Updated', asked.order, query)}
          without={withoutColumns(shown)}
        />
      ) : (
        <p class="empty">
          {searched || found.truncated
            ? `No ${title.toLowerCase()} match this search.`
            : `No ${title.toLowerCase()} yet. They appear when events from ${VENDORS_WITH_STATE} are processed.`}
        </p>
      )}
      {found.truncated && <p>There may be more matches. Continue on the next page.</p>}
      <Pager c={c} cursor={found.next_cursor} query={query} />
    </>,
  )
}

type SearchProps = { action: string; statuses: readonly string[]; asked: Asked; clear: boolean; overdue: boolean }

function SearchForm({ action, statuses, asked, clear, overdue }: SearchProps) {
  const { created_after = '', updated_after = '' } = asked
  const times = { query: new URLSearchParams({ created_after, updated_after }), mistakes: {} }
  return (
    <search>
      <form action={action} class="filters">
        <Field name="customer" label="Customer ID" value={asked.customer ?? ''} maxlength={200} />
        <Field
          name="consumer"
          label="Consumer"
          placeholder="csm_… or ext:…"
          value={asked.consumer ?? ''}
          maxlength={204}
        />
        <Field name="status" label="Status">
          <Select
            name="status"
            value={asked.status}
            options={[['', 'Any'], ...statuses.map((one) => [one, asWords(one)] as const)]}
          />
        </Field>
        <Field name="livemode" label="Mode">
          <Select name="livemode" value={asked.livemode?.toString()} options={MODE_OPTIONS} />
        </Field>
        <FilterField of={times} name="created_after" label="Created since (UTC)" type="datetime-local" />
        <FilterField of={times} name="updated_after" label="Changed since (UTC)" type="datetime-local" />
        {overdue && (
          <Field name="overdue" label="Renewal">
            <Select
              name="overdue"
              value={asked.overdue ? 'true' : ''}
              options={[
                ['', 'Any'],
                ['true', 'Overdue'],
              ]}
            />
          </Field>
        )}
        {asked.order && <input type="hidden" name="order" value={asked.order} />}
        <FilterActions clear={clear ? action : null} />
      </form>
    </search>
  )
}
