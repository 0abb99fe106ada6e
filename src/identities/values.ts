/** Who signs in with a connection: the project's team, to the console; or the project's customers, to its product. */
export const AUDIENCES = ['team', 'customers'] as const
export type Audience = (typeof AUDIENCES)[number]

/** How the client authenticates at the token endpoint, by the names of OpenID Connect. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

export const CONNECTION_STATES = ['draft', 'active', 'disabled'] as const

/** What a sign-in is for. A test run signs nobody in. */
export const MODES = ['team', 'customers', 'test'] as const
export type LoginMode = (typeof MODES)[number]

export const TEST_STATES = ['waiting', 'passed', 'failed'] as const
export type TestState = (typeof TEST_STATES)[number]
/** What is shown of a test run. Nobody came back to an expired one in time. */
export const SHOWN_TEST_STATES = [...TEST_STATES, 'expired'] as const

/** What new members can become by signing in. */
export const DEFAULT_ROLES = ['viewer', 'developer'] as const

/** What a connection can be told, apart from its client. */
export type ConnectionSettings = {
  scopes: readonly string[]
  /** The names of the claims with the email address and the name of a person. */
  claims: { email: string; name: string }
  /** `team`: the role of people who are not members yet; null: they must be invited. */
  default_role: (typeof DEFAULT_ROLES)[number] | null
  /** `customers`: whether a sign-in of somebody new makes a consumer. */
  create_consumers: boolean
  /** `customers`: the addresses that may get a code. */
  redirect_uris: readonly string[]
  /** `customers`: the domain whose host shows the sign-in; null: the deployment's own. */
  surface_id: string | null
}

/** What a discovery document was like. `checked_at` in ms. */
export type Discovery = { ok: boolean; detail: string | null; checked_at: number }

/** One step of a test run. */
export type TestStep = {
  name: string
  ok: boolean
  expected: string | null
  got: string | null
}

/** What a real sign-in would do, in words. `refused`: it would be refused, although every step is ok. */
export type Would = { would: string; refused?: true }

/** What a test run found, and what a real sign-in would do. */
export type TestReport = Would & { steps: readonly TestStep[] }
