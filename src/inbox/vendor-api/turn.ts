import type { Runtime } from '../../env'
import { isWithin } from '../../http/rate-limit'
import type { VendorHost } from '../../vendors/api'

/** Whether a call may be made now. It counts as made if so. */
export type Turn = () => Promise<boolean>

/** What calls are for: something that a caller waits for, or something that can wait. Neither can use up what the other has. */
export type Lane = 'waited' | 'background'

/**
 * Some vendors limit the calls of an address, and all projects of the deployment share ours. Then each call takes its turn, counted by the
 * vendor's host and the lane. Without this, the imports of one project could stop the refreshes of all others.
 */
export function turnOf({ limits }: Runtime, host: VendorHost, key: string, lane: Lane): Turn {
  if (!host.limitsAddress) return async () => true
  return () => isWithin(limits.vendor, `${new URL(host.origin(key)).host} ${lane}`)
}

/** The code of the answer to a call that was not made. */
export const SHARED_LIMIT = 'shared_limit'
