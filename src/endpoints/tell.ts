import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db, Query } from '../db/client'
import { webhookEndpoints } from '../followers/schema'
import { DAY, iso } from '../lib/time'
import { ENDPOINT_FAILING_AFTER } from '../notices/limits'
import { factFrom, factsSql, noticesOpened } from '../notices/open'
import { notices } from '../notices/schema'
import { GONE, isTaken } from './attempt'
import { DISABLED_AFTER_MS } from './limits'
import type { Outcome } from './outcome'
import { type EndpointOf, isEndpoint } from './work'

const e = webhookEndpoints

/**
 * Opens the notice of an endpoint that takes nothing: after an hour, a day before it is disabled, and when it was. For the batch that writes
 * the run, behind the endpoint itself. The first attempt of the run that failed says why.
 *
 * @returns null if there is nothing to tell
 */
export function unwellTold(db: Db, of: EndpointOf, { progress, log }: Outcome, now: number): Query<void> | null {
  const kind = kindOf(progress, now)
  const first = log.find(({ s, x }) => !isTaken(s) && x !== GONE)
  if (kind === null || !first) return null
  const facts = {
    change: first.n,
    status: first.s,
    error: first.x,
    answer: factFrom(first.a.split('\n')[0] ?? ''),
    failing_since: progress.failing_since === null ? null : iso(progress.failing_since),
  }
  const withUrl = sql`json_patch(json_object('url', ${e.url}), ${factsSql(facts)})`
  const from = sql`FROM ${e} WHERE ${and(isEndpoint(of), eq(e.state, progress.state))}`
  const { project_id, id } = e
  return noticesOpened(db, { project_id, kind: sql`${kind}`, object_id: id, facts: withUrl }, from, now)
}

function kindOf({ state, failing_since }: Outcome['progress'], now: number) {
  if (state === 'disabled') return 'endpoint_disabled'
  if (failing_since === null) return null
  const failingFor = now - failing_since
  if (failingFor >= DISABLED_AFTER_MS - DAY) return 'endpoint_disabling'
  return failingFor >= ENDPOINT_FAILING_AFTER ? 'endpoint_failing' : null
}

/** Whether the endpoint of a notice takes changes again, or is disabled, or gone. */
export const isUnwellNoMore = over(sql`${e.failing_since} IS NOT NULL AND ${e.state} <> 'disabled'`)
/** Whether the endpoint of a notice is enabled again, or gone. */
export const isDisabledNoMore = over(sql`${e.state} = 'disabled'`)

function over(still: SQL): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM ${e} WHERE ${eq(e.project_id, notices.project_id)}
    AND ${eq(e.id, notices.object_id)} AND ${still})`
}
