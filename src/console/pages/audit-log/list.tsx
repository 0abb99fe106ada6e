import type { Page } from '../../../http/page'
import { idTime } from '../../../lib/ids'
import { sortedBy } from '../../list'
import { pathsOf, type Visit } from '../../page'
import { CsvLink } from '../../ui/csv-link'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { About, EntryIds, EntryWhat, type NamedEntry, Who } from './entry'
import { type Actors, type AskedEntries, EntryFilters, SpanChips } from './filters'

type Listed = Page<NamedEntry> & { truncated: boolean; total: number | null }

/** The audit log, with a form to filter it. `page` is null if the filters are invalid. */
export function listPage(c: Visit, { asked, actors }: { asked: AskedEntries; actors: Actors }, page: Listed | null) {
  return show(
    c,
    { title: 'Audit log', section: 'audit', status: page === null ? 422 : 200 },
    <>
      <Head title="Audit log">{page && page.data.length > 0 && <CsvLink c={c} at={pathsOf(c).audit} />}</Head>
      <p class="quiet">Every change to this project, by people and by API keys. Entries cannot be changed.</p>
      <EntryFilters asked={asked} actors={actors} action={pathsOf(c).audit} />
      <SpanChips address={new URL(c.req.url).searchParams} now={c.get('rt').now} />
      {page && (
        <>
          <Total n={page.total} one="change" />
          {page.data.length > 0 ? (
            <Table
              label="Audit log"
              rows={page.data}
              columns={columnsOf(c)}
              class="audit"
              sorted={sortedBy('When', asked.order, new URL(c.req.url).searchParams)}
            />
          ) : (
            <NoEntries asked={asked} truncated={page.truncated} clear={pathsOf(c).audit} />
          )}
          <Pager c={c} cursor={page.next_cursor} />
        </>
      )}
    </>,
  )
}

function NoEntries({ asked, truncated, clear }: { asked: AskedEntries; truncated: boolean; clear: string }) {
  if (truncated) return <p class="quiet">No matching entries so far. There may be more on the next page.</p>
  return (
    <section class="empty">
      <h2>No matching entries</h2>
      <p>
        {asked.query.size > 0 ? (
          <>
            Remove some filters, or <a href={clear}>show all entries</a>.
          </>
        ) : (
          'Nothing has changed yet.'
        )}
      </p>
    </section>
  )
}

function columnsOf(c: Visit): Column<NamedEntry>[] {
  const { now } = c.get('rt')
  return [
    ['When', (row) => <Time at={idTime(row.id)} now={now} />],
    ['Who', (row) => <Who c={c} row={row} />],
    ['What', (row) => <EntryWhat row={row} />],
    ['On', (row) => <About c={c} row={row} />],
    ['Details', (row) => <EntryIds row={row} />],
  ]
}
