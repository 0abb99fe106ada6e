import { postalAddress, prose, upperCurrency, word, wordOf } from './lib/bounded'
import { at, flag, integer, isObject, type Json } from './lib/json'
import { moneyIn } from './lib/money'
import type { Made } from './snapshot'
import { discountsOf } from './stripe-discounts'
import type { Stripe } from './stripe-shared'

/**
 * Attached exactly while it has a customer. When it is detached, the customer is only in the previous attributes.
 * https://docs.stripe.com/api/payment_methods/object
 */
export function paymentMethod({ object, previous, common }: Stripe): Made<'payment_method'> {
  const type = word(object.type)
  const card = isObject(object.card) ? cardOf(object.card) : null
  // Its details are in a field with the name of its type.
  const own = type !== null && Object.hasOwn(object, type) ? object[type] : null
  const body = {
    ...common,
    customer: common.customer ?? wordOf(at(previous, 'customer')),
    status: common.customer === null ? ('detached' as const) : ('attached' as const),
    type,
    card,
    last4: card?.last4 ?? word(at(own, 'last4')),
    bank: BANKS.map((field) => word(at(own, field))).find((bank) => bank !== null) ?? null,
    wallet: WALLETS.map((field) => word(at(own, field))).find((name) => name !== null) ?? null,
    billing_details: billingDetailsOf(object.billing_details),
  }
  return { body, terminal: false }
}

/** The fields that name the bank, by the type of the payment method: its name first, then its code. */
const BANKS = ['bank_name', 'bank', 'bank_code', 'bic', 'institution_number', 'bsb_number', 'sort_code']
/** PayPal's, Link's and Cash App's, Revolut's. */
const WALLETS = ['payer_email', 'email', 'cashtag', 'username']

function cardOf(card: Json) {
  return {
    brand: word(card.brand),
    last4: word(card.last4),
    exp_month: integer(card.exp_month),
    exp_year: integer(card.exp_year),
    funding: word(card.funding),
    country: word(card.country),
    fingerprint: word(card.fingerprint),
  }
}

function billingDetailsOf(value: unknown) {
  if (!isObject(value)) return null
  const { name, email, phone, address } = value
  return { name: prose(name), email: word(email), phone: word(phone), address: postalAddress(address) }
}

/** https://docs.stripe.com/api/customers/object */
export function customer({ type, object, common, cut }: Stripe): Made<'customer'> {
  const deleted = type === 'customer.deleted' || object.deleted === true
  const currency = upperCurrency(object.currency)
  const body = {
    ...common,
    customer: null, // it is the customer
    status: deleted ? ('deleted' as const) : ('active' as const),
    email: word(object.email),
    name: prose(object.name),
    phone: word(object.phone),
    description: prose(object.description),
    address: postalAddress(object.address),
    locale: word(at(object, 'preferred_locales', 0)),
    currency,
    balance: moneyIn(object.balance, currency)?.value ?? (object.balance === 0 ? 0 : null),
    delinquent: flag(object.delinquent),
    tax_exempt: word(object.tax_exempt),
    discounts: discountsOf(object, cut),
    // The second is of accounts that still use sources.
    default_payment_method:
      wordOf(at(object, 'invoice_settings', 'default_payment_method')) ?? wordOf(object.default_source),
  }
  return { body, terminal: deleted }
}
