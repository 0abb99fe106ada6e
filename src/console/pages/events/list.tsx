import type { EventRow } from '../../../inbox/events/events'
import { ERROR_LENGTH } from '../../../inbox/search/limits'
import { changed, sortedBy } from '../../list'
import { can, pathsOf, type Visit } from '../../page'
import { Choosing } from '../../ui/choosing'
import { ColumnsMenu, withoutColumns } from '../../ui/columns'
import { CsvLink } from '../../ui/csv-link'
import { show } from '../../ui/layout'
import { OnlyMode } from '../../ui/only-mode'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { Causes, type FailuresByCause } from './causes'
import type { Choice } from './filter-words'
import { Chips, Menus, Statuses } from './narrow'
import { choosesEvents, type ListedEvent, listColumns, Row } from './row'
import { SearchForm } from './search-form'
import type { AskedEvents } from './search-query'
import type { Counts } from './store'

/** What a search found. */
export type FoundEvents = {
  data: readonly ListedEvent[]
  next_cursor: string | null
  truncated: boolean
  /** The time before which events may be archived; null if none is. */
  archived_before: string | null
}

type Listed = {
  asked: AskedEvents
  found: FoundEvents
  /** Null if they do not apply, because other filters narrow the list. */
  counts: Counts | null
  connections: readonly Choice[]
  /** Null unless the list shows exactly the failed events, or those of a cause. */
  failures: FailuresByCause | null
  /** A text in the search box that matches nothing; null if there is none. */
  unknown: string | null
}

/** The list of events with its search. The first page updates itself if the newest events come first. */
export function listPage(c: Visit, { asked, found, counts, connections, failures, unknown }: Listed) {
  const { events } = pathsOf(c)
  const { address, query } = asked
  const wrong = Object.keys(asked.mistakes).length > 0
  const searched = query.size > 0
  const live = !wrong && unknown === null && c.req.query('cursor') === undefined && asked.fields?.order !== 'asc'
  const polling = {
    'hx-get': `${events}/live${searched ? `?${address}` : ''}`,
    'hx-trigger': 'every 3s, poll',
    'hx-swap': 'afterbegin',
  }
  return show(
    c,
    { title: 'Events', section: 'events', status: wrong ? 422 : 200 },
    <>
      <Head title="Events">
        {found.data.length > 0 && <CsvLink c={c} at={events} query={address} />}
        {can(c, 'billing:write') && found.data.length > 0 && (
          <a class="button" href={`${events}/replay${searched ? `?${query}` : ''}`}>
            Replay {searched ? 'these' : 'all'}…
          </a>
        )}
      </Head>
      <SearchForm
        asked={asked}
        action={events}
        text={unknown ?? ''}
        types={typesIn(found.data)}
        unfolded={c.req.query('more') !== undefined}
      />
      <Statuses asked={asked} counts={counts} />
      <div class="toolbar">
        <Menus asked={asked} connections={connections} />
        <ColumnsMenu c={c} list="events" columns={listColumns(c)} />
        {live && <Live at={`${events}${changed(address, {})}`} />}
      </div>
      <Chips asked={asked} connections={connections} />
      <OnlyMode livemode={asked.fields?.livemode} all={changed(address, { livemode: 'all' })} />
      {failures && <Causes c={c} of={failures} asked={asked.fields} connections={connections} />}
      {found.truncated && <p>There may be more matches. Continue on the next page.</p>}
      {unknown === null ? (
        <>
          <Events c={c} asked={asked} rows={found.data} polling={live ? polling : {}} />
          {found.data.length === 0 && !wrong && !found.truncated && <NoEvents c={c} searched={searched} />}
          <Pager c={c} cursor={found.next_cursor} query={query} />
          {found.next_cursor === null && <Beyond c={c} before={found.archived_before} />}
        </>
      ) : (
        <Unknown text={unknown} address={address} />
      )}
    </>,
  )
}

/** Where older events are, if some are archived. */
function Beyond({ c, before }: { c: Visit; before: string | null }) {
  if (before === null) return null
  return (
    <p class="quiet">
      Events from before <Time at={Date.parse(before)} now={c.get('rt').now} /> are archived. Find them on the pages of
      their subscriptions, invoices and purchases, or open one by its ID.
    </p>
  )
}

type EventsProps = { c: Visit; asked: AskedEvents; rows: FoundEvents['data']; polling: Record<string, string> }

/** The rows. Those that are chosen can be replayed together. */
function Events({ c, asked, rows, polling }: EventsProps) {
  const choosing = choosesEvents(c)
  const columns = listColumns(c, choosing)
  return (
    <div class="event-list">
      <Choosing may={choosing} to={`${pathsOf(c).events}/replay`} verb="Replay selected…" with={<Source of={asked} />}>
        <Table
          label="Events"
          columns={columns}
          class="events"
          sorted={sortedBy('Received', asked.fields?.order, asked.address)}
          without={withoutColumns({ c, list: 'events', columns })}
          choosing={choosing}
        >
          <tbody id="events" data-live {...polling}>
            {rows.map((row) => (
              <Row c={c} row={row} />
            ))}
          </tbody>
        </Table>
      </Choosing>
    </div>
  )
}

/** What a replay of chosen events needs to know besides them. The empty id tells none that are chosen from a replay of all events. */
function Source({ of: { fields } }: { of: AskedEvents }) {
  return (
    <>
      <input type="hidden" name="id" value="" />
      {fields?.source && <input type="hidden" name="source" value={fields.source} />}
    </>
  )
}

/** Whether new events appear by themselves. The script fills it in; without one there is a link to reload. */
function Live({ at }: { at: string }) {
  return (
    <div class="liveness">
      <noscript>
        <a href={at}>Refresh</a>
      </noscript>
      <button type="button" data-show-new hidden />
      <span class="pill" data-pill="" hidden />
      <span class="quiet" data-pill-reason />
      <button type="button" data-pause hidden>
        Pause
      </button>
    </div>
  )
}

/** The types of the listed events and, for those with a dot, everything that begins as they do. */
function typesIn(rows: readonly EventRow[]): string[] {
  const types = rows.map(({ event_type }) => event_type).filter((type) => type.length <= 100)
  const prefixes = types.flatMap((type) => (type.includes('.') ? [`${type.slice(0, type.indexOf('.'))}.*`] : []))
  return [...new Set([...prefixes, ...types])].sort().slice(0, 20)
}

function NoEvents({ c, searched }: { c: Visit; searched: boolean }) {
  return searched ? (
    <p class="empty" id="no-events">
      No events match these filters. Remove some filters to see more.
    </p>
  ) : (
    <section class="empty" id="no-events">
      <h2>No events yet</h2>
      <p>When a connected billing vendor sends an event, it appears here within seconds. You do not need to reload.</p>
      <a class="button" href={pathsOf(c).connections}>
        Connections
      </a>
    </section>
  )
}

function Unknown({ text, address }: { text: string; address: URLSearchParams }) {
  const { min, max } = ERROR_LENGTH
  return (
    <section class="empty">
      <h2>Nothing matches “{text}”</h2>
      <p>
        It is not the ID of an event, a connection or a replay of this project. No processed event refers to an object
        or a customer with this ID. No event type begins with it.
      </p>
      {text.length >= min && text.length <= max && (
        <a class="button" href={changed(address, { error: text })}>
          Search the errors for it
        </a>
      )}
    </section>
  )
}
