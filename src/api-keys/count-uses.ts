import type { Context, MiddlewareHandler } from 'hono'
import { clientOf } from '../accounts/by'
import { addressOf } from '../http/address'
import type { HttpEnv } from '../http/context'
import { matchedOperation, matchedRoute } from '../http/meta'
import { Fault } from '../lib/fault'
import { storeOfProject } from '../lib/ids'
import { type Counted, countRequest, familyOf } from './counts'
import { recordUse } from './uses'

/** Counts each request with an API key once it is answered, and has its use recorded. The answer does not wait for that. */
export const countUses: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next()
  const key = keyOf(c)
  if (!key) return
  const rt = c.get('rt').at(storeOfProject(key.project_id) ?? 0)
  if (!rt) return
  const { country, user_agent } = clientOf(c)
  const counted: Counted = {
    operation: matchedOperation(c)?.id ?? 'none',
    address: addressOf(c),
    country,
    user_agent: familyOf(user_agent),
    refused: refusedCall(c),
  }
  countRequest(key.id, counted, rt.now)
  const { refused: _, ...last } = counted
  recordUse(rt, { id: key.id, last_used_at: key.last_used_at, previous: key.previous, last: key.isUse ? last : null })
}

/** The key whose secret a request had, if the database has confirmed it. Also one that was refused because of where it was used. */
function keyOf(c: Context<HttpEnv>) {
  const caller = c.get('confirmed')
  if (caller?.type === 'api_key') {
    const { id, project_id, use } = caller
    return { id, project_id, isUse: true, last_used_at: use?.last_used_at ?? null, previous: use?.previous }
  }
  const refused = c.get('refused')
  const elsewhere = refused instanceof Fault ? refused.extra.elsewhere : undefined
  return elsewhere && { ...elsewhere, isUse: false, last_used_at: null, previous: undefined }
}

function refusedCall(c: Context<HttpEnv>): Counted['refused'] {
  const { status } = c.res
  if (status < 400) return null
  const { method, path } = matchedRoute(c) ?? { method: c.req.method, path: '' }
  const code = String(c.get('log').code ?? status)
  return { at: c.get('rt').now, method, route: path, status, code, request_id: c.get('requestId') }
}
