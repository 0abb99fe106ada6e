import { utf8 } from '../../lib/crypto'
import { SECOND } from '../../lib/time'
import { MAX_CLAIMED_EMAIL, MAX_CLAIMS, MAX_SUBJECT, MAX_TOKEN_AGE, MAX_TOKEN_AHEAD } from './limits'
import type { Host, Identified, OidcClient } from './oidc-client'

export type Claims = Record<string, unknown>

/** Claims that prove something about one sign-in and say nothing about the person. `nonce` is a secret of ours. */
const PROOFS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'jti']

/** One rule about a claim: what is expected, and whether it holds. `got` is for people, and holds no secret. */
export type CheckedClaims = { claim: string; expected: string; got: string; ok: boolean }

/** What we demand of an ID token beyond the library, which lets each of these pass. */
export function ownChecks(
  { now }: Pick<Host, 'now'>,
  client: Pick<OidcClient, 'client_id'>,
  claims: Claims,
): CheckedClaims[] {
  const { azp, iat, sub } = claims
  const age = typeof iat === 'number' ? now - iat * SECOND : Number.NaN
  const length = typeof sub === 'string' ? sub.length : 0
  return [
    {
      claim: 'azp',
      expected: `absent, or ${client.client_id}`,
      got: worded(azp),
      ok: azp === undefined || azp === client.client_id,
    },
    {
      claim: 'iat',
      expected: 'at most 10 minutes ago, and at most 60 seconds ahead',
      got: Number.isNaN(age) ? worded(iat) : ageOf(age),
      ok: age <= MAX_TOKEN_AGE && age >= -MAX_TOKEN_AHEAD,
    },
    {
      claim: 'sub',
      expected: `a string of 1 to ${MAX_SUBJECT} characters without control characters`,
      got: length > MAX_SUBJECT ? `${length} characters` : worded(sub),
      ok: length > 0 && length <= MAX_SUBJECT && isPlain(sub as string),
    },
  ]
}

/** Whether every program that stores or shows a text keeps it apart from others. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** What the claims of an ID token and of UserInfo say about a person. The ID token counts first: it is signed. */
export function personOf(
  { claims: names }: Pick<OidcClient, 'claims'>,
  token: Claims,
  userinfo: Claims,
): Pick<Identified, 'email' | 'email_verified' | 'name' | 'claims' | 'sid'> {
  const source = typeof token[names.email] === 'string' ? token : userinfo
  const email = textOf(source[names.email], MAX_CLAIMED_EMAIL)
  return {
    email,
    email_verified: email !== null && [token, userinfo].some((claims) => vouchesFor(claims, email)),
    name: textOf(token[names.name]) ?? textOf(userinfo[names.name]),
    claims: kept({ ...userinfo, ...token }),
    sid: textOf(token.sid, MAX_SUBJECT),
  }
}

/** `email_verified` speaks of the claim `email` beside it, and of no other. Only `true` counts, not a text. */
function vouchesFor({ email, email_verified }: Claims, address: string): boolean {
  return email_verified === true && typeof email === 'string' && email.toLowerCase() === address.toLowerCase()
}

/** The claims that fit into their limit, without those that prove one sign-in. */
function kept(claims: Claims): Claims {
  let bytes = 2
  const fitting = Object.entries(claims).filter(([name, value]) => {
    if (PROOFS.includes(name)) return false
    const more = utf8(JSON.stringify({ [name]: value })).byteLength
    if (bytes + more > MAX_CLAIMS) return false
    bytes += more
    return true
  })
  return JSON.parse(wellFormed(JSON.stringify(Object.fromEntries(fitting)))) as Claims
}

/** JSON in which no text has half of a surrogate pair, which many programs refuse. Such halves are always escaped in JSON. */
function wellFormed(json: string): string {
  return json.replaceAll(/\\(\\|ud[89a-f][0-9a-f]{2})/gi, (all, after) => (after === '\\' ? all : '\\ufffd'))
}

/** The beginning of a text, without half of a character at its end. */
export function cutTo(length: number, text: string | null): string | null {
  return text === null ? null : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

function textOf(value: unknown, max = Number.POSITIVE_INFINITY): string | null {
  return typeof value === 'string' && value !== '' && value.length <= max ? value.toWellFormed() : null
}

function ageOf(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / SECOND)
  return ms < 0 ? `${seconds} s ahead` : `${seconds} s ago`
}

/** A value from a provider, for people. It is whole: a secret in it can only be found before it is cut. */
export function worded(value: unknown): string {
  if (value === undefined) return 'absent'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
