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

/** The list of events with its search. Its first page, newest first, keeps itself live. */
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
            Replay {search === '' ? 'all' : 'these'} …
          </a>
        )}
      </Head>
      <SearchForm asked={asked} action={events} />
      <div class="status-line">
        <button type="button" data-show-new hidden />
        {live && <a href={`${events}${search}`}>Refresh</a>}
        {found.truncated && <span>This page looked at as many events as it may. Go on with the next one.</span>}
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
    <p id="no-events">No event matches. Loosen the search, or clear it.</p>
  ) : (
    <section class="empty" id="no-events">
      <h2>No events yet</h2>
      <p>Once a billing vendor is connected and sends an event, it appears here within seconds, without a reload.</p>
      <a class="button" href={pathsOf(c).connections}>
        Connections
      </a>
    </section>
  )
}
