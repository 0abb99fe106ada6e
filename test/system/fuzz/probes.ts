import type { Operation } from './operations.ts'
import type { Reply, Wire } from './send.ts'
import type { Tenant } from './world.ts'

/*
 * Rules that no schema states. A secret that has ended never works again; a verification says why a token is not valid, and nothing of
 * one that is; a report of an exposed secret is always answered alike. Random requests seldom meet these, so the fuzzer also sends probes.
 */

/** Tokens of devices that are remembered. */
const TOKENS = 40
const ENDED = /"code":"key_(rotated|revoked|expired)"/
const ACCEPTED = '{"accepted":true}'

type Verification = {
  valid: boolean
  reason: string | null
  missing_scopes: string[]
  device: { state: string; scopes: string[] | null } | null
  consumer: { state: string } | null
  features: object | null
}

/** What the fuzzer knows of secrets: those that have ended, by when it learned that, and tokens of devices. */
export type Secrets = { ended: Map<string, number>; tokens: string[] }

export const noSecrets = (): Secrets => ({ ended: new Map(), tokens: [] })

/** Remembers the tokens in a response, and that the secret of its request has ended. */
export function learnSecrets({ ended, tokens }: Secrets, wire: Wire, { status, text }: Reply): void {
  for (const [token = ''] of text.matchAll(/svc_dv_[0-9a-f]{64}/g)) {
    if (tokens.push(token) > TOKENS) tokens.shift()
  }
  const secret = secretOf(wire)
  if (secret && status === 401 && ENDED.test(text) && !ended.has(secret)) ended.set(secret, performance.now())
}

/** What is wrong with a response by these rules, or null. @param sentAt when its request was sent */
export function brokenRule(
  { ended }: Secrets,
  { wire, operation, sentAt }: { wire: Wire; operation: Operation | null; sentAt: number },
  { status, text }: Reply,
): string | null {
  const since = ended.get(secretOf(wire) ?? '')
  const needsKey = (operation?.spec.security?.length ?? 0) > 0
  if (since !== undefined && since < sentAt && needsKey && status < 300) return 'a secret that has ended works'
  if (operation?.template === '/exposures' && status === 202 && text !== ACCEPTED)
    return 'a report is answered otherwise'
  if (operation?.spec.operationId !== 'verifyDevice' || status !== 200) return null
  return wrongVerification(JSON.parse(text))
}

function wrongVerification({ valid, reason, missing_scopes, device, consumer, features }: Verification): string | null {
  if (valid !== (reason === null)) return 'a verification is valid with a reason, or not valid without one'
  if (missing_scopes.length > 0 !== (reason === 'missing_scope')) return 'missing scopes do not fit the reason'
  if ((reason === 'unknown') !== (device === null && consumer === null))
    return 'a verification shows what it does not know'
  if (!valid && features !== null) return 'a token that is not valid has features'
  if (valid && (device?.state !== 'active' || consumer?.state === 'blocked')) return 'a token is valid that cannot be'
  return null
}

type Ask = (wire: Wire) => Promise<Reply>

/**
 * Verifies a token of a device, and perhaps reports it: nothing says yes after something has said that it was revoked.
 *
 * @param n chooses the token and what is done with it
 */
export async function probe({ ended, tokens }: Secrets, { project, token: session }: Tenant, ask: Ask, n: number) {
  const token = tokens[n % Math.max(1, tokens.length)]
  if (token === undefined) return null
  if (n % 5 === 0) {
    const { status, text } = await ask(post('/exposures', { secret: token }, {}))
    if (status !== 202 || text !== ACCEPTED) return `a report of a token is answered with ${status}`
  }
  const since = ended.get(token)
  const caller = { Authorization: `Bearer ${session}`, 'X-Project-Id': project }
  const { status, text } = await ask(post('/platform/v1/devices/verify', { token }, caller))
  if (status !== 200) return null
  const verified = JSON.parse(text) as Verification
  if (since !== undefined && verified.valid) return 'a token is valid that was revoked'
  if (verified.reason === 'revoked') ended.set(token, performance.now())
  return wrongVerification(verified)
}

function post(path: string, json: object, headers: Record<string, string>): Wire {
  const body = Buffer.from(JSON.stringify(json))
  const own = { 'Content-Type': 'application/json', 'Content-Length': String(body.byteLength) }
  return { method: 'POST', path, headers: { ...own, ...headers }, body }
}

/** The API key or session that a request was sent with. */
function secretOf({ headers }: Wire): string | null {
  return /^Bearer (svc_v1_[0-9a-f]{96})$/.exec(headers.Authorization ?? '')?.[1] ?? null
}
