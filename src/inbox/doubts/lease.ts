import { and, eq, lte, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isKnownOverdue } from '../../billing/overdue/overdue'
import { billingObjects } from '../../billing/schema'
import { areItemsMissing } from '../../billing/store'
import { batch, type Db } from '../../db/client'
import { isDeleted } from '../../tenancy/project'
import { CLOCKS_DIFFER_MS } from '../fetches/limits'
import { findProjectKeys, type SourceKeyRow } from '../refresh/keys'
import { ASKED_AGAIN_MS, DOUBT_LEASE_MS, DOUBTS_AT_ONCE } from './limits'
import { vendorDoubts } from './schema'

const d = alias(vendorDoubts, 'd')
const { vendor, kind, object_id, project_id, tries, lease_token } = vendorDoubts

/** An object that this worker asks for. */
export type Doubt = Awaited<ReturnType<typeof takeDoubts>>['doubts'][number]

/**
 * Takes objects of a project that are due, so that no other worker asks for them, and reads the keys of the project. `is_overdue`: whether
 * the object is a subscription that should have renewed.
 */
export async function takeDoubts(db: Db, projectId: string, token: string, now: number) {
  const until = now + CLOCKS_DIFFER_MS
  const isDue = and(eq(d.project_id, projectId), lte(d.due_at, until), lte(d.lease_until, now))
  const some = sql`SELECT ${d.vendor}, ${d.kind}, ${d.object_id} FROM ${vendorDoubts} ${d} INDEXED BY vendor_doubts_due
    WHERE ${isDue} ORDER BY ${d.due_at} LIMIT ${DOUBTS_AT_ONCE}`
  const isTaken = and(eq(project_id, projectId), sql`(${vendor}, ${kind}, ${object_id}) IN (${some})`)
  const { doubts, keys } = await batch(db, {
    doubts: db
      .update(vendorDoubts)
      .set({ lease_token: token, lease_until: now + DOUBT_LEASE_MS })
      .where(and(isTaken, not(isDeleted(project_id))))
      .returning({ project_id, vendor, kind, object_id, is_overdue: existsOf(isKnownOverdue(billingObjects, now)) }),
    keys: findProjectKeys(db, projectId),
  })
  return { doubts, keys: keys as readonly SourceKeyRow[] }
}

/** Whether the object of a row of `vendor_doubts` is like this. */
function existsOf(like: SQL) {
  const isObject = and(
    eq(billingObjects.project_id, project_id),
    eq(billingObjects.kind, kind),
    eq(billingObjects.vendor_id, object_id),
    eq(billingObjects.vendor, vendor),
  )
  return sql<boolean>`EXISTS (SELECT 1 FROM ${billingObjects} WHERE ${and(isObject, like)})`.mapWith(Boolean)
}

/** How an object was not asked for: when it is due again (ms). That spends no try. */
export type Later = { doubt: Doubt; due_at: number }

/**
 * Gives back what was taken. Deletes the rows of objects that are no longer in doubt or overdue, or that the vendor was asked for often enough.
 * For the other objects, the vendor is asked again later.
 */
export async function endDoubts(db: Db, projectId: string, token: string, later: readonly Later[]): Promise<void> {
  const now = Date.now()
  const held = and(eq(project_id, projectId), eq(lease_token, token))
  const { ambiguous, incomplete } = billingObjects
  const isMarked = or(eq(ambiguous, true), eq(incomplete, true), isKnownOverdue(billingObjects, now))
  const isInDoubt = existsOf(or(areItemsMissing, and(ne(billingObjects.kind, 'purchase'), isMarked)) as SQL)
  const free = { lease_token: null, lease_until: 0 }
  const list = JSON.stringify(later.map(({ doubt, due_at }) => ({ ...doubt, due_at })))
  const isOne = sql`${vendor} = j.value->>'vendor' AND ${kind} = j.value->>'kind' AND ${object_id} = j.value->>'object_id'`
  const waits = ASKED_AGAIN_MS.map((wait, i) => sql`WHEN ${tries} = ${i} THEN ${wait}`)
  await batch(db, {
    settled: db.delete(vendorDoubts).where(and(held, not(isInDoubt))),
    ...(later.length > 0 && {
      later: db
        .update(vendorDoubts)
        .set({ ...free, due_at: sql`CAST(j.value->>'due_at' AS INTEGER)` })
        .from(sql`json_each(${list}) j`)
        .where(and(held, isOne)),
    }),
    over: db.delete(vendorDoubts).where(and(held, sql`${tries} >= ${ASKED_AGAIN_MS.length}`)),
    again: db
      .update(vendorDoubts)
      .set({ ...free, tries: sql`${tries} + 1`, due_at: sql`${now} + CASE ${sql.join(waits, sql` `)} END` })
      .where(held),
  })
}
