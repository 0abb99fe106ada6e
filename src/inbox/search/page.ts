import { type Db, run } from '../../db/client'
import { type Page, paging } from '../../http/page'
import { type EventRow, fitting, readEvents, type View } from '../events/store'
import { type SearchFields, toFilters } from './filters'
import { search } from './search'

type Asked = { cursor: string | undefined; limit: number }

/**
 * Finds a page of the events that match.
 *
 * @returns `read` reads them, and `present` makes the page. `truncated`: the search met its bound before the page was
 *   full.
 * @throws {Fault} `validation_failed`, `invalid_cursor`
 */
export async function findPage(db: Db, projectId: string, fields: SearchFields, { cursor, limit }: Asked) {
  const list = paging('webhooks/search', { ...fields, cursor, limit })
  const { ids, resume } = await search(db, projectId, toFilters(fields), { after: list.before, limit: list.take })
  return {
    read: (view: View) => run(db, readEvents(db, projectId, view, { ids, order: fields.order })),
    present: <T>(rows: readonly EventRow[], present: (row: EventRow) => T): Page<T> & { truncated: boolean } =>
      list.stopped(list.page(rows, present, fitting(rows)), resume),
  }
}
