import { CALLS } from './calls.js'
import { connect, type PlatformClient, type PlatformClientOptions } from './connect.js'

export type { CallOptions } from './call-types.js'
export type { Calls } from './calls.js'
export { type Followed, type FollowOptions, follow } from './changes.js'
export type { PlatformClient, PlatformClientOptions } from './connect.js'
export { type EntitlementOptions, type EntitlementTokens, entitlementTokens } from './entitlements.js'
export { type ClientErrorCode, PlatformError, unwrap } from './errors.js'
export {
  type KeyCheck,
  type KeyCheckOptions,
  type KeyNeeds,
  type KeyRefusal,
  keyCheck,
  type VerifiedKey,
} from './keys.js'
export { items, pages } from './lists.js'
export type { RetryOptions } from './retry.js'
/** Every schema of the API by its name, for example `ApiKey` and `ErrorCode`. */
export type * from './schema.js'
export { type EntitlementClaims, type EntitlementValue, tokenVerifier } from './tokens.js'
export { type SentChange, verifyWebhook, type Webhook, type WebhookOptions } from './webhooks.js'

/** A client of the API: one method for each call, and the typed `GET`, `POST`, … */
export function createClient(options: PlatformClientOptions): PlatformClient {
  return connect(CALLS, options)
}
