/*
 * Who bought without being a customer of the vendor's. The payment stands for them: what links a customer to a consumer, a claim of an event or
 * a pin, links them by this name. No vendor's own ids begin like it.
 */

const GUEST = 'guest:'
/** In the order of texts, the names of guests are after the first of these texts and before the second. */
export const GUEST_NAMES = { after: GUEST, before: 'guest;' } as const

/** The name of the guest who made a payment. */
export function guestOf(payment: string): string {
  return `${GUEST}${payment}`
}

/** A customer of the vendor's; null for a guest. */
export function withoutGuest(customer: string | null): string | null {
  return customer?.startsWith(GUEST) ? null : customer
}
