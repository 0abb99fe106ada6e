import { type Query, run } from '../db/client'
import type { Runtime } from '../env'
import { isOne } from '../http/read'
import { keyNamesOf, type ListRow, listAudit } from './read-store'

/** What to read of the log: see `auditPaging`. */
type Asked = { filters: Parameters<typeof listAudit>[2]; at: { before: string | null; take: number } }

/**
 * Reads a page of a project's audit log. Changes of members are logged in the directory, where members are, and all others
 * in the project's store. If these are two databases, both are read at the same time, and the rows are merged by id.
 *
 * @param own sends the statement for the store, with the caller's credentials where they have not been read
 * @throws {Fault} `database_unavailable` if either does not answer: part of the log must not look like the whole log
 */
export async function readAudit(
  { db, directory }: Runtime,
  own: (rows: Query<ListRow[]>) => Promise<ListRow[]>,
  projectId: string,
  { filters, at }: Asked,
): Promise<ListRow[]> {
  const inStore = listAudit(db, projectId, filters, at)
  if (isOne(db, directory)) return own(inStore)
  const lists = await Promise.all([own(inStore), run(directory, listAudit(directory, projectId, filters, at))])
  const rows = mergeLists(lists, at.take)
  const unnamed = rows.filter((row) => row.actor_type === 'api_key' && row.actor_name === null)
  if (unnamed.length === 0) return rows
  const ids = unnamed.map(({ actor_id }) => actor_id as string)
  const names = new Map((await run(db, keyNamesOf(db, projectId, ids))).map(({ id, name }) => [id, name]))
  return rows.map((row) => ({ ...row, actor_name: row.actor_name ?? names.get(row.actor_id ?? '') ?? null }))
}

/**
 * Merges lists of one log, newest first. A list that stopped before the page was full says nothing about what is older
 * than its last row, so neither does the result.
 */
function mergeLists(lists: readonly ListRow[][], take: number): ListRow[] {
  const ends = lists.flat().filter(({ action }) => action === null)
  const end = ends.sort(newestFirst)[0]
  const entries = lists.flat().filter(({ id, action }) => action !== null && (!end || id >= end.id))
  return [...entries.sort(newestFirst), ...(end ? [end] : [])].slice(0, take)
}

function newestFirst(a: ListRow, b: ListRow): number {
  return a.id < b.id ? 1 : -1
}
