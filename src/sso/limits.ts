import { DAY, MINUTE, SECOND } from '../lib/time'

/** Connections in a project. */
export const MAX_SSO_CONNECTIONS = 20
/** Domains of a connection. */
export const MAX_CONNECTION_DOMAINS = 20
/** Addresses that may get a code, of a connection. */
export const MAX_REDIRECT_URIS = 20
/** Scopes that a connection asks for. */
export const MAX_SCOPES = 10
/** Characters of a name, an issuer, a client's id and secret, a scope, the name of a claim, and an address. */
export const MAX_SSO_CONNECTION_NAME = 100
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

/** How long a code can be exchanged (ms). */
export const APP_CODE_TTL = 60 * SECOND
/** Random bytes of a code. */
export const CODE_BYTES = 32
/** Characters of the `state` that an application gets back. */
export const MAX_APP_STATE = 500
/** Characters of a hint for the provider. */
export const MAX_LOGIN_HINT = 254
/** Consumers with one email address that a first sign-in looks at. If there are as many, it links none of them. */
export const MAX_SAME_ADDRESS = 100

/** Test runs that are kept of a connection, and for how long (ms). */
export const KEPT_TESTS = 10
export const TESTS_KEPT_FOR = 30 * DAY
/** How long after its beginning a browser can come back to a test run (ms): its link and the sign-in each take so long. */
export const TEST_TTL = 2 * LOGIN_TTL
/** Bytes of a report, as JSON, and characters of each of its texts. */
export const MAX_REPORT = 16_384
export const MAX_REPORT_TEXT = 300
