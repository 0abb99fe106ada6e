import { batch, type Db } from '../../db/client'
import { type Page, paging } from '../../http/page'
import { idRange } from '../../lib/ids'
import { beyond, newestArchived } from '../archive/age'
import { type EventRow, fitting, readEvents, type View } from '../events/events'
import { PREFIX_OF } from '../sources'
import { checksOf } from './conditions'
import { type Filters, type SearchFields, toFilters } from './filters'
import { type IdRange, type Read, readSearchFacts, scan } from './find'
import { chooseIndex } from './indexes'
import { MAX_LOOKED_AT, MAX_LOOKED_AT_OF_CONSUMER } from './limits'

/**
 * Ids of matching events, in order. `resume`: the id to continue after, if the search met its bound before it found as
 * many as were asked for; else null.
 */
export type FoundIds = { ids: string[]; resume: string | null }

/**
 * Finds the first `limit` events that match, after the event `after`.
 *
 * It reads one index (see indexes.ts), of which each key has a list of events in order of time. It reads the first
 * events of every list, and as many again, and so on, until it has found enough or looked at {@link MAX_LOOKED_AT}, or {@link MAX_LOOKED_AT_OF_CONSUMER} for a consumer.
 */
export async function search(
  db: Db,
  project: string,
  filters: Filters,
  { after, limit }: { after: string | null; limit: number },
): Promise<FoundIds> {
  const facts = await readSearchFacts(db, project, filters)
  const { index, keys } = chooseIndex(filters, facts)
  if (keys.length === 0) return { ids: [], resume: null }
  const checks = checksOf(project, filters, facts, index.answers)
  const ids: string[] = []
  let range = rangeOf(filters, after)
  let left = filters.consumer ? MAX_LOOKED_AT_OF_CONSUMER : MAX_LOOKED_AT
  let each = index.short ? left : checks === null ? limit : limit * 4
  for (;;) {
    const most = Math.max(1, Math.min(each, Math.floor(left / keys.length)))
    const lists = await scan(db, project, filters, { index, keys, checks, range, limit: most })
    const end = commonEnd(lists, most, filters.order)
    ids.push(...merged(lists, end, filters.order))
    if (ids.length >= limit || end === null) return { ids: ids.slice(0, limit), resume: null }
    left -= lists.reduce((sum, { looked }) => sum + looked, 0)
    if (left < keys.length) return { ids, resume: end }
    range = filters.order === 'desc' ? { ...range, below: end } : { ...range, above: end }
    each *= 4
  }
}

/**
 * The id up to which every list was read: the nearest last id of those lists that may continue. Null if none does.
 * What was read beyond it is left for the next time, when the other lists have come as far.
 */
export function commonEnd(lists: readonly Read[], most: number, order: 'asc' | 'desc'): string | null {
  const ends = lists.flatMap(({ looked, last }) => (looked >= most && last !== null ? [last] : [])).sort()
  return (order === 'desc' ? ends.at(-1) : ends[0]) ?? null
}

export function merged(lists: readonly Read[], end: string | null, order: 'asc' | 'desc'): string[] {
  // An event is in two lists if it refers to two customers of one consumer.
  const ids = [...new Set(lists.flatMap(({ matches }) => matches))].sort()
  const until = ids.filter((id) => end === null || (order === 'desc' ? id >= end : id <= end))
  return order === 'desc' ? until.reverse() : until
}

/** The time range as a range of ids, which begin with the time of receipt, from the last event shown on. */
export function rangeOf({ source, after, before, order }: Filters, shown: string | null): IdRange {
  const { above, below } = idRange(PREFIX_OF[source], after, before)
  if (shown === null) return { above, below }
  return order === 'desc'
    ? { above, below: shown < below ? shown : below }
    : { above: shown > above ? shown : above, below }
}

type Asked = { cursor: string | undefined; limit: number }

/**
 * Finds a page of the events that match.
 *
 * @returns `read` reads them, and `pageOf` makes the page. `truncated`: the search met its bound before the page was
 *   full.
 * @throws {Fault} `validation_failed`, `invalid_cursor`
 */
export async function findPage(db: Db, projectId: string, fields: SearchFields, { cursor, limit }: Asked) {
  const list = paging('webhooks/search', { ...fields, cursor, limit })
  const { ids, resume } = await search(db, projectId, toFilters(fields), { after: list.before, limit: list.take })
  let more = beyond([])
  return {
    read: async (view: View) => {
      const { rows, newest } = await batch(db, {
        rows: readEvents(db, projectId, view, { ids, order: fields.order }),
        newest: newestArchived(db, projectId),
      })
      more = beyond(newest)
      return rows
    },
    pageOf: (rows: EventRow[]): Page<EventRow> & { truncated: boolean } & typeof more => ({
      ...list.stopped(
        list.page(rows, (row) => row, fitting(rows)),
        resume,
      ),
      ...more,
    }),
  }
}
