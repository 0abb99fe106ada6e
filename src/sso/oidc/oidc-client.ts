import type { Runtime } from '../../env'
import type { AuthMethod } from '../../identities/values'

/** The client that a provider knows us as, with its secret in the clear: never store or log it. */
export type OidcClient = {
  issuer: string
  client_id: string
  client_secret: string | null
  auth_method: AuthMethod
  scopes: readonly string[]
  /** The names of the claims that hold the email address and the name. */
  claims: { email: string; name: string }
  /** Whether a test run fails for somebody without a verified address. */
  needs_email: boolean
}

/** One sign-in: the state that was sent with it, and the address that the provider sends the browser back to. */
export type OidcRequest = { state: string; redirect_uri: string }

/** Who has signed in, as the provider says. */
export type Identified = {
  issuer: string
  subject: string
  email: string | null
  /** Whether the provider says that this address is verified. It is for callers to demand it. */
  email_verified: boolean
  name: string | null
  /** The claims of the ID token and of UserInfo, at most 8 KB as JSON. Those that do not fit are left out. */
  claims: Record<string, unknown>
  /** The session at the provider, if it names one. */
  sid: string | null
  end_session_endpoint: string | null
}

/** A step of a sign-in: what was expected and what came. It holds no code, token or secret. */
export type SignInStep = { name: string; expected: string; got: string; ok: boolean }
/** Collects the steps of a test run. */
export type Recorder = (step: SignInStep) => void

/** What the engine needs of a runtime. */
export type Host = Pick<Runtime, 'settings' | 'now'>
