import { invalidField } from '../../http/validate'
import type { Audience, AuthMethod } from '../../identities/values'
import { Fault } from '../../lib/fault'
import { isLocalhost } from '../../lib/localhost'
import type { SsoConnection } from './connection'

/** Whether a test has passed since what it depends on last changed. */
export function isTested({ revision, tested_revision }: Pick<SsoConnection, 'revision' | 'tested_revision'>): boolean {
  return tested_revision === revision
}

/** @throws {Fault} `connection_untested`, `domain_unverified` if a connection cannot be active */
export function requireReady(row: SsoConnection): void {
  requireTested(isTested(row))
  requireVerified(row)
}

/** @throws {Fault} `connection_untested` */
export function requireTested(tested: boolean): void {
  if (tested) return
  throw new Fault(
    'connection_untested',
    'The connection has not passed a test since its client or claims last changed. Run one: POST /platform/v1/sso/connections/{id}/test.',
  )
}

/** @throws {Fault} `domain_unverified` for a connection of the team without a domain that is verified now */
export function requireVerified({ audience, domains }: Pick<SsoConnection, 'audience' | 'domains'>): void {
  if (audience === 'customers' || domains.some(({ verified }) => verified)) return
  throw new Fault('domain_unverified', 'A connection for the team must have a domain that is currently verified.')
}

/** @throws {Fault} `connection_enforced` */
export function requireNotEnforced({ enforced }: SsoConnection): void {
  if (!enforced) return
  throw new Fault('connection_enforced', 'The project enforces this connection. Stop enforcing it first.')
}

/** Whether a text has only visible characters of ASCII. */
export const isAscii = (text: string) => /^[\x21-\x7e]+$/.test(text)

/**
 * Whether a connection may have this redirect URI: https, or http on the developer's own machine. It must have the host that
 * it seems to have: browsers take a backslash for a slash, and add slashes that are missing.
 */
export function isRedirectUri(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !isAscii(text) || !/^https?:\/\/[^/\\][^\\]*$/i.test(text)) return false
  if (text.includes('#') || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhost(url.hostname))
}

/** Whether customers' people may be sent back to this address: it is one of the connection's, compared as text. */
export function mayReturnTo({ settings }: Pick<SsoConnection, 'settings'>, address: string): boolean {
  return settings.redirect_uris.includes(address)
}

const OF_TEAM = ['default_role', 'enforce'] as const
const OF_CUSTOMERS = ['create_consumers', 'redirect_uris', 'surface_id'] as const

/** @throws {Fault} `validation_failed` for a field of the other audience */
export function requireOwnFields(audience: Audience, fields: Record<string, unknown>): void {
  const foreign = (audience === 'team' ? OF_CUSTOMERS : OF_TEAM).find((name) => fields[name] !== undefined)
  const of = audience === 'team' ? 'customers' : 'the team'
  if (foreign) throw invalidField(`/${foreign}`, 'unknown_field', `is only for connections of ${of}`)
}

/** @throws {Fault} `validation_failed` where a client has a secret and must not, or has none and must */
export function requireSecretFor(auth_method: AuthMethod, hasSecret: boolean): void {
  if (auth_method === 'none' && hasSecret)
    throw invalidField('/auth_method', 'not_one_of', 'must not be none for a client with a secret')
  if (auth_method !== 'none' && !hasSecret)
    throw invalidField('/client_secret', 'required', `is required with ${auth_method}`)
}
