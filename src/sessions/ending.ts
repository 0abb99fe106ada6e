import type { Context } from 'hono'
import { byOf } from '../accounts/client'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import type { Ending } from './store'

/** The session of a request that ends sessions. */
export function endingOf(c: Context<HttpEnv>): Ending {
  const { id: session, user_id, sso } = sessionOf(c)
  return { user_id, session, sso, ...byOf(c) }
}
