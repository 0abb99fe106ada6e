import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import { publicOrigin, requirePublicOrigin } from '../../http/origin'
import type { SsoConnection } from '../connections/store'

/**
 * The origin that shows the sign-in of a connection, where its cookie is.
 *
 * @throws {Fault} `public_origin_missing`
 */
export function originOf(c: Context<HttpEnv>, { surface_host }: Pick<SsoConnection, 'surface_host'>): string {
  if (surface_host !== null) return `https://${surface_host}`
  requirePublicOrigin(c)
  return publicOrigin(c) ?? ''
}

/** The address that the provider sends browsers back to: one for each connection, so that no provider can answer for another. */
export function callbackUrl(c: Context<HttpEnv>, connection: Pick<SsoConnection, 'id' | 'surface_host'>): string {
  return `${originOf(c, connection)}/sso/callback/${connection.id}`
}

/** The parameter of a link that a person has chosen to continue with: see `openLogin`. */
export const ASKED = 'continue'

/** The link that begins a login in a browser. */
export function loginUrl(
  c: Context<HttpEnv>,
  connection: Pick<SsoConnection, 'surface_host'>,
  loginId: string,
): string {
  return `${originOf(c, connection)}/sso/login/${loginId}`
}

/** The same address at another origin, if the request has come to another host: the cookie must be where the callback is. */
export function elsewhere(c: Context<HttpEnv>, origin: string): string | null {
  const { host, pathname, search } = new URL(c.req.url)
  return host === new URL(origin).host ? null : origin + pathname + search
}
