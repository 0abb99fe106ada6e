import type { Database, Query } from '../db/client'
import type { Runtime } from '../env'
import type { Role, Scope } from '../lib/access'
import type { FaultName } from '../lib/faults'

/** The caller. `scopes` are its permissions in `project_id`. */
export type Actor =
  | {
      type: 'api_key'
      id: string
      project_id: string
      scopes: readonly Scope[]
      minted_by: string
      /** Who minted it, and then the user who was handed its secret, if that is another one. See `ADMINISTRATIVE`. */
      users: readonly string[]
      /** The only networks that the key may be used from; undefined: anywhere. A use from elsewhere makes no actor. */
      networks?: readonly string[]
      /** How many requests a minute the key may make, if it has a limit of its own. */
      per_minute?: number
      /** When it was last used (ms); `previous`: the hash of the secret before the current one, if this is that. */
      use?: { last_used_at: number | null; previous?: string }
      /** `other`: the secret is not the current one of the key, but the one before it, or one that waits for its first use. */
      secret?: 'other'
    }
  | {
      type: 'session'
      id: string
      user_id: string
      email: string
      /** The project in X-Project-Id, or null. */
      project_id: string | null
      role: Role | null
      /** Whether the user has proved who they are in the last 10 minutes: by signing in, or again since. */
      confirmed: boolean
      /** Whether the user has used a passkey or a recovery code in this session. */
      second_factor: boolean
      /** The single sign-on connection that opened the session, which reaches no further; null if there is none. */
      sso: { connection_id: string; project_id: string } | null
      scopes: readonly Scope[]
    }

export type ActorType = Actor['type']

/**
 * The read that looks up one secret, the database that it is sent to, and the function that turns its rows into an
 * actor.
 */
export type Lookup = {
  db: Database
  query: Query<unknown[]>
  /** @throws {Fault} one of the 401 codes of its kind; `not_a_member` for a session; `network_not_allowed` for an API key */
  judge: (rows: readonly unknown[]) => Promise<Actor>
}

/** The id of a request, and the one that the caller gave it, if any. */
export type Asked = { request_id: string; client_request_id: string | null }

/** The same, with the address that the request comes from; null if it is not known. */
export type AskedFrom = Asked & { address: string | null }

/** One kind of bearer secret. The prefix tells the kinds apart before any I/O. */
export type CredentialKind = {
  type: ActorType
  prefix: string
  /** Whether the text has the format of this kind. No I/O. */
  wellFormed: (token: string) => boolean
  /** Whether the permissions of the actor stay the same for as long as the secret is valid. */
  lasting: boolean
  /**
   * The runtime that a secret is looked up in: it has entered a store if secrets of this kind are kept in stores.
   *
   * @param projectId the value of X-Project-Id, or null
   * @throws {Fault} `wrong_project` if no such store is bound. No I/O.
   */
  enter: (rt: Runtime, token: string, projectId: string | null) => Runtime
  /**
   * @param rt what `enter` returned
   * @param asked the request that shows the secret
   */
  lookup: (rt: Runtime, secret: { token: string; hash: string }, projectId: string | null, asked: AskedFrom) => Lookup
  /**
   * Asks what the scope of a route depends on besides the secret.
   *
   * @throws {Fault} `insufficient_scope` if it does not count now
   */
  requireAwake?: (rt: Runtime, actor: Actor, scope: Scope) => Promise<void>
  /** The faults that a secret of this kind can be refused with. */
  faults: readonly FaultName[]
  /**
   * Those of a secret that is or was good somewhere: whoever sends it does not guess, so they do not count against an
   * address.
   */
  ended: readonly FaultName[]
  /** The OpenAPI security scheme. */
  scheme: { name: string; description: string }
}
