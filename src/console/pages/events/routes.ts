import { type Context, Hono } from 'hono'
import { batch, run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { type EventRow, eventNotFound, findEvent, listAttempts } from '../../../inbox/events/store'
import { bytesOf, isKept } from '../../../inbox/payload'
import type { SearchFields } from '../../../inbox/search/filters'
import { searchPage } from '../../../inbox/search/page'
import { Fault } from '../../../lib/fault'
import { refusalOf } from '../../form'
import { pageAsked } from '../../list'
import { page } from '../../page'
import { eventPage } from './event'
import { linksOf } from './links'
import { listPage } from './list'
import { freshRows } from './live'
import { rowsFragment } from './row'
import { readSearch } from './search-query'
import { namesOf } from './store'

/** The number of attempts on an event's page. */
const ATTEMPTS = 50

/** Webhook events: the list with its search and live updates, and the page of one event. */
export const eventPages = new Hono<HttpEnv>()
  .get('/', page('billing:read'), async (c) => {
    const asked = readSearch(new URL(c.req.url).searchParams)
    const found = await find(c, asked.fields)
    return listPage(c, { ...asked, mistakes: { ...asked.mistakes, ...found.mistakes } }, found)
  })
  .get('/live', page('billing:read'), async (c) => {
    const { fresh, changed } = await freshRows(
      c.get('rt').db,
      projectOf(c.get('actor')),
      new URL(c.req.url).searchParams,
    )
    if (fresh.length + changed.length === 0) return c.body(null, 204)
    c.header('X-New-Rows', String(fresh.length))
    return c.html(rowsFragment(c, fresh, changed))
  })
  .get('/:event', page('billing:read'), async (c) => {
    const rt = c.get('rt')
    const { db } = rt
    const project = projectOf(c.get('actor'))
    const id = c.req.param('event') ?? ''
    const { event, attempts } = await batch(db, {
      event: findEvent(db, project, 'full', id),
      attempts: listAttempts(db, project, id, { after: 0, limit: ATTEMPTS }),
    })
    const [row] = event
    if (!row) throw eventNotFound()
    const requestedBy = attempts.flatMap(({ actor }) => actor ?? [])
    const [names, links] = await Promise.all([namesOf(rt, project, requestedBy), linksOf(db, row, row.summary)])
    return eventPage(c, { row, decoded: row.summary, links, attempts, names })
  })
  .get('/:event/payload', page('billing:read'), async (c) => {
    const id = c.req.param('event') ?? ''
    const { db } = c.get('rt')
    const [row] = await run(db, findEvent(db, projectOf(c.get('actor')), 'full', id))
    if (!row || !isKept(row)) throw new Fault('not_found', 'The payload is no longer stored.')
    c.header('Content-Disposition', `attachment; filename="${row.id}.bin"`)
    return c.body(bytesOf(row), 200, { 'Content-Type': 'application/octet-stream' })
  })

/** The events that a search finds. An invalid search finds nothing and says why. */
async function find(c: Context<HttpEnv>, fields: SearchFields | null) {
  const nothing = { data: [] as EventRow[], next_cursor: null, truncated: false, mistakes: {} }
  if (fields === null) return nothing
  try {
    const page = { ...pageAsked(c), view: 'summary' as const }
    return { ...(await searchPage(c.get('rt').db, projectOf(c.get('actor')), fields, page)), mistakes: {} }
  } catch (error) {
    return { ...nothing, mistakes: refusalOf(error).mistakes }
  }
}
