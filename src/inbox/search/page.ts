import { type Db, run } from '../../db/client'
import { type Page, paging } from '../../http/page'
import { type EventRow, fitting, readEvents, type View } from '../events/store'
import { type SearchFields, toFilters } from './filters'
import { search } from './search'

/**
 * A page of the events that match. `truncated`: the search met its bound before the page was full.
 *
 * @throws {Fault} `validation_failed`, `invalid_cursor`
 */
export async function searchPage(
  db: Db,
  projectId: string,
  fields: SearchFields,
  { cursor, limit, view }: { cursor: string | undefined; limit: number; view: View },
): Promise<Page<EventRow> & { truncated: boolean }> {
  const list = paging('webhooks/search', { ...fields, cursor, limit })
  const found = await search(db, projectId, toFilters(fields), { after: list.before, limit: list.take })
  const rows = await run(db, readEvents(db, projectId, view, { ids: found.ids, order: fields.order }))
  return list.stopped(
    list.page(rows, (row) => row, fitting(rows)),
    found.resume,
  )
}
