import type { Db } from '../../db/client'
import { cursorBinding, makeCursor, type Page, readCursor, toPage } from '../../http/page'
import { type EventRow, MAX_PAGE_BYTES, readEvents } from '../events/store'
import { type SearchFields, toFilters } from './filters'
import { search } from './search'

/**
 * A page of the events that a search finds. `truncated`: the search met its bound before the page was full.
 *
 * @param options `full` reads the payloads too
 * @throws {Fault} `validation_failed`, `invalid_cursor`
 */
export async function searchPage(
  db: Db,
  projectId: string,
  fields: SearchFields,
  { cursor, limit, full }: { cursor: string | undefined; limit: number; full: boolean },
): Promise<Page<EventRow> & { truncated: boolean }> {
  const binding = cursorBinding('webhooks/search', fields)
  const found = await search(db, projectId, toFilters(fields), readCursor(binding, cursor), limit + 1)
  const rows = await readEvents(db, projectId, found.ids, fields.order, full)
  const page = pageOf(rows, limit, binding)
  if (page.has_more || found.resume === null) return { ...page, truncated: false }
  return { ...page, has_more: true, next_cursor: makeCursor(binding, found.resume), truncated: true }
}

/** A page that stops before its payloads grow too large; its first row is shown whatever its size. */
export function pageOf(rows: EventRow[], limit: number, binding: string): Page<EventRow> {
  const over = rows.findIndex((row, index) => index > 0 && row.running > MAX_PAGE_BYTES)
  const shown = over < 0 ? limit : Math.min(limit, over)
  return toPage(
    rows,
    shown,
    binding,
    (row) => row.id,
    (row) => row,
  )
}
