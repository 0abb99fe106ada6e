import { Hono } from 'hono'
import { batch, type Db, run } from '../../../db/client'
import { inRoom, sendInRoom } from '../../../http/answering'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { findArchived, withArchive } from '../../../inbox/archive/find'
import { readerOf } from '../../../inbox/archive/records'
import { listAttempts } from '../../../inbox/attempts'
import { listConnectionNames } from '../../../inbox/connections/connection'
import { findEvent, findKept, type View } from '../../../inbox/events/events'
import { MAX_BEFORE_BYTES } from '../../../inbox/events/limits'
import { readObjectChange } from '../../../inbox/events/object-change'
import { countCause, listCauses } from '../../../inbox/failures/failures'
import { listMutes } from '../../../inbox/mutes/mutes'
import { bytesOf, isKept, unpacked } from '../../../inbox/payload'
import { MAX_DELIVERY_BYTES } from '../../../inbox/receive/limits'
import { besideOf } from '../../../inbox/search/beside'
import type { SearchFields } from '../../../inbox/search/filters'
import { findPage } from '../../../inbox/search/search'
import { Fault, requireFound } from '../../../lib/fault'
import { changed, pageAsked } from '../../list'
import { withMode } from '../../mode'
import { page, pathsOf, type Visit } from '../../page'
import { type Mistakes, refusalOf } from '../../refusal'
import { ATTEMPTS } from './attempts'
import { listAround } from './beside'
import { hasCause } from './cause-parts'
import type { FailuresByCause } from './causes'
import { eventCsv } from './csv'
import { eventPage, nowFragment, type ShownEvent, versionOf } from './event'
import { type FoundEvents, listPage } from './list'
import { hasCounts, liveUpdate } from './live'
import { failureMutes } from './mutes'
import { type AskedEvents, readSearch } from './search-query'
import { eventLinks, type NamedEvents, namedBy, namesOf, readCounts, withConsumers } from './store'

/** One event with its payload, whatever size that has; and room for that and the one that it is compared with. */
const WHOLE = { most: MAX_DELIVERY_BYTES }
const ROOM = MAX_DELIVERY_BYTES + MAX_BEFORE_BYTES

/** Webhook events: the list with its search and live updates, and the page of one event. */
export const eventPages = new Hono<HttpEnv>()
  .get('/', page('billing:read'), async (c) => {
    const { db, now } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const text = (c.req.query('q') ?? '').trim()
    // What a text names has its own mode.
    const asked = readSearch(text === '' ? withMode(c) : new URL(c.req.url).searchParams, now)
    const named = text === '' ? null : await namedBy(db, project, text)
    if (named) return c.redirect(placeOf(c, asked, named), 303)
    const unknown = text === '' ? null : text
    const [{ mistakes, ...found }, counts, connections, failures] = await Promise.all([
      find(c, unknown === null ? asked.fields : null),
      hasCounts(asked) ? readCounts(db, project) : null,
      run(db, listConnectionNames(db, project)),
      asksForFailed(c, asked) ? readFailures(c) : null,
    ])
    const judged = { ...asked, mistakes: { ...asked.mistakes, ...mistakes } }
    return listPage(c, { asked: judged, found, counts, connections, failures, unknown })
  })
  .route('/', eventCsv)
  // Above the page that mutes a cause.
  .get('/failures', page('billing:read'), (c) => c.redirect(`${pathsOf(c).events}?status=failed`, 303))
  .route('/', failureMutes)
  .get('/live', page('billing:read'), liveUpdate)
  .get('/:event', page('billing:read'), async (c) => {
    const polled = c.req.header('HX-Request') !== undefined
    if (!polled)
      return inRoom(c.get('rt'), projectOf(c.get('actor')), ROOM, async () => eventPage(c, await readShown(c, WHOLE)))
    const shown = await readShown(c, 'summary')
    return versionOf(shown.row) === c.req.query('seen') ? c.body(null, 204) : c.html(nowFragment(c, shown))
  })
  .get('/:event/payload', page('billing:read'), async (c) => {
    const id = c.req.param('event') ?? ''
    const { db } = c.get('rt')
    return sendInRoom(c, MAX_DELIVERY_BYTES, async () => {
      const project = projectOf(c.get('actor'))
      const [row] = await withArchive(db, project, id, (reader) => run(db, findEvent(reader, project, WHOLE, id)))
      if (!row || !isKept(row)) throw new Fault('not_found', 'The payload is no longer stored.')
      c.header('Content-Disposition', `attachment; filename="${row.id}.bin"`)
      return c.body(bytesOf(row), 200, { 'Content-Type': 'application/octet-stream' })
    })
  })

/** Whether the list is that of all failed events, or of those of one mode or one cause, from its beginning. */
function asksForFailed(c: Visit, { address }: AskedEvents): boolean {
  const failed = changed(address, { livemode: null, connection_id: null, error_code: null }) === '?status=failed'
  return failed && c.req.query('cursor') === undefined
}

/** Reads the failed events of the project by cause and its muted causes, and then who muted these. */
async function readFailures(c: Visit): Promise<FailuresByCause> {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { causes, mutes } = await batch(rt.db, {
    causes: listCauses(rt.db, project),
    mutes: listMutes(rt.db, project, { kind: 'failed' }, rt.now),
  })
  return { causes, mutes, names: await namesOf(rt, project, [...new Set(mutes.map(({ muted_by }) => muted_by))]) }
}

/** Reads what the page of an event shows, in two round trips. A live update leaves the payload, and what is beside the event, out. */
async function readShown(c: Visit, view: View): Promise<ShownEvent> {
  const rt = c.get('rt')
  const { db } = rt
  const project = projectOf(c.get('actor'))
  const id = c.req.param('event') ?? ''
  const around = view === 'summary' ? null : listAround(c, id)
  const beside = around && (await besideOf(db, project, around.filters, id))
  const own = {
    event: findEvent(db, project, view, id),
    kept: findKept(db, project, id),
    attempts: listAttempts(db, project, id, { order: 'desc', limit: ATTEMPTS }),
  }
  const { above, below, ...found } = beside
    ? await batch(db, { ...own, ...beside.reads })
    : { ...(await batch(db, own)), above: [], below: [] }
  const archived = found.event.length > 0 ? null : await readArchived(db, project, view, id)
  const { event, kept, attempts } = archived ?? found
  const row = unpacked(requireFound(event, 'Event'))
  const requestedBy = attempts.flatMap(({ actor }) => actor ?? [])
  const [names, links, changed, alike] = await Promise.all([
    namesOf(rt, project, requestedBy),
    eventLinks(db, row),
    readObjectChange(db, row),
    hasCause(row) ? run(db, countCause(db, row)) : [],
  ])
  const list = around && beside && { around, above: beside.found('above', above), below: beside.found('below', below) }
  const { bytes = null, headers = null } = kept[0] ?? {}
  return {
    row,
    bytes,
    headers,
    links,
    attempts,
    names,
    changed,
    alike: alike[0]?.n ?? null,
    list,
    isArchived: archived !== null,
    after: afterOf(c),
  }
}

/** What {@link readShown} reads of an event, from the archive; null if it has no such event. */
async function readArchived(db: Db, project: string, view: View, id: string) {
  const found = await findArchived(db, project, id)
  if (!found) return null
  const reader = readerOf(db, [found.record])
  const own = { event: findEvent(reader, project, view, id), kept: findKept(reader, project, id) }
  return { ...(await batch(db, own)), attempts: found.record.runs.toReversed().slice(0, ATTEMPTS) }
}

/** The attempts before a replay that was just requested, from the address; null if none was. */
function afterOf(c: Visit): number | null {
  const text = c.req.query('replayed') ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : null
}

/** Where a text in the search box leads: to one event, or to the list with a filter. */
function placeOf(c: Visit, { address }: AskedEvents, named: NamedEvents): string {
  const { events } = pathsOf(c)
  if ('event' in named) return `${events}/${named.event}`
  return events + changed(address, { [named.filter]: named.value })
}

/** The events that a search finds. An invalid search finds nothing and says why. */
async function find(c: Visit, fields: SearchFields | null): Promise<FoundEvents & { mistakes: Mistakes }> {
  const nothing = { data: [], next_cursor: null, truncated: false, archived_before: null, mistakes: {} }
  if (fields === null) return nothing
  try {
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const found = await findPage(rt.db, project, fields, pageAsked(c))
    const page = found.pageOf(await found.read('summary'))
    return { ...page, data: await withConsumers(rt, project, page.data), mistakes: {} }
  } catch (error) {
    return { ...nothing, mistakes: refusalOf(error).mistakes }
  }
}
