import { eq, max } from 'drizzle-orm'
import type { Db, Results } from '../../db/client'
import { iso } from '../../lib/time'
import { PACKED_PERIOD_MS } from './limits'
import { archives } from './schema'

/** The beginning (ms) of the period of a time. */
export function periodOf(time: number): number {
  return Math.floor(time / PACKED_PERIOD_MS) * PACKED_PERIOD_MS
}

/** Reads when the newest archived event of a project was received. It reads one row. */
export function newestArchived(db: Db, projectId: string) {
  return db
    .select({ last_at: max(archives.last_at) })
    .from(archives)
    .where(eq(archives.project_id, projectId))
}
type Newest = Results<{ newest: ReturnType<typeof newestArchived> }>['newest']

/** The time (ms) before which events of a project may be archived; null if none is. */
export function archivedBefore([newest]: Newest): number | null {
  const last = newest?.last_at ?? null
  return last === null ? null : periodOf(last) + PACKED_PERIOD_MS
}

/** What a list of events says of those that it leaves out. */
export function beyond(newest: Newest): { archived_before: string | null } {
  const before = archivedBefore(newest)
  return { archived_before: before === null ? null : iso(before) }
}
