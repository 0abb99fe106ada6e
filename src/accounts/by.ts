import type { Context } from 'hono'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { hex, hmac, utf8 } from '../lib/crypto'
import { MAX_USER_AGENT } from './limits'

/** The client that sent a request, as the log of an account keeps it: no more of its place than the country. */
export type Client = { user_agent: string | null; country: string | null }

/** The client of a request, and its time, for the log of an account. */
export function byOf(c: Context<HttpEnv>): ByClient {
  return { client: clientOf(c), now: c.get('rt').now }
}

/** The client of a request. */
export function clientOf(c: Context<HttpEnv>): Client {
  const { cf } = c.req.raw as Request<unknown, IncomingRequestCfProperties>
  const country = cf?.country ?? ''
  return {
    user_agent: c.req.header('User-Agent')?.slice(0, MAX_USER_AGENT) ?? null,
    country: /^(?!XX)[A-Z]{2}$/.test(country) ? country : null, // XX: unknown; T1: Tor
  }
}

/** The client of a request, and its time (ms). */
export type ByClient = { client: Client; now: number }

/**
 * What a sign-in comes from. A browser is known by the cookie that it was given. An API client has none, and is known by
 * its user agent, as far as that goes.
 */
export type Browser = { cookie: string } | Pick<Client, 'user_agent'>

/** A browser as a keyed hash, so that the database does not help to pose as one. */
export async function browserHash({ settings }: Runtime, browser: Browser): Promise<string> {
  const of = 'cookie' in browser ? `cookie:${browser.cookie}` : `user agent:${browser.user_agent ?? ''}`
  return hex(await hmac('SHA-256', utf8(settings.codePepper), `browser ${of}`))
}
