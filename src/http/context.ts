import type { Env, Runtime } from '../env'
import type { Actor, CredentialKind, Lookup } from './auth'

/** What every handler finds in its context. */
export type HttpEnv = {
  Bindings: Env
  Variables: {
    rt: Runtime
    requestId: string
    /** Fields that a handler adds to the log line of the request. */
    log: Record<string, unknown>
    credentialKinds: readonly CredentialKind[]
    /** Set by every route with a policy. */
    actor: Actor
    /** The read of the caller's credentials while it has not been sent, and the function that enforces its result. */
    pending: { query: Lookup['query']; uphold: (rows: readonly unknown[]) => Promise<void> } | null
    /** Why the database refused the caller, once it has. */
    refused: unknown
    /** The fields of a submitted console form. */
    form: URLSearchParams
    /** The CSRF token of the forms on a console page. */
    formToken: string
  }
}
