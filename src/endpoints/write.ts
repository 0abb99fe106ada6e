import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited } from '../audit/store'
import { batch, type Db, type Queries, rawWrite } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { bare, valuesOf } from '../db/sql'
import { replaced } from '../db/upsert'
import { deliveries, deliveryRuns, type KeptAttempt, resends, webhookEndpoints } from '../followers/schema'
import { newId } from '../lib/ids'
import { endpointEntry } from './endpoint'
import { LEASE_MS } from './limits'
import type { Outcome, Parked } from './outcome'
import { unwellTold } from './tell'
import { type EndpointOf, hasWork, isEndpoint, selectWork } from './work'

const held = alias(webhookEndpoints, 'held')

/** A worker's lease of an endpoint. */
type Lease = EndpointOf & { token: string }

/**
 * Writes what a run has sent, in one batch that does nothing if the worker no longer has the endpoint. It lets go of it only if nothing
 * came meanwhile: a change that is committed before that is seen here, and one after it wakes the endpoint. Otherwise it reads on in the same trip.
 *
 * @param resend the id of the range that is resent
 * @param isLast whether the run ends here, whatever there is to do
 * @returns what there is to send next; `isLeft`: whether there is anything, or would be in the next run
 */
export async function writeRun(
  db: Db,
  lease: Lease,
  { outcome, resend, isLast }: { outcome: Outcome; resend: string | undefined; isLast: boolean },
) {
  const { progress } = outcome
  const now = Date.now()
  const { project_id, id, state: column } = webhookEndpoints
  const position = sql`CAST(${progress.position} AS INTEGER)`
  const canGoOn = progress.state !== 'disabled' && progress.not_before <= now
  const state = sql`${progress.state}`
  const more = canGoOn ? hasWork(position, now, { project_id: sql`${project_id}`, id: sql`${id}`, state }) : sql`0`
  const goesOn = sql`${more} AND NOT ${isLast ? 1 : 0}`
  const moved = db
    .update(webhookEndpoints)
    .set({
      ...progress,
      lease_token: sql`iif(${goesOn}, ${lease.token}, NULL)`,
      lease_until: sql`iif(${goesOn}, ${now + LEASE_MS}, 0)`,
      woken_at: sql`iif(${more} AND ${isLast ? 1 : 0}, ${now}, 0)`,
    })
    .where(and(isEndpoint(lease), eq(webhookEndpoints.lease_token, lease.token)))
    .returning({ lease_until: webhookEndpoints.lease_until, woken_at: webhookEndpoints.woken_at, state: column })
  const unwell = unwellTold(db, lease, outcome, now)
  const { changed, ...found } = await batch(db, {
    ...keptOf(db, lease, outcome, now),
    ...(resend && { resent: resendMoved(db, lease, resend, { position: outcome.resentTo, now }) }),
    ...(progress.state === 'disabled'
      ? audited(db, systemChange(now), disabledEntry(lease, outcome), moved)
      : { changed: moved }),
    ...(unwell && { unwell }),
    ...selectWork(db, lease, { token: lease.token, now }),
  } as { changed: typeof moved } & ReturnType<typeof selectWork>)
  const [row] = changed
  return { found, isLeft: row !== undefined && row.woken_at > 0 }
}

/** Who disables an endpoint that fails. */
function systemChange(now: number) {
  return { actor: { type: 'system', id: 'deliveries' }, request_id: newId('req', now), now } as const
}

function disabledEntry({ project_id, endpoint_id }: Lease, { progress }: Outcome) {
  return endpointEntry(project_id, endpoint_id, 'webhook_endpoint.disabled', { reason: progress.disabled_reason })
}

/** The statements that keep the log and the deliveries. */
function keptOf(db: Db, lease: Lease, { log, parked, done }: Outcome, now: number): Queries {
  const { project_id, endpoint_id } = lease
  const of = and(eq(deliveries.project_id, project_id), eq(deliveries.endpoint_id, endpoint_id))
  return {
    ...(log.length > 0 && { log: logged(db, lease, log, now) }),
    ...(done.length > 0 && {
      done: db.delete(deliveries).where(and(of, sql`${deliveries.seq} IN ${valuesOf(done)}`, hasLease(lease))),
    }),
    ...(parked.length > 0 && { parked: upserted(db, lease, parked) }),
  }
}

function logged(db: Db, lease: Lease, log: KeptAttempt[], now: number) {
  const { project_id, endpoint_id } = lease
  return insertWhere(db, deliveryRuns, { project_id, endpoint_id, id: newId('whr', now), log }, hasLease(lease))
}

function upserted(db: Db, lease: Lease, parked: readonly Parked[]) {
  const { project_id, endpoint_id, seq, type, state, tries, due_at, attempted_at, status, error } = deliveries
  const columns = [seq, type, state, tries, due_at, attempted_at, status, error]
  const rows = JSON.stringify(parked.map((one) => ({ ...one, state: one.due_at === null ? 'failed' : 'pending' })))
  const values = sql.join(
    columns.map(({ name }) => sql`j.value ->> ${name}`),
    sql`, `,
  )
  return rawWrite(
    db,
    sql`INSERT INTO ${deliveries} (${bare(project_id, endpoint_id, ...columns)})
      SELECT ${lease.project_id}, ${lease.endpoint_id}, ${values} FROM json_each(${rows}) j WHERE ${hasLease(lease)}
      ON CONFLICT DO UPDATE SET ${replaced(state, tries, due_at, attempted_at, status, error)}`,
  )
}

function resendMoved(db: Db, lease: Lease, id: string, { position, now }: { position: number; now: number }) {
  const { project_id, endpoint_id } = lease
  const own = and(eq(resends.project_id, project_id), eq(resends.endpoint_id, endpoint_id), eq(resends.id, id))
  const at = sql`CAST(${position} AS INTEGER)`
  return db
    .update(resends)
    .set({ position: at, finished_at: sql`iif(${at} >= ${resends.until}, CAST(${now} AS INTEGER), NULL)` })
    .where(and(own, hasLease(lease)))
}

/** Whether the worker has the endpoint still: a person may have disabled or deleted it, or the lease has run out. */
function hasLease({ project_id, endpoint_id, token }: Lease) {
  return sql`EXISTS (SELECT 1 FROM ${webhookEndpoints} ${held} WHERE ${held.project_id} = ${project_id}
    AND ${held.id} = ${endpoint_id} AND ${held.lease_token} = ${token})`
}
