import type { Db } from '../db/client'
import { cursorBinding, makeCursor, type Page, readCursor, toPage } from '../http/page'
import type { Kind } from '../lib/billing-kinds'
import { type Presented, present } from './present'
import { listObjects, type ObjectFilters, type Position } from './store'

export type Asked = ObjectFilters & { limit: number; cursor?: string | undefined }

/** A page of a list, for the API and the console. `truncated`: it read as many rows as it may before it was full. */
export async function objectPage(
  db: Db,
  projectId: string,
  kind: Kind,
  asked: Asked,
): Promise<Page<Presented> & { truncated: boolean }> {
  const { limit, cursor, ...filters } = asked
  const binding = cursorBinding(kind, asked)
  const key = readCursor(binding, cursor)
  const before = key === null ? null : positionOf(key)
  const { rows, resume } = await listObjects(db, projectId, kind, filters, before, limit + 1)
  const page = toPage(rows, limit, binding, keyOf, present)
  if (page.has_more || resume === null) return { ...page, truncated: false }
  return { ...page, has_more: true, next_cursor: makeCursor(binding, keyOf(resume)), truncated: true }
}

function keyOf({ vendor_id, vendor }: Position): string {
  return `${vendor} ${vendor_id}`
}

function positionOf(key: string): Position {
  const space = key.indexOf(' ')
  return { vendor: key.slice(0, space), vendor_id: key.slice(space + 1) }
}
