import type { Runtime } from '../env'
import { hex, hmac, utf8 } from '../lib/crypto'
import type { Client } from './client'

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
