import { type Page, paging } from '../http/page'
import type { AuditFilters } from './filters'
import type { AuditRow, ListRow } from './read-store'

/**
 * A page of the audit log as it is asked for: what to give `listAudit`, and the page that its rows make. `truncated`: the
 * page ended because it had looked at as many entries as a page may.
 *
 * @param name of the list: a cursor is good for one list
 * @throws {Fault} `invalid_cursor`
 */
export function auditPaging(name: string, asked: AuditFilters & { limit: number; cursor?: string | undefined }) {
  const { limit: _limit, cursor: _cursor, ...filters } = asked
  const { before, take, page, stopped } = paging(name, asked)
  return {
    filters,
    at: { before, take },
    page<T>(rows: readonly ListRow[], present: (row: AuditRow) => T): Page<T> & { truncated: boolean } {
      const end = rows.find((row) => !isEntry(row))
      return stopped(page(rows.filter(isEntry), present), end?.id ?? null)
    },
  }
}

/** The ids of the actors of these entries. */
export function actorsOf(rows: readonly ListRow[]): string[] {
  return rows.flatMap(({ actor_id }) => actor_id ?? [])
}

function isEntry(row: ListRow): row is AuditRow {
  return row.action !== null
}
