import type { Client, ClientOptions } from 'openapi-fetch'
import type { paths } from './schema.js'

/** Every schema of the API by its name, for example `ApiKey` and `ErrorCode`. */
export type * from './schema.js'

export type PlatformClient = Client<paths>

export type PlatformClientOptions = Omit<ClientOptions, 'baseUrl'> & {
  /** The address of the API, for example `https://api.example.com`. */
  baseUrl: string
  /** An API key, or the token of a console session. Only sign-in and health work without it. */
  token?: string
  /** The project that the calls concern. An API key needs that of its own project. */
  projectId?: string
}

/**
 * A client whose paths, parameters, bodies and responses are typed. Each call returns `data` or, if the API refuses it,
 * `error`: an RFC 9457 problem with a stable `code`.
 */
export function createClient(options: PlatformClientOptions): PlatformClient
