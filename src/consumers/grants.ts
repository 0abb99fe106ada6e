import { and, type Column, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/client'
import { consumerIdOf } from './read'
import type { ConsumerRef } from './ref'
import { grants } from './schema'

/**
 * Whether a grant is live: it was not revoked and has not expired. One that has not started is live too.
 *
 * @param now milliseconds
 */
export function isLive({ revoked_at, expires_at }: { revoked_at: Column; expires_at: Column }, now: number | SQL) {
  return and(isNull(revoked_at), or(isNull(expires_at), gt(expires_at, now)))
}

const owned = alias(grants, 'owned')

/** Counts the live grants of a consumer, as a subquery. */
export function liveCount(projectId: string, of: ConsumerRef, now: number): SQL {
  return sql`(SELECT count(*) FROM ${grants} ${owned} NOT INDEXED
    WHERE ${owned.project_id} = ${projectId} AND ${owned.consumer_id} = ${consumerIdOf(projectId, of)} AND ${isLive(owned, now)})`
}

/** Reads how many live grants a consumer has. */
export function countGrants(db: Db, projectId: string, of: ConsumerRef, now: number) {
  const n = sql<number>`${liveCount(projectId, of, now)}`.as('n')
  return db.select({ n }).from(sql`(SELECT 1)`)
}

/** Gives all grants of a consumer to another one. */
export function grantsMoved(db: Db, projectId: string, from: string, to: string) {
  return db.update(grants).set({ consumer_id: to }).where(ofConsumer(projectId, from))
}

/** Removes the reasons of a consumer's grants, which may name the person: for the erasure of the consumer. */
export function reasonsErased(db: Db, projectId: string, consumerId: string) {
  return db
    .update(grants)
    .set({ reason: null })
    .where(and(ofConsumer(projectId, consumerId), isNotNull(grants.reason)))
}

function ofConsumer(projectId: string, id: string): SQL | undefined {
  return and(eq(grants.project_id, projectId), eq(grants.consumer_id, id))
}
