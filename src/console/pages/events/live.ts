import { type Db, run } from '../../../db/client'
import { type EventRow, readEvents } from '../../../inbox/events/store'
import { toFilters } from '../../../inbox/search/filters'
import { search } from '../../../inbox/search/search'
import { idPattern } from '../../../lib/ids'
import { ROWS } from '../../list'
import { readSearch } from './search-query'

const EVENT_ID = idPattern('evt')

/**
 * Finds what has changed since the list was shown.
 *
 * @param query the list's search; `newest`: the id of its first row; `open`: its unfinished rows, each as `id:status`
 * @returns `fresh`: newer events; `changed`: unfinished events whose status has changed
 */
export async function freshRows(
  db: Db,
  project: string,
  query: URLSearchParams,
): Promise<{ fresh: EventRow[]; changed: EventRow[] }> {
  const { fields } = readSearch(query)
  const newest = query.get('newest') ?? ''
  const open = query.getAll('open').slice(0, ROWS)
  const shown = new Map(open.map((text) => text.split(':') as [string, string]))
  const ids = [...shown.keys()].filter((id) => EVENT_ID.test(id))
  const order = EVENT_ID.test(newest) ? ('asc' as const) : ('desc' as const)
  const found = fields
    ? (
        await search(
          db,
          project,
          { ...toFilters(fields), order },
          { after: order === 'asc' ? newest : null, limit: ROWS },
        )
      ).ids
    : []
  if (found.length + ids.length === 0) return { fresh: [], changed: [] }
  const rows = await run(db, readEvents(db, project, 'summary', { ids: [...found, ...ids], order: 'desc' }))
  return {
    fresh: rows.filter(({ id }) => found.includes(id) && !shown.has(id)),
    changed: rows.filter(({ id, status }) => shown.has(id) && shown.get(id) !== status),
  }
}
