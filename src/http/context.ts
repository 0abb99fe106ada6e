import type { Env, Runtime } from '../env'
import type { Actor, CredentialKind, Lookup } from './auth'

/** What every handler finds on its context. */
export type HttpEnv = {
  Bindings: Env
  Variables: {
    rt: Runtime
    requestId: string
    /** Fields that a handler adds to the request's one log line. */
    log: Record<string, unknown>
    credentialKinds: readonly CredentialKind[]
    /** Set by a route whose policy asks for a credential. */
    actor: Actor
    /** The credential's read while it is still to be sent, and what holds the request to its outcome. */
    pending: { query: Lookup['query']; uphold: (rows: readonly unknown[]) => Promise<void> } | null
    /** The fields of a form that a console page sent. */
    form: URLSearchParams
    /** What the forms of a console page carry to show that they are its own. */
    formToken: string
  }
}
