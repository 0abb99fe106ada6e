/**
 * What the billing state consists of. A payment card is no object of its own to callers: it is what a vendor's payments
 * tell of a payment method whose own events do not, and is shown as its `card`.
 */
export const KINDS = ['subscription', 'invoice', 'payment_method', 'payment_card'] as const
export type Kind = (typeof KINDS)[number]
/** The kinds that callers see. */
export type ObjectKind = Exclude<Kind, 'payment_card'>
