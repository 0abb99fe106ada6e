import { and, desc, eq, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { type Db, raw } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Scope } from '../lib/access'
import { MAX_OPEN_NOTICES } from './limits'
import { NOTICE_KINDS, type NoticeKind, notices } from './schema'

/** The scope that reads the objects of a kind. */
const SCOPE: Record<NoticeKind, Scope> = {
  key_exposed: 'api_keys:read',
  key_expiring: 'api_keys:read',
  connection_degraded: 'connections:read',
  events_failing: 'connections:read',
  connection_silent: 'connections:read',
  renewals_missing: 'billing:read',
  format_changed: 'connections:read',
  endpoint_failing: 'webhooks:read',
  endpoint_disabling: 'webhooks:read',
  endpoint_disabled: 'webhooks:read',
}

/** The kinds that a caller may read. */
export function kindsFor(scopes: readonly Scope[]): NoticeKind[] {
  return NOTICE_KINDS.filter((kind) => scopes.includes(SCOPE[kind]))
}

type Asked = { open?: boolean | undefined; kinds: readonly NoticeKind[]; before: string | null; take: number }

/** Reads notices of a project, the newest first, starting after the notice `before`. */
export function listNotices(db: Db, projectId: string, { open, kinds, before, take }: Asked) {
  const closed = notices.closed_at
  return db
    .select()
    .from(notices)
    .where(
      and(
        eq(notices.project_id, projectId),
        before === null ? undefined : lt(notices.id, before),
        open === undefined ? undefined : open ? isNull(closed) : isNotNull(closed),
        inArray(notices.kind, valuesOf(kinds)),
      ),
    )
    .orderBy(desc(notices.id))
    .limit(take)
}

/** Counts the open notices of a project: for the bell. */
export function countOpenNotices(db: Db, projectId: string) {
  return raw(
    db,
    { n: sql<number>`count(*)` },
    (fields) => sql`SELECT ${fields} FROM (SELECT 1 FROM ${notices} INDEXED BY notices_open
      WHERE ${and(eq(notices.project_id, projectId), isNull(notices.closed_at))} LIMIT ${MAX_OPEN_NOTICES})`,
  )
}
