/*
 * A guest is a buyer without a customer at the vendor. The name of a guest is made of the payment's id. Claims and pins link a guest by this
 * name, as they link a customer.
 */

/** The vendor whose payments can have guests. At others, a project may choose ids of customers that look like guests. */
export const VENDOR_OF_GUESTS = 'stripe'
const GUEST = 'guest:'
/** In the order of texts, the names of guests are after the first of these texts and before the second. */
export const GUEST_NAMES = { after: GUEST, before: 'guest;' } as const

/** The name of the guest who made a payment. */
export function guestOf(payment: string): string {
  return `${GUEST}${payment}`
}

/** The payment of a guest; null for a customer of the vendor's. */
export function paymentOfGuest(vendor: string | null, customer: string): string | null {
  return vendor === VENDOR_OF_GUESTS && customer.startsWith(GUEST) ? customer.slice(GUEST.length) : null
}

/** A customer of the vendor's; null for a guest. */
export function withoutGuest(vendor: string | null, customer: string | null): string | null {
  return customer === null || paymentOfGuest(vendor, customer) !== null ? null : customer
}
