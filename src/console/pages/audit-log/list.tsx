import type { Child } from 'hono/jsx'
import type { Page } from '../../../http/page'
import { idTime } from '../../../lib/ids'
import { pathsOf, type Visit } from '../../page'
import { CsvLink } from '../../ui/csv-link'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { About, type NamedEntry, Who } from './entry'
import { type Actors, type AskedEntries, EntryFilters } from './filters'
import { saidOf } from './words'

type Listed = Page<NamedEntry> & { truncated: boolean; total: number | null }

/** The audit log, with a form to filter it. `page` is null if the filters are invalid. */
export function listPage(c: Visit, { asked, actors }: { asked: AskedEntries; actors: Actors }, page: Listed | null) {
  return show(
    c,
    { title: 'Audit log', section: 'audit', status: page === null ? 422 : 200 },
    <>
      <Head title="Audit log">
        {page && page.data.length > 0 && <CsvLink c={c} at={pathsOf(c).audit} query={asked.query} />}
      </Head>
      <p class="quiet">Every change to this project, by people and by API keys. Entries cannot be changed.</p>
      <EntryFilters asked={asked} actors={actors} action={pathsOf(c).audit} />
      {page && (
        <>
          <Total n={page.total} one="change" />
          {page.data.length > 0 ? (
            <Table label="Audit log" rows={page.data} columns={columnsOf(c)} class="audit" />
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
  if (truncated) return <p class="quiet">No matching entries so far. There may be older ones on the next page.</p>
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
    ['Details', (row) => <More row={row} />],
  ]
}

/** What was done, in words. @param instead what is shown instead of the details */
export function EntryWhat({ row, instead }: { row: NamedEntry; instead?: Child | undefined }) {
  const [did, more] = saidOf({ action: row.action, details: row.said })
  return (
    <>
      {did}
      {instead ?? (more && <span class="line quiet">{more}</span>)}
    </>
  )
}

/** The code and the ids of an entry, and where they lead. */
function More({ row }: { row: NamedEntry }) {
  const about = (name: 'actor_id' | 'object_id', id: string) => (
    <a href={`?${name}=${encodeURIComponent(id)}`}>
      <Id>{id}</Id>
    </a>
  )
  return (
    <details>
      <summary>
        IDs<span class="unseen"> of this entry</span>
      </summary>
      <dl class="ids">
        <dt>Action</dt>
        <dd>
          <code>{row.action}</code>
        </dd>
        <dt>Actor</dt>
        <dd>{about('actor_id', row.actor_id)}</dd>
        <dt>Object</dt>
        <dd>{about('object_id', row.object_id)}</dd>
        <dt>Request</dt>
        <dd>
          <Id>{row.client_request_id ?? row.request_id}</Id>
        </dd>
      </dl>
    </details>
  )
}
