import { ENDPOINT_SECRETS } from '../endpoints/sealed'
import { CONNECTION_SECRETS } from '../inbox/connections/sealed'
import { VENDOR_KEYS } from '../inbox/vendor-api/sealed'
import { CLIENT_SECRETS } from '../sso/connections/sealed'
import type { SealedColumn } from '../stores/sealed'
import { ENTITLEMENT_KEYS } from '../token-keys/sealed'

/** The columns of every store. */
const OF_STORES: readonly SealedColumn[] = [CONNECTION_SECRETS, VENDOR_KEYS, ENTITLEMENT_KEYS, ENDPOINT_SECRETS]

/** The columns of the directory, which is in store 0. */
export const OF_DIRECTORY: readonly SealedColumn[] = [CLIENT_SECRETS]

/** The columns of a store. */
export function sealedIn(store: number): readonly SealedColumn[] {
  return store === 0 ? [...OF_STORES, ...OF_DIRECTORY] : OF_STORES
}
