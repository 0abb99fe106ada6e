import { and, eq, ne, or } from 'drizzle-orm'
import type { Db } from '../db/client'
import { webhookEndpoints } from '../followers/schema'
import { MAX_ENDPOINTS } from './limits'

/** Reads the endpoints of a project that take nothing, or that were disabled for that. */
export function findUnwell(db: Db, projectId: string) {
  const { id, url, state, disabled_reason, project_id } = webhookEndpoints
  return db
    .select({ id, url, state, disabled_reason })
    .from(webhookEndpoints)
    .where(
      and(
        eq(project_id, projectId),
        or(eq(state, 'failing'), and(eq(state, 'disabled'), ne(disabled_reason, 'requested'))),
      ),
    )
    .limit(MAX_ENDPOINTS)
}
