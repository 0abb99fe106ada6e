import type { Env, Runtime } from '../env'
import type { Claim } from '../idempotency/claim'
import type { Actor, CredentialKind, Lookup } from './actor'

/** What every handler finds in its context. */
export type HttpEnv = {
  Bindings: Env
  Variables: {
    rt: Runtime
    /** Our own id of the request: unique, and not the caller's choice. Logs and the audit log go by it. */
    requestId: string
    /** The id that the caller gave the request, or null. Responses show it in place of ours. */
    clientRequestId: string | null
    /** The project whose own host the request names; null for a host that is no project's. */
    surface: { project_id: string; domain_id: string } | null
    /** Fields that a handler adds to the log line of the request. */
    log: Record<string, unknown>
    credentialKinds: readonly CredentialKind[]
    /** Set by every route with a policy. */
    actor: Actor
    /** The caller as the database has confirmed it, whatever the call is refused for after that. */
    confirmed: Actor | undefined
    /** The Idempotency-Key of the request, if it has one. */
    claim: Claim | undefined
    /** The read of the caller's credentials while it has not been sent, and the function that enforces its result. */
    pending: { db: Lookup['db']; query: Lookup['query']; uphold: (rows: readonly unknown[]) => Promise<void> } | null
    /** Whether the call was counted as a costly one before it began. */
    costly: boolean
    /** Ends the turn of a costly call. */
    endTurn: (() => void) | undefined
    /** Why the database refused the caller, once it has. */
    refused: unknown
    /** The fields of a submitted console form. */
    form: URLSearchParams
    /** The CSRF token of the forms on a console page. */
    formToken: string
  }
}
