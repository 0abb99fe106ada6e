import { sql } from 'drizzle-orm'
import { run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Runtime } from '../env'
import { deliveryRuns, type KeptAttempt } from '../followers/schema'
import { ourHosts } from '../http/our-hosts'
import { limit } from '../http/rate-limit'
import { requireFound } from '../lib/fault'
import { newId } from '../lib/ids'
import { iso } from '../lib/time'
import { attempt } from './attempt'
import { findEndpoint } from './endpoint'
import { ATTEMPT_WITHIN_MS } from './limits'
import { secretsOf } from './secrets'
import type { EndpointOf } from './work'

const TYPE = 'webhook_endpoint.test'

/**
 * Sends a sample to an endpoint now, also to one that is disabled. Whatever the result, the endpoint stays as it is.
 *
 * @throws {Fault} `not_found`, `rate_limited`, `encryption_key_unavailable`
 */
export async function sendTest(rt: Runtime, of: EndpointOf): Promise<{ id: string; log: KeptAttempt[] }> {
  const { db, now } = rt
  const { project_id, endpoint_id } = of
  const endpoint = requireFound(await run(db, findEndpoint(db, project_id, endpoint_id)), 'Webhook endpoint')
  // Somebody else's server gets what is sent: a project must not make us send as much as it wants.
  await limit(rt.limits, 'webhook_tests', project_id, 'This project has sent too many tests.')
  const secrets = await secretsOf(rt, endpoint)
  const id = newId('tst', now)
  const body = JSON.stringify({ type: TYPE, timestamp: iso(now), data: { endpoint: endpoint_id } })
  const made = await attempt(
    { url: endpoint.url, secrets, ours: ourHosts(rt.settings) },
    { id, body },
    ATTEMPT_WITHIN_MS,
  )
  const { at, ms, status, error, answer } = made
  const log: KeptAttempt[] = [{ n: 0, e: id, type: TYPE, at, ms, try: 1, s: status, x: error, a: answer }]
  const row = { ...of, id: newId('whr', now), log }
  const isThere = sql`EXISTS ${findEndpoint(db, project_id, endpoint_id)}`
  await run(db, insertWhere(db, deliveryRuns, row, isThere))
  return { id: row.id, log }
}
