import { DAY, MINUTE } from '../lib/time'

/** Connections in a project. */
export const MAX_CONNECTIONS = 20
/** Domains of a connection. */
export const MAX_DOMAINS = 20
/** Addresses that may get a code, of a connection. */
export const MAX_REDIRECT_URIS = 20
/** Scopes that a connection asks for. */
export const MAX_SCOPES = 10
/** Characters of a name, an issuer, a client's id and secret, a scope, the name of a claim, and an address. */
export const MAX_NAME = 100
export const MAX_ISSUER = 500
export const MAX_CLIENT_ID = 200
export const MAX_CLIENT_SECRET = 500
export const MAX_SCOPE = 100
export const MAX_CLAIM = 100
export const MAX_REDIRECT_URI = 1000

/** How long a login waits for a browser to open its link, and then for the browser to come back (ms). */
export const LOGIN_TTL = 10 * MINUTE
/** How long a connection that was deleted stays, so that deleting it again changes nothing (ms). */
export const DELETED_KEPT_FOR = 30 * DAY
