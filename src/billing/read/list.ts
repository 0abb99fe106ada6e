import { type Page, paging } from '../../http/page'
import type { ObjectKind } from '../../lib/billing-kinds'
import { sortable } from './fields'
import { type Presented, present } from './present'
import type { ListRow, ObjectFilters, ObjectRow, Position } from './store'

/**
 * A list of objects as it is asked for: what to give `listObjects`, and the page that its rows make.
 *
 * @throws {Fault} `invalid_cursor`
 */
export function listing(kind: ObjectKind, asked: ObjectFilters & { limit: number; cursor?: string | undefined }) {
  const { limit: _limit, cursor: _cursor, ...filters } = asked
  const { before, take, page, stopped } = paging(`${kind} by change`, asked, keyOf)
  return {
    filters: {
      ...filters,
      updated_after: bound(filters.updated_after),
      created_after: bound(filters.created_after),
    },
    before: before === null ? null : positionOf(before),
    take,
    /** `truncated`: the page ended because it had gone through as many rows as a page may. */
    page(rows: readonly ListRow[]): Page<Presented> & { truncated: boolean } {
      const end = rows.find((row) => !isObject(row))
      return stopped(page(rows.filter(isObject), present), end ? keyOf(end) : null)
    },
  }
}

function bound(time: string | undefined): string | undefined {
  return time === undefined ? undefined : (sortable(time) ?? undefined)
}

export function isObject(row: ListRow): row is ObjectRow {
  return row.body !== null
}

function keyOf({ vendor, updated, vendor_id }: Position): string {
  return `${vendor} ${updated} ${vendor_id}`
}

function positionOf(key: string): Position {
  const [vendor = '', updated = '', ...rest] = key.split(' ')
  return { vendor, updated, vendor_id: rest.join(' ') }
}
