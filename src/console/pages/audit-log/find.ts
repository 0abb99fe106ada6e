import { auditPaging, countAudit, type ListRow, readAudit } from '../../../audit-log/read'
import type { Database, Query } from '../../../db/client'
import { batchCounting } from '../../../db/total'
import { projectOf } from '../../../http/auth'
import { type Part, totalOn } from '../../list'
import type { Visit } from '../../page'
import type { ReadableEntries } from './filters'
import type { Present } from './names'

/** Reads the names for the entries of a page. */
type ReadNames = (rows: readonly ListRow[]) => Promise<Present>

/** Reads a page of the audit log. `total`: see {@link totalOn}. */
export async function findEntries(c: Visit, asked: ReadableEntries, { counts, ...part }: Part, readNames: ReadNames) {
  const { filters, order } = asked
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const list = auditPaging('console/audit-log', { ...filters, ...part, order })
  const isCounted = counts && part.cursor === undefined
  /** What each database that is read has counted. Null says nothing. */
  const parts: (number | null)[] = []
  const from = (db: Database) => async (rows: Query<ListRow[]>) => {
    const [found, counted] = await batchCounting(db, { rows }, isCounted ? countAudit(db, project, filters) : null)
    parts.push(counted?.n ?? null)
    return found.rows
  }
  const rows = await readAudit(rt, { own: from(rt.db), other: from(rt.directory) }, project, list)
  const page = list.page(rows, await readNames(rows))
  return { ...page, total: totalOn(page, part.cursor, sumOf(parts)) }
}

function sumOf(parts: readonly (number | null)[]): number | null {
  return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0)
}
