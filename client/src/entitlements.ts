import type { PlatformClient } from './connect.js'
import { PlatformError } from './errors.js'
import { decodeToken, type EntitlementClaims, type EntitlementValue } from './tokens.js'

export type EntitlementOptions = {
  /** How long a token is used at most (seconds): 60 to 3,600, 300 by default. What changes meanwhile is not seen. */
  ttl_s?: number
  /** The features to ask about. All of the catalog by default: state them if your catalog is large. */
  features?: string[]
  /** How many consumers are remembered. 10,000 by default: those not asked about for longest are forgotten. */
  maxConsumers?: number
}

export type EntitlementTokens = {
  /** Whether a consumer is allowed a feature. False for a consumer that is unknown, blocked, merged or erased. */
  allows: (consumer: string, feature: string) => Promise<boolean>
  /** The value that a consumer is allowed, such as its number of seats. Undefined if it is not allowed the feature. */
  value: (consumer: string, feature: string) => Promise<EntitlementValue | undefined>
  /**
   * A token to pass on to an app or an edge worker. While one is renewed, this is the old one, which may soon end.
   * @param options.atLeastS waits for a new token if the old one ends sooner than this (seconds). At most `ttl_s`
   */
  token: (consumer: string, options?: { atLeastS?: number }) => Promise<string>
  /** Asks anew at the next call, for example after `entitlements.changed`. Takes the consumer's id or `ext:` and your id. */
  forget: (consumer: string) => void
}

/** `until`, `renewFrom`: times of this clock (milliseconds), so that it need not be right. */
type Held = { token: string; claims: EntitlementClaims; until: number; renewFrom: number }

/** A consumer with one of these is allowed nothing. */
const WITHOUT_ENTITLEMENTS = ['not_found', 'consumer_blocked', 'consumer_merged', 'consumer_erased']
/** After this part of its lifetime, a token is renewed while it is still used. */
const RENEW_AFTER = 0.8
const AFTER_FAILURE_MS = 5_000

/**
 * What consumers may do, from entitlement tokens that are kept in memory: one call for each consumer and lifetime of a token. A token is
 * renewed before it ends. If the API cannot be reached, the old one is used until it ends; after that, calls throw.
 *
 * @throws PlatformError each of its functions, if there is no token
 */
export function entitlementTokens(
  api: Pick<PlatformClient, 'createEntitlementToken'>,
  { ttl_s = 300, features, maxConsumers = 10_000 }: EntitlementOptions = {},
): EntitlementTokens {
  const held = new Map<string, Held>()
  const asked = new Map<string, Promise<Held>>()

  function ask(consumer: string): Promise<Held> {
    const running = asked.get(consumer)
    if (running) return running
    const asking: Promise<Held> = fetchToken(api, consumer, { ttl_s, ...(features && { features }) })
      .then((fresh) => {
        if (asked.get(consumer) === asking) keep(consumer, fresh)
        return fresh
      })
      .catch((error) => {
        if (asked.get(consumer) === asking) afterFailure(consumer, error)
        throw error
      })
      .finally(() => {
        if (asked.get(consumer) === asking) asked.delete(consumer)
      })
    asked.set(consumer, asking)
    return asking
  }

  function keep(consumer: string, fresh: Held): void {
    held.delete(consumer)
    held.set(consumer, fresh)
    const [oldest] = held.keys()
    if (held.size > maxConsumers && oldest !== undefined) held.delete(oldest)
  }

  function afterFailure(consumer: string, error: unknown): void {
    const old = held.get(consumer)
    if (old && mayPass(error)) old.renewFrom = Date.now() + AFTER_FAILURE_MS
    else held.delete(consumer)
  }

  async function get(consumer: string): Promise<Held> {
    const old = held.get(consumer)
    if (!old || Date.now() >= old.until) return ask(consumer)
    keep(consumer, old) // as the one that was asked about last
    if (Date.now() >= old.renewFrom) ask(consumer).catch(() => {}) // the next call that needs it throws
    return old
  }

  async function value(consumer: string, feature: string): Promise<EntitlementValue | undefined> {
    if (features && !features.includes(feature))
      throw new TypeError(`${feature} is not among the features to ask about`)
    const { ent } = (await get(consumer)).claims
    return Object.hasOwn(ent, feature) ? ent[feature] : undefined
  }

  return {
    value,
    allows: (consumer, feature) =>
      value(consumer, feature).then(
        (allowed) => allowed !== undefined,
        (error) => {
          if (error instanceof PlatformError && WITHOUT_ENTITLEMENTS.includes(error.code)) return false
          throw error
        },
      ),
    async token(consumer, { atLeastS = 0 } = {}) {
      if (!(atLeastS <= ttl_s)) throw new TypeError(`atLeastS is more than ttl_s: ${atLeastS} s.`)
      const kept = await get(consumer)
      return (kept.until - Date.now() >= atLeastS * 1000 ? kept : await ask(consumer)).token
    },
    forget(consumer) {
      for (const [name, { claims }] of held) {
        if ([name, claims.sub, `ext:${claims.external_id}`].includes(consumer)) held.delete(name)
      }
      asked.clear() // what is under way may be older than the change
    },
  }
}

async function fetchToken(
  api: Pick<PlatformClient, 'createEntitlementToken'>,
  consumer: string,
  body: { ttl_s: number; features?: string[] },
): Promise<Held> {
  // The API would answer that the consumer is unknown, and every feature would be denied.
  if (!/^(csm_|ext:)/.test(consumer))
    throw new TypeError(`${consumer} is neither a consumer's id nor ext: and your own id.`)
  const askedAt = Date.now()
  const { token } = await api.createEntitlementToken({ consumer, body })
  // It comes from the API itself, so its signature need not be verified here.
  const { claims } = decodeToken(token)
  const lifetimeMs = (claims.exp - claims.iat) * 1000
  return { token, claims, until: askedAt + lifetimeMs, renewFrom: askedAt + lifetimeMs * RENEW_AFTER }
}

/** Whether the API may answer later what it does not answer now. */
function mayPass(error: unknown): boolean {
  return error instanceof PlatformError && (error.status === null || error.status === 429 || error.status >= 500)
}
