import { type Fault, notFound } from '../lib/fault'

/** What an object of each kind is called: in operation ids, and in sentences. */
export const NAMES = {
  subscription: { one: 'Subscription', many: 'Subscriptions', noun: 'subscription', aNoun: 'a subscription' },
  invoice: { one: 'Invoice', many: 'Invoices', noun: 'invoice', aNoun: 'an invoice' },
  payment_method: { one: 'PaymentMethod', many: 'PaymentMethods', noun: 'payment method', aNoun: 'a payment method' },
  purchase: { one: 'Purchase', many: 'Purchases', noun: 'purchase', aNoun: 'a purchase' },
  customer: { one: 'Customer', many: 'Customers', noun: 'customer', aNoun: 'a customer' },
} as const

/** The 404 of an object of this kind. */
export function noObject(kind: keyof typeof NAMES): Fault {
  const { noun } = NAMES[kind]
  return notFound(noun.charAt(0).toUpperCase() + noun.slice(1))
}
