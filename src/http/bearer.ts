import type { Context } from 'hono'
import { Fault } from '../lib/fault'
import type { CredentialKind } from './actor'
import type { HttpEnv } from './context'

/**
 * Reads the bearer secret of a request, and which kind it is. No I/O.
 *
 * @throws {Fault} `missing_credentials`, `malformed_credentials`
 */
export function readBearer(c: Context<HttpEnv>): { kind: CredentialKind; token: string } {
  const header = c.req.header('Authorization')
  if (header === undefined || header.trim() === '') {
    throw new Fault('missing_credentials', 'Send an API key or a console session token as "Authorization: Bearer".')
  }
  const token = /^Bearer +([^\s,]+)$/i.exec(header.trim())?.[1]
  const kind = token === undefined ? undefined : c.get('credentialKinds').find(({ prefix }) => token.startsWith(prefix))
  if (!token || !kind?.wellFormed(token)) {
    throw new Fault(
      'malformed_credentials',
      'Send "Authorization: Bearer" followed by one complete secret. This one is truncated, mistyped or of an unknown kind.',
    )
  }
  return { kind, token }
}
