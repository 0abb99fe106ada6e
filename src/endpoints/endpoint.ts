import { and, desc, eq, getTableColumns, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { entriesOf } from '../audit/store'
import { changes } from '../changes/schema'
import type { Db } from '../db/client'
import { webhookEndpoints } from '../followers/schema'
import { isEndpoint } from './work'

const c = alias(changes, 'c')

/** An entry of the audit log about an endpoint. */
export const endpointEntry = entriesOf('webhook_endpoint')

/** Reads an endpoint of the project. */
export function findEndpoint(db: Db, projectId: string, id: string) {
  return selectEndpoints(db, isEndpoint({ project_id: projectId, endpoint_id: id }))
}

/** Reads the endpoints of the project, newest first, from before the endpoint `before`. */
export function listEndpoints(db: Db, projectId: string, before: string | null, limit: number) {
  const { project_id, id } = webhookEndpoints
  return selectEndpoints(db, and(eq(project_id, projectId), before === null ? undefined : lt(id, before)))
    .orderBy(desc(id))
    .limit(limit)
}

/** With the number of the newest change of the project. */
function selectEndpoints(db: Db, condition: SQL | undefined) {
  const head = sql<number>`coalesce((SELECT max(${c.seq}) FROM ${changes} ${c} WHERE ${c.project_id} = "webhook_endpoints"."project_id"), 0)`
  return db
    .select({ ...getTableColumns(webhookEndpoints), head: head.as('head') })
    .from(webhookEndpoints)
    .where(condition)
}
export type EndpointRow = Awaited<ReturnType<typeof findEndpoint>>[number]
