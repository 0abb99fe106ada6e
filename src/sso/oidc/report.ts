import { SECOND } from '../../lib/time'
import { type Claims, ownChecks, type personOf, worded } from './claims'
import { during, type SsoError, type SsoReason } from './error'
import type { ProviderMetadata } from './metadata'
import type { Host, OidcClient, Recorder } from './oidc-client'
import { withoutSecrets } from './secrets'

export type Report = {
  /** Waits for a step, records how it ended, and throws what it throws. */
  step: <T>(name: string, reason: SsoReason, expected: string, work: () => Promise<T> | T) => Promise<T>
  /** Records what the ID token says, claim by claim, before anything is checked. */
  token: (response: Response, expected: Expected) => Promise<void>
  person: (client: OidcClient, person: ReturnType<typeof personOf>) => void
}
type Expected = { rt: Host; client: OidcClient; provider: ProviderMetadata; nonce: string }

/** The steps of a sign-in as they happen. Without a recorder, it only turns errors into {@link SsoError}s. */
export function reportTo(record: Recorder | undefined, secrets: readonly string[]): Report {
  return {
    async step(name, reason, expected, work) {
      try {
        const result = await during(reason, secrets, work)
        record?.({ name, expected, got: 'as expected', ok: true })
        return result
      } catch (error) {
        const { detail, message } = error as SsoError
        record?.({ name, expected, got: detail ?? message, ok: false })
        throw error
      }
    },

    async token(response, expected) {
      if (!record) return
      const id_token = objectOf(await response.clone().text())?.id_token
      const parts = typeof id_token === 'string' ? id_token.split('.', 2).map(decoded) : []
      const [header, claims] = parts
      if (!header || !claims) return // The next step says so.
      for (const { claim, ...row } of rowsOf(header, claims, expected))
        record({ name: `ID token: ${claim}`, ...row, got: withoutSecrets(row.got, secrets) })
    },

    person({ claims, needs_email }, { email, email_verified, name }) {
      const tell = (row: string, expected: string, got: string | null, ok: boolean) =>
        record?.({ name: row, expected, got: withoutSecrets(got ?? 'absent', secrets), ok })
      const needed = needs_email ? '' : ', if there is one'
      tell('Email address', `the claim "${claims.email}"${needed}`, email, email !== null || !needs_email)
      tell('Email address verified', `true${needed}`, String(email_verified), email_verified || !needs_email)
      tell('Name', `the claim "${claims.name}", if there is one`, name, true)
    },
  }
}

/** What the parts of an ID token say, and whether it is as expected, row by row. */
function rowsOf(header: Claims, claims: Claims, expected: Expected) {
  const { iss, aud, exp, nonce } = claims
  const { provider, client, rt } = expected
  const algorithms = provider.id_token_signing_alg_values_supported ?? ['RS256']
  return [
    {
      claim: 'alg',
      expected: `${algorithms.join(', ').slice(0, 200)}; not none, not HS*`,
      got: worded(header.alg),
      ok: algorithms.includes(header.alg as string) && !/^(none|HS)/.test(worded(header.alg)),
    },
    { claim: 'kid', expected: 'a key of the provider', got: worded(header.kid), ok: true },
    { claim: 'iss', expected: provider.issuer, got: worded(iss), ok: iss === provider.issuer },
    { claim: 'aud', expected: client.client_id, got: worded(aud), ok: [aud].flat().includes(client.client_id) },
    {
      claim: 'exp',
      expected: 'in the future',
      got: typeof exp === 'number' ? `in ${exp - Math.floor(rt.now / SECOND)} s` : worded(exp),
      ok: typeof exp === 'number' && exp * SECOND > rt.now - 30 * SECOND,
    },
    {
      claim: 'nonce',
      expected: 'the one of this sign-in',
      got: nonce === undefined ? 'absent' : nonce === expected.nonce ? 'the same' : 'another one',
      ok: nonce === expected.nonce,
    },
    ...ownChecks(rt, client, claims),
  ]
}

/** A part of a JWT as it stands; null if it is not an object. */
function decoded(part: string): Claims | null {
  try {
    return objectOf(new TextDecoder().decode(Uint8Array.fromBase64(part, { alphabet: 'base64url' })))
  } catch {
    return null
  }
}

function objectOf(json: string): Claims | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null
  } catch {
    return null
  }
}
