import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'
import { publicOrigin, requirePublicOrigin } from '../http/origin'
import type { Site } from './webauthn'

/**
 * The site that passkeys belong to. It follows `PUBLIC_ORIGIN`, so passkeys work only where that leads to.
 *
 * @throws {Fault} `public_origin_missing`
 */
export function siteOf(c: Context<HttpEnv>): Site {
  requirePublicOrigin(c)
  return { rt: c.get('rt'), origin: publicOrigin(c) ?? '' }
}
