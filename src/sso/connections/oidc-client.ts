import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { sealContext, unseal } from '../../lib/seal'
import type { OidcClient } from '../oidc/oidc-client'
import type { SsoConnection } from './connection'

/** What the sealed client secret of a connection is bound to. */
export function secretContext({ project_id, id }: Pick<SsoConnection, 'project_id' | 'id'>): string {
  return sealContext(project_id, id, 'secret')
}

/**
 * The client of a connection, with its secret in the clear.
 *
 * @throws {Fault} `encryption_key_unavailable`
 */
export async function oidcClientOf({ settings }: Runtime, connection: SsoConnection): Promise<OidcClient> {
  const { issuer, client_id, auth_method } = connection
  const { scopes, claims } = connection.settings
  const client_secret =
    connection.secret &&
    (await unseal(settings.encryptionKeys, connection.secret, secretContext(connection)).catch(lost))
  // Without a domain, customers' addresses say nothing of who somebody is.
  const needs_email = connection.audience === 'team' || connection.domains.length > 0
  return { issuer, client_id, client_secret, auth_method, scopes, claims, needs_email }
}

function lost(cause: unknown): never {
  throw new Fault(
    'encryption_key_unavailable',
    'The client secret of this connection cannot be decrypted. The operator must bring back the encryption key that it was encrypted with.',
    { cause },
  )
}
