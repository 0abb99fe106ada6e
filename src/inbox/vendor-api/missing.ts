import { Fault } from '../../lib/fault'
import { VENDORS } from '../../vendors'
import type { VendorApi } from '../../vendors/api'

/** The names of the vendors whose API keys the service takes, as the vendors write them. */
export const VENDORS_WITH_KEYS = Object.values(VENDORS).flatMap(({ api }: { api?: VendorApi }) => api?.vendor ?? [])

/** The fault of a call that needs an API key. @param why a sentence */
export function apiKeyMissing(why: string): Fault {
  const how = `You can set keys for ${VENDORS_WITH_KEYS.join(', ')}: PUT /platform/v1/billing/connections/{id}/api-key.`
  return new Fault('api_key_missing', `${why} ${how}`)
}
