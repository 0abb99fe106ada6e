/**
 * The kinds of billing objects. Callers never see a `payment_card` on its own: some vendors send card details with
 * payments rather than with the payment method, and the API shows them as the `card` of that payment method.
 */
export const KINDS = ['subscription', 'invoice', 'payment_method', 'payment_card', 'customer', 'purchase'] as const
export type Kind = (typeof KINDS)[number]
/** The kinds that have lists and timelines. */
export type ObjectKind = Exclude<Kind, 'payment_card' | 'customer'>
/** The kinds that callers see. */
export type ShownKind = Exclude<Kind, 'payment_card'>
