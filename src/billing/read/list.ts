import { type Order, type Page, paging } from '../../http/page'
import type { ObjectKind } from '../../lib/billing-kinds'
import { MAX_OBJECT_LIST_BYTES } from '../limits'
import { sortable } from './fields'
import type { ObjectFilters } from './filters'
import type { ListedObject, ListedRow, Position } from './store'

/** A page of a list, as it is asked for. */
export type AskedObjects = Omit<ObjectFilters, 'overdue' | 'overdue_invoice'> & {
  overdue?: boolean | undefined
  order?: Order | undefined
  limit: number
  cursor?: string | undefined
}

/**
 * A list of objects as it is asked for: what to give `listObjects`, and the page that its rows make.
 *
 * @param asked.overdue of subscriptions and of invoices, at `now` (ms)
 * @throws {Fault} `invalid_cursor`
 */
export function listing(kind: ObjectKind, asked: AskedObjects, now: number) {
  const { limit: _limit, cursor: _cursor, overdue, order, ...filters } = asked
  const at = overdue === undefined ? undefined : { is: overdue, now }
  const { before, take, page, upTo, stopped } = paging(`${kind} by change`, asked, keyOf)
  return {
    filters: {
      ...filters,
      ...(kind === 'invoice' ? { overdue_invoice: at } : { overdue: at }),
      updated_after: bound(filters.updated_after),
      created_after: bound(filters.created_after),
    },
    order,
    before: before === null ? null : positionOf(before),
    take,
    bytes: MAX_OBJECT_LIST_BYTES,
    /** `truncated`: the page ended because it had gone through as many rows as a page may. */
    page<T>(rows: readonly ListedRow[], shown: (row: ListedObject) => T): Page<T> & { truncated: boolean } {
      const objects = rows.filter(isListedObject)
      const beyond = rows.find((row) => !isListedObject(row))
      const last = objects.at(-1)
      // An object that no longer fits is on the next page, as one beyond the limit is.
      if (beyond?.part === 'over' && last) return { ...upTo(objects.map(shown), keyOf(last)), truncated: false }
      return stopped(page(objects, shown), beyond ? keyOf(beyond) : null)
    },
  }
}

function bound(time: string | undefined): string | undefined {
  return time === undefined ? undefined : (sortable(time) ?? undefined)
}

export function isListedObject(row: ListedRow): row is ListedObject {
  return row.part === 'object'
}

function keyOf({ vendor, updated, vendor_id }: Position): string {
  return `${vendor} ${updated} ${vendor_id}`
}

function positionOf(key: string): Position {
  const [vendor = '', updated = '', ...rest] = key.split(' ')
  return { vendor, updated, vendor_id: rest.join(' ') }
}
