/**
 * The local identity provider of `npm start -- --idp`. A connection takes only https addresses that the internet could have, so the provider
 * has one in a domain that nobody can own (RFC 2606). The Worker that runs beside it knows the way: see entry.ts.
 */
export const ISSUER = 'https://idp.example.com'

/** How a connection signs in to it. */
export const CLIENT = { client_id: 'local', client_secret: 'local-secret' }
