import { and, desc, eq, lt } from 'drizzle-orm'
import type { Db } from '../db/client'
import { deliveries, deliveryRuns, resends } from '../followers/schema'
import type { EndpointOf } from './work'

/** Reads the changes that an endpoint is to get once more or that were given up, the newest first. */
export function listDeliveries(
  db: Db,
  { project_id, endpoint_id }: EndpointOf,
  { state, before, take }: { state?: 'pending' | 'failed' | undefined; before: string | null; take: number },
) {
  const d = deliveries
  const own = and(eq(d.project_id, project_id), eq(d.endpoint_id, endpoint_id))
  return db
    .select()
    .from(d)
    .where(and(own, state && eq(d.state, state), before === null ? undefined : lt(d.seq, Number(before))))
    .orderBy(desc(d.seq))
    .limit(take)
}
export type DeliveryRow = ReturnType<typeof listDeliveries>['_']['result'][number]

/** Reads the log of an endpoint, the newest first: what was sent together is one row. */
export function listRuns(db: Db, { project_id, endpoint_id }: EndpointOf, before: string | null, take: number) {
  const r = deliveryRuns
  const own = and(eq(r.project_id, project_id), eq(r.endpoint_id, endpoint_id))
  return db
    .select({ id: r.id, log: r.log })
    .from(r)
    .where(and(own, before === null ? undefined : lt(r.id, before)))
    .orderBy(desc(r.id))
    .limit(take)
}
export type RunRow = ReturnType<typeof listRuns>['_']['result'][number]

/** Reads the newest ranges that were resent to an endpoint, or are being resent. */
export function listResends(db: Db, { project_id, endpoint_id }: EndpointOf, take: number) {
  const r = resends
  const own = and(eq(r.project_id, project_id), eq(r.endpoint_id, endpoint_id))
  return db.select().from(r).where(own).orderBy(desc(r.id)).limit(take)
}

/** Reads a range that is resent. */
export function findResend(db: Db, { project_id, endpoint_id }: EndpointOf, id: string) {
  const r = resends
  return db
    .select()
    .from(r)
    .where(and(eq(r.project_id, project_id), eq(r.endpoint_id, endpoint_id), eq(r.id, id)))
}
export type ResendRow = ReturnType<typeof findResend>['_']['result'][number]
