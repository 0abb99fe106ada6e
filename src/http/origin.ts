import type { Context } from 'hono'
import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { isLocalhost } from '../lib/localhost'
import type { HttpEnv } from './context'

/**
 * The origin that links name: the setting `PUBLIC_ORIGIN`, or the origin of the request if that is on this machine.
 * Null if there is neither. A link never follows another host that a request names: whoever sends the request chooses
 * it, and a mail would carry it to somebody else.
 */
export function publicOrigin(c: Context<HttpEnv>): string | null {
  // Settings that cannot be parsed leave `rt` unset, and the error that says so has a link too.
  const rt = c.get('rt') as Runtime | undefined
  if (rt?.settings.publicOrigin) return rt.settings.publicOrigin
  const { origin, hostname } = new URL(c.req.url)
  return isLocalhost(hostname) ? origin : null
}

/** The public address of a path of ours. It is only the path while the deployment does not know its origin. */
export function publicUrl(c: Context<HttpEnv>, path: string): string {
  return (publicOrigin(c) ?? '') + path
}

/** @throws {Fault} `public_origin_missing` if the deployment does not know its origin */
export function requirePublicOrigin(c: Context<HttpEnv>): void {
  if (publicOrigin(c) !== null) return
  throw new Fault(
    'public_origin_missing',
    'Set PUBLIC_ORIGIN to the address of this deployment, such as https://api.example.com. npm run deploy does this. Until then, sign-in emails have no link, and addresses in responses are only paths.',
  )
}
