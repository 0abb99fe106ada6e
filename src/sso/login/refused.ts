import { SsoError } from '../oidc/error'
import type { Login } from './logins'

/**
 * A sign-in that we refuse, although the provider says who it is. `reason` is stable. The message is for people, and holds
 * no secret.
 */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message)
  }
}

/** Why nobody was signed in: the provider, what it sent, or our own rules. */
export type Unfinished = SsoError | SignInRefused

export function isUnfinished(error: unknown): error is Unfinished {
  return error instanceof SsoError || error instanceof SignInRefused
}

/** What an error description may have (RFC 6749, section 4.1.2.1). */
const DESCRIBES = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g

/** The address of the customer's application, which was registered, with the error that ended a login (RFC 6749). */
export function withError({ redirect_to, app_state }: Login, { reason, message }: Unfinished): string {
  const url = new URL(redirect_to)
  const error = reason === 'provider_unreachable' ? 'temporarily_unavailable' : 'access_denied'
  url.searchParams.set('error', error)
  url.searchParams.set('error_description', `${reason}: ${message}`.replaceAll(DESCRIBES, "'"))
  if (app_state !== null) url.searchParams.set('state', app_state)
  return url.href
}
