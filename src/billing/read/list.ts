import { cursorBinding, makeCursor, type Page, readCursor, toPage } from '../../http/page'
import type { ObjectKind } from '../../lib/billing-kinds'
import { type Presented, present } from './present'
import type { ListRow, ObjectFilters, ObjectRow, Position } from './store'

/**
 * A list of objects as it is asked for: what to give `listObjects`, and the page that its rows make.
 *
 * @throws {Fault} `invalid_cursor`
 */
export function listing(kind: ObjectKind, asked: ObjectFilters & { limit: number; cursor?: string | undefined }) {
  const { limit, cursor, ...filters } = asked
  const binding = cursorBinding(kind, asked)
  const key = readCursor(binding, cursor)
  return {
    filters,
    before: key === null ? null : positionOf(key),
    /** One row more than the page shows: whether there are more. */
    take: limit + 1,
    /** `truncated`: the page ended because it had gone through as many rows as a page may. */
    page(rows: readonly ListRow[]): Page<Presented> & { truncated: boolean } {
      const page = toPage(rows.filter(isObject), limit, binding, keyOf, present)
      const end = rows.find((row) => !isObject(row))
      if (page.has_more || !end) return { ...page, truncated: false }
      return { ...page, has_more: true, next_cursor: makeCursor(binding, keyOf(end)), truncated: true }
    },
  }
}

function isObject(row: ListRow): row is ObjectRow {
  return row.body !== null
}

function keyOf({ vendor_id, vendor }: Position): string {
  return `${vendor} ${vendor_id}`
}

function positionOf(key: string): Position {
  const space = key.indexOf(' ')
  return { vendor: key.slice(0, space), vendor_id: key.slice(space + 1) }
}
