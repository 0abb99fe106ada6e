import type { AuthMethod } from '../values'

/** The client that a provider knows us as, with its secret in the clear: never store or log it. */
export type Client = {
  issuer: string
  client_id: string
  client_secret: string | null
  auth_method: AuthMethod
  scopes: readonly string[]
  /** The names of the claims with the email address and the name of a person. */
  claims: { email: string; name: string }
}

/** Who has signed in, as the provider says. */
export type Identified = {
  issuer: string
  subject: string
  email: string | null
  email_verified: boolean
  name: string | null
  claims: Record<string, unknown>
  /** The id of the session at the provider, if it gave one. */
  sid: string | null
  end_session_endpoint: string | null
}

export type Recorder = (step: { name: string; expected: string; got: string; ok: boolean }) => void
