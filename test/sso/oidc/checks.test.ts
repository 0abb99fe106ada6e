import { describe, expect, it } from 'vitest'
import { SsoError } from '../../../src/sso/oidc/error'
import type { Faults } from '../../outside/faulty'
import { clientOf, faultyHost, signIn } from './sign-in'

/** What becomes of a sign-in at a provider with these faults: the reason and the message, or `passes`. */
async function outcome(faults: Faults, back?: (url: URL) => void): Promise<string> {
  const host = await faultyHost(faults)
  try {
    await signIn(clientOf(host), back && { back })
    return 'passes'
  } catch (error) {
    if (!(error instanceof SsoError)) throw error
    return `${error.reason}: ${error.message.replaceAll(host, 'HOST')}`
  }
}

const html = { headers: { 'Content-Type': 'text/html' }, body: '<p>' }
const redirect = { status: 302, headers: { Location: 'http://169.254.169.254/' } }
const MANY = Array.from({ length: 2000 }, (_, i) => `k${i}`)

describe('a sign-in', () => {
  it.each<[string, Faults, string]>([
    ['as it should be', {}, 'passes'],
    ['with PS256', { alg: 'PS256' }, 'passes'],
    ['with ES256', { alg: 'ES256' }, 'passes'],
    ['with EdDSA', { alg: 'EdDSA' }, 'passes'],
    ['without a kid, with one key', { kid: null }, 'passes'],
    ['with keys of their own media type', { keys_type: 'application/jwk-set+json' }, 'passes'],
    ['without UserInfo', { discovery: { userinfo_endpoint: null } }, 'passes'],
    ['with azp, and one audience', { claims: { azp: 'rp' } }, 'passes'],
    ['with two audiences and azp', { claims: { aud: ['rp', 'other'], azp: 'rp' } }, 'passes'],
    ['with iat nearly ten minutes ago', { claims: { iat: -590 } }, 'passes'],
    ['with iat nearly a minute ahead', { claims: { iat: 50 } }, 'passes'],
    [
      'with a sub of 255 characters',
      { claims: { sub: 's'.repeat(255) }, userinfo: { sub: 's'.repeat(255) } },
      'passes',
    ],
    [
      'with an iss that is not announced',
      { discovery: { authorization_response_iss_parameter_supported: null } },
      'passes',
    ],
    [
      'where nobody sends iss',
      { discovery: { authorization_response_iss_parameter_supported: null }, response: { iss: null } },
      'passes',
    ],
    // Discovery.
    ['with another issuer in the document', { discovery: { issuer: 'https://evil.faulty.dev' } }, 'discovery_failed'],
    ['without a document', { pages: { '/.well-known/openid-configuration': { status: 404 } } }, 'discovery_failed'],
    [
      'with a document that is no JSON',
      { pages: { '/.well-known/openid-configuration': { body: '{' } } },
      'discovery_failed',
    ],
    ['with a page as the document', { pages: { '/.well-known/openid-configuration': html } }, 'discovery_failed'],
    ['with a document elsewhere', { pages: { '/.well-known/openid-configuration': redirect } }, 'discovery_failed'],
    [
      'with an endless document',
      { pages: { '/.well-known/openid-configuration': { trouble: 'endless' } } },
      'discovery_failed',
    ],
    [
      'with a text for its algorithms',
      { discovery: { id_token_signing_alg_values_supported: 'RS256' } },
      'discovery_failed',
    ],
    [
      'with odd values among its algorithms',
      { discovery: { id_token_signing_alg_values_supported: [1, {}, 'RS256'] } },
      'passes',
    ],
    ['without a token endpoint', { discovery: { token_endpoint: null } }, 'discovery_failed'],
    ['without keys', { discovery: { jwks_uri: null } }, 'discovery_failed'],
    [
      'with a token endpoint at an IP address',
      { discovery: { token_endpoint: 'https://169.254.169.254/' } },
      'discovery_failed',
    ],
    ['with keys at a private name', { discovery: { jwks_uri: 'https://keys.internal/' } }, 'discovery_failed'],
    ['with keys in the document', { discovery: { jwks_uri: 'data:application/json,{"keys":[]}' } }, 'discovery_failed'],
    [
      'with UserInfo at this service',
      { discovery: { userinfo_endpoint: 'https://platform.test/' } },
      'discovery_failed',
    ],
    [
      'with an authorization endpoint without TLS',
      { discovery: { authorization_endpoint: 'http://idp.acme.dev/' } },
      'discovery_failed',
    ],
    [
      'with an authorization endpoint that is a script',
      { discovery: { authorization_endpoint: 'javascript:alert(1)' } },
      'discovery_failed',
    ],
    [
      'with an end of sessions at another port',
      { discovery: { end_session_endpoint: 'https://idp.acme.dev:8443/' } },
      'discovery_failed',
    ],
    [
      'with an end of sessions that is too long',
      { discovery: { end_session_endpoint: `https://idp.acme.dev/${'x'.repeat(2000)}` } },
      'discovery_failed',
    ],
    [
      'with an end of sessions that is a list',
      { discovery: { end_session_endpoint: ['https://idp.acme.dev/'] } },
      'discovery_failed',
    ],
    // The authorization response.
    ['with another state', { response: { state: 'another' } }, 'response_refused'],
    ['without a state', { response: { state: null } }, 'response_refused'],
    ['with the iss of another provider', { response: { iss: 'https://evil.faulty.dev' } }, 'response_refused'],
    ['without the iss that is announced', { response: { iss: null } }, 'response_refused'],
    [
      'with the iss of another provider, not announced',
      {
        response: { iss: 'https://evil.faulty.dev' },
        discovery: { authorization_response_iss_parameter_supported: null },
      },
      'response_refused',
    ],
    [
      'that is refused',
      { response: { code: null, error: 'access_denied', error_description: 'Not today.' } },
      'sign_in_refused',
    ],
    ['without a code', { response: { code: null } }, 'token_refused'],
    ['with tokens in the response', { response: { id_token: 'x' } }, 'response_refused'],
    // The token endpoint.
    ['with a code of somebody else', { response: { code: 'another' } }, 'token_refused'],
    ['with a token endpoint that is down', { pages: { '/token': { status: 503, ...html } } }, 'provider_unreachable'],
    ['with a token endpoint elsewhere', { pages: { '/token': redirect } }, 'token_refused'],
    ['with a page for tokens', { pages: { '/token': html } }, 'token_refused'],
    ['without an ID token', { tokens: { id_token: null } }, 'id_token_refused'],
    ['without an access token', { tokens: { access_token: null } }, 'id_token_refused'],
    ['with an ID token that is junk', { tokens: { id_token: 'a.b' } }, 'id_token_refused'],
    // The ID token.
    ['of another issuer', { claims: { iss: 'https://evil.faulty.dev' } }, 'id_token_refused'],
    ['for another client', { claims: { aud: 'another' } }, 'id_token_refused'],
    ['for two clients, without azp', { claims: { aud: ['rp', 'another'] } }, 'id_token_refused'],
    [
      'for two clients, with the azp of the other',
      { claims: { aud: ['rp', 'another'], azp: 'another' } },
      'id_token_refused',
    ],
    ['with the azp of another client', { claims: { azp: 'another' } }, 'id_token_refused'],
    ['with another nonce', { claims: { nonce: 'another' } }, 'id_token_refused'],
    ['without a nonce', { claims: { nonce: null } }, 'id_token_refused'],
    ['that has expired', { claims: { exp: -60 } }, 'id_token_refused'],
    ['that does not expire', { claims: { exp: null } }, 'id_token_refused'],
    ['that is not valid yet', { claims: { nbf: 4e9 } }, 'id_token_refused'],
    ['of eleven minutes ago', { claims: { iat: -660 } }, 'id_token_refused'],
    ['of two minutes ahead', { claims: { iat: 120 } }, 'id_token_refused'],
    ['without a time', { claims: { iat: null } }, 'id_token_refused'],
    ['of nobody', { claims: { sub: null } }, 'id_token_refused'],
    ['of an empty subject', { claims: { sub: '' }, userinfo: { sub: '' } }, 'id_token_refused'],
    ['of a number', { claims: { sub: 1 } }, 'id_token_refused'],
    [
      'of a sub with half a character',
      { claims: { sub: 'a\ud800' }, userinfo: { sub: 'a\ud800' } },
      'id_token_refused',
    ],
    ['of a sub with NUL', { claims: { sub: 'a\0' }, userinfo: { sub: 'a\0' } }, 'id_token_refused'],
    [
      'of a sub of 256 characters',
      { claims: { sub: 's'.repeat(256) }, userinfo: { sub: 's'.repeat(256) } },
      'id_token_refused',
    ],
    // The signature.
    ['by another key', { signed_by: 'another key' }, 'signature_refused'],
    ['by another key, which its header brings', { signed_by: 'another key', brings_key: true }, 'signature_refused'],
    ['with an HMAC', { alg: 'HS256' }, 'signature_refused'],
    ['without a signature', { alg: 'none' }, 'signature_refused'],
    [
      'with an HMAC, which is not announced',
      { alg: 'HS256', discovery: { id_token_signing_alg_values_supported: ['RS256'] } },
      'id_token_refused',
    ],
    [
      'without a signature, which is not announced',
      { alg: 'none', discovery: { id_token_signing_alg_values_supported: ['RS256'] } },
      'id_token_refused',
    ],
    [
      'with an algorithm that is not announced',
      { alg: 'ES256', discovery: { id_token_signing_alg_values_supported: ['RS256'] } },
      'id_token_refused',
    ],
    ['by a key that is not published', { kid: 'k9' }, 'signature_refused'],
    ['without a kid, with two keys', { kid: null, kids: ['k1', 'k2'] }, 'signature_refused'],
    ['with two keys of one kid', { kids: ['k1', 'k1'] }, 'signature_refused'],
    ['with no keys', { kids: [] }, 'signature_refused'],
    ['with more than 128 KB of keys', { kids: MANY.slice(0, 400) }, 'signature_refused'],
    ['with 2,000 keys', { kids: MANY }, 'signature_refused'],
    ['with a page for keys', { pages: { '/jwks': html } }, 'signature_refused'],
    ['with keys elsewhere', { pages: { '/jwks': redirect } }, 'signature_refused'],
    ['with a broken key', { pages: { '/jwks': { body: '{"keys":[{"kty":"RSA","kid":"k1"}]}' } } }, 'signature_refused'],
    // UserInfo.
    ['with UserInfo of somebody else', { userinfo: { sub: 'u2' } }, 'userinfo_refused'],
    ['with UserInfo of nobody', { userinfo: { sub: null } }, 'userinfo_refused'],
    ['with UserInfo elsewhere', { pages: { '/userinfo': redirect } }, 'userinfo_refused'],
    ['with a page for UserInfo', { pages: { '/userinfo': html } }, 'userinfo_refused'],
    [
      'with a signed UserInfo',
      { pages: { '/userinfo': { headers: { 'Content-Type': 'application/jwt' }, body: 'x' } } },
      'userinfo_refused',
    ],
    ['with UserInfo that is refused', { pages: { '/userinfo': { status: 401 } } }, 'userinfo_refused'],
  ])('%s', async (_, faults, expected) => {
    const found = await outcome(faults)
    expect(found.split(':')[0], found).toBe(expected)
  })
})
