import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { EventRow } from '../../../inbox/events/store'
import { can, pathsOf } from '../../page'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { columnsOf, Row } from './row'
import { SearchForm } from './search-form'
import type { Asked } from './search-query'

type Found = { data: readonly EventRow[]; next_cursor: string | null; truncated: boolean }

/** The list of events with its search. The first page updates itself if the newest events come first. */
export function listPage(c: Context<HttpEnv>, asked: Asked, found: Found) {
  const { events } = pathsOf(c)
  const wrong = Object.keys(asked.mistakes).length > 0
  const search = asked.query.size > 0 ? `?${asked.query}` : ''
  const live = !wrong && c.req.query('cursor') === undefined && asked.fields?.order !== 'asc'
  const polling = { 'hx-get': `${events}/live${search}`, 'hx-trigger': 'every 3s, poll', 'hx-swap': 'afterbegin' }
  return show(
    c,
    { title: 'Webhook events', section: 'events', status: wrong ? 422 : 200 },
    <>
      <Head title="Webhook events">
        {can(c, 'billing:write') && !wrong && found.data.length > 0 && (
          <a class="button" href={`${events}/replay${search}`}>
            Replay {search === '' ? 'all' : 'these'}…
          </a>
        )}
      </Head>
      <SearchForm asked={asked} action={events} />
      <div class="status-line">
        <button type="button" data-show-new hidden />
        {live && <a href={`${events}${search}`}>Refresh</a>}
        {found.truncated && <span>The search stopped before this page was full. Continue on the next page.</span>}
      </div>
      <Table label="Webhook events" columns={columnsOf(c)}>
        <tbody id="events" data-live {...(live && polling)}>
          {found.data.map((row) => (
            <Row c={c} row={row} />
          ))}
        </tbody>
      </Table>
      {found.data.length === 0 && !wrong && !found.truncated && <NoEvents c={c} searched={search !== ''} />}
      <Pager c={c} cursor={found.next_cursor} />
    </>,
  )
}

function NoEvents({ c, searched }: { c: Context<HttpEnv>; searched: boolean }) {
  return searched ? (
    <p id="no-events">No events match this search. Remove some filters, or clear the search.</p>
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
