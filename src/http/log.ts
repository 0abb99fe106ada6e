import type { Context, MiddlewareHandler } from 'hono'
import { versionId } from '../env'
import { isOwnId, newId } from '../lib/ids'
import { iso } from '../lib/time'
import type { CredentialKind } from './actor'
import type { HttpEnv } from './context'
import { matchedRoute } from './meta'

/** A caller's own request id is taken if it matches this, because it ends up in logs and headers. */
const SANE_ID = /^[A-Za-z0-9._:-]{8,64}$/

/**
 * Logs one line of JSON for each request. The line never holds the query string (a sign-in link carries a code), a body,
 * the Authorization header, a secret that was put into the path, the link of a login, or an id of the path that is not one of
 * ours: ids that projects give their consumers, devices and customers are personal data, and often email addresses.
 */
export const requestLog: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const startedAt = Date.now()
  const sent = c.req.header('X-Request-Id')
  const requestId = newId('req', startedAt)
  const clientRequestId = sent && SANE_ID.test(sent) ? sent : null
  c.set('requestId', requestId)
  c.set('clientRequestId', clientRequestId)
  c.set('log', {})
  await next()
  c.res.headers.set('X-Request-Id', clientRequestId ?? requestId)
  const actor = c.get('actor')
  // A missing setting leaves `rt` unset; the request is logged all the same.
  const meter = (c.get('rt') as HttpEnv['Variables']['rt'] | undefined)?.cost()
  writeLog(c.res.status >= 500 ? 'error' : 'info', 'request', {
    request_id: requestId,
    client_request_id: clientRequestId ?? undefined,
    method: c.req.method,
    path: shownPath(c),
    status: c.res.status,
    ms: Date.now() - startedAt,
    actor_type: actor?.type,
    actor_id: actor?.id,
    project_id: actor?.project_id ?? undefined,
    d1_trips: meter?.trips,
    d1_ms: meter?.ms,
    d1_rows_read: meter?.rows_read,
    d1_rows_written: meter?.rows_written,
    ...c.get('log'),
  })
}

/** What stands before a consumer's external id in a path. */
const EXTERNAL = /^ext(:|%3a)/i

/** The id of a login, which begins a sign-in: whoever has it can open it, once. */
const LOGIN = /^slg_/

/** The parameters of routes that are no personal data: the keys of features and the names of vendors. */
const WORDS = [':key', ':vendor']

/** A word of such a parameter, or of a path without a route. No email address and no name with a space is one. */
const PLAIN = /^[\w.-]*$/

/** The path of a request: what its route says, ids of ours, and not what the caller may have put in their place. */
function shownPath(c: Context<HttpEnv>): string {
  const stated = matchedRoute(c)?.path.split('/')
  const kinds = c.get('credentialKinds') ?? []
  return c.req.path
    .split('/')
    .map((part, index) => shownPart(part, stated?.[index], kinds))
    .join('/')
}

/** @param stated what the route has in this place; undefined if no route matched */
function shownPart(part: string, stated: string | undefined, kinds: readonly CredentialKind[]): string {
  if (EXTERNAL.test(part)) return 'ext:…'
  if (LOGIN.test(part)) return 'slg_…'
  const kind = kinds.find(({ wellFormed }) => wellFormed(part))
  if (kind) return `${kind.prefix}…`
  if (part === stated || isOwnId(part)) return part
  return (stated === undefined || WORDS.includes(stated)) && PLAIN.test(part) ? part : '…'
}

/**
 * Writes one line of JSON, with the running version and the time. Cloudflare adds a time to log lines, but a local
 * server does not. Never pass a secret.
 */
export function writeLog(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  const line = JSON.stringify({ time: iso(Date.now()), level, event, version: versionId() ?? undefined, ...fields })
  if (level === 'error') console.error(line)
  else console.log(line)
}
