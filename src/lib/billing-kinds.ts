/**
 * The kinds of billing objects. Callers never see a `payment_card` on its own: some vendors send card details with
 * payments rather than with the payment method, and the API shows them as the `card` of that payment method.
 */
export const KINDS = ['subscription', 'invoice', 'payment_method', 'payment_card'] as const
export type Kind = (typeof KINDS)[number]
/** The kinds that callers see. */
export type ObjectKind = Exclude<Kind, 'payment_card'>
