import { and, asc, desc, eq, isNull, lte, ne, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes, changesEpoch, type StoredChange } from '../changes/schema'
import { type Db, type Queries, type Results, raw } from '../db/client'
import { json } from '../db/sql'
import { changesAfter, oldestChange } from '../feed/read'
import { deliveries, resends, webhookEndpoints } from '../followers/schema'
import { isDeleted } from '../tenancy/project'
import { LEASE_MS, MAX_PENDING, PAGE, RETRIES } from './limits'

const e = alias(webhookEndpoints, 'e')
const r = alias(resends, 'r')
const c = alias(changes, 'c')
const d = alias(deliveries, 'd')

/** An endpoint, by its project. */
export type EndpointOf = { project_id: string; endpoint_id: string }
export type Endpoint = typeof webhookEndpoints.$inferSelect

/** An endpoint by its key. */
export function isEndpoint({ project_id, endpoint_id }: EndpointOf): SQL | undefined {
  return and(eq(webhookEndpoints.project_id, project_id), eq(webhookEndpoints.id, endpoint_id))
}

/** Takes an endpoint, so that no other worker sends to it. It is not taken before its time, or while its project is deleted. */
export function taken(db: Db, of: EndpointOf, { token, now }: { token: string; now: number }) {
  const { state, lease_until, not_before, project_id } = webhookEndpoints
  const isFree = and(ne(state, 'disabled'), lte(lease_until, now), lte(not_before, now), not(isDeleted(project_id)))
  return db
    .update(webhookEndpoints)
    .set({ lease_token: token, lease_until: now + LEASE_MS, woken_at: 0 })
    .where(and(isEndpoint(of), isFree))
}

/** The statements that read what is to be sent to an endpoint, if the worker has it. */
export function selectWork(db: Db, of: EndpointOf, { token, now }: { token: string; now: number }) {
  const { project_id, endpoint_id } = of
  const own = (value: SQL) =>
    sql`(SELECT ${value} FROM ${webhookEndpoints} ${e} WHERE ${e.project_id} = ${project_id} AND ${e.id} = ${endpoint_id} AND ${e.lease_token} = ${token})`
  const isOpen = and(
    eq(resends.project_id, project_id),
    eq(resends.endpoint_id, endpoint_id),
    isNull(resends.finished_at),
  )
  const resent = (value: SQL) => sql`(SELECT ${value} FROM ${resends} ${r} INDEXED BY resends_open
    WHERE ${r.project_id} = ${project_id} AND ${r.endpoint_id} = ${endpoint_id} AND ${r.finished_at} IS NULL
      AND ${own(sql`1`)} = 1 ORDER BY ${r.id} LIMIT 1)`
  return {
    endpoint: db
      .select()
      .from(webhookEndpoints)
      .where(and(isEndpoint(of), eq(webhookEndpoints.lease_token, token))),
    epoch: db.select().from(changesEpoch),
    head: db
      .select({ seq: changes.seq })
      .from(changes)
      .where(eq(changes.project_id, project_id))
      .orderBy(desc(changes.seq))
      .limit(1),
    oldest: oldestChange(db, project_id),
    page: changesAfter(db, project_id, own(sql`${e.position}`), PAGE),
    due: dueRetries(db, of, { isTaken: sql`${own(sql`1`)} = 1`, isFailing: own(sql`${e.state} = 'failing'`), now }),
    full: fullOfRetries(db, of),
    resend: db.select().from(resends).where(isOpen).orderBy(asc(resends.id)).limit(1),
    again: changesAfter(db, project_id, resent(sql`iif(${r.failed_only}, NULL, ${r.position})`), PAGE),
    failed: failedAfter(db, of, {
      after: resent(sql`iif(${r.failed_only}, ${r.position}, NULL)`),
      until: resent(sql`${r.until}`),
    }),
  } satisfies Queries
}
export type FoundWork = Results<ReturnType<typeof selectWork>>

/**
 * Reads the changes that are due again, the oldest first, each with what the feed keeps of it. While the endpoint is failing, any of
 * them may be the one attempt that it gets.
 */
function dueRetries(
  db: Db,
  { project_id, endpoint_id }: EndpointOf,
  { isTaken, isFailing, now }: { isTaken: SQL; isFailing: SQL; now: number },
) {
  return raw(
    db,
    { seq: d.seq, type: d.type, tries: d.tries, change: changeOfDelivery },
    (fields) => sql`SELECT ${fields} FROM ${deliveries} ${d} INDEXED BY deliveries_due
      WHERE ${d.project_id} = ${project_id} AND ${d.endpoint_id} = ${endpoint_id} AND ${d.due_at} IS NOT NULL AND ${isTaken}
        AND (${d.due_at} <= ${now} OR ${isFailing}) ORDER BY ${d.due_at} LIMIT ${RETRIES}`,
  )
}

/** What the feed keeps of the change of a delivery; null if it no longer has it. */
const place = sql`(${d.seq} - ${c.seq} + json_array_length(${c.items}) - 1)`
const changeOfDelivery = json<{ at: number; item: StoredChange } | null>(
  sql`(SELECT iif(${place} >= 0, json_object('at', ${c.at}, 'item', json_extract(${c.items}, '$[' || ${place} || ']')), NULL)
    FROM ${changes} ${c} WHERE ${c.project_id} = ${d.project_id} AND ${c.seq} >= ${d.seq} ORDER BY ${c.seq} LIMIT 1)`,
)

/** Reads the changes of a range whose attempts have all failed, in order. */
function failedAfter(db: Db, { project_id, endpoint_id }: EndpointOf, { after, until }: { after: SQL; until: SQL }) {
  return raw(
    db,
    { seq: d.seq, change: changeOfDelivery },
    (fields) => sql`SELECT ${fields} FROM ${deliveries} ${d}
      WHERE ${d.project_id} = ${project_id} AND ${d.endpoint_id} = ${endpoint_id} AND ${d.seq} > ${after} AND ${d.seq} <= ${until}
        AND ${d.state} = 'failed' ORDER BY ${d.seq} LIMIT ${PAGE}`,
  )
}

/** Reads whether as many changes wait for another attempt as may: a row if so. */
function fullOfRetries(db: Db, { project_id, endpoint_id }: EndpointOf) {
  return raw(
    db,
    { seq: d.seq },
    (fields) => sql`SELECT ${fields} FROM ${deliveries} ${d} INDEXED BY deliveries_due
      WHERE ${d.project_id} = ${project_id} AND ${d.endpoint_id} = ${endpoint_id} AND ${d.due_at} IS NOT NULL
      LIMIT 1 OFFSET ${MAX_PENDING - 1}`,
  )
}

/**
 * Whether there is something to send to an endpoint now, as an expression over its row.
 *
 * @param position the number of the last change that was sent
 */
export function hasWork(position: SQL, now: number, of: { project_id: SQL; id: SQL; state: SQL }): SQL {
  const isUnread = sql`EXISTS (SELECT 1 FROM ${changes} ${c} WHERE ${c.project_id} = ${of.project_id} AND ${c.seq} > ${position})`
  const isDue = sql`EXISTS (SELECT 1 FROM ${deliveries} ${d} INDEXED BY deliveries_due
    WHERE ${d.project_id} = ${of.project_id} AND ${d.endpoint_id} = ${of.id} AND ${d.due_at} IS NOT NULL
      AND (${d.due_at} <= ${now} OR ${of.state} = 'failing'))`
  const isResent = sql`EXISTS (SELECT 1 FROM ${resends} ${r} INDEXED BY resends_open
    WHERE ${r.project_id} = ${of.project_id} AND ${r.endpoint_id} = ${of.id} AND ${r.finished_at} IS NULL)`
  return sql`(${isUnread} OR ${isDue} OR ${isResent})`
}

/** Whether changes behind the position were deleted before they were sent, or the database was restored. */
export function isLost(
  { epoch, position }: Endpoint,
  { epoch: [own], head: [head], oldest: [oldest] }: FoundWork,
): boolean {
  return epoch !== own?.epoch || position > (head?.seq ?? 0) || position < (oldest?.first ?? 1) - 1
}

/** Lets go of an endpoint that the worker has. */
export function letGo(db: Db, { token, ...of }: EndpointOf & { token: string }) {
  return db
    .update(webhookEndpoints)
    .set({ lease_token: null, lease_until: 0 })
    .where(and(isEndpoint(of), eq(webhookEndpoints.lease_token, token)))
}
