/**
 * The issuer of the local identity provider of `npm start -- --idp`. A connection accepts only public https addresses, so this is one, in a
 * domain that is reserved (RFC 2606). entry.ts leads the Worker from there to this machine.
 */
export const ISSUER = 'https://idp.example.com'

/** How a connection signs in to it. */
export const CLIENT = { client_id: 'local', client_secret: 'local-secret' }
