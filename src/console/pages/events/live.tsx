import { run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import { type EventRow, readEvents } from '../../../inbox/events/events'
import { toFilters } from '../../../inbox/search/filters'
import { search } from '../../../inbox/search/search'
import { idPattern } from '../../../lib/ids'
import { ROWS } from '../../list'
import type { Visit } from '../../page'
import { InChosenTimes } from '../../ui/parts'
import { Statuses } from './narrow'
import { type ListedEvent, Row } from './row'
import { type AskedEvents, readSearch } from './search-query'
import { readCounts, withConsumers } from './store'

const IDS = [idPattern('evt'), idPattern('ftc')]
const isEventId = (text: string) => IDS.some((pattern) => pattern.test(text))

/**
 * Answers a live update of the list with what has changed since it was shown: newer events, unfinished events whose
 * status has changed and, if there are any, the counts.
 *
 * The query has the list's search, `newest`: the id of its first row, and `open`: its unfinished rows, each as
 * `id:status`.
 */
export async function liveUpdate(c: Visit): Promise<Response> {
  const { db, now } = c.get('rt')
  const query = new URL(c.req.url).searchParams
  const asked = readSearch(query, now)
  const { fresh, changed } = await freshRows(c, asked, query)
  if (fresh.length + changed.length === 0) return c.body(null, 204)
  const counts = hasCounts(asked) ? await readCounts(db, projectOf(c.get('actor'))) : null
  c.header('X-New-Rows', String(fresh.length))
  return c.html(
    <InChosenTimes c={c}>
      {fresh.map((row) => (
        <Row c={c} row={row} how="fresh" />
      ))}
      {changed.map((row) => (
        <Row c={c} row={row} how="changed" />
      ))}
      {counts && <Statuses asked={asked} counts={counts} how="changed" />}
    </InChosenTimes>,
  )
}

/** Whether the project's counts by status are also the list's counts. */
export const hasCounts = ({ address }: AskedEvents) =>
  [...address].every(([name, value]) => name === 'status' || name === 'order' || value === 'all')

async function freshRows(
  c: Visit,
  { fields }: AskedEvents,
  query: URLSearchParams,
): Promise<{ fresh: ListedEvent[]; changed: ListedEvent[] }> {
  const rt = c.get('rt')
  const { db } = rt
  const project = projectOf(c.get('actor'))
  const newest = query.get('newest') ?? ''
  const open = query.getAll('open').slice(0, ROWS)
  const shown = new Map(open.map((text) => text.split(':') as [string, string]))
  const ids = [...shown.keys()].filter(isEventId)
  const order = isEventId(newest) ? ('asc' as const) : ('desc' as const)
  const from = { after: order === 'asc' ? newest : null, limit: ROWS }
  const found = fields ? (await search(db, project, { ...toFilters(fields), order }, from)).ids : []
  if (found.length + ids.length === 0) return { fresh: [], changed: [] }
  const rows = await run(db, readEvents(db, project, 'summary', { ids: [...found, ...ids], order: 'desc' }))
  const isFresh = ({ id }: EventRow) => found.includes(id) && !shown.has(id)
  const isChanged = ({ id, status }: EventRow) => shown.has(id) && shown.get(id) !== status
  const named = await withConsumers(
    rt,
    project,
    rows.filter((row) => isFresh(row) || isChanged(row)),
  )
  return { fresh: named.filter(isFresh), changed: named.filter(isChanged) }
}
