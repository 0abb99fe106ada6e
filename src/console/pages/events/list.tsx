import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { type EventRow, readEvents } from '../../../inbox/events/store'
import { FINAL_STATUSES } from '../../../inbox/lifecycle'
import { type SearchFields, toFilters } from '../../../inbox/search/filters'
import { searchPage } from '../../../inbox/search/page'
import { search } from '../../../inbox/search/search'
import { idPattern, idTime } from '../../../lib/ids'
import { can, mistakesOf, page } from '../../page'
import { projectPaths } from '../../paths'
import { show } from '../../ui/layout'
import { Badge, Cells, Head, More, Table, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendors'
import { readSearch, SearchForm } from './search-form'

const ROWS = 50
const EVENT_ID = idPattern('evt')
const HEADS = ['Type', 'Status', 'Object', 'Vendor', 'Attempts', 'Received']

/** Whether a run of the event is still to come. */
export const isOpen = (status: string) => !(FINAL_STATUSES as readonly string[]).includes(status)

/** Webhook events: the list with its search, and what keeps it live. */
export const eventPages = new Hono<HttpEnv>()
  .get('/', page('billing:read'), async (c) => {
    const project = projectOf(c.get('actor'))
    const { events } = projectPaths(project)
    const asked = readSearch(new URL(c.req.url).searchParams)
    const cursor = c.req.query('cursor')
    const found = await find(c, asked.fields, cursor)
    const mistakes = { ...asked.mistakes, ...found.mistakes }
    const wrong = Object.keys(mistakes).length > 0
    const search = asked.query.size > 0 ? `?${asked.query}` : ''
    const live = !wrong && cursor === undefined && asked.fields?.order !== 'asc'
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
        <SearchForm asked={{ ...asked, mistakes }} action={events} />
        <div class="status-line">
          <button type="button" data-show-new hidden />
          {live && <a href={`${events}${search}`}>Refresh</a>}
          {found.truncated && <span>This page looked at as many events as it may. Go on with the next one.</span>}
        </div>
        <Table label="Webhook events" heads={HEADS}>
          <tbody
            id="events"
            data-live
            {...(live && {
              'hx-get': `${events}/live${search}`,
              'hx-trigger': 'every 3s, poll',
              'hx-swap': 'afterbegin',
            })}
          >
            {found.data.map((row) => (
              <Row c={c} row={row} />
            ))}
          </tbody>
        </Table>
        {found.data.length === 0 && !wrong && !found.truncated && <Nothing c={c} searched={search !== ''} />}
        <More c={c} cursor={found.next_cursor} />
      </>,
    )
  })
  .get('/live', page('billing:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const query = new URL(c.req.url).searchParams
    const { fields } = readSearch(query)
    const newest = query.get('newest') ?? ''
    const shown = new Map(
      query
        .getAll('open')
        .slice(0, ROWS)
        .map((text) => text.split(':') as [string, string]),
    )
    const ids = [...shown.keys()].filter((id) => EVENT_ID.test(id))
    const order = EVENT_ID.test(newest) ? ('asc' as const) : ('desc' as const)
    const found = fields
      ? await search(
          db,
          project,
          { ...toFilters(fields), order },
          { after: order === 'asc' ? newest : null, limit: ROWS },
        )
      : { ids: [] as string[] }
    if (found.ids.length + ids.length === 0) return c.body(null, 204)
    const rows = await run(db, readEvents(db, project, 'summary', { ids: [...found.ids, ...ids], order: 'desc' }))
    const fresh = rows.filter(({ id }) => found.ids.includes(id) && !shown.has(id))
    const changed = rows.filter(({ id, status }) => shown.has(id) && shown.get(id) !== status)
    if (fresh.length + changed.length === 0) return c.body(null, 204)
    c.header('X-New-Rows', String(fresh.length))
    return c.html(
      <>
        {fresh.map((row) => (
          <Row c={c} row={row} how="fresh" />
        ))}
        {changed.map((row) => (
          <Row c={c} row={row} how="changed" />
        ))}
      </>,
    )
  })

/** What a search finds; nothing, and why, where it is not one. */
async function find(c: Context<HttpEnv>, fields: SearchFields | null, cursor: string | undefined) {
  const nothing = { data: [] as EventRow[], next_cursor: null, truncated: false, mistakes: {} }
  if (fields === null) return nothing
  try {
    const page = { cursor, limit: ROWS, view: 'summary' as const }
    return { ...(await searchPage(c.get('rt').db, projectOf(c.get('actor')), fields, page)), mistakes: {} }
  } catch (error) {
    return { ...nothing, mistakes: mistakesOf(error).mistakes }
  }
}

function Row({ c, row, how }: { c: Context<HttpEnv>; row: EventRow; how?: 'fresh' | 'changed' }) {
  const { events } = projectPaths(row.project_id)
  return (
    <tr
      id={row.id}
      class={how === 'fresh' ? how : undefined}
      data-open={isOpen(row.status) ? row.status : undefined}
      hx-swap-oob={how === 'changed' ? 'true' : undefined}
    >
      <Cells
        heads={HEADS}
        of={[
          <a href={`${events}/${row.id}`}>{row.event_type}</a>,
          <>
            <Badge of={row.status} /> {row.last_error && <span class="cut error">{row.last_error.slice(0, 200)}</span>}
          </>,
          <code>{row.summary?.object.id}</code>,
          vendorTitle(row.vendor),
          row.attempts,
          <Time at={idTime(row.id)} now={c.get('rt').now} />,
        ]}
      />
    </tr>
  )
}

function Nothing({ c, searched }: { c: Context<HttpEnv>; searched: boolean }) {
  const { connections } = projectPaths(projectOf(c.get('actor')))
  return searched ? (
    <p id="no-events">No event matches. Loosen the search, or clear it.</p>
  ) : (
    <section class="empty" id="no-events">
      <h2>No events yet</h2>
      <p>Once a billing vendor is connected and sends an event, it appears here within seconds, without a reload.</p>
      <a class="button" href={connections}>
        Connections
      </a>
    </section>
  )
}
