import * as oauth from 'oauth4webapi'
import { OutsideRefusal } from '../../lib/fetch-outside'
import { withoutSecrets } from './secrets'

/** What went wrong, for callers and for people. The codes are stable. */
const SENTENCES = {
  provider_unreachable: 'The identity provider cannot be reached.',
  discovery_failed: 'The discovery document of the identity provider cannot be used.',
  response_refused: 'The response of the identity provider does not belong to this sign-in.',
  sign_in_refused: 'The identity provider did not sign you in.',
  token_refused: 'The identity provider did not exchange the code for tokens.',
  id_token_refused: 'The ID token is not valid.',
  signature_refused: 'The signature of the ID token is not valid.',
  userinfo_refused: 'The UserInfo response of the identity provider cannot be used.',
} as const
export type SsoReason = keyof typeof SENTENCES

/**
 * A sign-in that failed at the provider, or because of what it sent. The message may be shown: it holds no secret. There is
 * no `cause`, because causes in the library hold tokens and codes.
 */
export class SsoError extends Error {
  override readonly name = 'SsoError'
  /** @param detail what exactly; it follows the sentence of the reason */
  constructor(
    readonly reason: SsoReason,
    readonly detail: string | null = null,
  ) {
    super(detail === null ? SENTENCES[reason] : `${SENTENCES[reason]} ${detail}`)
  }
}

/**
 * Waits for one step of a sign-in.
 *
 * @param reason what it means if the step fails
 * @param secrets what a message must not repeat, though the provider may
 * @throws {SsoError}
 */
export async function during<T>(reason: SsoReason, secrets: readonly string[], step: () => Promise<T> | T): Promise<T> {
  try {
    return await step()
  } catch (error) {
    throw error instanceof SsoError ? error : ssoError(reason, secrets, error)
  }
}

function ssoError(reason: SsoReason, secrets: readonly string[], error: unknown): SsoError {
  if (error instanceof OutsideRefusal) {
    const away = error.rule === 'time' || error.rule === 'unreachable'
    return new SsoError(away ? 'provider_unreachable' : reason, error.message)
  }
  if (error instanceof oauth.AuthorizationResponseError)
    return new SsoError('sign_in_refused', saidBy(error.error, error.error_description, secrets))
  if (error instanceof oauth.ResponseBodyError)
    return new SsoError(reason, saidBy(error.error, error.error_description, secrets))
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const { error: code, error_description } = error.cause[0]?.parameters ?? {}
    return new SsoError(reason, saidBy(code ?? String(error.status), error_description, secrets))
  }
  const ofLibrary = error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError
  // Other errors are of the runtime, of a key that cannot be imported for example, and may quote what they read.
  return new SsoError(reason, ofLibrary ? statusOf(error) : null)
}

/** The library's words, and the status where that is what was wrong. */
function statusOf({ message, cause }: Error): string {
  const status = cause instanceof Response && cause.status !== 200 ? ` (${cause.status})` : ''
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${status}.`
}

function saidBy(code: string, description: string | undefined, secrets: readonly string[]): string {
  const words = description ? `${code}: ${description}` : code
  return `It answered: ${withoutSecrets(words, secrets)}`
}
