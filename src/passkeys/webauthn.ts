import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Context } from 'hono'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { publicOrigin, requirePublicOrigin } from '../http/origin'
import { utf8 } from '../lib/crypto'
import { type ChallengePurpose, idOfChallenge, newChallenge } from './challenge'
import { CHALLENGE_TTL } from './limits'
import type { Passkey } from './passkey'

/** EdDSA, ES256 and RS256, by their numbers in the registry of COSE (RFC 9053). Every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257]

/** The relying party: the site that passkeys belong to, which is the host of `origin`. */
export type Site = { rt: Runtime; origin: string }
export type Owner = { id: string; user_id: string; email: string }

/*
 * The library is loaded by the first request that needs it: it takes a good part of the time in which a Worker starts, and most
 * requests have nothing to do with passkeys. wrangler.toml leaves its reader of certificates out: see refuseCertificates.
 */
const library = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')
type AttestationObject = ReturnType<Awaited<ReturnType<typeof helpers>>['decodeAttestationObject']>
type Base64Url = Awaited<ReturnType<typeof helpers>>['isoBase64URL']

const hostOf = ({ origin }: Site) => new URL(origin).hostname

/** What `navigator.credentials.create()` needs to make a passkey for the user of a session. */
export async function registrationOptions(site: Site, owner: Owner, existing: readonly Passkey[]) {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Platform API',
    rpID: hostOf(site),
    userID: utf8(owner.user_id),
    userName: owner.email,
    userDisplayName: owner.email,
    challenge: await newChallenge(site.rt, { to: 'register', session: owner.id }),
    timeout: CHALLENGE_TTL,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credential_id, transports }) => ({
      id: credential_id,
      transports: transports as never[],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

/** What `navigator.credentials.get()` needs. Without `allowed`, the browser offers all passkeys that it has for the site. */
export async function assertionOptions(site: Site, purpose: ChallengePurpose, allowed?: readonly Passkey[]) {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: hostOf(site),
    challenge: await newChallenge(site.rt, purpose),
    timeout: CHALLENGE_TTL,
    userVerification: 'required',
    ...(allowed && {
      allowCredentials: allowed.map(({ credential_id, transports }) => ({
        id: credential_id,
        transports: transports as never[],
      })),
    }),
  })
}

/**
 * Verifies the answer to {@link registrationOptions}.
 *
 * @returns the new credential, and the id of the challenge to spend
 * @throws {Error} that says what is wrong
 */
export async function verifyRegistration(site: Site, session: string, response: RegistrationResponseJSON) {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject, isoBase64URL }] = await Promise.all([
    library(),
    helpers(),
  ])
  refuseCertificates(decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject)))
  const challenge = challengeFor(site, { to: 'register', session }, isoBase64URL)
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge.expected,
    expectedOrigin: site.origin,
    expectedRPID: hostOf(site),
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (!verified) throw new Error('The attestation does not match.')
  const { credential, credentialBackedUp } = registrationInfo
  return {
    challenge: challenge.id(),
    credential_id: credential.id,
    public_key: isoBase64URL.fromBuffer(credential.publicKey),
    counter: credential.counter,
    transports: credential.transports ?? [],
    backed_up: credentialBackedUp,
  }
}

/**
 * Verifies the answer to {@link assertionOptions}, by a passkey of ours.
 *
 * @returns the new count of signatures, whether the passkey is kept elsewhere too, and the id of the challenge to spend
 * @throws {Error} that says what is wrong
 */
export async function verifyAssertion(
  site: Site,
  purpose: ChallengePurpose,
  passkey: Passkey,
  response: AuthenticationResponseJSON,
) {
  const [{ verifyAuthenticationResponse }, { isoBase64URL }] = await Promise.all([library(), helpers()])
  const { userHandle } = response.response
  if (userHandle && userHandle !== isoBase64URL.fromUTF8String(passkey.user_id)) {
    throw new Error('The answer names another user than the passkey’s.')
  }
  const challenge = challengeFor(site, purpose, isoBase64URL)
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge.expected,
    expectedOrigin: site.origin,
    expectedRPID: hostOf(site),
    credential: {
      id: passkey.credential_id,
      publicKey: isoBase64URL.toBuffer(passkey.public_key),
      counter: passkey.counter,
    },
    requireUserVerification: true,
  })
  if (!verified) throw new Error('The signature does not match.')
  const { newCounter, credentialBackedUp } = authenticationInfo
  return { challenge: challenge.id(), counter: newCounter, backed_up: credentialBackedUp }
}

/** The check of the challenge in an answer, and the id of that challenge once it was checked. */
function challengeFor({ rt }: Site, purpose: ChallengePurpose, base64Url: Base64Url) {
  let id: string | null = null
  return {
    expected: async (sent: string) => {
      id = await idOfChallenge(rt, purpose, base64Url.toUTF8String(sent))
      return id !== null
    },
    id: (): string => {
      if (id === null) throw new Error('The challenge was not checked.')
      return id
    },
  }
}

/**
 * We do not ask which model an authenticator is, so no certificate says anything to us. Certificates are refused before
 * the library sees them: it would fetch revocation lists from addresses that they name.
 *
 * A packed attestation without a certificate, signed by the passkey itself, may come although none is asked for
 * (Web Authentication Level 3, §5.1.3).
 */
function refuseCertificates(decoded: AttestationObject): void {
  const format = decoded.get('fmt')
  const alone = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !alone) throw new Error(`An attestation of the format ${format} was not asked for.`)
}

/**
 * The site that passkeys belong to. It follows `PUBLIC_ORIGIN`, so passkeys work only where that leads to.
 *
 * @throws {Fault} `public_origin_missing`
 */
export function siteOf(c: Context<HttpEnv>): Site {
  requirePublicOrigin(c)
  return { rt: c.get('rt'), origin: publicOrigin(c) ?? '' }
}
