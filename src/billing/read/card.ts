import type { Bodies } from '../../vendors/objects'
import type { StoredBody } from '../reduce'

/** What is shown of a card that payments report: without the fields that place it among events. */
export function cardOf(seen: StoredBody): NonNullable<Bodies['payment_method']['card']> {
  const { brand = null, last4 = null, exp_month = null, exp_year = null } = seen as unknown as Record<string, never>
  return { brand, last4, exp_month, exp_year, funding: null, country: null, fingerprint: null }
}
