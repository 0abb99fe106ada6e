import { SsoError } from '../oidc/error'

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
